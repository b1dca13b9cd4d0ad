import { expect, it } from 'vitest'
import { createPresetChoice } from '../../../extension/host/preset-choice.ts'
import { PresetError } from '../../../extension/core/presets/preset.ts'
import type { Presets } from '../../../extension/core/presets/preset.ts'
import { createFakeEditor } from '../../support/fake-editor.ts'

const all = [
  { id: 'editor', name: 'Editor', description: 'Everything.', root: 'shipped' },
  { id: 'mine', name: 'Mine', description: '', root: 'user', path: '/home/.bosun/presets/mine.preset.json' },
  { id: 'mine', name: 'mine', description: '', root: 'workspace', path: '/w/.bosun/presets/mine.preset.json', problem: 'The name is taken.' },
] as const

function setUp(...answers: readonly (string | null)[]) {
  const editor = createFakeEditor()
  editor.answers.push(...answers)
  const presets: Pick<Presets, 'discover' | 'list' | 'copy'> = {
    discover: async () => undefined,
    list: () => all,
    copy: async (id, newId) => {
      if (newId === 'editor') throw new PresetError('PRESET_EXISTS', 'There is one.')
      return `/home/${id}-${newId}`
    },
  }
  const l10n = { t: (text: string) => text }
  // Only what the choice uses.
  return { editor, choice: createPresetChoice({ presets: presets as Presets, editor, l10n }) }
}

it.each([
  ['mine', { id: 'mine' }],
  ['editor', null],
  [null, null],
  ['/w/.bosun/presets/mine.preset.json', { problem: 'The name is taken.' }],
])('picking %j gives %j', async (answer, picked) => expect(await setUp(answer).choice.pick('editor')).toEqual(picked))

it.each([
  [['mine', 'my-own'], null, ['location']],
  [['editor', 'editor'], 'There is one.', []],
  [['mine', null], null, []],
  [[null], null, []],
])('copying with the answers %j says %j', async (answers, problem, opened) => {
  const { editor, choice } = setUp(...answers)
  expect(await choice.copy('/w')).toBe(problem)
  expect(editor.shown.map(({ kind }) => kind).filter((kind) => kind === 'location')).toEqual(opened)
})
