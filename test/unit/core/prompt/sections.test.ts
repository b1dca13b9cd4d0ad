import { describe, expect, it } from 'vitest'
import type { Machine } from '../../../../extension/capabilities/machine.ts'
import type { WorkspaceSnapshot } from '../../../../extension/capabilities/workspace.ts'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import { shippedPresets } from '../../../../extension/core/presets/shipped.ts'
import { createPromptSectionsPlugin } from '../../../../extension/core/prompt/sections.ts'
import { createSystemPromptPlugin } from '../../../../extension/core/prompt/service.ts'
import type { PromptContext } from '../../../../extension/core/prompt/system-prompt.ts'
import { createToolsPlugin } from '../../../../extension/core/tools/registry.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { createFakeMachine } from '../../../support/fake-machine.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

interface World {
  readonly tools?: readonly string[]
  readonly snapshot?: WorkspaceSnapshot
  readonly machine?: Partial<Machine>
}

function setUp({ tools = [], snapshot = { openEditors: [], unsavedFiles: [] }, machine = {} }: World = {}) {
  const kernel = createKernel({ logger: createRecordingLogger() })
  const state = { isTrusted: true, snapshot, asked: 0, folders: ['/w'] }
  kernel.root.plugin(createSystemPromptPlugin({ dispatch: kernel.dispatch }))
  kernel.root.plugin(createToolsPlugin({ dispatch: kernel.dispatch, randomId: () => 't' }))
  kernel.root.plugin(
    createPromptSectionsPlugin({
      machine: createFakeMachine(machine),
      workspace: {
        folders: () => state.folders.map((path) => ({ name: path, path })),
        isTrusted: () => state.isTrusted,
        onDidChangeTrust: () => () => {},
        onDidChangeFolders: () => () => {},
        snapshot: async () => (state.asked++, state.snapshot),
      },
    }),
  )
  for (const name of tools)
    kernel.root.tools.register({ name, description: name, parameters: { type: 'object' }, output: { schema: {}, render: () => [] }, execute: () => null })
  const agent = createFakeAgent()
  const context: PromptContext = { agent, scope: kernel.createScope('agent', null), provider: 'p', model: 'm', cwd: '/w', step: 1 }
  return { state, assemble: (more: Partial<PromptContext> = {}) => kernel.root.systemPrompt.assemble({ ...context, ...more }) }
}

describe('the system prompt', () => {
  it('takes at most 2 600 of the 4 000 bytes of the standard preset; the rest is for the families of tools', async () => {
    const tools = shippedPresets.find(({ id }) => id === 'standard')?.tools ?? []
    const { system } = await setUp({ tools }).assemble({ cwd: '/home/person/projects/some-workspace', model: 'deepseek-v4-pro' })
    expect(new TextEncoder().encode(system).length).toBeLessThanOrEqual(2600)
  })
  it('says where the work happens, and no date', async () => {
    const { system } = await setUp().assemble()
    expect(system).toContain('# Where you work\nWorking folder: /w\nPlatform: Linux\nShell: /bin/bash\nModel: m')
    expect(system).not.toMatch(/\b(19|20)\d\d\b|today|date/i)
  })
  it('names the shell of Windows and that there may be none', async () => {
    expect((await setUp({ machine: { platform: 'win32', bash: null, pwsh: 'pwsh.exe' } }).assemble()).system).toContain('Platform: Windows\nShell: pwsh.exe')
    expect((await setUp({ machine: { platform: 'darwin', bash: null } }).assemble()).system).toContain('Platform: macOS\nShell: none')
  })
  it('leaves the model out while none is chosen', async () => expect((await setUp().assemble({ model: '' })).system).not.toContain('Model:'))
  it('speaks only of tools that are there', async () => {
    expect((await setUp().assemble()).system).not.toContain('# Tools')
    const { system } = await setUp({ tools: ['read', 'grep'] }).assemble()
    expect(system).toContain('# Tools')
    expect(system).not.toContain('todo_write')
    expect((await setUp({ tools: ['todo_write'] }).assemble()).system).toContain('todo_write')
  })
  it('is the same byte for byte from one step to the next, whatever the editor shows', async () => {
    const { state, assemble } = setUp({ tools: ['read'] })
    const before = (await assemble()).system
    state.isTrusted = false
    state.snapshot = { openEditors: ['b.ts'], unsavedFiles: [], gitBranch: 'x' }
    expect((await assemble({ step: 2 })).system).toBe(before)
  })
})

describe('the surroundings', () => {
  it('say nothing without an editor in a trusted folder', async () =>
    expect(await setUp().assemble()).toMatchObject({ runtimeContext: '', runtimeSections: [] }))
  it('tell what the editor shows', async () => {
    const { state, assemble } = setUp({
      snapshot: {
        activeEditor: { path: 'a.ts', languageId: 'typescript' },
        openEditors: ['a.ts', 'b.ts'],
        unsavedFiles: ['b.ts'],
        problems: { errors: 2, warnings: 1 },
        gitBranch: 'main',
      },
    })
    state.folders = ['/w', '/other']
    expect((await assemble()).runtimeContext).toBe(
      'Further workspace folders: /other\nGit branch: main\nIn front of the person: a.ts (typescript)\nOpen editors: a.ts, b.ts\nUnsaved: b.ts\nProblems shown by the editor: errors 2, warnings 1',
    )
  })
  it('name at most 20 editors', async () => {
    const openEditors = Array.from({ length: 23 }, (_, index) => `f${index}`)
    expect((await setUp({ snapshot: { openEditors, unsavedFiles: [] } }).assemble()).runtimeContext).toMatch(/f19 and 3 more$/)
  })
  it('say that the folder is not trusted, at once, and stop saying so', async () => {
    const { state, assemble } = setUp()
    state.isTrusted = false
    expect(await assemble({ step: 2 })).toMatchObject({ runtimeContext: expect.stringContaining('not trusted'), runtimeSections: ['trust'] })
    state.isTrusted = true
    expect((await assemble({ step: 3 })).runtimeContext).toBe('')
  })
  it('ask the editor once a turn', async () => {
    const { state, assemble } = setUp()
    for (const step of [1, 2, 3, 1]) await assemble({ step })
    expect(state.asked).toBe(2)
  })
})
