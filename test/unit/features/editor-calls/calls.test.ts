import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../extension/base/json.ts'
import type { Context } from '../../../../extension/core/kernel/plugin.ts'
import type { ApprovalAnswer } from '../../../../extension/core/policy/approval.ts'
import type { ToolResult } from '../../../../extension/core/tools/definition.ts'
import { EditorChatCalls } from '../../../../extension/features/editor-calls/calls.ts'
import { editorCallsPlugin } from '../../../../extension/features/editor-calls/plugin.ts'
import type { EditorCalls } from '../../../../extension/features/editor-calls/service.ts'
import { createFakeSandbox } from '../../../support/fake-sandbox.ts'
import type { SettingValues } from '../../../support/memory-settings.ts'
import { codeOf, textOf } from '../../../support/mcp-rig.ts'
import { wholeApplication, type WholeApplication } from '../../../support/whole-application.ts'

interface Rig {
  readonly application: WholeApplication
  readonly calls: EditorCalls
  /** Tools that the person was asked about by Bosun, in order. */
  readonly asked: string[]
  answerWith(answer: ApprovalAnswer | 'wait'): void
  prepare(tool: string, input: JsonObject, chat?: string | null): ReturnType<EditorCalls['prepare']>
  run(tool: string, input: JsonObject, more?: { readonly chat?: string | null; readonly signal?: AbortSignal }): Promise<ToolResult>
  events(chat?: string | null): readonly string[]
}

/** What every session begins with. */
const beginnings: ReadonlySet<string> = new Set(['permission/preset', 'sandbox/mode', 'approval/policy'])
const rigs: Rig[] = []
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
afterEach(async () => {
  for (const { application } of rigs.splice(0)) await application.dispose()
})

async function setUp(settings: SettingValues = {}, alter: NonNullable<Parameters<typeof wholeApplication>[0]>['alter'] = (world) => world): Promise<Rig> {
  const application = await wholeApplication({ settings: { 'editorChat.offerTools': 'all', ...settings }, alter })
  const { ctx, folder } = application
  await ctx.plugin(editorCallsPlugin({ machine: { randomId: () => crypto.randomUUID(), homeFolder: folder }, workspace: { folders: () => [{ name: 'w', path: folder }] } })).ready
  const calls = ctx.get('editorCalls')!
  const asked: string[] = []
  let answer: ApprovalAnswer | 'wait' = { outcome: 'rejected', note: 'Not now.' }
  ctx.on('approval/request', async ({ toolName, signal }, next) => {
    asked.push(toolName)
    if (answer !== 'wait') return answer
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return await next()
  })
  const rig: Rig = {
    application,
    calls,
    asked,
    answerWith: (next) => void (answer = next),
    prepare: (tool, input, chat = 'one') => calls.prepare({ chat, tool, input, signal: new AbortController().signal }),
    run: (tool, input, { chat = 'one', signal = new AbortController().signal } = {}) => calls.run({ chat, tool, input, signal }),
    events: (chat = 'one') => ctx.agents.live(calls.sessionOf(chat) ?? '')?.session.milestones().map(({ type }) => type).filter((type) => !beginnings.has(type)) ?? [],
  }
  rigs.push(rig)
  await writeFile(join(folder, 'a.txt'), 'alpha\nbeta\n')
  return rig
}

const file = ({ application }: Rig, name = 'a.txt') => join(application.folder, name)
const bash = (command: string): JsonObject => ({ command, description: 'As the test says' })
const unknownCommand = 'node -e "1"'

it('a yes of the editor is no answer any more once its call was stopped', async () => {
  const rig = await setUp()
  const stop = new AbortController()
  const outcomes: ApprovalAnswer[] = []
  rig.application.ctx.on(
    'approval/request',
    async (_request, next) => {
      stop.abort()
      const outcome = await next()
      outcomes.push(outcome)
      return outcome
    },
    { prepend: true },
  )
  expect(await rig.prepare('bash', bash(unknownCommand))).not.toBeNull()
  await expect(rig.run('bash', bash(unknownCommand), { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' })
  expect([outcomes, rig.asked]).toEqual([[{ outcome: 'cancelled' }], []])
})

describe('a call of the editor’s chat', () => {
  it('goes through the pipeline in a session of its chat, and stands in its log', async () => {
    const rig = await setUp()
    const result = await rig.run('read', { file_path: file(rig) })
    expect([result.isError, textOf(result)]).toEqual([false, expect.stringContaining('alpha')])
    expect(rig.events().filter((type) => /^(session|turn|user|tool)\//.test(type))).toEqual(['session/title', 'turn/start', 'user/message', 'user/message', 'tool/call', 'tool/result'])
    const session = rig.application.ctx.agents.live(rig.calls.sessionOf('one')!)!.session
    expect(session.projections().values['title']).toBe('The editor’s chat')
  })
  it('has one session a chat, and another one for another chat', async () => {
    const rig = await setUp()
    await rig.run('read', { file_path: file(rig) })
    const first = rig.calls.sessionOf('one')
    await rig.application.ctx.agents.live(first!)!.whenIdle()
    await rig.run('read', { file_path: file(rig) })
    await rig.run('read', { file_path: file(rig) }, { chat: null })
    expect([rig.calls.sessionOf('one'), rig.calls.sessionOf(null)]).toEqual([first, expect.not.stringMatching(first!)])
    const counts = (chat: string | null) => {
      const types = rig.application.ctx.agents.live(rig.calls.sessionOf(chat)!)!.session.events().map(({ type }) => type)
      return ['session/title', 'tool/result'].map((name) => types.filter((type) => type === name).length)
    }
    expect([counts('one'), counts(null)]).toEqual([[1, 2], [1, 1]])
  })
  it('edits what was read before, so that it can be reviewed', async () => {
    const rig = await setUp()
    rig.answerWith({ outcome: 'allowed-once' })
    await rig.run('read', { file_path: file(rig) })
    const { isError } = await rig.run('edit', { file_path: file(rig), old_string: 'beta', new_string: 'gamma' })
    expect([isError, await readFile(file(rig), 'utf8')]).toEqual([false, 'alpha\ngamma\n'])
    const agent = rig.application.ctx.agents.live(rig.calls.sessionOf('one')!)!
    await expect.poll(() => rig.application.ctx.get('reviews')!.of(agent.session).files.map(({ path }) => path)).toEqual([file(rig)])
  })
  it('fails with the reason', async () => {
    const rig = await setUp()
    expect(textOf(await rig.run('read', { file_path: file(rig, 'none.txt') }))).toMatch(/^Error: .*none\.txt/)
    expect(codeOf(await rig.run('read', { path: 4 }))).toBe('INVALID_ARGS')
    expect(codeOf(await rig.run('no_such_tool', {}))).toBe('UNKNOWN_TOOL')
  })
  it('runs beside others that were made at once', async () => {
    const rig = await setUp()
    const results = await Promise.all([1, 2, 3].map(() => rig.run('read', { file_path: file(rig) })))
    expect(results.map(({ isError }) => isError)).toEqual([false, false, false])
    expect(rig.events().filter((type) => type === 'tool/result')).toHaveLength(3)
  })
  it('is made by a turn of its own where the one before is about to end', async () => {
    const rig = await setUp()
    let answers = 0
    const late = new Promise<ToolResult>((resolve) => {
      rig.application.ctx.on('session/event', (_session, { type }) => {
        if (type === 'assistant/message' && ++answers === 2) resolve(rig.run('glob', { pattern: '*.txt' }))
      })
    })
    await rig.run('read', { file_path: file(rig) })
    expect([textOf(await late), rig.events().filter((type) => type === 'turn/start')]).toEqual([expect.stringContaining('a.txt'), ['turn/start', 'turn/start']])
  })
  it('begins another session once the person took this one over', async () => {
    const rig = await setUp()
    await rig.run('read', { file_path: file(rig) })
    const first = rig.calls.sessionOf('one')!
    rig.application.ctx.agents.configure(first, { provider: 'mine', model: 'm' })
    await rig.run('read', { file_path: file(rig) })
    expect(rig.calls.sessionOf('one')).not.toBe(first)
  })
  it('begins another session once this one was closed', async () => {
    const rig = await setUp()
    await rig.run('read', { file_path: file(rig) })
    const first = rig.calls.sessionOf('one')!
    await rig.application.ctx.agents.live(first)!.dispose()
    expect((await rig.run('read', { file_path: file(rig) })).isError).toBe(false)
    expect(rig.calls.sessionOf('one')).not.toBe(first)
  })
})

it('holds no agent of a session that was closed', async () => {
  const live = new Map<string, object>()
  const made: WeakRef<object>[] = []
  const agents = {
    create: () => {
      const agent = { id: `s${made.length}`, session: { access: 'write' } }
      live.set(agent.id, agent)
      made.push(new WeakRef(agent))
      return Promise.resolve(agent)
    },
    live: (id: string) => live.get(id),
    optionsOf: () => ({ provider: 'editor-chat' }),
  }
  // All that a look at a call needs of the application, which itself may hold an agent for a while.
  const ctx = { agents, settings: { get: () => 'all' }, foresight: { decide: () => Promise.resolve({ kind: 'allow' }) } } as unknown as Context
  const calls = new EditorChatCalls(ctx, { machine: { randomId: () => 'id', homeFolder: '/' }, workspace: { folders: () => [] } })
  await calls.prepare({ chat: 'one', tool: 'read', input: {}, signal: new AbortController().signal })
  live.clear()
  await expect.poll(() => (collectGarbage(), made.map((agent) => agent.deref() === undefined))).toEqual([true])
})

describe('the setting', () => {
  it('keeps all out while it says none', async () => {
    const rig = await setUp({ 'editorChat.offerTools': 'none' })
    await expect(rig.run('read', { file_path: file(rig) })).rejects.toMatchObject({ code: 'NOT_OFFERED' })
    expect([await rig.prepare('read', { file_path: file(rig) }), rig.application.ctx.agents.list()]).toEqual([null, []])
  })
  const rows: readonly [tool: string, input: (rig: Rig) => JsonObject, code: string][] = [
    ['read', (rig) => ({ file_path: file(rig) }), 'ok'],
    ['grep', () => ({ pattern: 'alpha' }), 'ok'],
    ['write', (rig) => ({ file_path: file(rig, 'b.txt'), content: 'x' }), 'NOT_OFFERED'],
    ['bash', () => bash('ls'), 'NOT_OFFERED'],
    ['lsp', (rig) => ({ operation: 'rename', file_path: file(rig), line: 1, character: 1, new_name: 'b' }), 'NOT_OFFERED'],
  ]
  it.each(rows)('that says read lets %s do no more than that', async (tool, input, code) => {
    const rig = await setUp({ 'editorChat.offerTools': 'read' })
    expect(await rig.run(tool, input(rig)).then(codeOf, (error: { code: string }) => error.code)).toBe(code)
  })
})

describe('what policy asks', () => {
  it('is asked by Bosun when the editor asked nothing, and no means no', async () => {
    const rig = await setUp()
    const result = await rig.run('bash', bash(unknownCommand))
    expect([rig.asked, codeOf(result), textOf(result)]).toEqual([['bash'], 'DENIED', expect.stringContaining('Not now.')])
  })
  it('is asked once: the yes in the editor is the answer, for one call', async () => {
    const rig = await setUp()
    // In whatever order the editor gives the arguments.
    const question = await rig.prepare('bash', Object.fromEntries(Object.entries(bash(unknownCommand)).toReversed()))
    expect(question).toEqual({ effect: 'Run `node -e "1"`', why: 'No rule of yours allows `node`.' })
    expect([(await rig.run('bash', bash(unknownCommand))).isError, rig.asked]).toEqual([false, []])
    expect(rig.events().filter((type) => type.startsWith('approval/'))).toEqual(['approval/asked', 'approval/decided'])
    await rig.run('bash', bash(unknownCommand))
    expect(rig.asked).toEqual(['bash'])
  })
  it('is not asked for what policy lets through', async () => {
    const rig = await setUp({ 'permissions.defaultPreset': 'danger-full-access' })
    expect([await rig.prepare('read', { file_path: file(rig) }), await rig.prepare('write', { file_path: file(rig, 'b.txt'), content: 'x' })]).toEqual([null, null])
    expect(rig.events()).toEqual([])
  })
  it('is no question where policy refuses', async () => {
    const rig = await setUp({ 'permissions.defaultPreset': 'read-only' })
    const input = { file_path: file(rig, 'b.txt'), content: 'x' }
    expect(await rig.prepare('write', input)).toBe(null)
    expect([(await rig.run('write', input)).isError, rig.asked]).toEqual([true, []])
  })
  it.each([
    ['where work would be lost', bash('git reset --hard'), 'DENIED'],
    ['where a call wants more than the session may', { ...bash('ls'), sandbox_permissions: 'danger-full-access', justification: 'To see all.' }, 'ESCALATION_REJECTED'],
  ])('is asked by Bosun alone %s: the editor may be set to ask nothing', async (_, input, code) => {
    const rig = await setUp({}, (world) => ({ ...world, sandbox: createFakeSandbox() }))
    // A sandbox is looked for with the first turn of a session.
    await rig.run('read', { file_path: file(rig) })
    expect(await rig.prepare('bash', input)).toBeNull()
    expect([codeOf(await rig.run('bash', input)), rig.asked]).toEqual([code, ['bash']])
  })
  it('is kept for the last hundred calls that the editor asked about', async () => {
    const rig = await setUp()
    const commands = Array.from({ length: 101 }, (_, n) => bash(`node -e "${n}"`))
    for (const command of commands) expect(await rig.prepare('bash', command)).not.toBeNull()
    expect([(await rig.run('bash', commands[1]!)).isError, rig.asked]).toEqual([false, []])
    expect([codeOf(await rig.run('bash', commands[0]!)), rig.asked]).toEqual(['DENIED', ['bash']])
  })
  it('is no other question than the one that was put', async () => {
    const rig = await setUp()
    await rig.prepare('bash', bash(unknownCommand))
    await rig.run('bash', bash('node -e "2"'))
    expect(rig.asked).toEqual(['bash'])
  })
  it('is asked anew where the question is another one by now', async () => {
    const rig = await setUp()
    expect(await rig.prepare('bash', bash(unknownCommand))).toEqual({ effect: 'Run `node -e "1"`', why: 'No rule of yours allows `node`.' })
    // As another extension's policy does.
    rig.application.ctx.on('tools/pre-execute', async (_exec, next) => {
      const decision = await next()
      return decision.kind === 'ask' && decision.details !== undefined ? { ...decision, details: { ...decision.details, why: 'It is late.' } } : decision
    }, { prepend: true })
    expect([codeOf(await rig.run('bash', bash(unknownCommand))), rig.asked]).toEqual(['DENIED', ['bash']])
  })
  it('holds no longer once the same call was looked at again and needed no question', async () => {
    const rig = await setUp()
    await rig.prepare('bash', bash(unknownCommand))
    await rig.application.settings.set('editorChat.offerTools', 'none', 'user')
    await rig.prepare('bash', bash(unknownCommand))
    await rig.application.settings.set('editorChat.offerTools', 'all', 'user')
    await rig.run('bash', bash(unknownCommand))
    expect(rig.asked).toEqual(['bash'])
  })
})

describe('a cancel', () => {
  const cancelled = async (work: Promise<unknown>) => await work.then(() => 'done', (error: Error) => error.name)
  it('before the call makes nothing', async () => {
    const rig = await setUp()
    const cancel = new AbortController()
    cancel.abort()
    expect([await cancelled(rig.run('read', { file_path: file(rig) }, { signal: cancel.signal })), rig.events()]).toEqual(['AbortError', []])
  })
  it('while it runs stops it, and its turn ends', async () => {
    const rig = await setUp({ 'permissions.defaultPreset': 'danger-full-access' })
    const cancel = new AbortController()
    const running = cancelled(rig.run('bash', bash('sleep 60'), { signal: cancel.signal }))
    await expect.poll(() => rig.events()).toContain('tool/call')
    cancel.abort()
    expect(await running).toBe('AbortError')
    await rig.application.ctx.agents.live(rig.calls.sessionOf('one')!)!.whenIdle()
    expect(rig.events().filter((type) => type === 'tool/result' || type === 'turn/end')).toEqual(['tool/result', 'turn/end'])
  })
  it('of one leaves those beside it', async () => {
    const rig = await setUp({ 'permissions.defaultPreset': 'danger-full-access' })
    const cancel = new AbortController()
    const stopped = cancelled(rig.run('bash', bash('sleep 60'), { signal: cancel.signal }))
    const other = rig.run('bash', bash('echo two'))
    await expect.poll(() => rig.events()).toContain('tool/call')
    cancel.abort()
    expect([await stopped, textOf(await other)]).toEqual(['AbortError', expect.stringContaining('two')])
  })
  it('that comes after its end stops nothing: the turn ends as it would', async () => {
    const rig = await setUp()
    const cancel = new AbortController()
    await rig.run('read', { file_path: file(rig) }, { signal: cancel.signal })
    cancel.abort()
    const agent = rig.application.ctx.agents.live(rig.calls.sessionOf('one')!)!
    await agent.whenIdle()
    expect(agent.session.milestones().findLast(({ type }) => type === 'turn/end')?.data).toMatchObject({ reason: { kind: 'completed' } })
  })
  it('of one that has not begun leaves no word of it', async () => {
    const rig = await setUp({ 'permissions.defaultPreset': 'danger-full-access' })
    const [first, second] = [new AbortController(), new AbortController()]
    const running = cancelled(rig.run('bash', bash('sleep 60'), { signal: first.signal }))
    await expect.poll(() => rig.events()).toContain('tool/call')
    const waiting = cancelled(rig.run('read', { file_path: file(rig) }, { signal: second.signal }))
    // It is behind the other when its session was found.
    await new Promise((resolve) => setImmediate(resolve))
    second.abort()
    expect(await waiting).toBe('AbortError')
    first.abort()
    expect(await running).toBe('AbortError')
    await rig.application.ctx.agents.live(rig.calls.sessionOf('one')!)!.whenIdle()
    expect(rig.events().filter((type) => type === 'tool/call' || type === 'turn/start')).toEqual(['turn/start', 'tool/call'])
  })
  it('while the person is asked is no', async () => {
    const rig = await setUp()
    rig.answerWith('wait')
    const cancel = new AbortController()
    const running = cancelled(rig.run('bash', bash(unknownCommand), { signal: cancel.signal }))
    await expect.poll(() => rig.asked).toEqual(['bash'])
    cancel.abort()
    expect(await running).toBe('AbortError')
    await rig.application.ctx.agents.live(rig.calls.sessionOf('one')!)!.whenIdle()
    expect(rig.events()).toContain('approval/decided')
  })
  it('comes also when the application ends', async () => {
    const rig = await setUp({ 'permissions.defaultPreset': 'danger-full-access' })
    const running = rig.run('bash', bash('sleep 60')).then(({ isError }) => isError, () => true)
    await expect.poll(() => rig.events()).toContain('tool/call')
    await rigs.pop()!.application.dispose()
    expect(await running).toBe(true)
  })
})

it('a turn that cannot begin ends the calls that wait for it, with its reason', async () => {
  const rig = await setUp()
  rig.application.ctx.on('agent/pre-step', () => Promise.reject(new Error('Nothing begins today.')))
  await expect(rig.run('read', { file_path: file(rig) })).rejects.toMatchObject({ code: 'NOT_RUN', message: 'Nothing begins today.' })
  await rig.application.ctx.agents.live(rig.calls.sessionOf('one')!)!.whenIdle()
  expect(rig.events().filter((type) => type === 'turn/start')).toHaveLength(1)
})

it('words of the person in such a session are told to choose a model', async () => {
  const rig = await setUp()
  await rig.run('read', { file_path: file(rig) })
  const agent = rig.application.ctx.agents.live(rig.calls.sessionOf('one')!)!
  await agent.whenIdle()
  agent.followup({ id: 'm', role: 'user', content: [{ type: 'text', text: 'hi' }], source: { kind: 'user' } })
  await agent.whenIdle()
  expect(agent.session.milestones().findLast(({ type }) => type === 'turn/end')?.data).toMatchObject({ reason: { kind: 'error', failure: { message: expect.stringContaining('Choose a model') } } })
})
