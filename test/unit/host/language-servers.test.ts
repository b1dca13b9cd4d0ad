import { expect, it } from 'vitest'
import { chatRig } from './chat-rig.ts'

const reports = [
  { name: 'zls', command: 'zls --stdio', state: 'running', reason: null },
  { name: 'toy', command: 'toy', state: 'failed', reason: 'It ended with exit code 3: out of memory' },
] as const

it('shows how each language server stands and why, and starts the chosen one again', async () => {
  const rig = await chatRig({ languageServers: reports })
  rig.editor.take()
  rig.editor.answers.push('server:toy')
  await rig.controller.run('show-language-servers')
  expect(rig.editor.take()).toMatchObject([
    {
      kind: 'pick',
      value: {
        title: 'Language servers',
        placeholder: 'Choose one to start it again',
        items: [
          { label: 'zls', description: 'running', detail: 'zls --stdio' },
          { label: 'toy', description: 'given up', detail: 'It ended with exit code 3: out of memory' },
          { id: 'settings' },
        ],
      },
    },
  ])
  expect(rig.calls.at(-1)).toEqual(['restart-server', 'toy'])
})

it('leads to the settings where none is configured', async () => {
  const rig = await chatRig({})
  rig.editor.take()
  rig.editor.answers.push('settings')
  await rig.controller.run('show-language-servers')
  expect(rig.editor.take()).toMatchObject([{ kind: 'pick', value: { placeholder: expect.stringContaining('None is configured') as string } }, { kind: 'settings', value: 'bosun.languageServers' }])
  expect(rig.calls).not.toContainEqual(['restart-server', expect.anything()])
})
