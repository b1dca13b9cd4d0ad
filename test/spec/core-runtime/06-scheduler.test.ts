import { describe, expect, it } from 'vitest'
import type { UserMessage } from '../../../extension/core/log/message.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { BodyExecution, ToolDefinition } from '../../../extension/core/tools/definition.ts'
import { callTools, createScriptedAdapter, sayText, type ScriptedCall } from '../../support/scripted-adapter.ts'
import { createLoopRig, failOnce, fakeTool, gate, linesOf, prompt, settled, type LoopRig } from '../../support/loop-rig.ts'
import { wholeApplication } from '../../support/whole-application.ts'

/* Chapter 6: the scheduler, through the real loop. */

const ok = (name: string, id: string, args: unknown = {}): ScriptedCall => ({ id, name, args })
const note = (text: string): UserMessage => ({ id: `note ${text}`, role: 'user', content: [{ type: 'text', text }], source: { kind: 'plugin', plugin: 'test' } })

/**
 * `look` may overlap, `act` may not. A body begins, waits for the gate of its call where there is one, and ends; the trace
 * holds that together with the calls and results of the log.
 */
async function setUp(calls: readonly ScriptedCall[], options: { readonly held?: readonly string[]; readonly settings?: object; readonly body?: (exec: BodyExecution) => void; readonly look?: Partial<ToolDefinition> } = {}) {
  const { held = [], settings = {}, body = () => {}, look = {} } = options
  const gates = new Map(held.map((id) => [id, gate()]))
  const trace: string[] = []
  const running = new Set<string>()
  let most = 0
  const execute = async (_args: unknown, exec: BodyExecution) => {
    trace.push(`begin ${exec.callId}`)
    running.add(exec.callId)
    most = Math.max(most, running.size)
    await gates.get(exec.callId)?.opened
    body(exec)
    running.delete(exec.callId)
    trace.push(`end ${exec.callId}`)
    return 'x'
  }
  const rig = createLoopRig({
    answers: [callTools(...calls), sayText('done'), sayText('again')],
    settings: settings as never,
    tools: [fakeTool('look', execute, { isConcurrencySafe: () => true, ...look }), fakeTool('act', execute)],
  })
  const agent = await rig.newAgent()
  rig.ctx.on('session/event', (_session, event) => {
    if (event.type === 'tool/call') trace.push(`call ${event.data.callId}`)
    if (event.type === 'tool/result') trace.push(`result ${event.data.message.source.callId}`)
  })
  agent.followup(prompt('go'))
  await settled()
  return { ...rig, agent, trace, mostAtOnce: () => most, open: async (id: string) => { gates.get(id)!.open(); await settled() } }
}
const ended = async (rig: { readonly agent: Agent }) => {
  await rig.agent.whenIdle()
  return linesOf(rig.agent.session)
}
const resultsOf = (agent: Agent) => linesOf(agent.session).filter((line) => line.startsWith('result '))

describe('overlap', () => {
  it('is not given unless declared: calls run one by one, each with its result before the next starts', async () => {
    const rig = await setUp([ok('act', '1'), ok('act', '2')])
    await ended(rig)
    expect(rig.trace).toEqual(['call 1', 'begin 1', 'end 1', 'result 1', 'call 2', 'begin 2', 'end 2', 'result 2'])
  })
  it('is given to neighbours; results keep the model’s order though bodies end in another', async () => {
    const rig = await setUp([ok('look', '1'), ok('look', '2')], { held: ['1', '2'] })
    await rig.open('2')
    await rig.open('1')
    await ended(rig)
    expect(rig.trace).toEqual(['call 1', 'call 2', 'begin 1', 'begin 2', 'end 2', 'end 1', 'result 1', 'result 2'])
  })
  it('a call that may not overlap waits for all before it and holds all behind it', async () => {
    const rig = await setUp([ok('look', '1'), ok('act', '2'), ok('look', '3')], { held: ['1', '2'] })
    const first = [...rig.trace]
    await rig.open('1')
    const second = rig.trace.slice(first.length)
    await rig.open('2')
    await ended(rig)
    expect([first, second, rig.trace.slice(-4)]).toEqual([['call 1', 'begin 1'], ['end 1', 'result 1', 'call 2', 'begin 2'], ['call 3', 'begin 3', 'end 3', 'result 3']])
  })
  const undeclared: readonly (readonly [string, Partial<ToolDefinition>])[] = [
    ['says anything but true', { isConcurrencySafe: () => 1 as never }],
    ['promises', { isConcurrencySafe: (() => Promise.resolve(true)) as never }],
    ['throws', { isConcurrencySafe: () => { throw new Error('x') } }],
  ]
  it.each(undeclared)('a classifier that %s gives none', async (_what, look) => {
    const rig = await setUp([ok('look', '1'), ok('look', '2')], { look })
    await ended(rig)
    expect(rig.mostAtOnce()).toBe(1)
  })
  it('an unknown tool and arguments that are no JSON give none', async () => {
    const rig = await setUp([ok('nope', '1'), ok('look', '2', '{"a":'), ok('look', '3')])
    await ended(rig)
    expect(rig.trace.filter((line) => !/begin|end/.test(line))).toEqual(['call 1', 'result 1', 'call 2', 'result 2', 'call 3', 'result 3'])
  })
  it('goes to ten at once, as a rolling pool', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `${index + 1}`)
    const rig = await setUp(ids.map((id) => ok('look', id)), { held: ids })
    const before = rig.mostAtOnce()
    await rig.open('5')
    expect([before, rig.trace.at(-1)]).toEqual([10, 'begin 11'])
    for (const id of ids) await rig.open(id)
    await ended(rig)
    expect(resultsOf(rig.agent)).toEqual(ids.map((id) => `result ${id} ok`))
  })
  it('a cap of one is one by one; the cap is read for each group', async () => {
    const rig = await setUp([ok('look', '1'), ok('look', '2'), ok('act', '3'), ok('look', '4'), ok('look', '5')], {
      settings: { 'agent.maxParallelToolCalls': 1 },
      held: ['3', '4'],
    })
    const serial = rig.mostAtOnce()
    await rig.settings.set('agent.maxParallelToolCalls', 2, 'user')
    await rig.open('3')
    await rig.open('4')
    await ended(rig)
    expect([serial, rig.mostAtOnce()]).toEqual([1, 2])
  })
})

describe('order', () => {
  it('policy of a call is settled before the next call starts; only bodies overlap', async () => {
    const asked = gate()
    const rig = createLoopRig({
      answers: [callTools(ok('look', '1'), ok('look', '2')), sayText('done')],
      tools: [fakeTool('look', () => 'x', { isConcurrencySafe: () => true })],
      prepare: (ctx) => void ctx.on('tools/pre-execute', async (exec, next) => (exec.callId === '1' && (await asked.opened), next())),
    })
    const agent = await rig.newAgent()
    agent.followup(prompt('go'))
    await settled()
    const waiting = linesOf(agent.session).filter((line) => line.startsWith('call'))
    asked.open()
    await agent.whenIdle()
    expect([waiting, resultsOf(agent)]).toEqual([['call 1 look'], ['result 1 ok', 'result 2 ok']])
  })
  it('contexts come to the model after the result they belong to', async () => {
    const rig = await setUp([ok('look', '1'), ok('look', '2')], { held: ['1'], body: (exec) => exec.deferContext(note(exec.callId)) })
    await rig.open('1')
    const lines = await ended(rig)
    expect(lines.filter((line) => /^(result|inbox next-step 0 -0|inbox next-step 1 -0)/.test(line))).toEqual(['result 1 ok', 'inbox next-step 0 -0 +1', 'result 2 ok', 'inbox next-step 1 -0 +2'])
  })
  it('a tool that comes, goes or changes its mind while others run is seen as it is when its turn comes', async () => {
    const ran: string[] = []
    const rig: LoopRig = createLoopRig({
      answers: [callTools(ok('act', '1'), ok('look', '2'), ok('look', '3')), sayText('done')],
      tools: [fakeTool('act', () => (rig.ctx.tools.register(fakeTool('look', (_args, exec) => (ran.push(exec.callId), 'late'), { isConcurrencySafe: () => true })), 'x'))],
    })
    const agent = await rig.newAgent()
    agent.followup(prompt('go'))
    await agent.whenIdle()
    expect([ran, resultsOf(agent)]).toEqual([['2', '3'], ['result 1 ok', 'result 2 ok', 'result 3 ok']])
  })
})

describe('arguments', () => {
  it('that are no JSON reach the tool’s checker as text; nothing at all is an empty object', async () => {
    const got: unknown[] = []
    const tool = fakeTool('look', (args) => (got.push(args), 'x'))
    const rig = createLoopRig({ answers: [callTools(ok('look', '1', 'not json at all'), ok('look', '2', '')), sayText('done')], tools: [tool] })
    const agent = await rig.newAgent()
    agent.followup(prompt('go'))
    await agent.whenIdle()
    expect(got).toEqual(['not json at all', {}])
  })
})

describe('cancel', () => {
  it('starts nothing more, commits what runs, and gives every call its pair', async () => {
    const rig = await setUp([ok('look', '1'), ok('act', '2'), ok('look', '3')], { held: ['1'] })
    rig.agent.cancel({ kind: 'user' })
    await rig.open('1')
    const lines = await ended(rig)
    expect(lines.filter((line) => /^(call|result|end)/.test(line))).toEqual([
      'call 1 look', 'result 1 ABORTED', 'call 2 act', 'result 2 ABORTED_BEFORE_DISPATCH', 'call 3 look', 'result 3 ABORTED_BEFORE_DISPATCH', 'end aborted',
    ])
  })
})

describe('a defect of the machinery', () => {
  it('stops starts, waits for what runs, and makes up no outcome', async () => {
    const adapter = createScriptedAdapter([callTools(ok('look', '1'), ok('look', '2'), ok('act', '3'))])
    const rig = createLoopRig({ adapter, tools: [fakeTool('look', () => 'x', { isConcurrencySafe: () => true }), fakeTool('act', () => 'x')] })
    const agent = await rig.newAgent()
    failOnce(agent.session, 'call 2')
    agent.followup(prompt('go'))
    await agent.whenIdle()
    const lines = linesOf(agent.session)
    expect([resultsOf(agent), lines.at(-1)]).toEqual([['result 1 ok', 'result 2 TOOL_NOT_STARTED', 'result 3 TOOL_NOT_STARTED'], 'end error'])
  })
})

describe('ending the turn', () => {
  it('a success that asks for it ends the turn after the step, unless input waits for the next', async () => {
    const conclude = (exec: BodyExecution) => exec.concludeTurn()
    const plain = await setUp([ok('act', '1')], { body: conclude })
    await ended(plain)
    const steered = await setUp([ok('act', '1')], { held: ['1'], body: conclude })
    steered.agent.steer(prompt('one more thing'))
    await steered.open('1')
    await ended(steered)
    expect([plain.adapter.requests.length, steered.adapter.requests.length]).toEqual([1, 2])
  })
  it('a failure that asked for it does not', async () => {
    const rig = await setUp([ok('act', '1')], { body: (exec) => { exec.concludeTurn(); throw new Error('x') } })
    await ended(rig)
    expect(rig.adapter.requests.length).toBe(2)
  })
})

describe('the shipped tools', () => {
  it('overlap where they only read: read, glob, grep and the lineage of a session; no other whose calls these are does', async () => {
    const app = await wholeApplication()
    const args: Readonly<Record<string, object>> = { read: { file_path: 'a' }, glob: { pattern: '*' }, grep: { pattern: 'x' }, write: { file_path: 'a', content: '' }, edit: { file_path: 'a', old_string: 'a', new_string: 'b' }, bash: { command: 'ls', description: 'x' }, job_output: { job_id: 'x' }, job_kill: { job_id: 'x' }, todo_write: { todos: [] }, ask_user_question: { questions: [] } }
    const parallel = app.ctx.tools.list().filter(({ name }) => app.ctx.tools.executionMode({ name, arguments: args[name] ?? {} }) === 'parallel').map(({ name }) => name)
    expect(parallel).toEqual(['glob', 'grep', 'read', 'session_trace'])
    await app.dispose()
  })
})
