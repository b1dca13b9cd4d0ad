import { describe, expect, it } from 'vitest'
import type { FileKey } from '../../../../extension/capabilities/file-system.ts'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import type { EventDraft } from '../../../../extension/core/log/event.ts'
import { policyPlugin } from '../../../../extension/core/policy/plugin.ts'
import type { PermissionBook } from '../../../../extension/core/policy/permissions-service.ts'
import { settingsPlugin } from '../../../../extension/core/settings/service.ts'
import type { Execution, ToolResult } from '../../../../extension/core/tools/definition.ts'
import { createBashSyntax } from '../../../../extension/platform/node/bash-syntax.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { createFakeMachine } from '../../../support/fake-machine.ts'
import { memorySettings, type SettingValues } from '../../../support/memory-settings.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

const setUp = async ({ user = {}, workspaceSettings = {}, events = [] }: { user?: SettingValues; workspaceSettings?: SettingValues; events?: readonly EventDraft[] } = {}) => {
  const logger = createRecordingLogger()
  const kernel = createKernel({ logger })
  const source = memorySettings(user, workspaceSettings)
  const trust = { isTrusted: true, listeners: new Set<() => void>() }
  const workspace = {
    folders: () => [{ name: 'work', path: '/project' }],
    isTrusted: () => trust.isTrusted,
    onDidChangeTrust: (listener: () => void) => {
      trust.listeners.add(listener)
      return () => void trust.listeners.delete(listener)
    },
    onDidChangeFolders: () => () => undefined,
    snapshot: () => Promise.resolve({ openEditors: [], unsavedFiles: [] }),
  }
  const files = {
    resolve: (path: string, cwd: string) => {
      const whole = path.startsWith('/') ? path : `${cwd}/${path}`
      return Promise.resolve({ key: whole as FileKey, path: whole, spelling: path, isDanglingLink: false, exists: false })
    },
  }
  kernel.root.plugin(settingsPlugin({ source, logger, dispatch: kernel.dispatch }))
  const fiber = kernel.root.plugin(policyPlugin({ dispatch: kernel.dispatch, source, workspace, files, machine: createFakeMachine(), shellSyntax: createBashSyntax(), logger }))
  await fiber.ready
  const agent = { ...createFakeAgent({ events }), scope: kernel.createScope('agent', null) }
  const { permissions } = kernel.root
  const facts = () => agent.log.map(({ type, data }) => [type, ...Object.values(data)])
  const start = (source: 'startup' | 'resume' = 'startup') => {
    kernel.dispatch.emit('agent/created', null, [agent])
    kernel.dispatch.emit('agent/session-start', null, [agent, source])
  }
  const exec = (name: string, args: Execution['arguments']): Execution => ({ callId: 'c', rootCallId: 'c', name, arguments: args, agent, token: { id: 't' }, signal: new AbortController().signal })
  const decide = async (one: Execution) => (await kernel.dispatch.waterfall('tools/pre-execute', agent.scope, [one], () => Promise.resolve({ kind: 'allow' }))).kind
  return { kernel, source, trust, agent, permissions, facts, start, exec, decide, fiber }
}
const preset = (name: string) => ['permission/preset', name]
const mode = (name: string) => ['sandbox/mode', name]
const policy = (name: string) => ['approval/policy', name]

describe('the permissions of a session', () => {
  it('are written down when it starts', async () => {
    const { start, facts, permissions } = await setUp()
    start()
    expect([facts(), permissions.modeOf('session-1')]).toEqual([[preset('workspace-write'), mode('workspace-write'), policy('ask')], 'workspace-write'])
  })

  it('start as the setting says', async () => {
    const { start, facts, permissions } = await setUp({ user: { 'permissions.defaultPreset': 'danger-full-access' } })
    start()
    expect([facts(), permissions.defaultMode()]).toEqual([[preset('danger-full-access'), mode('danger-full-access'), policy('never')], 'danger-full-access'])
  })

  it('are kept when it is opened again; only what is missing is added', async () => {
    const { start, facts, permissions } = await setUp({ events: [{ type: 'sandbox/mode', data: { mode: 'read-only' } }] })
    start('resume')
    expect([facts(), permissions.modeOf('session-1')]).toEqual([[mode('read-only'), preset('read-only'), policy('ask')], 'read-only'])
  })

  it('change live: the preset, then what differs, and the model is told', async () => {
    const { start, facts, permissions, agent } = await setUp()
    let changes = 0
    permissions.onDidChange(() => (changes += 1))
    start()
    permissions.select('session-1', 'read-only')
    expect(facts().slice(3)).toEqual([preset('read-only'), mode('read-only')])
    permissions.select('session-1', 'danger-full-access')
    expect(facts().slice(5)).toEqual([preset('danger-full-access'), mode('danger-full-access'), policy('never')])
    permissions.select('session-1', 'danger-full-access')
    expect([facts().length, changes]).toEqual([8, 2])
    expect(agent.received.map(({ verb, message }) => [verb, message.source.kind, message.content])).toEqual([
      ['inject', 'plugin', [{ type: 'text', text: expect.stringContaining('changed your permissions to read-only') }]],
      ['inject', 'plugin', [{ type: 'text', text: expect.stringContaining('changed your permissions to danger-full-access') }]],
    ])
  })

  it('cannot be changed for a session that is not open', async () => {
    const { permissions, start, kernel, agent } = await setUp()
    expect(() => permissions.select('session-1', 'read-only')).toThrow('not open here')
    start()
    kernel.dispatch.emit('agent/disposed', null, [agent])
    expect(() => permissions.select('session-1', 'read-only')).toThrow('not open here')
  })

  it('are capped while the folder is not trusted, and come back with the trust', async () => {
    const { permissions, start, trust } = await setUp()
    start()
    let changes = 0
    permissions.onDidChange(() => (changes += 1))
    trust.isTrusted = false
    trust.listeners.forEach((listener) => listener())
    expect([permissions.modeOf('session-1'), permissions.defaultMode(), (permissions as PermissionBook).policyIn, changes]).toEqual(['read-only', 'read-only', expect.any(Function), 1])
    expect(() => permissions.select('session-1', 'workspace-write')).toThrow('not trusted')
    trust.isTrusted = true
    expect(permissions.modeOf('session-1')).toBe('workspace-write')
  })
})

describe('the rules', () => {
  const rule = { tool: 'bash', match: 'npm test *', decision: 'allow' } as const
  const sessionRule = { tool: 'edit', path: '**', folder: '/project', decision: 'allow' } as const

  it('are listed in words, of the person, the workspace and the session', async () => {
    const { permissions, start, agent } = await setUp({
      user: { 'permissions.rules': [rule, { tool: 'x' }] },
      workspaceSettings: { 'permissions.rules': [rule, { tool: 'write', decision: 'ask' }] },
    })
    start()
    agent.log.push({ type: 'approval/decided', data: { id: 'a', outcome: 'allowed-once', rule: JSON.stringify({ scope: 'session', rules: [sessionRule] }) } })
    expect(permissions.rules('session-1').map(({ text, scope, isFromWorkspace }) => [text, scope, isFromWorkspace])).toEqual([
      ['Allow `npm test …`', 'always', false],
      ['Ask before write', 'always', true],
      ['Allow edit in ** in /project', 'session', false],
    ])
    expect(permissions.rules().length).toBe(2)
  })

  it('of a session hold in it, over a reload, and nowhere else', async () => {
    const stored: EventDraft = { type: 'approval/decided', data: { id: 'a', outcome: 'allowed-once', rule: JSON.stringify({ scope: 'session', rules: [sessionRule] }) } }
    const broken: EventDraft = { type: 'approval/decided', data: { id: 'b', outcome: 'allowed-once', rule: '{no json' } }
    const { exec, decide, start } = await setUp({ events: [broken, stored] })
    start('resume')
    expect(await decide(exec('edit', { file_path: 'a.ts' }))).toBe('allow')
    const other = await setUp()
    other.start()
    expect(await other.decide(other.exec('edit', { file_path: 'a.ts' }))).toBe('ask')
  })

  it('of a session do not go over to a fork of it', async () => {
    const given: EventDraft = { type: 'approval/decided', data: { id: 'a', outcome: 'allowed-once', rule: JSON.stringify({ scope: 'session', rules: [sessionRule] }) } }
    const { agent, exec, decide, start } = await setUp({ events: [given] })
    Object.assign(agent.session.header, { parentSession: 'other', seedLength: 1 })
    start('resume')
    const before = await decide(exec('edit', { file_path: 'a.ts' }))
    agent.log.push(given)
    expect([before, await decide(exec('edit', { file_path: 'a.ts' }))]).toEqual(['ask', 'allow'])
  })

  it('of a session that was taken back stays so over a reload, until the person gives it again', async () => {
    const given: EventDraft = { type: 'approval/decided', data: { id: 'a', outcome: 'allowed-once', rule: JSON.stringify({ scope: 'session', rules: [sessionRule] }) } }
    const { permissions, agent, start } = await setUp({ events: [given] })
    start('resume')
    const [listed] = permissions.rules('session-1')
    if (listed === undefined) throw new Error('the rule is missing')
    await permissions.revoke({ ...listed, rule: { decision: 'allow', folder: '/project', path: '**', tool: 'edit' } })
    const reloaded = await setUp({ events: agent.log })
    reloaded.start('resume')
    const edit = reloaded.exec('edit', { file_path: 'a.ts' })
    expect([await reloaded.decide(edit), reloaded.permissions.rules('session-1')]).toEqual(['ask', []])
    reloaded.agent.log.push(given)
    expect(await reloaded.decide(edit)).toBe('allow')
  })

  it('can be taken back, each where it stands', async () => {
    const { permissions, start, agent, source, exec, decide } = await setUp({
      user: { 'permissions.rules': [rule, 'broken', { tool: 'write', decision: 'deny' }] },
      workspaceSettings: { 'permissions.rules': [{ tool: 'write', decision: 'ask' }] },
    })
    agent.log.push({ type: 'approval/decided', data: { id: 'a', outcome: 'allowed-once', rule: JSON.stringify({ scope: 'session', rules: [sessionRule] }) } })
    start()
    const [always, denied, fromWorkspace, session] = permissions.rules('session-1')
    if (always === undefined || denied === undefined || fromWorkspace === undefined || session === undefined) throw new Error('a rule is missing')
    await Promise.all([permissions.revoke(always), permissions.revoke(denied)])
    expect(source.user['permissions.rules']).toEqual(['broken'])
    await expect(permissions.revoke(fromWorkspace)).rejects.toThrow('Take it out there')
    expect(await decide(exec('edit', { file_path: 'a.ts' }))).toBe('allow')
    await permissions.revoke(session)
    expect([await decide(exec('edit', { file_path: 'a.ts' })), permissions.rules('session-1').map(({ isFromWorkspace }) => isFromWorkspace)]).toEqual(['ask', [true]])
  })
})

describe('the policy', () => {
  it('lets other listeners make it stricter and never looser', async () => {
    const { kernel, exec, decide, start } = await setUp()
    start()
    const read = exec('read', { file_path: 'a' })
    const undo = kernel.root.on('tools/pre-execute', (one) => ({ kind: one.name === 'read' ? 'ask' : 'allow' }))
    expect([await decide(read), await decide(exec('edit', { file_path: 'a' })), await decide(exec('read', { file_path: '.env' }))]).toEqual(['ask', 'ask', 'deny'])
    undo()
    kernel.root.on('tools/pre-execute', () => ({ kind: 'deny', reason: 'no' }))
    expect([await decide(read), await decide(exec('edit', { file_path: 'a' }))]).toEqual(['deny', 'deny'])
  })

  it('asks no more about a file that was made with leave, once it was', async () => {
    const { kernel, agent, exec, decide, start } = await setUp()
    start()
    const write = exec('write', { file_path: 'mine.md' })
    await decide(write)
    const done = (operation: string): ToolResult => ({ isError: false, value: { operation, path: 'mine.md' }, content: [] })
    kernel.dispatch.emit('tools/result', agent.scope, [write, done('update')])
    expect(await decide(exec('edit', { file_path: 'mine.md' }))).toBe('ask')
    kernel.dispatch.emit('tools/result', agent.scope, [write, done('create')])
    expect(await decide(exec('edit', { file_path: 'mine.md' }))).toBe('allow')
  })

  it('knows the tools that others declare', async () => {
    const { permissions, exec, decide, start } = await setUp()
    start()
    expect(await decide(exec('lint', { file: 'a' }))).toBe('ask')
    const undo = permissions.declare('lint', (args) => ({ kind: 'read', paths: [args['file'] as string] }))
    expect([await decide(exec('lint', { file: 'a' })), await decide(exec('lint', { file: '/etc/x' }))]).toEqual(['allow', 'ask'])
    expect(() => permissions.declare('lint', () => ({ kind: 'none' }))).toThrow('declared already')
    undo()
    expect(await decide(exec('lint', { file: 'a' }))).toBe('ask')
  })

  it('leaves nothing behind when it goes', async () => {
    const { kernel, fiber, trust, exec, decide } = await setUp()
    await fiber.dispose()
    expect([kernel.root.get('permissions'), kernel.root.get('approvals'), trust.listeners.size, await decide(exec('edit', { file_path: 'a' }))]).toEqual([undefined, undefined, 0, 'allow'])
  })
})
