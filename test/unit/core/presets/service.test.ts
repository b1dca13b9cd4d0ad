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

/** A workspace that becomes another one at the word of a test. */
function fakeWorkspace(first: { readonly isTrusted?: boolean; readonly paths?: readonly string[] }) {
  let now = { isTrusted: true, paths: [] as readonly string[], ...first }
  const [trust, folders] = [new Set<() => void>(), new Set<() => void>()]
  const heard = (listeners: Set<() => void>) => (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return {
    given: { isTrusted: () => now.isTrusted, folders: () => now.paths.map((path) => ({ name: path, path })), onDidChangeTrust: heard(trust), onDidChangeFolders: heard(folders) },
    become(next: typeof first) {
      now = { ...now, ...next }
      for (const listener of [...(next.isTrusted === undefined ? [] : trust), ...(next.paths === undefined ? [] : folders)]) listener()
    },
    listeners: () => trust.size + folders.size,
  }
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
      { id: 'creator', name: 'Creator', ...usual, problem: 'The preset creator writes plugins, and those are off. Turn on the setting bosun.dynamicPlugins.enabled to use it.' },
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
    const workspace = fakeWorkspace({ isTrusted: false })
    const { visible, agentOf, fiber } = setUp(['bash', 'edit', 'grep', 'read', 'todo_write', 'write'], workspace.given)
    const agent = agentOf('standard')
    expect(visible(agent)).toEqual(['grep', 'read', 'todo_write'])
    workspace.become({ isTrusted: true })
    expect(visible(agent)).toEqual(['bash', 'edit', 'grep', 'read', 'todo_write', 'write'])
    await fiber.dispose()
    expect(workspace.listeners()).toBe(0)
  })
  it('has no tools that run programs where no folder is on the disk, until one is', () => {
    const workspace = fakeWorkspace({ paths: ['memfs://x/w'] })
    const { visible, agentOf } = setUp(['bash', 'job_list', 'read', 'terminal_open', 'write'], workspace.given)
    const agent = agentOf('editor')
    expect(visible(agent)).toEqual(['read', 'write'])
    workspace.become({ paths: ['memfs://x/w', '/v'] })
    expect(visible(agent)).toEqual(['bash', 'job_list', 'read', 'terminal_open', 'write'])
    workspace.become({ paths: [] })
    expect(visible(agent)).toEqual(['bash', 'job_list', 'read', 'terminal_open', 'write'])
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
  it('leaves out what the person switched off in this workspace, at once and until it is switched on again', async () => {
    const { visible, agentOf, source } = setUp(['mcp__a__one', 'mcp__a__two'], fakeWorkspace({ paths: ['/w', '/v'] }).given)
    const agent = agentOf('standard')
    await source.set('mcp.disabledTools', { '/w': ['mcp__a__one'], '/v': ['mcp__a__two'] }, 'user')
    expect(visible(agent)).toEqual(['mcp__a__two'])
    await source.set('mcp.disabledTools', {}, 'user')
    expect(visible(agent)).toEqual(['mcp__a__one', 'mcp__a__two'])
  })
  it('shows at no moment more than it may, while tools come and go', () => {
    const { visible, agentOf, add, root } = setUp(['read', 'write'])
    const agent = agentOf('ask')
    const seen = new Set<string>()
    root.on('tools/change', () => {
      for (const name of visible(agent)) seen.add(name)
    })
    add('grep')()
    add('bash')()
    expect([...seen].toSorted()).toEqual(['grep', 'read'])
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
  // One of the two shells is there at a time, and coding agents of others only where they are on and found: 25 tools.
  expect(byId['standard']).toHaveLength(28)
  expect(byId['editor']).toEqual([
    ...(byId['standard'] ?? []), 'lsp', 'web_fetch', 'terminal_list', 'terminal_open', 'terminal_read', 'terminal_send', 'terminal_signal', 'terminal_close',
    'schedule_create', 'schedule_list', 'schedule_delete',
  ].sort())
  expect(byId['ask']).toEqual(['ask_user_question', 'glob', 'grep', 'lsp', 'read', 'read_image', 'web_search'])
  expect(byId['minimal']).toEqual(['bash', 'pwsh', 'str_replace_editor'])
})
