import { expect, it } from 'vitest'
import { presetFileText, presetFrom, presetFromText } from '../../../../extension/core/presets/preset-file.ts'

const usual = { name: 'mine', order: 100 }
it.each([
  ['all it can say', { description: 'Does it.', presentation: 'both', tools: ['read', 'bash'], needs: ['read'], sections: [{ name: 'house', order: 5, text: 'Be kind.' }], persona: 'You are kind.', runtimeContext: false, instructions: false, compaction: false, sessionTools: false, mcpServers: ['demo'], extensions: ['acme.one'], shell: 'persistent', permissions: 'read-only' }],
  ['what is usual', { tools: ['read'] }],
  ['no servers and every extension', { tools: ['read'], mcpServers: false, extensions: true }],
])('the file of a copy gives the same preset: %s', (_why, content) => {
  const preset = presetFrom('mine', { ...usual, ...content })
  expect(presetFromText('mine', presetFileText(preset))).toEqual(preset)
})

it.each([
  ['a tool stands twice', { tools: ['read', 'read'] }, 'tools: read stands there twice'],
  ['two sections have one name', { tools: ['read'], sections: [1, 2].map((order) => ({ name: 'house', order, text: 'x' })) }, 'sections: two are named house'],
])('is broken where %s', (_why, content, reason) => expect(() => presetFrom('mine', content)).toThrow(expect.objectContaining({ code: 'PRESET_BROKEN', message: reason })))
