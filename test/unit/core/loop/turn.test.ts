import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { ModelRequest, StreamChunk } from '../../../../extension/core/model/contract.ts'
import { createLoopRig, failOnce, fakeTool, lineOf, linesOf, prompt, settled, textOf } from '../../../support/loop-rig.ts'
import type { LoopRigOptions } from '../../../support/loop-rig.ts'
import { callParts, callTools, createScriptedAdapter, failWith, sayText, someUsage, textParts } from '../../../support/scripted-adapter.ts'

async function setUp(options: LoopRigOptions = {}) {
  const rig = createLoopRig({ tools: [fakeTool('look', undefined, { isConcurrencySafe: () => true }), fakeTool('act')], ...options })
  const agent = await rig.newAgent()
  return {
    ...rig,
    agent,
    async say(...texts: readonly string[]) {
      for (const text of texts) agent.followup(prompt(text))
      await agent.whenIdle()
    },
    lines: () => linesOf(agent.session),
    /** Without the bookkeeping of the inbox and of requests. */
    story: () => linesOf(agent.session).filter((line) => !/^(inbox|header|context) /.test(line)),
  }
}
const look = (id: string, args: unknown = {}) => ({ id, name: 'look', args })
const act = (id: string, args: unknown = {}) => ({ id, name: 'act', args })
const cutOff: StreamChunk = { type: 'finish', reason: { kind: 'max-tokens' } }

describe('a turn', () => {
  it('without tools is, event by event', async () => {
    const { say, lines } = await setUp({ answers: [sayText('hello')] })
    await say('hi')
    expect(lines()).toEqual([
      'inbox next-turn 0 -0 +hi',
      'turn 1',
      'inbox next-turn 0 -1 +',
      'step 1',
      'user hi',
      'header initial',
      'context scripted/m1',
      'assistant hello',
      'step end',
      'end completed',
    ])
  })

  it('with tools takes a step for each answer', async () => {
    const { say, story, adapter } = await setUp({ answers: [callTools(look('a', { n: 1 }), act('b')), callTools(look('c')), sayText('done')] })
    await say('go')
    expect(story()).toEqual([
      'turn 1',
      'step 1', 'user go', 'assistant look(a) act(b)', 'call a look', 'result a ok', 'call b act', 'result b ok', 'step end',
      'step 2', 'assistant look(c)', 'call c look', 'result c ok', 'step end',
      'step 3', 'assistant done', 'step end',
      'end completed',
    ])
    expect(adapter.requests.map(({ messages }) => messages.map(textOf))).toEqual([
      ['go'],
      ['go', 'look(a) act(b)', '{"n":1}', '{}'],
      ['go', 'look(a) act(b)', '{"n":1}', '{}', 'look(c)', '{}'],
    ])
  })

  it('keeps usage and cites the parts it was made of', async () => {
    const { say, agent } = await setUp({ answers: [[...textParts('hello'), { type: 'usage', usage: someUsage }, { type: 'finish', reason: { kind: 'stop' } }]] })
    await say('hi')
    const events = agent.session.events()
    const chunks = events.filter(({ type }) => type === 'assistant/chunk').map(({ seq }) => seq)
    expect(chunks).toHaveLength(5)
    expect(events.find(({ type }) => type === 'assistant/message')).toMatchObject({ sourceEventSeqs: chunks, data: { turn: 1, step: 1, usage: someUsage } })
  })

  it('never writes the canonical value of a tool', async () => {
    const { say, agent } = await setUp({
      answers: [callTools(act('a')), sayText('ok')],
      tools: [fakeTool('act', () => 'SECRET VALUE', { output: { schema: { type: 'string' }, render: () => [{ type: 'text', text: 'shown' }] } })],
    })
    await say('go')
    expect(JSON.stringify(agent.session.events())).not.toContain('SECRET VALUE')
  })

  it('ends before a step when no message is left to enter: no step, no request', async () => {
    const { say, story, adapter, ctx } = await setUp()
    ctx.on('agent/pre-step', () => ({ kind: 'enter', messages: [] }))
    await say('hi')
    expect([story(), adapter.requests]).toEqual([['turn 1', 'end completed'], []])
  })

  it('is blocked by a listener; its batch is gone and the next message gets its turn', async () => {
    const { say, story, ctx, agent } = await setUp({ answers: [sayText('fine')] })
    ctx.on('agent/pre-step', ({ messages }, next) => (textOf(messages[0]!) === 'bad' ? { kind: 'reject' } : next()))
    await say('bad', 'good')
    expect(story()).toEqual(['turn 1', 'end blocked', 'turn 2', 'step 1', 'user good', 'assistant fine', 'step end', 'end completed'])
    expect(agent.inbox).toEqual({ nextTurn: [], nextStep: [] })
  })

  it('lets a listener put messages in', async () => {
    const { say, story, ctx } = await setUp({ answers: [sayText('ok')] })
    ctx.on('agent/pre-step', async ({ messages }) => ({ kind: 'enter', messages: [prompt('before'), ...messages] }))
    await say('hi')
    expect(story()).toContain('user before')
  })

  it('goes one follow-up at a time, numbered without a gap', async () => {
    const { say, story } = await setUp({ answers: ['1', '2', '3'].map(sayText) })
    await say('a', 'b', 'c')
    expect(story().filter((line) => line.startsWith('turn') || line.startsWith('user'))).toEqual(['turn 1', 'user a', 'turn 2', 'user b', 'turn 3', 'user c'])
  })

  it('merges steering messages into one step', async () => {
    const { say, story, agent } = await setUp({
      answers: [callTools(act('a')), sayText('ok')],
      tools: [fakeTool('act', () => (agent.steer(prompt('x')), agent.steer(prompt('y')), 'ok'))],
    })
    await say('go')
    expect(story().slice(6)).toEqual(['step end', 'step 2', 'user x', 'user y', 'assistant ok', 'step end', 'end completed'])
  })

  it('starts with all that waits for a step and one message for a turn', async () => {
    const { agent, say, story } = await setUp({ answers: [sayText('1'), sayText('2')] })
    agent.inject(prompt('context'))
    await say('a', 'b')
    expect(story().filter((line) => line.startsWith('user') || line.startsWith('turn'))).toEqual(['turn 1', 'user context', 'user a', 'turn 2', 'user b'])
  })

  it('reports progress of a running body live and never in the log', async () => {
    const { say, ctx, agent } = await setUp({
      answers: [callTools(act('a')), sayText('ok')],
      tools: [fakeTool('act', (_args, exec) => (exec.progress('50%'), 'ok'))],
    })
    const news: string[] = []
    ctx.on('agent/progress', ({ callId, progress }) => void news.push(`${callId} ${progress}`))
    await say('go')
    expect(news).toEqual(['a 50%'])
    expect(JSON.stringify(agent.session.events())).not.toContain('50%')
  })

  it('answers a bad call with a failed result and goes on', async () => {
    const { say, story } = await setUp({ answers: [callTools(look('a', '{"n":'), { id: 'b', name: 'nope', args: {} }), sayText('sorry')] })
    await say('go')
    expect(story().slice(3, -2)).toEqual([
      'assistant look(a) nope(b)', 'call a look', 'result a ok', 'call b nope', 'result b UNKNOWN_TOOL', 'step end', 'step 2', 'assistant sorry',
    ])
  })

  it('of many steps piles nothing up on its signal', async () => {
    const counts: number[] = []
    const steps = Array.from({ length: 30 }, (_, index) => ({ signal }: ModelRequest) => {
      counts.push(getEventListeners(signal, 'abort').length)
      return index === 29 ? sayText('done') : callTools(look(`c${index}`), act(`d${index}`))
    })
    const { say } = await setUp({ answers: steps })
    await say('go')
    expect(counts.at(-1)).toBe(counts[1])
  })

  it('gives calls that share an id ids of their own, also over steps', async () => {
    const { say, story } = await setUp({ answers: [callTools(look('x'), look('x')), callTools(look('x')), sayText('ok')] })
    await say('go')
    expect(story().filter((line) => line.startsWith('assistant'))).toEqual(['assistant look(x) look(x-2)', 'assistant look(x-3)', 'assistant ok'])
  })
})

describe('a call with other arguments', () => {
  it('is in the log beside what the model wrote, before the body runs', async () => {
    const { say, agent, ctx } = await setUp({ answers: [callTools(look('a')), sayText('ok')] })
    ctx.on('tools/pre-execute', (exec, next) => (JSON.stringify(exec.arguments) === '{"n":2}' ? next() : { kind: 'rewrite', arguments: { n: 2 }, by: 'a hook' }))
    await say('go')
    const events = agent.session.events().filter(({ type }) => type.startsWith('tool/') || type === 'user/message')
    expect(events.map(({ type }) => type)).toEqual(['user/message', 'tool/call', 'tool/rewritten', 'tool/result', 'user/message'])
    expect(events[2]).toMatchObject({ ignorable: true, data: { turn: 1, step: 1, callId: 'a', arguments: '{"n":2}', by: 'a hook' } })
  })
})

describe('running out of tokens', () => {
  it('drops the calls, dispatches nothing and ends the turn', async () => {
    const { say, story, adapter } = await setUp({ answers: [[...textParts('half'), ...callParts(act('a'), 1), cutOff]] })
    await say('go')
    expect(story().slice(2)).toEqual(['user go', 'assistant half', 'step end', 'end max-tokens'])
    expect(adapter.requests).toHaveLength(1)
  })
  it('sticks: a later step that ends well does not hide it', async () => {
    const { say, story, agent, ctx } = await setUp({ answers: [[...textParts('half'), cutOff], sayText('rest')] })
    ctx.on('agent/turn-stopping', ({ turn }) => {
      if (turn === 1 && agent.session.messages().length === 2) agent.steer(prompt('more'))
    })
    await say('go')
    expect(story().slice(-4)).toEqual(['user more', 'assistant rest', 'step end', 'end max-tokens'])
  })
  it('keeps nothing in the request of an answer that was only calls', async () => {
    const { say, adapter, lines } = await setUp({ answers: [[...callParts(act('a')), cutOff], sayText('ok')] })
    await say('go', 'again')
    expect(adapter.requests[1]?.messages.map(textOf)).toEqual(['go', 'again'])
    expect(lines()).toContain('end max-tokens')
  })
})

describe('the end of a turn', () => {
  it('can be put off by a listener that steers: another step of the same turn', async () => {
    const { say, story, agent, ctx } = await setUp({ answers: [sayText('one'), sayText('two')] })
    let asked = 0
    ctx.on('agent/turn-stopping', () => {
      if (asked++ === 0) agent.steer(prompt('check'))
    })
    await say('go')
    expect(story()).toEqual(['turn 1', 'step 1', 'user go', 'assistant one', 'step end', 'step 2', 'user check', 'assistant two', 'step end', 'end completed'])
    expect(asked).toBe(2)
  })
  it('is an error when a listener throws, and the loop survives', async () => {
    const { say, story, ctx } = await setUp({ answers: [sayText('one'), sayText('two')] })
    let asked = 0
    ctx.on('agent/turn-stopping', () => {
      if (asked++ === 0) throw new Error('bad listener')
    })
    await say('go')
    await say('again')
    expect(story().filter((line) => line.startsWith('end'))).toEqual(['end error', 'end completed'])
  })
  it('comes after the step of a tool that concludes, without asking the model again', async () => {
    const { say, story, adapter, ctx } = await setUp({
      answers: [callTools({ id: 'a', name: 'end', args: {} })],
      tools: [fakeTool('end', (_args, exec) => (exec.concludeTurn(), 'ok'))],
    })
    let asked = 0
    ctx.on('agent/turn-stopping', () => void asked++)
    await say('go')
    expect([story().slice(3), adapter.requests.length, asked]).toEqual([['assistant end(a)', 'call a end', 'result a ok', 'step end', 'end completed'], 1, 0])
  })
  it('waits for input steered during a concluding step', async () => {
    const { say, story, agent } = await setUp({
      answers: [callTools({ id: 'a', name: 'end', args: {} }), sayText('ok')],
      tools: [fakeTool('end', (_args, exec) => (exec.concludeTurn(), agent.steer(prompt('wait')), 'ok'))],
    })
    await say('go')
    expect(story().slice(-5)).toEqual(['step 2', 'user wait', 'assistant ok', 'step end', 'end completed'])
  })
  it('does not come while a concluding call failed', async () => {
    const { say, adapter } = await setUp({
      answers: [callTools({ id: 'a', name: 'end', args: {} }), sayText('ok')],
      tools: [
        fakeTool('end', (_args, exec) => {
          exec.concludeTurn()
          throw new Error('no')
        }),
      ],
    })
    await say('go')
    expect(adapter.requests).toHaveLength(2)
  })
  it('puts contexts of a result into the next step', async () => {
    const { say, story } = await setUp({
      answers: [callTools(act('a')), sayText('ok')],
      tools: [fakeTool('act', (_args, exec) => (exec.deferContext({ ...prompt('note'), source: { kind: 'plugin', plugin: 'test' } }), 'ok'))],
    })
    await say('go')
    expect(story().slice(5)).toEqual(['result a ok', 'step end', 'step 2', 'user note', 'assistant ok', 'step end', 'end completed'])
  })
})

describe('a failure', () => {
  it('of the request ends the turn with what the provider said, reported once', async () => {
    const failure = { code: 'AUTH', message: 'Wrong key.', status: 401 } as const
    const { say, agent, ctx } = await setUp({ answers: [failWith(failure)] })
    const errors: unknown[] = []
    ctx.on('agent/error', ({ turn, step, error }) => void errors.push({ turn, step, error }))
    await say('go')
    expect(agent.session.events().at(-1)).toMatchObject({ type: 'turn/end', data: { turn: 1, reason: { kind: 'error', failure } } })
    expect(errors).toEqual([{ turn: 1, step: 1, error: failure }])
  })
  it('before a step keeps the words waiting, and later queued work until the next wake-up', async () => {
    const { say, story, agent, ctx } = await setUp({ answers: ['1', '2', '3'].map(sayText) })
    let isBroken = true
    ctx.on('agent/pre-step', (_place, next) => {
      if (isBroken) throw new Error('hook broke')
      return next()
    })
    await say('a', 'b')
    expect(story()).toEqual(['turn 1', 'end error'])
    expect(agent.inbox.nextTurn.map(textOf)).toEqual(['a', 'b'])
    isBroken = false
    await say('c')
    expect(story().filter((line) => line.startsWith('user'))).toEqual(['user a', 'user b', 'user c'])
  })
  it('of a listener’s bad message keeps the words that did not enter', async () => {
    const { say, story, agent, ctx } = await setUp({ answers: [sayText('x')] })
    ctx.on('agent/pre-step', ({ messages }) => ({ kind: 'enter', messages: [{ ...prompt('bad'), content: 'no list' as never }, ...messages] }))
    await say('hi')
    expect([story(), agent.inbox.nextTurn.map(textOf)]).toEqual([['turn 1', 'step 1', 'step end', 'end error'], ['hi']])
  })
  it.each([undefined, {}, { kind: 'enter' }, { kind: 'deny' }])('of a listener that answers %j instead of a decision keeps the words waiting', async (answer) => {
    const { say, story, agent, ctx } = await setUp({ answers: [sayText('x')] })
    ctx.on('agent/pre-step', () => answer as never)
    await say('hi')
    expect([story(), agent.inbox.nextTurn.map(textOf)]).toEqual([['turn 1', 'end error'], ['hi']])
  })
  it('of prompt assembly ends the turn without a step', async () => {
    const { say, story, ctx } = await setUp()
    ctx.systemPrompt.section({ name: 'bad', order: 0, text: '{{nope}}' })
    await say('hi')
    expect(story()).toEqual(['turn 1', 'end error'])
  })
  it.each(['agent/request', 'system-prompt/assemble'] as const)('of a listener of %s is the turn’s, and the next one goes well', async (point) => {
    const { say, story, ctx } = await setUp({ answers: [sayText('ok'), sayText('ok')] })
    const undo = ctx.on(point, () => {
      throw new Error('listener broke')
    })
    await say('one')
    expect(story().at(-1)).toBe('end error')
    undo()
    await say('two')
    expect(story().slice(-2)).toEqual(['step end', 'end completed'])
  })
  it.each([
    ['a stream without an end', [...textParts('half')], 'STREAM_CLOSED'],
    ['an answer of nothing', [{ type: 'finish' as const, reason: { kind: 'stop' as const } }], 'EMPTY_RESPONSE'],
    ['an adapter that throws in the middle', [...textParts('half'), { type: 'throw' as const, error: new Error('socket') }], 'UNKNOWN'],
  ] as const)('for %s commits no message', async (_what, parts, code) => {
    const { say, story, agent } = await setUp({ answers: [parts], settings: { 'llm.retry.maxRetries': 0 } })
    await say('go')
    expect(story().slice(2)).toEqual(['user go', 'step end', 'end error'])
    expect(agent.session.events().at(-1)).toMatchObject({ data: { reason: { failure: { code: expect.stringMatching(code === 'UNKNOWN' ? /./ : code) } } } })
  })
  it('of a middleware of the stream stays what it is', async () => {
    const { say, agent, ctx } = await setUp({ answers: [sayText('x')] })
    ctx.on('llm/stream', () => {
      throw new Error('middleware broke')
    })
    await say('go')
    expect(agent.session.events().at(-1)).toMatchObject({ data: { reason: { kind: 'error', failure: { code: 'UNKNOWN', message: 'middleware broke' } } } })
  })
  it('of an observer leaves turns and steps balanced', async () => {
    const { say, story, ctx } = await setUp({ answers: [callTools(act('a')), sayText('ok')] })
    ctx.on('session/event', (session) => {
      session.append({ type: 'todo/write' as never, data: { todos: [] } as never })
    })
    await say('go')
    expect(story()).toEqual(['turn 1', 'step 1', 'user go', 'assistant act(a)', 'call a act', 'result a ok', 'step end', 'step 2', 'assistant ok', 'step end', 'end completed'])
  })
  it('of the machinery under a batch leaves no call without a result, and the talk can go on', async () => {
    const { say, story, adapter, agent } = await setUp({ answers: [callTools(act('a'), act('b'), act('c')), sayText('ok')] })
    failOnce(agent.session, 'result b')
    await say('go')
    await say('again')
    expect(story().slice(3, 12)).toEqual([
      'assistant act(a) act(b) act(c)', 'call a act', 'result a ok', 'call b act', 'result b TOOL_OUTCOME_UNKNOWN',
      'call c act', 'result c TOOL_NOT_STARTED', 'step end', 'end error',
    ])
    expect(adapter.requests).toHaveLength(2)
  })
})

describe('the cap on minutes', () => {
  const answers = [callTools(look('a')), callTools(look('b')), callTools(look('c')), sayText('done')]
  /** Each look takes a minute. */
  const started = async (minutes: number) => {
    const pass = { minute: () => {} }
    const rig = await setUp({ answers, settings: { 'agent.maxMinutesPerTurn': minutes }, tools: [fakeTool('look', () => (pass.minute(), 'seen'))] })
    pass.minute = () => rig.clock.advance(60_000)
    return rig
  }
  it('pauses the turn between two steps, and Continue begins a new count', async () => {
    const { say, story, agent, adapter } = await started(2)
    await say('go')
    expect(story().slice(-2)).toEqual(['paused at 2', 'end paused'])
    expect(agent.session.events().at(-1)).toMatchObject({ data: { reason: { kind: 'paused', cap: 'minutes', limit: 2 } } })
    agent.continueTurn()
    await agent.whenIdle()
    expect([story().at(-1), adapter.requests.length]).toEqual(['end completed', 4])
  })
  it('does not stop a turn that ends by itself', async () => {
    const { say, story } = await started(4)
    await say('go')
    expect(story().at(-1)).toBe('end completed')
  })
  it('is off at 0', async () => {
    const { say, story } = await started(0)
    await say('go')
    expect(story().at(-1)).toBe('end completed')
  })
})

describe('the cap on steps', () => {
  const endless = () => createScriptedAdapter(Array.from({ length: 9 }, (_, index) => callTools(look(`c${index}`))))
  it('pauses the turn, and Continue goes on in the next one', async () => {
    const { say, story, agent, adapter } = await setUp({ adapter: endless(), settings: { 'agent.maxStepsPerTurn': 2 } })
    await say('go')
    expect(story().slice(-2)).toEqual(['paused at 2', 'end paused'])
    expect(agent.session.events().at(-1)).toMatchObject({ data: { reason: { kind: 'paused', cap: 'steps', limit: 2 } } })
    agent.continueTurn()
    await agent.whenIdle()
    expect(story()).toEqual(expect.arrayContaining(['turn 2', 'assistant look(c2)']))
    expect(adapter.requests[2]?.messages.map(textOf)).toEqual(['go', 'look(c0)', '{}', 'look(c1)', '{}'])
  })
  it('leaves what is queued alone until somebody decides', async () => {
    const { say, agent } = await setUp({ adapter: endless(), settings: { 'agent.maxStepsPerTurn': 1 } })
    await say('a', 'b')
    expect(agent.inbox.nextTurn.map(textOf)).toEqual(['b'])
  })
  it('does not stop a turn that ends by itself at the cap', async () => {
    const { say, story } = await setUp({ answers: [callTools(look('a')), sayText('done')], settings: { 'agent.maxStepsPerTurn': 2 } })
    await say('go')
    expect(story().at(-1)).toBe('end completed')
  })
  it('is off at 0', async () => {
    const { say, story } = await setUp({ answers: [callTools(look('a')), callTools(look('b')), sayText('done')], settings: { 'agent.maxStepsPerTurn': 0 } })
    await say('go')
    expect(story().at(-1)).toBe('end completed')
  })
})

describe('retry', () => {
  const busy = failWith({ code: 'SERVER', message: 'busy', status: 503 })
  it('sends the request again in the same step, with history made anew and nothing of the failed attempt', async () => {
    const { agent, adapter, clock, story, lines } = await setUp({ answers: [[...textParts('half'), ...busy], sayText('whole')] })
    agent.followup(prompt('go'))
    await settled()
    expect(lines().at(-1)).toMatch(/^retry 1 in \d+ for SERVER$/)
    agent.session.append({ type: 'user/message', surfaceOp: 'append', data: prompt('meanwhile') })
    clock.advance(600)
    await agent.whenIdle()
    expect(story().slice(1)).toEqual([
      'step 1', 'user go', expect.stringMatching(/^retry 1 in/), 'user meanwhile', 'retry 1 started', 'assistant whole', 'step end', 'end completed',
    ])
    expect(adapter.requests[1]?.messages.map(textOf)).toEqual(['go', 'meanwhile'])
    const message = agent.session.events().find(({ type }) => type === 'assistant/message')
    const firstOfRetry = agent.session.events().find(({ type }) => type === 'llm/retry-started')?.seq ?? 0
    expect(message?.sourceEventSeqs?.every((seq) => seq > firstOfRetry)).toBe(true)
  })
  it('may name another model for the new attempt', async () => {
    const { agent, clock, ctx, lines } = await setUp({ answers: [busy, sayText('ok')] })
    let attempt = 0
    ctx.on('agent/request', async (_place, next) => ({ ...(await next()), model: attempt++ === 0 ? 'm1' : 'm2' }))
    agent.followup(prompt('go'))
    await settled()
    clock.advance(600)
    await agent.whenIdle()
    expect(lines()).toEqual(expect.arrayContaining(['header change', 'context scripted/m2', 'end completed']))
  })
  it('asks no further when a listener answered first', async () => {
    const { say, lines } = await setUp({
      answers: [busy, sayText('ok')],
      prepare: (ctx) => ctx.on('agent/request-error', () => ({ kind: 'retry' }), { prepend: true }),
    })
    await say('go')
    expect(lines().filter((line) => line.startsWith('retry'))).toEqual([])
  })
  it('ends the turn with an error when a listener throws', async () => {
    const { say, agent } = await setUp({
      answers: [busy],
      prepare: (ctx) =>
        ctx.on(
          'agent/request-error',
          () => {
            throw new Error('recovery broke')
          },
          { prepend: true },
        ),
    })
    await say('go')
    expect(agent.session.events().at(-1)).toMatchObject({ data: { reason: { failure: { message: 'recovery broke' } } } })
  })
})

describe('durability', () => {
  /** The order of syncs, requests and bodies, and which events each sync had to wait for. */
  async function traced(answers: LoopRigOptions['answers']) {
    const trace: string[] = []
    const rig = await setUp({
      answers: (answers ?? []).map((answer) => (request) => {
        trace.push('request')
        return typeof answer === 'function' ? answer(request) : answer
      }),
      tools: [fakeTool('act', () => (trace.push('body'), 'ok'))],
    })
    rig.ctx.on('session/flush', (session) => void trace.push(`sync ${lineOf(session.events().at(-1)!).split(' ')[0]}`))
    return { ...rig, trace }
  }
  it('syncs before each request, before each body and at the end of the turn, and no more', async () => {
    const { say, trace } = await traced([callTools(act('a')), sayText('ok')])
    await say('go')
    expect(trace).toEqual(['sync context', 'request', 'sync call', 'body', 'sync result', 'request', 'sync end'])
  })
  it('syncs again when something new entered after the results', async () => {
    const { say, trace, agent, ctx } = await traced([callTools(act('a')), sayText('ok')])
    ctx.on('tools/result', () => agent.steer(prompt('x')))
    await say('go')
    expect(trace).toEqual(['sync context', 'request', 'sync call', 'body', 'sync result', 'sync user', 'request', 'sync end'])
  })
  it('makes no request when the log cannot be made durable', async () => {
    const { say, agent, adapter, store } = await setUp({ answers: [sayText('ok')] })
    store.failWrites('disk full')
    await say('go')
    expect(adapter.requests).toEqual([])
    expect(agent.session.events().at(-1)).toMatchObject({ data: { reason: { kind: 'error', failure: { message: expect.stringContaining('disk full') } } } })
  })
  it('runs no body when the log cannot be made durable', async () => {
    let ran = false
    const { say, story, store } = await setUp({
      answers: [[{ type: 'do', act: () => store.failWrites('disk full') }, ...callTools(act('a'))]],
      tools: [fakeTool('act', () => ((ran = true), 'ok'))],
    })
    await say('go')
    expect(ran).toBe(false)
    expect(story().slice(-6)).toEqual(['call a act', 'result a WRITE_FAILED', 'step end', 'step 2', 'step end', 'end error'])
  })
})
