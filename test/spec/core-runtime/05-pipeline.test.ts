import { afterEach, describe, expect, it, vi } from 'vitest'
import type { UserMessage } from '../../../extension/core/log/message.ts'
import type { ApprovalAnswer } from '../../../extension/core/policy/approval.ts'
import { HarnessError } from '../../../extension/base/harness-error.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { ExecutionRequest, PreExecuteAnswer, ToolDefinition, ToolResult } from '../../../extension/core/tools/definition.ts'
import { callTools, sayText } from '../../support/scripted-adapter.ts'
import { createLoopRig, fakeTool, prompt } from '../../support/loop-rig.ts'
import { answeringApprovals, createPipelineBench } from '../../support/pipeline-bench.ts'
import { wholeApplication } from '../../support/whole-application.ts'

/* Chapter 5: one call on its way, from its arguments to its record. */

class SampleError extends HarnessError<'SAMPLE'> {}
const note = (id: string): UserMessage => ({ id, role: 'user', content: [{ type: 'text', text: id }], source: { kind: 'plugin', plugin: 'test' } })
const codeOf = (result: ToolResult) => (result.isError ? (result.error.info?.code ?? result.error.message) : 'ok')
const messageOf = (result: ToolResult) => (result.isError ? result.error.message : null)
const shownOf = ({ content }: ToolResult) => content.map((block) => (block.type === 'text' ? block.text : block.type)).join()
const contextsOf = ({ additionalContexts = [] }: ToolResult) => additionalContexts.map(({ id }) => id)
const later = () => new Promise<void>((resolve) => void setImmediate(resolve))

/** One tool `t`, and a trace of every stage. */
function setUp(execute: ToolDefinition['execute'] = () => 'value', more: Partial<ToolDefinition> = {}) {
  const bench = createPipelineBench()
  const { kernel, tools } = bench
  const caller = new AbortController()
  const trace: string[] = []
  /** No step is open in its log. */
  const agent: Agent = { ...bench.agent(kernel.createScope('agent', null)), session: { length: 0 } as Agent['session'] }
  const tool = fakeTool('t', (args, exec) => (trace.push('body'), execute(args, exec)), more)
  const undo = tools.register(tool)
  const { root: ctx } = kernel
  ctx.on('tools/pre-execute', (_exec, next) => (trace.push('pre'), next()))
  tools.guard(() => void trace.push('guard'))
  ctx.on('tools/execute', (_exec, next) => (trace.push('wrap'), next()))
  ctx.on('tools/post-execute', (_exec, _result, next) => (trace.push('post'), next()))
  ctx.on('tools/result', () => void trace.push('observed'))
  const run = (request: Partial<ExecutionRequest> = {}, name = 't') => tools.execute(bench.request(name, {}, { agent, signal: caller.signal, ...request }))
  const policy = (answer: (args: unknown) => PreExecuteAnswer | Promise<PreExecuteAnswer>) => ctx.on('tools/pre-execute', (exec) => answer(exec.arguments))
  const person = (answer: () => ApprovalAnswer | Promise<ApprovalAnswer>) => {
    const { asked, approvals } = answeringApprovals(answer)
    ctx.provide('approvals', approvals)
    return asked
  }
  return { ...bench, ctx, caller, trace, agent, undo, run, policy, person }
}

const rejections: unknown[] = []
const keep = (error: unknown) => void rejections.push(error)
process.on('unhandledRejection', keep)
afterEach(async () => {
  await later()
  expect(rejections.splice(0)).toEqual([])
})

describe('the order of one call', () => {
  it('is policy, guards, wrappers, body, post-execute, observers', async () => {
    const { run, trace } = setUp()
    expect([codeOf(await run()), trace]).toEqual(['ok', ['pre', 'guard', 'wrap', 'body', 'post', 'observed']])
  })
  type Rig = ReturnType<typeof setUp>
  const fails = () => { throw new SampleError('SAMPLE', 'sample') }
  const rows: readonly (readonly [string, (rig: Rig) => unknown, string, readonly string[]])[] = [
    ['cancelled before: nobody is asked', ({ caller }) => caller.abort(), 'ABORTED_BEFORE_DISPATCH', ['observed']],
    ['denied: no guard, no wrapper, no body, but post-execute', ({ policy }) => policy(() => ({ kind: 'deny', reason: 'no' })), 'DENIED', ['pre', 'post', 'observed']],
    ['vetoed: no wrapper, no body, but post-execute', ({ tools }) => tools.guard(() => 'no'), 'DENIED', ['pre', 'guard', 'post', 'observed']],
    ['policy throws: final, its code kept', ({ policy }) => policy(fails), 'SAMPLE', ['pre', 'observed']],
    ['a guard throws: final, its code kept', ({ tools }) => tools.guard(fails), 'SAMPLE', ['pre', 'guard', 'observed']],
    ['a wrapper throws: final, its code kept', ({ ctx }) => ctx.on('tools/execute', fails), 'SAMPLE', ['pre', 'guard', 'wrap', 'observed']],
    ['post-execute throws: its code kept', ({ ctx }) => ctx.on('tools/post-execute', fails), 'SAMPLE', ['pre', 'guard', 'wrap', 'body', 'post', 'observed']],
    ['a wrapper answers itself: no body', ({ ctx }) => ctx.on('tools/execute', () => ({ isError: false, value: 'mine', content: [] })), 'ok', ['pre', 'guard', 'wrap', 'post', 'observed']],
  ]
  it.each(rows)('%s', async (_what, prepare, code, stages) => {
    const rig = setUp()
    prepare(rig)
    expect([codeOf(await rig.run()), rig.trace]).toEqual([code, stages])
  })
  it('a body that throws and an unknown tool reach post-execute', async () => {
    const broken = setUp(fails)
    const unknown = setUp()
    expect([codeOf(await broken.run()), codeOf(await unknown.run({}, 'nope'))]).toEqual(['SAMPLE', 'UNKNOWN_TOOL'])
    expect([broken.trace, unknown.trace]).toEqual([['pre', 'guard', 'wrap', 'body', 'post', 'observed'], ['post', 'observed']])
  })
  it('a tool that is not offered is explained by the first who knows, while they stay', async () => {
    const { tools, run } = setUp()
    const words = async (name: string) => (await run({}, name)).content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    tools.explainAbsent(() => undefined)
    const undo = tools.explainAbsent((name) => (name === 'mine' ? 'It sleeps.' : undefined))
    tools.explainAbsent(() => 'Somebody else’s.')
    expect([await words('mine'), await words('other'), codeOf(await run({}, 'mine'))]).toEqual(['Error: It sleeps.', 'Error: Somebody else’s.', 'UNKNOWN_TOOL'])
    undo()
    expect(await words('mine')).toBe('Error: Somebody else’s.')
  })
  it('a listener of one agent gates neither another nor a call without one', async () => {
    const { run, ctx, agent, kernel, agent: _one, ...rig } = setUp()
    ctx.scoped(agent.scope).on('tools/pre-execute', () => ({ kind: 'deny', reason: 'mine only' }))
    const other = setUp().agent
    const { agent: _none, ...bare } = { agent, ...rig.request('t') }
    expect([codeOf(await run()), codeOf(await run({ agent: { ...other, scope: kernel.createScope('other', null) } })), codeOf(await rig.tools.execute(bare))]).toEqual(['DENIED', 'ok', 'ok'])
  })
  it('under code, a direct call is unknown with a hint, and a program’s call goes on', async () => {
    const { run, ctx, agent } = setUp()
    ctx.scoped(agent.scope).tools.presentAs('code')
    expect([messageOf(await run()), codeOf(await run({ parent: { id: 'p' } }))]).toEqual([expect.stringContaining('through run_code'), 'ok'])
  })
})

describe('asking', () => {
  const ask = { kind: 'ask', reason: 'It matters.' } as const
  const answers: readonly (readonly [string, ApprovalAnswer | null, string])[] = [
    ['allowed', { outcome: 'allowed-once' }, 'ok'],
    ['rejected', { outcome: 'rejected' }, 'The person refused t.'],
    ['rejected with words', { outcome: 'rejected', note: 'not on Fridays' }, 'not on Fridays'],
    ['withdrawn', { outcome: 'cancelled' }, 'was withdrawn'],
    ['unanswered', { outcome: 'unavailable' }, 'Nobody could be asked'],
    ['without a service', null, 'It matters.'],
  ]
  it.each(answers)('%s', async (_what, answer, text) => {
    const { run, policy, person, trace } = setUp()
    policy(() => ask)
    if (answer) person(() => answer)
    const result = await run()
    expect(messageOf(result) ?? 'ok').toContain(text)
    expect(trace.includes('body')).toBe(text === 'ok')
  })
  it('without an agent is a denial', async () => {
    const { tools, request, policy, person } = setUp()
    policy(() => ({ kind: 'ask' }))
    const asked = person(() => ({ outcome: 'allowed-once' }))
    expect([codeOf(await tools.execute(request('t'))), asked.length]).toEqual(['DENIED', 0])
  })
  it.each([{ outcome: 'sure' }, undefined])('an answer that is none (%j) is an error, never a yes', async (answer) => {
    const { run, policy, person, trace } = setUp()
    policy(() => ask)
    person(() => answer as never)
    expect([(await run()).isError, trace]).toEqual([true, ['pre', 'observed']])
  })
  it('comes before the guards, and a guard can still say no', async () => {
    const { run, policy, person, tools } = setUp()
    policy(() => ask)
    const order: string[] = []
    person(() => (order.push('person'), { outcome: 'allowed-once' }))
    tools.guard(() => (order.push('guard'), 'never'))
    expect([messageOf(await run()), order]).toEqual(['never', ['person', 'guard']])
  })
})

describe('guards', () => {
  it('go from global over the farthest layer to the nearest, and the first reason stands', async () => {
    const { kernel, ctx, run, agent } = setUp()
    const preset = kernel.createScope('preset', null)
    kernel.rebindScope(agent.scope, preset)
    const order: string[] = []
    for (const [who, context] of [['near', ctx.scoped(agent.scope)], ['far', ctx.scoped(preset)], ['global', ctx]] as const) context.tools.guard(() => (order.push(who), who === 'far' ? 'far says no' : undefined))
    expect([messageOf(await run()), order]).toEqual(['far says no', ['global', 'far']])
  })
  it.each<[string, () => unknown]>([['a promise', () => Promise.reject(new Error('late'))], ['true', () => true], ['an object', () => ({})]])('one that answers %s has not let the call go', async (_what, answer) => {
    const { run, tools, trace } = setUp()
    tools.guard(() => answer() as never)
    expect([(await run()).isError, trace.includes('body')]).toEqual([true, false])
  })
  it('nothing, in either spelling, lets it go', async () => {
    const { run, tools } = setUp()
    tools.guard(() => null as never)
    tools.guard(() => undefined)
    expect(codeOf(await run())).toBe('ok')
  })
})

describe('other arguments', () => {
  const writes = (answers: readonly unknown[]) => {
    const rig = setUp((args) => JSON.stringify(args), { validateArguments: (args) => (JSON.stringify(args).includes('bad') ? ['it is bad'] : []) })
    let asked = 0
    rig.policy(() => (answers[asked++] ?? { kind: 'allow' }) as PreExecuteAnswer)
    return rig
  }
  const rewrite = (args: unknown, by = 'a hook') => ({ kind: 'rewrite', arguments: args, by })
  const noticeOf = (result: ToolResult) => result.additionalContexts?.map(({ content: [block] }) => (block?.type === 'text' ? block.text : ''))

  it('are judged anew, run, and the model hears of it once, whoever had a hand in it', async () => {
    const rig = writes([rewrite({ a: 1 }), rewrite({ a: 2 }, 'another hook')])
    const result = await rig.run()
    expect([shownOf(result), rig.trace.filter((stage) => stage === 'pre').length]).toEqual(['{"a":2}', 3])
    expect(noticeOf(result)).toEqual(['The arguments of the call call-1 (t) were changed by a hook, then by another hook before it ran. It ran with: {"a":2}'])
  })
  it.each<[string, unknown]>([['the schema refuses', { bad: 1 }], ['JSON cannot carry', { a: () => 1 }], ['hold half a character', { a: '\ud83d' }]])('that %s fail the call before any body', async (_what, args) => {
    const rig = writes([rewrite(args)])
    expect([codeOf(await rig.run()), rig.trace.includes('body')]).toEqual(['INVALID_ARGS', false])
  })
  it('are never said to have run when they did not', async () => {
    const denied = await writes([rewrite({ a: 1 }), { kind: 'deny', reason: 'no' }]).run()
    expect([codeOf(denied), noticeOf(denied)]).toEqual(['DENIED', [expect.stringContaining('and it did not run. They were: {"a":1}')]])
  })
  it.each(['blocked', 'failed by a wrapper'])('are told of also when the call was %s', async (how) => {
    const rig = writes([rewrite({ a: 1 })])
    if (how === 'blocked') rig.ctx.on('tools/post-execute', () => ({ kind: 'block', feedback: 'no' }))
    else rig.ctx.on('tools/execute', async (_exec, next) => { await next(); throw new Error('no') })
    const result = await rig.run()
    expect([result.isError, noticeOf(result)]).toEqual([true, [expect.stringContaining('It ran with: {"a":1}')]])
  })
  it('put in after the person allowed the first ones are put before the person too', async () => {
    const rig = writes([{ kind: 'ask' }, rewrite({ b: 1 }), { kind: 'ask' }])
    const edits: ApprovalAnswer[] = [{ outcome: 'allowed-once', arguments: { mine: 1 } }, { outcome: 'rejected' }]
    const asked = rig.person(() => edits.shift()!)
    expect([codeOf(await rig.run()), asked.map(({ arguments: args }) => args)]).toEqual(['DENIED', [{}, { b: 1 }]])
  })
  it.each([0, 1])('that never settle end, also when somebody edits them back each time (%i questions first)', async (first) => {
    let round = first
    const rig = setUp()
    rig.policy(() => (round++ % 2 === 0 ? { kind: 'rewrite', arguments: { round }, by: 'a hook' } : { kind: 'ask' }))
    rig.person(() => ({ outcome: 'allowed-once', arguments: { edited: round } }))
    expect([codeOf(await rig.run()), rig.trace.includes('body'), round < 12]).toEqual(['DENIED', false, true])
  })
  it('of any depth are compared and written', async () => {
    let deep: unknown = 1
    for (let depth = 0; depth < 20_000; depth += 1) deep = [deep]
    const rig = setUp()
    rig.policy(() => ({ kind: 'ask' }))
    rig.person(() => ({ outcome: 'allowed-once', arguments: { deep } as never }))
    expect(codeOf(await rig.run())).toBe('ok')
  })
  it('stand in the log of the step', async () => {
    const app = await wholeApplication()
    const agent = await app.ctx.agents.create({ cwd: app.folder })
    let isFirst = true
    app.ctx.on('tools/pre-execute', (_exec, next) => {
      if (!isFirst) return next()
      isFirst = false
      return { kind: 'rewrite', arguments: { pattern: '*.md' }, by: 'a hook' }
    }, { prepend: true })
    agent.session.append({ type: 'turn/start', data: { turn: 1 } })
    agent.session.append({ type: 'step/start', data: { turn: 1, step: 1 } })
    await app.ctx.tools.execute({ callId: 'c', name: 'glob', arguments: { pattern: '*' }, agent, signal: new AbortController().signal })
    expect(agent.session.events().find(({ type }) => type === 'tool/rewritten')?.data).toEqual({ turn: 1, step: 1, callId: 'c', arguments: '{"pattern":"*.md"}', by: 'a hook' })
    await app.dispose()
  })
})

describe('wrappers', () => {
  it('may swap the signal; the caller still reaches the body, and its own signal comes back', async () => {
    const own = new AbortController()
    const { run, ctx, caller } = setUp((_args, exec) => (caller.abort(), exec.signal.aborted ? 'heard' : 'deaf'))
    const after: unknown[] = []
    ctx.on('tools/execute', (exec, next) => ((exec.signal = own.signal), next()))
    ctx.on('tools/post-execute', (exec, _result, next) => (after.push(exec.signal === caller.signal), next()))
    const values: unknown[] = []
    ctx.on('tools/execute', async (_exec, next) => { const result = await next(); values.push(result.isError || result.value); return result })
    await run()
    expect([values, after]).toEqual([['heard'], [true]])
  })
  it('that bring an aborted signal skip the body', async () => {
    const { run, ctx, trace } = setUp()
    ctx.on('tools/execute', (exec, next) => ((exec.signal = AbortSignal.abort()), next()))
    expect([codeOf(await run()), trace.includes('body')]).toEqual(['ABORTED', false])
  })
  it.each(['answers meanwhile', 'throws meanwhile'])('one that %s leaves no body alone', async (how) => {
    let isDone = false
    const { run, ctx } = setUp(async () => { await later(); isDone = true; return 'x' })
    ctx.on('tools/execute', (_exec, next) => {
      void next()
      if (how === 'throws meanwhile') throw new Error('impatient')
      return { isError: false, value: 'mine', content: [] }
    })
    await run()
    expect(isDone).toBe(true)
  })
  it('see what the body threw as a failure, not as a throw', async () => {
    const seen: unknown[] = []
    const { run, ctx } = setUp(() => { throw new SampleError('SAMPLE', 'x') })
    ctx.on('tools/execute', async (_exec, next) => { const result = await next(); seen.push(codeOf(result)); return result })
    await run()
    expect(seen).toEqual(['SAMPLE'])
  })
  const answers: readonly (readonly [string, unknown, string])[] = [
    ['a value of another kind', { isError: false, value: 7, content: [] }, 'INVALID_TOOL_OUTPUT'],
    ['a value JSON cannot carry', { isError: false, value: 1n, content: [] }, 'INVALID_TOOL_OUTPUT'],
    ['nothing', undefined, "Cannot read properties of undefined (reading 'isError')"],
    ['a failure of odd shape', { isError: true, error: { message: 7, info: { name: () => 1, code: 'X' } } }, 'X'],
  ]
  it.each(answers)('that answer %s are held to the contract', async (_what, answer, code) => {
    const { run, ctx } = setUp()
    ctx.on('tools/execute', () => answer as ToolResult)
    const result = await run()
    expect([codeOf(result), () => structuredClone(result)]).toEqual([code, expect.any(Function)])
    expect(() => structuredClone(result)).not.toThrow()
  })
  it.each(['wrapper', 'post-execute', 'wrapper of its own answer'])('a %s changes a result by answering another, never in place', async (who) => {
    const { run, ctx } = setUp()
    const spoil = (result: ToolResult) => {
      for (const [key, value] of [['value', 'spoilt'], ['content', 'spoilt'], ['meta', () => 1]] as const) Reflect.set(result, key, value)
      Reflect.set(result.content[0] ?? {}, 'text', 'spoilt')
      return result
    }
    if (who === 'wrapper') ctx.on('tools/execute', async (_exec, next) => spoil(await next()))
    else ctx.on('tools/post-execute', (_exec, result, next) => (spoil(result), next()))
    if (who === 'wrapper of its own answer') ctx.on('tools/execute', () => ({ isError: false, value: 'value', content: [] }))
    expect(await run()).toEqual({ isError: false, value: 'value', content: [{ type: 'text', text: 'value' }] })
  })
  it('that hand out the result of another call have it made anew, with this call’s rendering', async () => {
    let first: ToolResult | undefined
    const { run, ctx } = setUp(() => 'x', { output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: `fresh ${JSON.stringify(value)}` }] } })
    ctx.on('tools/execute', async (_exec, next) => (first ? { ...first, content: [] } : (first = await next())))
    await run()
    expect(shownOf(await run())).toBe('fresh "x"')
  })
})

describe('the body', () => {
  it('gives a value that is checked, frozen, rendered, and for root calls described', async () => {
    const { run } = setUp(() => ({ list: [1] }), { output: { schema: { type: 'object' }, render: () => [{ type: 'text', text: 'r' }], presentationMeta: () => ({ m: 1 }) } })
    const [root, nested] = [await run(), await run({ parent: { id: 'p' } })]
    expect([root, 'meta' in nested]).toEqual([{ isError: false, value: { list: [1] }, content: [{ type: 'text', text: 'r' }], meta: { m: 1 } }, false])
    expect(Object.isFrozen(root) && !root.isError && Object.isFrozen((root.value as { list: object }).list)).toBe(true)
  })
  const output = (part: object) => ({ output: { schema: { type: 'string' }, render: () => [], ...part } }) as unknown as Partial<ToolDefinition>
  const broken: readonly (readonly [string, Partial<ToolDefinition>])[] = [
    ['a renderer that throws', output({ render: () => { throw new Error('x') } })],
    ['a renderer that gives a text', output({ render: () => 'text' })],
    ['a renderer that gives blocks of its own kind', output({ render: () => [{ type: 'table' }] })],
    ['a renderer that gives a text block without text', output({ render: () => [{ type: 'text' }] })],
    ['a renderer that gives an image without its file', output({ render: () => [{ type: 'image', attachment: {} }] })],
    ['a renderer that is async', output({ render: () => Promise.reject(new Error('x')) })],
    ['card facts that throw', output({ presentationMeta: () => { throw new Error('x') } })],
    ['card facts JSON cannot carry', output({ presentationMeta: () => ({ at: new Date(0) }) })],
    ['card facts that are async', output({ presentationMeta: () => Promise.reject(new Error('x')) })],
    ['a finalizer that throws', { finalizeContent: () => { throw new Error('x') } }],
    ['a finalizer that is async', { finalizeContent: (() => Promise.reject(new Error('x'))) as never }],
  ]
  it.each(broken)('%s fails just its own call', async (_what, more) => {
    const { run } = setUp(undefined, more)
    const result = await run()
    expect([result.isError, shownOf(result).startsWith('Error: ')]).toEqual([true, true])
  })
  it('in a batch of the loop, such a call fails and the turn goes on', async () => {
    const odd = fakeTool('look', () => 'x', output({ render: () => 'text' }))
    const { newAgent } = createLoopRig({ answers: [callTools({ id: '1', name: 'look', args: {} }), sayText('on')], tools: [odd] })
    const agent = await newAgent()
    agent.followup(prompt('go'))
    await agent.whenIdle()
    expect(agent.session.events().at(-1)).toMatchObject({ type: 'turn/end', data: { reason: { kind: 'completed' } } })
  })
})

describe('cancelling', () => {
  it('during policy, approval, a wrapper or its own answer counts as before dispatch', async () => {
    const cases: ((rig: ReturnType<typeof setUp>) => void)[] = [
      ({ policy, caller }) => policy(() => (caller.abort(), { kind: 'allow' })),
      ({ policy, person, caller }) => (policy(() => ({ kind: 'ask' })), person(() => (caller.abort(), { outcome: 'allowed-once' }))),
      ({ policy, person, caller }) => (policy(() => ({ kind: 'ask' })), person(() => (caller.abort(), { outcome: 'cancelled' }))),
      ({ ctx, caller }) => ctx.on('tools/execute', (_exec, next) => (caller.abort(), next())),
      ({ ctx, caller }) => ctx.on('tools/execute', () => (caller.abort(), { isError: false, value: 'x', content: [] })),
    ]
    const codes = []
    for (const prepare of cases) {
      const rig = setUp()
      prepare(rig)
      codes.push([codeOf(await rig.run()), rig.trace.includes('body')])
    }
    expect(codes).toEqual(cases.map(() => ['ABORTED_BEFORE_DISPATCH', false]))
  })
  it('waits for a body that runs; a late success becomes the cancel, a late failure stays itself', async () => {
    const end = async (last: () => unknown) => {
      let isDone = false
      const rig: ReturnType<typeof setUp> = setUp(async () => { rig.caller.abort(); await later(); isDone = true; return last() })
      return [codeOf(await rig.run()), isDone]
    }
    expect([await end(() => 'x'), await end(() => { throw new SampleError('SAMPLE', 'x') })]).toEqual([['ABORTED', true], ['SAMPLE', true]])
  })
  it('a denial that settles late keeps its own identity', async () => {
    const rig = setUp()
    rig.policy(() => (rig.caller.abort(), { kind: 'deny', reason: 'no' }))
    expect(messageOf(await rig.run())).toBe('no')
  })
  it('during post-execute turns a success into the cancel', async () => {
    const rig = setUp()
    rig.ctx.on('tools/post-execute', (_exec, _result, next) => (rig.caller.abort(), next()))
    expect(codeOf(await rig.run())).toBe('ABORTED')
  })
})

describe('post-execute', () => {
  const decide = async (decision: unknown, execute?: ToolDefinition['execute'], more?: Partial<ToolDefinition>) => {
    const rig = setUp(execute, more)
    rig.ctx.on('tools/post-execute', () => decision as never)
    return rig.run()
  }
  it('content replaces what the model reads; value and card facts stay', async () => {
    const result = await decide({ kind: 'accept', content: [{ type: 'text', text: 'short' }] }, undefined, { output: { schema: { type: 'string' }, render: () => [], presentationMeta: () => 1 } })
    expect(result).toEqual({ isError: false, value: 'value', content: [{ type: 'text', text: 'short' }], meta: 1 })
  })
  it('a value is checked and rendered anew', async () => expect([shownOf(await decide({ kind: 'accept', value: 'new' })), codeOf(await decide({ kind: 'accept', value: 7 }))]).toEqual(['new', 'INVALID_TOOL_OUTPUT']))
  it('content and value together, and a value for a failure, are type errors', async () => {
    expect(messageOf(await decide({ kind: 'accept', value: 'x', content: [] }))).toContain('not both')
    expect(messageOf(await decide({ kind: 'accept', value: 'x' }, () => { throw new Error('e') }))).toContain('no value to replace')
  })
  it.each<[string, unknown]>([['nothing', undefined], ['another word', { kind: 'maybe' }], ['content that is none', { kind: 'accept', content: 'text' }], ['contexts that are none', { kind: 'accept', additionalContexts: [{ text: 'x' }] }]])('%s fails the call: nothing is guessed', async (_what, decision) =>
    expect((await decide(decision)).isError).toBe(true))
  it('block is a failure that says the feedback, and drops what the body deferred', async () => {
    const rig = setUp((_args, exec) => (exec.deferContext(note('deferred')), 'x'))
    rig.ctx.on('tools/execute', async (_exec, next) => ({ ...(await next()), additionalContexts: [note('wrapper')] }))
    rig.ctx.on('tools/post-execute', () => ({ kind: 'block', feedback: 'redo it', additionalContexts: [note('post')] }))
    const result = await rig.run()
    expect([shownOf(result), contextsOf(result)]).toEqual(['Error: redo it', ['wrapper', 'post']])
  })
  it.each([false, true])('contexts stand in order: body, wrapper, post-execute (body throws: %s)', async (isThrown) => {
    const rig = setUp((_args, exec) => {
      exec.deferContext(note('deferred'))
      if (isThrown) throw new Error('x')
      return 'x'
    })
    rig.ctx.on('tools/execute', async (_exec, next) => ({ ...(await next()), additionalContexts: [note('wrapper')] }))
    rig.ctx.on('tools/post-execute', () => ({ kind: 'accept', additionalContexts: [note('post')] }))
    expect(contextsOf(await rig.run())).toEqual(['deferred', 'wrapper', 'post'])
  })
  it('wraps the decision of those behind, first comes whoever asked to be', async () => {
    const { run, ctx } = setUp()
    const order: string[] = []
    for (const [who, prepend] of [['b', false], ['a', true]] as const) ctx.on('tools/post-execute', async (_exec, _result, next) => { order.push(who); const decision = await next(); order.push(`${who} back`); return decision }, { prepend })
    await run()
    expect(order).toEqual(['a', 'b', 'b back', 'a back'])
  })
})

describe('the end', () => {
  it('finalizeContent speaks last and once, after success, denial and a broken pipeline', async () => {
    const last = vi.fn(() => [{ type: 'text' as const, text: 'last word' }])
    const shown = []
    for (const prepare of [() => {}, ({ policy }: ReturnType<typeof setUp>) => policy(() => ({ kind: 'deny', reason: 'no' })), ({ ctx }: ReturnType<typeof setUp>) => ctx.on('tools/execute', () => { throw new Error('x') })]) {
      const rig = setUp(undefined, { finalizeContent: last })
      prepare(rig)
      shown.push(shownOf(await rig.run()))
    }
    expect([shown, last.mock.calls.length]).toEqual([['last word', 'last word', 'last word'], 3])
  })
  it.each([[false, 'cannot be called directly'], [true, 'last word']])('of a tool only programs may call it says nothing, unless the call was cancelled (%s)', async (isCancelled, text) => {
    const rig = setUp(undefined, { finalizeContent: () => [{ type: 'text', text: 'last word' }] })
    rig.ctx.scoped(rig.agent.scope).tools.presentAs('code')
    if (isCancelled) rig.caller.abort()
    expect(shownOf(await rig.run())).toContain(text)
  })
  it('concludesTurn survives only on success', async () => {
    const run = async (prepare: (rig: ReturnType<typeof setUp>) => unknown) => {
      const rig = setUp((_args, exec) => (exec.concludeTurn(), 'x'))
      prepare(rig)
      return 'concludesTurn' in (await rig.run())
    }
    expect([await run(() => {}), await run(({ ctx }) => ctx.on('tools/post-execute', () => ({ kind: 'block', feedback: 'no' }))), await run(({ ctx }) => ctx.on('tools/post-execute', () => ({ kind: 'accept', value: 7 })))]).toEqual([true, false, false])
  })
  it('observers get one frozen outcome, cannot change it, and their failures are theirs', async () => {
    const { run, ctx, logger } = setUp()
    const seen: ToolResult[] = []
    const hostile = () => { throw Object.create(null) as Error }
    ctx.on('tools/result', (_exec, result) => void Object.assign(result, { isError: true }))
    ctx.on('tools/result', hostile)
    ctx.on('tools/result', () => Promise.reject(new Error('late')) as unknown as void)
    ctx.on('tools/result', (_exec, result) => void seen.push(result))
    const result = await run()
    await later()
    expect([seen[0] === result, codeOf(result), logger.lines.filter(({ level }) => level === 'error').length]).toEqual([true, 'ok', 3])
  })
  it('grounds that JSON cannot carry are left out; the call and its record stand', async () => {
    const { run, policy } = setUp()
    policy(() => ({ kind: 'deny', reason: 'no', grounds: { by: 'rule', why: (() => 'x') as never } }))
    expect(await run()).not.toHaveProperty('policy')
  })
  it('the log keeps content, identity and card facts, and never the value', async () => {
    const tool = fakeTool('look', () => 'the value', { output: { schema: { type: 'string' }, render: () => [{ type: 'text', text: 'shown' }], presentationMeta: () => ({ m: 1 }) } })
    const failing = fakeTool('fail', () => { throw new SampleError('SAMPLE', 'why') })
    const { newAgent } = createLoopRig({ answers: [callTools({ id: '1', name: 'look', args: {} }, { id: '2', name: 'fail', args: {} }), sayText('done')], tools: [tool, failing] })
    const agent = await newAgent()
    agent.followup(prompt('go'))
    await agent.whenIdle()
    const records = agent.session.events().filter(({ type }) => type === 'tool/result')
    expect(records.map(({ data }) => data)).toMatchObject([{ meta: { m: 1 }, message: { content: [{ isError: false, content: [{ text: 'shown' }] }] } }, { error: { name: 'SampleError', code: 'SAMPLE' } }])
    expect(JSON.stringify(agent.session.events())).not.toContain('the value')
  })
  it('progress is shown and never kept', async () => {
    const heard: string[] = []
    const { run } = setUp((_args, exec) => (exec.progress('half'), 'x'))
    expect([JSON.stringify(await run({ onProgress: (text) => void heard.push(text) })).includes('half'), heard]).toEqual([false, ['half']])
  })
  it('in an untrusted workspace policy denies what changes files, by its own code', async () => {
    const app = await wholeApplication({ alter: (world) => ({ ...world, workspace: { ...world.workspace, isTrusted: () => false } }) })
    const agent = await app.ctx.agents.create({ cwd: app.folder })
    app.ctx.scoped(agent.scope).tools.register(fakeTool('tweak'))
    const call = (name: string, args: object) => app.ctx.tools.execute({ callId: 'c', name, arguments: args, agent, signal: new AbortController().signal }).then(codeOf)
    expect([await call('tweak', {}), await call('glob', { pattern: '*' })]).toEqual(['WORKSPACE_UNTRUSTED', 'ok'])
    await app.dispose()
  })
})
