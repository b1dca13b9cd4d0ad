import { describe, expect, it } from 'vitest'
import type { Workspace } from '../../../../extension/capabilities/workspace.ts'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import type { ScopeKey } from '../../../../extension/core/kernel/plugin.ts'
import { createPresetsPlugin } from '../../../../extension/core/presets/service.ts'
import { shippedPresets } from '../../../../extension/core/presets/shipped.ts'
import { createSystemPromptPlugin } from '../../../../extension/core/prompt/service.ts'
import { settingsPlugin } from '../../../../extension/core/settings/service.ts'
import { createToolsPlugin } from '../../../../extension/core/tools/registry.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { memorySettings } from '../../../support/memory-settings.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

function setUp(toolNames: readonly string[] = [], workspace?: Pick<Workspace, 'isTrusted' | 'onDidChangeTrust' | 'folders' | 'onDidChangeFolders'>) {
  const logger = createRecordingLogger()
  const kernel = createKernel({ logger })
  const { root, dispatch } = kernel
  const source = memorySettings()
  root.plugin(settingsPlugin({ source, logger, dispatch }))
  root.plugin(createSystemPromptPlugin({ dispatch }))
  root.plugin(createToolsPlugin({ dispatch, randomId: () => 't' }))
  const fiber = root.plugin(createPresetsPlugin({ kernel, ...(workspace && { workspace }) }))
  const add = (name: string, ctx = root) =>
    ctx.tools.register({ name, description: name, parameters: { type: 'object' }, output: { schema: {}, render: () => [] }, execute: () => null })
  const undos = new Map(toolNames.map((name) => [name, add(name)]))
  const visible = (scope: ScopeKey) => root.tools.schemas(scope).map(({ name }) => name)
  const agentOf = (preset: string) => kernel.createScope('agent', root.presets.scopeOf(preset))
  return { kernel, root, source, fiber, logger, add, undos, visible, agentOf }
}

describe('the picker', () => {
  it('lists presets in their order, with words, and what is missing for one that cannot work', () => {
    const usual = { description: expect.any(String) as string, root: 'shipped' }
    const missing = (id: string, tool: string) => ({ problem: `The preset ${id} needs ${tool}, which this build does not have.` })
    expect(setUp().root.presets.list()).toEqual([
      { id: 'editor', name: 'Editor', ...usual },
      { id: 'standard', name: 'Standard', ...usual },
      { id: 'code', name: 'Code', ...usual, ...missing('code', 'run_code') },
      { id: 'minimal', name: 'Minimal', ...usual, ...missing('minimal', 'str_replace_editor') },
      { id: 'creator', name: 'Creator', ...usual, ...missing('creator', 'cordis_run') },
      { id: 'team', name: 'Team', ...usual, ...missing('team', 'spawn_teammate') },
      { id: 'ask', name: 'Ask', ...usual },
    ])
    expect(setUp(['str_replace_editor']).root.presets.list()[3]).not.toHaveProperty('problem')
  })
  it('takes the default from the setting, live', async () => {
    const { root, source } = setUp()
    expect(root.presets.defaultId()).toBe('editor')
    await source.set('agent.defaultPreset', 'ask', 'user')
    expect(root.presets.defaultId()).toBe('ask')
  })
  it('refuses an unknown and a broken one with what to do', () => {
    const { root } = setUp()
    expect(() => root.presets.scopeOf('nope')).toThrow('There is no preset named nope. Choose one of editor, standard, code, minimal, creator, team, ask.')
    expect(() => root.presets.scopeOf('minimal')).toThrow('needs str_replace_editor')
  })
})

describe('a preset’s layer', () => {
  it('shows exactly its tools', () => {
    const { visible, agentOf } = setUp(['bash', 'read', 'grep', 'lsp', 'web_fetch', 'session_search'])
    expect([visible(agentOf('standard')), visible(agentOf('ask')), visible(agentOf('editor'))]).toEqual([
      ['bash', 'grep', 'read'],
      ['grep', 'lsp', 'read'],
      ['bash', 'grep', 'lsp', 'read', 'web_fetch'],
    ])
  })
  it('is mounted once', () => {
    const { root } = setUp()
    expect(root.presets.scopeOf('ask')).toBe(root.presets.scopeOf('ask'))
  })
  it('follows tools that come and go', () => {
    const { visible, agentOf, add, undos } = setUp(['read'])
    const agent = agentOf('ask')
    const undo = add('grep')
    add('write')
    expect(visible(agent)).toEqual(['grep', 'read'])
    undo()
    undos.get('read')?.()
    expect(visible(agent)).toEqual([])
    add('read')
    expect(visible(agent)).toEqual(['read'])
  })
  it('has only tools that change nothing in a folder that is not trusted, until it is', async () => {
    let isTrusted = false
    const listeners = new Set<() => void>()
    const { visible, agentOf, fiber } = setUp(['bash', 'edit', 'grep', 'read', 'todo_write', 'write'], {
      folders: () => [],
      onDidChangeFolders: () => () => {},
      isTrusted: () => isTrusted,
      onDidChangeTrust: (listener) => {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
    })
    const agent = agentOf('standard')
    expect(visible(agent)).toEqual(['grep', 'read', 'todo_write'])
    isTrusted = true
    for (const listener of listeners) listener()
    expect(visible(agent)).toEqual(['bash', 'edit', 'grep', 'read', 'todo_write', 'write'])
    await fiber.dispose()
    expect(listeners.size).toBe(0)
  })
  it('shows nothing when none of its tools is there', () => {
    const { visible, agentOf, add } = setUp(['write'])
    const agent = agentOf('ask')
    add('bash')
    expect(visible(agent)).toEqual([])
  })
  it('leaves out what the person turned off, at once and until it is turned on again', async () => {
    const { visible, agentOf, source } = setUp(['read', 'grep', 'glob'])
    const agent = agentOf('ask')
    await source.set('tools.disabled', ['grep', 'nope'], 'user')
    expect(visible(agent)).toEqual(['glob', 'read'])
    await source.set('tools.disabled', undefined, 'user')
    expect(visible(agent)).toEqual(['glob', 'grep', 'read'])
  })
  it('starts without any tool at all', () => {
    const { visible, agentOf, add } = setUp()
    const agent = agentOf('ask')
    for (const name of ['write', 'read']) add(name)
    expect(visible(agent)).toEqual(['read'])
  })
  it('leaves an agent’s own tools alone', () => {
    const { kernel, root, visible, agentOf, add } = setUp(['read'])
    const agent = agentOf('ask')
    add('report', root.scoped(agent))
    expect(visible(agent)).toEqual(['read', 'report'])
    expect(visible(kernel.createScope('sibling', root.presets.scopeOf('standard')))).toEqual(['read'])
  })
  it('of minimal has one complete prompt and no runtime context', async () => {
    const { root, agentOf } = setUp(['str_replace_editor', 'bash', 'read'])
    root.systemPrompt.section({ name: 'identity', order: -100, text: 'Bosun' })
    root.systemPrompt.runtimeContext({ name: 'trust', order: 5, text: () => 'untrusted' })
    const agent = createFakeAgent()
    const assembled = await root.systemPrompt.assemble({ agent, scope: agentOf('minimal'), provider: 'p', model: 'm', cwd: '/w', step: 1 })
    expect(assembled.system).toMatch(/^You are a coding agent\. .* in \/w\./)
    expect(assembled.runtimeContext).toBe('')
  })
  it('goes with the plugin', async () => {
    const { root, fiber, visible, agentOf } = setUp(['write'])
    const agent = agentOf('ask')
    await fiber.dispose()
    expect([root.get('presets'), visible(agent)]).toEqual([undefined, ['write']])
  })
})

it('ships the tools the catalogue names', () => {
  const byId = Object.fromEntries(shippedPresets.map(({ id, tools }) => [id, [...tools].sort()]))
  // One of the two shells is there at a time: 25 tools.
  expect(byId['standard']).toHaveLength(26)
  expect(byId['editor']).toEqual([
    ...(byId['standard'] ?? []), 'lsp', 'web_fetch', 'terminal_list', 'terminal_open', 'terminal_read', 'terminal_send', 'terminal_signal', 'terminal_close',
    'schedule_create', 'schedule_list', 'schedule_delete',
  ].sort())
  expect(byId['ask']).toEqual(['ask_user_question', 'glob', 'grep', 'lsp', 'read', 'read_image', 'web_search'])
  expect(byId['minimal']).toEqual(['bash', 'pwsh', 'str_replace_editor'])
})
