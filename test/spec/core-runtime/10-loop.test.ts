import { describe, expect, it } from 'vitest'
import type { CancelCause, TurnEndReason } from '../../../extension/core/log/event.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import { createLoopRig, failOnce, fakeTool, gate, linesOf, prompt, settled, textOf, type LoopRigOptions } from '../../support/loop-rig.ts'
import { callParts, callTools, failWith, sayText, textParts, type ScriptedPart } from '../../support/scripted-adapter.ts'
import { wholeApplication } from '../../support/whole-application.ts'

/** One agent of the real loop, with what it did as lines. */
async function started(options: LoopRigOptions = {}) {
  const rig = createLoopRig({ tools: [fakeTool('look', undefined, { isConcurrencySafe: () => true }), fakeTool('act')], ...options })
  const agent = await rig.newAgent()
  const errors: string[] = []
  rig.ctx.on('agent/error', ({ error }) => void errors.push(error.code))
  return {
    ...rig,
    agent,
    errors,
    /** Without the bookkeeping of the inbox and of requests. */
    story: () => linesOf(agent.session).filter((line) => !/^(inbox|header|context) /.test(line)),
    lines: () => linesOf(agent.session),
    async say(...texts: readonly string[]) {
      for (const text of texts) agent.followup(prompt(text))
      await agent.whenIdle()
    },
    /** As far as it goes by itself. */
    async begin(text = 'hi') {
      agent.followup(prompt(text))
      await settled()
    },
  }
}
const hang: ScriptedPart = { type: 'hang' }
const look = (id: string) => ({ id, name: 'look', args: {} })
const act = (id: string) => ({ id, name: 'act', args: {} })
const byUser: CancelCause = { kind: 'user' }
const reasonOf = (agent: Agent): TurnEndReason | undefined => agent.session.events().findLast((event) => event.type === 'turn/end')?.data.reason

describe('10.1 the handle', () => {
  it('has the id of its session, and takes a limit of tokens that is a whole number from 1', async () => {
    const { agent, agents } = await started()
    expect(agent.id).toBe(agent.session.id)
    for (const maxTokens of [0, -1, 1.5, 2 ** 53]) expect(() => agents.configure(agent.id, { maxTokens }), String(maxTokens)).toThrow(RangeError)
    agents.configure(agent.id, { maxTokens: 1 })
    expect(agents.optionsOf(agent.id)).toEqual({ maxTokens: 1 })
  })
  it.each([
    ['followup', 'nextTurn', 'running'],
    ['steer', 'nextStep', 'running'],
    ['inject', 'nextStep', 'idle'],
  ] as const)('%s waits in %s and leaves the agent %s', async (verb, list, status) => {
    const { agent } = await started({ answers: [sayText('ok')] })
    agent[verb](prompt('x'))
    expect([agent.inbox[list].map(textOf), agent.status]).toEqual([['x'], status])
    await agent.whenIdle()
  })
  it('send is the general form of the three', async () => {
    const { agent, lines } = await started()
    agent.send(prompt('a'), 'next-turn', false)
    agent.send(prompt('b'), 'next-step', false)
    expect([agent.status, lines()]).toEqual(['idle', ['inbox next-turn 0 -0 +a', 'inbox next-step 0 -0 +b']])
  })
  it.each([[{ kind: 'user' }], [{ kind: 'parent' }], [{ kind: 'hook', reason: 'no' }], [{ kind: 'disposed' }]] as const)('a cancel by %j is what the turn ends with', async (cause) => {
    const { agent, begin } = await started({ answers: [[hang]] })
    await begin()
    agent.cancel(cause)
    await agent.whenIdle()
    expect(reasonOf(agent)).toEqual({ kind: 'aborted', reason: cause })
  })
  it('a cancel empties the inbox as cancelled, unless it is to be kept', async () => {
    for (const keepInbox of [false, true]) {
      const { agent, begin, lines } = await started({ answers: [[hang]] })
      await begin()
      agent.followup(prompt('later'))
      agent.cancel(byUser, { keepInbox })
      await agent.whenIdle()
      expect([agent.inbox.nextTurn.length, lines().some((line) => line.endsWith('canceled'))]).toEqual(keepInbox ? [1, false] : [0, true])
    }
  })
  it('waiting for idleness waits for all turns, not for one message', async () => {
    const { say, story } = await started({ answers: [sayText('1'), sayText('2')] })
    await say('a', 'b')
    expect(story().filter((line) => line === 'end completed')).toHaveLength(2)
  })
  it('maintenance runs only when idle, and the status stays idle', async () => {
    const { agent, begin } = await started({ answers: [[hang]] })
    expect(await agent.runMaintenance(async () => agent.status)).toBe('idle')
    await begin()
    await expect(agent.runMaintenance(async () => null)).rejects.toMatchObject({ code: 'BUSY' })
    agent.cancel(byUser)
  })
  it.each(['steer', 'followup'] as const)('%s after an abort waits for a turn of its own, which follows', async (verb) => {
    const open = gate()
    const { agent, begin, story } = await started({ answers: [callTools({ id: 'a', name: 'slow', args: {} }), sayText('fine')], tools: [fakeTool('slow', () => open.opened.then(() => 'ok'))] })
    await begin()
    agent.cancel(byUser)
    agent[verb](prompt('next'))
    expect(agent.inbox.nextTurn.map(textOf)).toEqual(['next'])
    open.open()
    await agent.whenIdle()
    expect(story().slice(-5)).toEqual(['step 1', 'user next', 'assistant fine', 'step end', 'end completed'])
  })
  it('nothing is remembered after the cause disposed: it waits for the next wake-up', async () => {
    const open = gate()
    const { agent, begin, story } = await started({ answers: [callTools({ id: 'a', name: 'slow', args: {} }), sayText('fine')], tools: [fakeTool('slow', () => open.opened.then(() => 'ok'))] })
    await begin()
    agent.cancel({ kind: 'disposed' })
    agent.steer(prompt('next'))
    open.open()
    await agent.whenIdle()
    expect([story().at(-1), agent.inbox.nextTurn.map(textOf)]).toEqual(['end aborted', ['next']])
  })
  it('what is queued survives a crash', async () => {
    const { agent, store } = await started()
    agent.send(prompt('queued'), 'next-turn', false)
    await agent.session.flush()
    store.crash()
    expect((await createLoopRig({ store }).agents.resume(agent.id)).inbox.nextTurn.map(textOf)).toEqual(['queued'])
  })
  it('refuses a notice whose line is too long, and takes nothing in', async () => {
    const { agent } = await started()
    const notice = { ...prompt('x'), source: { kind: 'plugin' as const, plugin: 'p', form: 'notice' as const, summary: 'é'.repeat(121) } }
    expect(() => agent.inject(notice)).toThrow(/at most 120 characters.*has 121/)
    expect([agent.inbox.nextStep, agent.session.length]).toEqual([[], 0])
  })
})

describe('10.2 turns and steps', () => {
  it('every event of a plain turn, in order', async () => {
    const { say, lines } = await started({ answers: [sayText('hello')] })
    await say('hi')
    expect(lines()).toEqual(['inbox next-turn 0 -0 +hi', 'turn 1', 'inbox next-turn 0 -1 +', 'step 1', 'user hi', 'header initial', 'context scripted/m1', 'assistant hello', 'step end', 'end completed'])
  })
  it('claims all that waits for a step and one message for a turn, the latter in the first step only', async () => {
    const { agent, say, story } = await started({ answers: [callTools(look('a')), sayText('1'), sayText('2')] })
    agent.inject(prompt('x'))
    agent.inject(prompt('y'))
    await say('a', 'b')
    expect(story().filter((line) => /^(turn|step \d|user)/.test(line))).toEqual(['turn 1', 'step 1', 'user x', 'user y', 'user a', 'step 2', 'turn 2', 'step 1', 'user b'])
  })
  it('a rejected batch is gone: neither queued again nor told as discarded', async () => {
    const { agent, ctx, say, story } = await started()
    const discarded: string[] = []
    ctx.on('agent/inbox/discarded', ({ message }) => void discarded.push(textOf(message)))
    ctx.on('agent/pre-step', () => ({ kind: 'reject' }))
    await say('hi')
    expect([story(), agent.inbox.nextTurn, discarded]).toEqual([['turn 1', 'end blocked'], [], []])
  })
  it('a first step without messages completes: no step, no request', async () => {
    const { ctx, say, story, adapter } = await started()
    ctx.on('agent/pre-step', () => ({ kind: 'enter', messages: [] }))
    await say('hi')
    expect([story(), adapter.requests.length]).toEqual([['turn 1', 'end completed'], 0])
  })
  it('the header is written first and on a change, the context on a change of route or capacity', async () => {
    const { agent, agents, say, lines } = await started({ answers: ['1', '2', '3'].map(sayText) })
    await say('a', 'b')
    agents.configure(agent.id, { model: 'm2' })
    await say('c')
    expect(lines().filter((line) => /^(header|context)/.test(line))).toEqual(['header initial', 'context scripted/m1', 'header change', 'context scripted/m2'])
  })
  it('an answer names the parts it was made of, and its usage', async () => {
    const { agent, say } = await started({ answers: [sayText('hello')] })
    await say('hi')
    const events = agent.session.events()
    const answer = events.find(({ type }) => type === 'assistant/message')
    expect(answer?.sourceEventSeqs).toEqual(events.filter(({ type }) => type === 'assistant/chunk').map(({ seq }) => seq))
    expect(answer).toMatchObject({ data: { usage: { inputTokens: 10 } } })
  })
  it('a step ends whatever happens in it', async () => {
    const { agent, say, story } = await started({ answers: [sayText('x')] })
    failOnce(agent.session, 'assistant')
    await say('hi')
    expect(story()).toEqual(['turn 1', 'step 1', 'user hi', 'step end', 'end error'])
  })
  it('after an error what is queued waits for the next wake-up', async () => {
    const { agent, ctx, say, story } = await started({ answers: ['1', '2', '3'].map(sayText) })
    const undo = ctx.on('agent/pre-step', () => {
      throw new Error('broken')
    })
    await say('a', 'b')
    expect([story(), agent.inbox.nextTurn.map(textOf)]).toEqual([['turn 1', 'end error'], ['a', 'b']])
    undo()
    await say('c')
    expect(story().filter((line) => line.startsWith('user'))).toEqual(['user a', 'user b', 'user c'])
  })
  const ends: readonly [TurnEndReason['kind'], LoopRigOptions][] = [
    ['completed', { answers: [sayText('x')] }],
    ['max-tokens', { answers: [[...textParts('x'), { type: 'finish', reason: { kind: 'max-tokens' } }]] }],
    ['error', { answers: [failWith({ code: 'AUTH', message: 'no' })] }],
    ['paused', { answers: [callTools(look('a'))], settings: { 'agent.maxStepsPerTurn': 1 } }],
  ]
  it.each(ends)('a turn can end as %s', async (kind, options) => {
    const { agent, say } = await started(options)
    await say('hi')
    expect(reasonOf(agent)?.kind).toBe(kind)
  })
  it('an error keeps what the provider said; any other is unknown with its words', async () => {
    const said = await started({ answers: [failWith({ code: 'AUTH', message: 'no', status: 401 })] })
    await said.say('hi')
    expect(reasonOf(said.agent)).toMatchObject({ failure: { code: 'AUTH', message: 'no', status: 401 } })
    const broken = await started()
    broken.ctx.on('agent/request', () => {
      throw new Error('broken')
    })
    await broken.say('hi')
    expect(reasonOf(broken.agent)).toEqual({ kind: 'error', failure: { code: 'UNKNOWN', message: 'broken' } })
  })
  it('running out of tokens drops the calls, runs nothing, and sticks', async () => {
    const { agent, ctx, say, story } = await started({
      answers: [[...textParts('x'), ...callParts(act('a'), 1), { type: 'finish', reason: { kind: 'max-tokens' } }], sayText('more')],
    })
    let isFirst = true
    ctx.on('agent/turn-stopping', () => {
      if (isFirst) agent.steer(prompt('go on'))
      isFirst = false
    })
    await say('hi')
    expect(story()).toEqual(['turn 1', 'step 1', 'user hi', 'assistant x', 'step end', 'step 2', 'user go on', 'assistant more', 'step end', 'end max-tokens'])
  })
  it('one follow-up is one turn, and several steers are one step', async () => {
    const { agent, story, say } = await started({ answers: [callTools(act('a')), sayText('1'), sayText('2')], tools: [fakeTool('act', () => (agent.steer(prompt('x')), agent.steer(prompt('y')), 'ok'))] })
    await say('a', 'b')
    expect(story().filter((line) => /^(turn|step \d|user)/.test(line))).toEqual(['turn 1', 'step 1', 'user a', 'step 2', 'user x', 'user y', 'turn 2', 'step 1', 'user b'])
  })
  it('nothing bounds steps by itself: the cap is a setting, pauses, and Continue goes on in the next turn', async () => {
    const { agent, say, story } = await started({ answers: [callTools(look('a')), callTools(look('b')), callTools(look('c')), sayText('done')], settings: { 'agent.maxStepsPerTurn': 3 } })
    await say('hi')
    expect(story().slice(-2)).toEqual(['paused at 3', 'end paused'])
    agent.continueTurn()
    await agent.whenIdle()
    expect(story().slice(-5)).toEqual(['turn 2', 'step 1', 'assistant done', 'step end', 'end completed'])
  })
})

describe('10.3 failure and cancellation', () => {
  it('a retry is the same step over a talk derived anew, and nothing of the failed attempt is in it', async () => {
    const { ctx, agent, adapter, say, story } = await started({ answers: [[...textParts('half'), ...callParts(act('a'), 1), ...failWith({ code: 'SERVER', message: 'busy' })], sayText('fine')] })
    const places: unknown[] = []
    ctx.on('agent/request-error', ({ turn, step, provider, failure, signal }) => {
      places.push([turn, step, provider, failure.code, signal.aborted])
      agent.session.append({ type: 'user/message', surfaceOp: 'append', data: prompt('hint') })
      return { kind: 'retry' }
    }, { prepend: true })
    await say('hi')
    expect(places).toEqual([[1, 1, 'scripted', 'SERVER', false]])
    expect(story()).toEqual(['turn 1', 'step 1', 'user hi', 'user hint', 'assistant fine', 'step end', 'end completed'])
    expect(adapter.requests[1]?.messages.map(textOf)).toEqual(['hi', 'hint'])
    expect(agent.session.events().filter(({ type }) => type === 'assistant/chunk').length).toBeGreaterThan(5)
  })
  it('a cancel keeps the text said so far, and drops calls; a blank leaves nothing', async () => {
    const after = async (parts: readonly ScriptedPart[]) => {
      const { agent, begin, story } = await started({ answers: [[...parts, hang]] })
      await begin()
      agent.cancel(byUser)
      await agent.whenIdle()
      return story().slice(3)
    }
    expect(await after([...textParts('Well'), ...callParts(act('a'), 1)])).toEqual(['assistant (cut) Well', 'step end', 'end aborted'])
    expect(await after(textParts(' \n'))).toEqual(['step end', 'end aborted'])
  })
  it('a failure is told once, and stands in the end of the turn', async () => {
    const { agent, errors, say } = await started({ answers: [failWith({ code: 'AUTH', message: 'no' })] })
    await say('hi')
    expect([errors, reasonOf(agent)?.kind]).toEqual([['AUTH'], 'error'])
  })
})

describe('10.4 the request', () => {
  it('takes its configuration from listeners, is frozen to the bottom, and comes from the log', async () => {
    const { agent, ctx, adapter, say } = await started({ answers: [sayText('x')] })
    ctx.on('agent/request', async (_place, next) => ({ ...(await next()), temperature: 0.5, stop: ['END'] }))
    await say('hi')
    const request = adapter.requests[0]!
    expect(request.config).toEqual({ provider: 'scripted', model: 'm1', temperature: 0.5, stop: ['END'] })
    const isDeeplyFrozen = (value: unknown): boolean =>
      typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen))
    const { signal: _, ...parts } = request
    expect([Object.isFrozen(request), Object.values(parts).every(isDeeplyFrozen)]).toEqual([true, true])
    expect(request.messages).toEqual(agent.session.messages().slice(0, 1))
  })
  it.each([
    ['provider', { provider: '' }, 'NO_ADAPTER'],
    ['model', { provider: 'other' }, 'UNKNOWN_MODEL'],
    ['adapter', { provider: 'other', model: 'm' }, 'NO_ADAPTER'],
  ] as const)('without a %s is an error', async (_what, choice, code) => {
    const { agent, agents, say } = await started()
    agents.configure(agent.id, choice)
    await say('hi')
    expect(reasonOf(agent)).toMatchObject({ kind: 'error', failure: { code } })
  })
  it('on a route nobody registered is served by a stream wrapper', async () => {
    const { ctx, say, story } = await started({ settings: { 'model.provider': 'nobody' } })
    ctx.on('llm/stream', async () => (async function* () { yield* sayText('from elsewhere') })())
    await say('hi')
    expect(story()).toContain('assistant from elsewhere')
  })
  it('a switch of the model while the prompt is put together parts neither', async () => {
    const { agent, agents, ctx, adapter, say } = await started({ answers: [sayText('x')] })
    ctx.systemPrompt.section({ name: 'model', order: 0, text: ({ model }) => (agents.configure(agent.id, { model: 'm2' }), `You are ${model}.`) })
    await say('hi')
    expect([adapter.requests[0]?.config.model, adapter.requests[0]?.system]).toEqual(['m1', 'You are m1.'])
  })
})

describe('10.5 creation and teardown', () => {
  const traced = (rig: ReturnType<typeof createLoopRig>) => {
    const trace: string[] = []
    rig.ctx.on('session/created', () => void trace.push('session/created'))
    rig.ctx.on('agent/created', () => void trace.push('agent/created'))
    rig.ctx.on('agent/session-start', (_agent, source) => void trace.push(`agent/session-start ${source}`))
    rig.ctx.on('agent/disposing', () => void trace.push('agent/disposing'))
    rig.ctx.on('agent/disposed', ({ id, status }) => void trace.push(`agent/disposed ${status} ${rig.agents.live(id) === undefined ? 'gone' : 'there'}, session ${rig.ctx.sessions.live(id) === undefined ? 'gone' : 'there'}`))
    rig.ctx.on('session/disposed', () => void trace.push('session/disposed'))
    return trace
  }
  it('sets up before the agent is known; session, agent and start are told in that order, with the source', async () => {
    const rig = createLoopRig({ answers: [sayText('x')] })
    const trace = traced(rig)
    const setUp = ({ id }: Agent) => void trace.push(`set-up ${rig.agents.live(id) === undefined ? 'unknown' : 'known'}`)
    const agent = await rig.agents.create({ cwd: '/w', preset: 'all', setUp })
    agent.followup(prompt('hi'))
    await agent.whenIdle()
    await agent.dispose()
    const order = (source: string) => ['session/created', 'set-up unknown', 'agent/created', `agent/session-start ${source}`]
    expect(trace.splice(0).slice(0, 4)).toEqual(order('startup'))
    await rig.agents.resume(agent.id, setUp)
    expect(trace.splice(0)).toEqual(order('resume'))
    await rig.agents.create({ cwd: '/w', preset: 'all', setUp, isCleared: true })
    expect(trace).toEqual(order('clear'))
  })
  it('a failed set-up takes everything back', async () => {
    const rig = createLoopRig()
    await expect(rig.agents.create({ cwd: '/w', preset: 'all', setUp: () => Promise.reject(new Error('no')) })).rejects.toThrow('no')
    expect([rig.agents.list(), await rig.ctx.sessions.list(), rig.store.disk.logs.size]).toEqual([[], [], 0])
  })
  it('cancels, waits until idle, ends the layer, removes the agent, then lets the session go', async () => {
    const rig = createLoopRig({ answers: [[hang]] })
    const agent = await rig.newAgent()
    agent.followup(prompt('hi'))
    await settled()
    const trace = traced(rig)
    rig.ctx.scoped(agent.scope).effect(() => void trace.push(`layer ${rig.agents.live(agent.id) === agent ? 'there' : 'gone'}`))
    await agent.dispose()
    expect(reasonOf(agent)).toEqual({ kind: 'aborted', reason: { kind: 'disposed' } })
    expect(trace).toEqual(['agent/disposing', 'layer there', 'agent/disposed idle gone, session there', 'session/disposed'])
  })
  it('a resume while the agent goes waits for its log', async () => {
    const rig = createLoopRig({ answers: [sayText('x')] })
    const agent = await rig.newAgent()
    agent.followup(prompt('hi'))
    await agent.whenIdle()
    let again: Promise<Agent> | undefined
    rig.ctx.on('agent/disposed', ({ id }) => void (again ??= rig.agents.resume(id)))
    await agent.dispose()
    const next = await again!
    expect([next === agent, next.session === agent.session, next.session.access, rig.agents.list()]).toEqual([false, false, 'write', [next]])
  })
  it('a context of an agent that is gone takes no registration', async () => {
    const rig = createLoopRig()
    const agent = await rig.newAgent()
    const ctx = rig.ctx.scoped(agent.scope)
    await agent.dispose()
    expect(() => ctx.tools.register(fakeTool('look'))).toThrow('disposed')
  })
  it('work knows who began it, through all that it awaits, also beside other work', async () => {
    const seen: Record<string, (string | undefined)[]> = {}
    const rig = createLoopRig({
      answers: [callTools(act('a')), callTools(act('b')), sayText('1'), sayText('2')],
      tools: [fakeTool('act', async (_args, { agent }) => {
        const mine = (seen[agent!.id] ??= [])
        mine.push(rig.agents.initiator()?.id)
        await settled()
        await new Promise<void>((resolve) => void setTimeout(() => (mine.push(rig.agents.initiator()?.id), resolve()), 1))
        return 'ok'
      })],
    })
    const [one, two] = [await rig.newAgent(), await rig.newAgent()]
    for (const agent of [one, two]) agent.followup(prompt('go'))
    expect(rig.agents.initiator()).toBeUndefined()
    await Promise.all([one.whenIdle(), two.whenIdle()])
    expect(seen).toEqual({ [one.id]: [one.id, one.id], [two.id]: [two.id, two.id] })
    expect(await one.runMaintenance(async () => (await settled(), rig.agents.initiator()?.id))).toBe(one.id)
  })
})

describe('10.5 edge cases', () => {
  it('an idle cancel leaks into nothing, and the next prompt runs', async () => {
    const { agent, say, story } = await started({ answers: [sayText('fine')] })
    agent.cancel(byUser)
    await say('hi')
    expect(story().at(-1)).toBe('end completed')
  })
  it('two cancels keep the first cause', async () => {
    const { agent, begin } = await started({ answers: [[hang]] })
    await begin()
    agent.cancel({ kind: 'hook', reason: 'first' })
    agent.cancel(byUser)
    await agent.whenIdle()
    expect(reasonOf(agent)).toMatchObject({ reason: { kind: 'hook', reason: 'first' } })
  })
  const places: readonly [string, (rig: Awaited<ReturnType<typeof started>>) => void, readonly string[]][] = [
    ['the status', ({ ctx, agent }) => void ctx.on('agent/status', (_agent, status) => void (status === 'running' && agent.cancel(byUser))), []],
    ['prompt assembly', ({ ctx, agent }) => void ctx.systemPrompt.section({ name: 'late', order: 0, text: () => (agent.cancel(byUser), 'x') }), ['turn 1', 'end aborted']],
    ['pre-step', ({ ctx, agent }) => void ctx.on('agent/pre-step', (_place, next) => (agent.cancel(byUser), next())), ['turn 1', 'end aborted']],
    ['the start of a step', ({ ctx, agent }) => void ctx.on('session/event', (_session, { type }) => void (type === 'step/start' && agent.cancel(byUser))), ['turn 1', 'step 1', 'step end', 'end aborted']],
  ]
  it.each(places)('a cancel at %s drops that work', async (_where, arrange, expected) => {
    const rig = await started({ answers: [sayText('x')] })
    arrange(rig)
    await rig.say('hi')
    expect([rig.story(), rig.adapter.requests.length]).toEqual([expected, 0])
  })
  it('a cancel during recovery does not keep the failed stream, and beats an answer that says retry', async () => {
    const { agent, ctx, adapter, say, story } = await started({ answers: [[...textParts('half'), ...failWith({ code: 'SERVER', message: 'busy' })], sayText('x')] })
    ctx.on('agent/request-error', () => (agent.cancel(byUser), { kind: 'retry' }), { prepend: true })
    await say('hi')
    expect([story(), adapter.requests.length]).toEqual([['turn 1', 'step 1', 'user hi', 'step end', 'end aborted'], 1])
  })
  it('a half-streamed call is dropped while finished text before it stays', async () => {
    const { agent, begin, story } = await started({ answers: [[...textParts('Let me'), { type: 'tool-call-delta', index: 1, id: 'a', name: 'act', argumentsDelta: '{"x' }, hang]] })
    await begin()
    agent.cancel(byUser)
    await agent.whenIdle()
    expect(story().slice(3)).toEqual(['assistant (cut) Let me', 'step end', 'end aborted'])
  })
  it('a steer at the stop gives another step of the same turn; a throw there is the turn’s error, and the loop lives', async () => {
    const { agent, ctx, say, story } = await started({ answers: ['1', '2', '3'].map(sayText) })
    let stops = 0
    ctx.on('agent/turn-stopping', () => {
      stops++
      if (stops === 1) agent.steer(prompt('more'))
      if (stops === 2) throw new Error('no')
    })
    await say('a')
    expect(story().slice(4)).toEqual(['step end', 'step 2', 'user more', 'assistant 2', 'step end', 'end error'])
    await say('b')
    expect(story().at(-1)).toBe('end completed')
  })
  it('what is steered during a concluding step still gets its step', async () => {
    const { agent, say, story } = await started({
      answers: [callTools({ id: 'a', name: 'end', args: {} }), sayText('ok')],
      tools: [fakeTool('end', (_args, exec) => (agent.steer(prompt('wait')), exec.concludeTurn(), 'done'))],
    })
    await say('go')
    expect(story().slice(-5)).toEqual(['step 2', 'user wait', 'assistant ok', 'step end', 'end completed'])
  })
  it('a burst of follow-ups gets turns that only grow', async () => {
    const { agent, say } = await started({ answers: Array.from({ length: 12 }, (_, index) => sayText(String(index))) })
    await say(...Array.from({ length: 12 }, (_, index) => `m${index}`))
    expect(agent.session.events().flatMap((event) => (event.type === 'turn/start' ? [event.data.turn] : []))).toEqual(Array.from({ length: 12 }, (_, index) => index + 1))
  })
  it('an idle inject is there after a resume, and makes no turn', async () => {
    const { agent, store } = await started()
    agent.inject(prompt('context'))
    await agent.dispose()
    const rig = createLoopRig({ store })
    const again = await rig.agents.resume(agent.id)
    await settled()
    expect([again.status, again.inbox.nextStep.map(textOf), again.session.events().some(({ type }) => type === 'turn/start')]).toEqual(['idle', ['context'], false])
  })
  it.each(['step 1', 'user', 'header', 'assistant', 'call', 'result'])('a failed append of %s leaves turns and steps balanced', async (line) => {
    const { agent, say, story } = await started({ answers: [callTools(act('a')), sayText('1'), sayText('2')] })
    failOnce(agent.session, line)
    await say('a')
    await say('b')
    const count = (pattern: RegExp) => story().filter((told) => pattern.test(told)).length
    expect([count(/^turn /), count(/^step \d/), count(/^call /)]).toEqual([count(/^end /), count(/^step end/), count(/^result /)])
    expect(story().at(-1)).toBe('end completed')
  })
  it('a resumed loop writes one header as a resume', async () => {
    const { agent, say, store } = await started({ answers: [sayText('1')] })
    await say('a')
    await agent.dispose()
    const rig = createLoopRig({ store, answers: [sayText('2'), sayText('3')], tools: [fakeTool('look', undefined, { isConcurrencySafe: () => true }), fakeTool('act')] })
    const again = await rig.agents.resume(agent.id)
    for (const text of ['b', 'c']) again.followup(prompt(text))
    await again.whenIdle()
    expect(linesOf(again.session).filter((line) => line.startsWith('header'))).toEqual(['header initial', 'header resume'])
  })
  it('a waiter for idleness from before a cancel goes on', async () => {
    const { agent, begin } = await started({ answers: [[hang]] })
    await begin()
    const idle = agent.whenIdle()
    agent.cancel(byUser)
    await idle
    expect(agent.status).toBe('idle')
  })
})

it('the composed application ends a running turn when it closes, and says so in the log', async () => {
  const application = await wholeApplication({ settings: { 'model.provider': 'scripted-tour', 'model.name': 'guided-tour' } })
  try {
    const agent = await application.ctx.agents.create({ cwd: application.folder, preset: 'ask' })
    application.ctx.on('llm/stream', () => new Promise(() => {}))
    agent.followup(prompt('hi'))
    await expect.poll(() => agent.session.events().some(({ type }) => type === 'request/context')).toBe(true)
    const { ctx } = await application.restart()
    const story = linesOf(await ctx.sessions.open(agent.id))
    expect(story.filter((line) => /^(turn|end|step)/.test(line)).slice(0, 4)).toEqual(['turn 1', 'step 1', 'step end', 'end aborted'])
  } finally {
    await application.dispose()
  }
})
