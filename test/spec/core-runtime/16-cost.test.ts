import { afterEach, describe, expect, it } from 'vitest'
import { costPlugin } from '../../../extension/core/cost/plugin.ts'
import type { EventDraft, EventType, SessionEvent } from '../../../extension/core/log/event.ts'
import type { ModelPrice, StreamChunk, Usage } from '../../../extension/core/model/contract.ts'
import type { Session } from '../../../extension/core/session/session.ts'
import { createLoopRig, fakeTool, prompt, type LoopRigOptions } from '../../support/loop-rig.ts'
import { startModelServer, type ModelServer } from '../../support/model-server.ts'
import { createMemoryEventStore } from '../../support/memory-event-store.ts'
import { createScriptedAdapter, failWith, textParts, type ScriptedAnswer } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

const price: ModelPrice = { currency: 'USD', input: 1000, cacheRead: 100, cacheWrite: 1250, output: 4000 }
const usage = (more: Partial<Usage> = {}): Usage => ({ inputTokens: 100, outputTokens: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0, ...more })
const say = (used: Partial<Usage> = {}): readonly StreamChunk[] => [...textParts('Yes.'), { type: 'usage', usage: usage(used) }, { type: 'finish', reason: { kind: 'stop' } }]
const look = (used: Partial<Usage> = {}): readonly StreamChunk[] => [
  { type: 'block-start', index: 0, block: 'tool-call' },
  { type: 'tool-call-delta', index: 0, id: `c${Math.random()}`, name: 'look', argumentsDelta: '{}' },
  { type: 'block-end', index: 0 },
  { type: 'usage', usage: usage(used) },
  { type: 'finish', reason: { kind: 'tool-calls' } },
]
/** 100 tokens in and 10 out. */
const oneRequest = 0.14

async function setUp(answers: readonly ScriptedAnswer[], { isPriced = true, ...options }: LoopRigOptions & { readonly isPriced?: boolean } = {}) {
  const adapter = createScriptedAdapter(answers, { model: { ...(isPriced && { price }) } })
  const rig = createLoopRig({ adapter, tools: [fakeTool('look')], ...options })
  await rig.ctx.plugin(costPlugin({ clock: rig.clock, logger: rig.logger })).ready
  const run = async (text: string, agent = first) => {
    agent.followup(prompt(text))
    await agent.whenIdle()
  }
  const goOn = async (agent = first) => {
    rig.ctx.budgets.goOn(agent.session)
    agent.continueTurn()
    await agent.whenIdle()
  }
  // A store that holds a session is that of an earlier start, which the test resumes itself.
  const isLater = (await rig.ctx.sessions.list()).length > 0
  const first = isLater ? (undefined as never) : await rig.newAgent()
  return { ...rig, agent: first, session: first?.session, run, goOn }
}
const dataOf = <T extends EventType>(session: Session, type: T) => session.events().flatMap((event) => (event.type === type ? [(event as SessionEvent<T>).data] : []))
const costs = (session: Session) => dataOf(session, 'cost/estimated')
const pauses = (session: Session) => dataOf(session, 'turn/paused')
const ends = (session: Session) => dataOf(session, 'turn/end').map(({ reason }) => reason.kind)
const costEvent = (amount: number, more: Partial<SessionEvent<'cost/estimated'>['data']> = {}): EventDraft<'cost/estimated'> => ({
  type: 'cost/estimated', ignorable: true, data: { purpose: 'turn', provider: 'scripted', model: 'm1', usage: usage(), amount, ...more },
})

describe('usage and money', () => {
  it('are written with each answer, cache reads apart, by the rates that held then', async () => {
    const { run, session } = await setUp([say({ inputTokens: 10, cacheRead: 50, cacheWrite: 2, reasoning: 3 })])
    await run('go')
    const { currency: _, ...rates } = price
    expect(costs(session)).toEqual([
      { purpose: 'turn', provider: 'scripted', model: 'm1', usage: { inputTokens: 10, outputTokens: 10, cacheRead: 50, cacheWrite: 2, reasoning: 3 }, rates, amount: 0.0695 },
    ])
    expect(session.events().find(({ type }) => type === 'cost/estimated')).toMatchObject({ ignorable: true })
  })

  it('are summed for the turn and the session, and stay as they were when the price changes', async () => {
    const { run, session, ctx, store } = await setUp([say(), look(), say()])
    await run('one')
    await run('two')
    const { total, turn } = ctx.costs.ownCost(session.id)!
    expect([total.amount, total.requests, turn.amount, turn.requests]).toEqual([0.42, 3, 0.28, 2])
    await session.close()
    const again = await setUp([], { store, isPriced: false })
    expect((await again.ctx.costs.treeCost(session.id)).amount).toBe(0.42)
  })

  it('of an unknown price stay unknown: the sum says how many requests it leaves out', async () => {
    const { run, session, ctx } = await setUp([say()], { isPriced: false })
    session.append(costEvent(2))
    await run('go')
    expect(costs(session).at(-1)).not.toHaveProperty('amount')
    expect(ctx.costs.ownCost(session.id)?.total).toMatchObject({ requests: 2, unpriced: 1, amount: 2 })
  })

  it('are estimated where the provider counts nothing, and say so', async () => {
    const { run, session } = await setUp([[...textParts('x'.repeat(40)), { type: 'finish', reason: { kind: 'stop' } }]])
    await run('go')
    expect(costs(session)).toMatchObject([{ isEstimate: true, usage: { outputTokens: 10, cacheRead: 0 } }])
    expect(costs(session)[0]!.usage.inputTokens).toBeGreaterThan(0)
  })

  it('hold what a stopped request had used', async () => {
    const { agent, session, ctx } = await setUp([[...textParts('x'.repeat(40)), { type: 'hang' }]])
    ctx.on('session/event', (_, event) => void (event.type === 'step/start' && setTimeout(() => agent.cancel({ kind: 'user' }), 20)))
    agent.followup(prompt('go'))
    await agent.whenIdle()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(costs(session)).toMatchObject([{ isEstimate: true, usage: { outputTokens: 10 } }])
  })

  it('are not written for a request that was refused before it began', async () => {
    const { run, session } = await setUp([failWith({ code: 'AUTH', message: 'No.' })])
    await run('go')
    expect(costs(session)).toEqual([])
  })

  it('add sessions that an agent started, live and stored, and theirs; a fork is no child', async () => {
    const store = createMemoryEventStore()
    const before = await setUp([], { store })
    const parent = before.session
    parent.append(costEvent(1))
    const child = async (id: string, parentSession: string, amount: number, origin: 'subagent' | null = 'subagent') => {
      const session = await before.ctx.sessions.create({ cwd: '/w', id, parentSession, ...(origin && { origin }) })
      session.append(costEvent(amount))
      await session.flush()
      return session
    }
    await child('c1', parent.id, 10)
    const c2 = await child('c2', 'c1', 100)
    await child('other', parent.id, 1000, null)
    expect((await before.ctx.costs.treeCost(parent.id)).amount).toBe(111)
    expect(await before.ctx.costs.rootOf('c2')).toBe(parent.id)
    await c2.close()
    await before.ctx.sessions.live('c1')!.close()
    await parent.close()
    const after = await setUp([], { store })
    expect((await after.ctx.costs.treeCost(parent.id)).amount).toBe(111)
  })

  it('of a fork leave out what its parent paid', async () => {
    const { run, session, ctx } = await setUp([say()])
    await run('go')
    const fork = await ctx.sessions.fork(session.id)
    fork.append(costEvent(5))
    expect([ctx.costs.ownCost(fork.id)?.total.amount, (await ctx.costs.treeCost(session.id)).amount]).toEqual([5, oneRequest])
  })

  it('of a day are those of all sessions, found again without what is kept beside their logs', async () => {
    const store = createMemoryEventStore()
    const { session, clock, ctx } = await setUp([], { store })
    session.append(costEvent(1))
    clock.advance(26 * 3_600_000)
    session.append(costEvent(2))
    const other = await ctx.sessions.create({ cwd: '/w', id: 'other' })
    other.append(costEvent(4))
    expect((await ctx.costs.dayCost(clock.now())).amount).toBe(6)
    await other.close()
    await session.close()
    const after = await setUp([], { store })
    after.clock.advance(26 * 3_600_000)
    expect((await after.ctx.costs.dayCost(after.clock.now())).amount).toBe(6)
  })
})

describe('the reason of a cache miss', () => {
  const big = { inputTokens: 10_000, cacheRead: 0, cacheWrite: 0 }
  const miss = (session: Session) => costs(session).at(-1)?.cacheMiss

  it('is not looked for where the cache was found', async () => {
    const { run, session } = await setUp([look(big), say({ inputTokens: 50, cacheRead: 10_000 })])
    await run('go')
    expect(costs(session).map(({ cacheMiss }) => cacheMiss)).toEqual([undefined, undefined])
  })

  it('is that the provider dropped it when nothing changed, with the time since', async () => {
    const { run, session, clock } = await setUp([say(big), say(big)])
    await run('one')
    clock.advance(420_000)
    await run('two')
    expect(miss(session)).toEqual({ lostTokens: 10_000, sinceMs: 420_000, reason: { kind: 'dropped' } })
  })

  it('is the part of the prefix that changed', async () => {
    const { run, session, ctx, agent } = await setUp([say(big), say(big)])
    await run('one')
    ctx.agents.configure(agent.id, { reasoningEffort: 'low' })
    await run('two')
    expect(miss(session)?.reason).toEqual({ kind: 'config', fields: ['reasoningEffort'] })
  })

  it('is a message that something else took the place of', async () => {
    const { run, session } = await setUp([say(big), say(big)])
    await run('one')
    const [node] = session.surface().nodes
    session.append({ type: 'user/message', surfaceOp: { op: 'replace', start: 0, end: 0 }, sourceEventSeqs: [node!.seq], data: { ...prompt('other'), id: 'other' } })
    await run('two')
    expect(miss(session)?.reason).toEqual({ kind: 'messages', position: 0, what: 'message' })
  })

  it('is found after a restart too', async () => {
    const store = createMemoryEventStore()
    const before = await setUp([say(big)], { store })
    await before.run('one')
    await before.agent.dispose()
    const after = await setUp([say(big)], { store })
    after.clock.advance(60_000)
    after.ctx.tools.register(fakeTool('act'))
    const agent = await after.ctx.agents.resume(before.session.id)
    await after.run('two', agent)
    expect(miss(agent.session)).toEqual({ lostTokens: 10_000, sinceMs: 60_000, reason: { kind: 'tools', change: 'added', tools: ['act'], total: 1 } })
  })

  it('is not asked of a provider that keeps nothing, nor for a few tokens', async () => {
    const { run, session } = await setUp([say(big), say(big)], { isPriced: false })
    await run('one')
    await run('two')
    expect(miss(session)).toBeUndefined()
  })
})

describe('the limits', () => {
  it.each([
    ['agent.costLimit', 0.2, 'cost', 'session'],
    ['agent.turnCostLimit', 0.2, 'cost', 'turn'],
    ['agent.dayCostLimit', 0.2, 'cost', 'day'],
    ['agent.tokenLimit', 200, 'tokens', 'session'],
    ['agent.turnTokenLimit', 200, 'tokens', 'turn'],
    ['agent.dayTokenLimit', 200, 'tokens', 'day'],
  ])('%s pauses before the request that would pass it', async (key, limit, cap, per) => {
    const { run, session, adapter } = await setUp([look(), look(), look(), say()], { settings: { [key]: limit } })
    await run('go')
    expect(ends(session)).toEqual(['paused'])
    expect(pauses(session)).toMatchObject([{ cap, per, limit }])
    expect(adapter.requests.length).toBeLessThan(3)
    expect(dataOf(session, 'turn/end')[0]!.reason).toMatchObject({ kind: 'paused', cap, per, limit })
  })

  it('stop a request that alone would pass one, before anything is sent, and keep the words of the person', async () => {
    const { run, session, adapter, agent } = await setUp([say()], { settings: { 'agent.costLimit': 0.01 } })
    await run('x'.repeat(400))
    expect([adapter.requests.length, agent.inbox.nextTurn.length]).toEqual([0, 1])
    expect(pauses(session)[0]!.next).toBeGreaterThan(0.01)
  })

  it('of 0 are none', async () => {
    const { run, session } = await setUp([say({ inputTokens: 1e9 }), say()])
    await run('one')
    await run('two')
    expect(ends(session)).toEqual(['completed', 'completed'])
  })

  it('are raised by one more tranche when the person goes on, and hold again then', async () => {
    const { run, goOn, session } = await setUp(Array.from({ length: 9 }, () => look()), { settings: { 'agent.costLimit': 0.3 } })
    await run('go')
    await goOn()
    const [raise] = dataOf(session, 'budget/raised')
    expect(raise).toMatchObject({ cap: 'cost', per: 'session', base: 0.3, limit: 0.6 })
    expect([ends(session), pauses(session).map(({ limit }) => limit)]).toEqual([['paused', 'paused'], [0.3, 0.6]])
  })

  it('stay raised after a restart, until the setting is changed', async () => {
    const store = createMemoryEventStore()
    const before = await setUp(Array.from({ length: 9 }, () => look()), { store, settings: { 'agent.costLimit': 0.3 } })
    await before.run('go')
    before.ctx.budgets.goOn(before.session)
    await before.agent.dispose()
    for (const [setting, limit] of [[0.3, 0.6], [0.4, 0.4]] as const) {
      const after = await setUp([], { store, settings: { 'agent.costLimit': setting } })
      const agent = await after.ctx.agents.resume(before.session.id)
      expect(after.ctx.budgets.uses(agent.session)).toMatchObject([{ limit }])
      await agent.dispose()
    }
  })

  it('that were raised are not those of a fork, which begins its own count', async () => {
    const { run, session, ctx } = await setUp(Array.from({ length: 9 }, () => look()), { settings: { 'agent.costLimit': 0.3 } })
    await run('go')
    ctx.budgets.goOn(session)
    const fork = await ctx.sessions.fork(session.id)
    expect([ctx.budgets.uses(session), ctx.budgets.uses(fork)]).toMatchObject([[{ limit: 0.6, used: 0.28 }], [{ limit: 0.3, used: 0 }]])
  })

  it('take the tools into account that the first request will declare', async () => {
    const { run, session, adapter } = await setUp([say()], { settings: { 'agent.tokenLimit': 1000 }, tools: [fakeTool('look', undefined, { description: 'x'.repeat(8000) })] })
    await run('go')
    expect([adapter.requests.length, pauses(session)[0]!.next]).toEqual([0, expect.any(Number)])
    expect(pauses(session)[0]!.next).toBeGreaterThan(2000)
  })

  it('of a turn begin anew with the next one, without a word in the log', async () => {
    const { run, goOn, session } = await setUp([look(), say()], { settings: { 'agent.turnCostLimit': 0.2 } })
    await run('go')
    await goOn()
    expect([ends(session), dataOf(session, 'budget/raised')]).toEqual([['paused', 'completed'], []])
  })

  it('of a turn let a request through that is too large for them alone, once the person said so', async () => {
    const { run, goOn, session } = await setUp([say()], { settings: { 'agent.turnCostLimit': 0.01 } })
    await run('x'.repeat(400))
    await goOn()
    expect(ends(session)).toEqual(['paused', 'completed'])
  })

  it('count what agents spent that this one started, and stop those too', async () => {
    const { run, session, ctx } = await setUp([say()], { settings: { 'agent.costLimit': 5 } })
    const child = await ctx.sessions.create({ cwd: '/w', id: 'child', parentSession: session.id, origin: 'subagent' })
    child.append(costEvent(6))
    await run('go')
    expect(pauses(session)).toMatchObject([{ cap: 'cost', per: 'session', used: 6 }])
    const stop = await ctx.budgets.check({ agent: { session: child, inbox: { nextStep: [], nextTurn: [] } }, turn: 1, step: 0, provider: 'scripted', model: 'm1', toolTokens: () => 0 })
    expect(stop).toMatchObject({ per: 'session', used: 6 })
  })

  it('warn once at four fifths', async () => {
    const { run, session } = await setUp([...Array.from({ length: 10 }, () => look()), say()], { settings: { 'agent.tokenLimit': 1300 } })
    await run('go')
    expect(dataOf(session, 'budget/warned')).toEqual([{ cap: 'tokens', per: 'session', limit: 1300, used: 1100 }])
  })

  it('of money say so when the price of the model is unknown, once, and let it go on', async () => {
    const { run, session } = await setUp([look(), say()], { settings: { 'agent.costLimit': 0.01 }, isPriced: false })
    await run('go')
    expect([ends(session), dataOf(session, 'budget/unpriced')]).toEqual([['completed'], [{ provider: 'scripted', model: 'm1' }]])
  })

  it('cost a step the same however long the talk is', async () => {
    const { run, session } = await setUp(Array.from({ length: 60 }, (_, at) => (at === 59 ? say() : look())), { settings: { 'agent.costLimit': 1e6 } })
    let walks = 0
    const real = session.events.bind(session)
    session.events = (...range) => (walks++, real(...range))
    await run('go')
    expect(walks).toBe(0)
  })
})

describe('in the whole application', () => {
  let server: ModelServer | undefined
  let application: WholeApplication | undefined
  afterEach(async () => {
    await application?.dispose()
    await server?.close()
  })

  it('figures are those of the server, priced as the person says, and the limit holds on the wire', async () => {
    server = await startModelServer({ models: ['m'], steps: [1, 2].map(() => ({ answer: { parts: [{ text: 'Yes.' }], usage: { promptTokens: 20_000, completionTokens: 20, cachedTokens: 8_000, reasoningTokens: 5 } } })) })
    application = await wholeApplication({
      settings: {
        'model.provider': 'mine',
        'model.name': 'm',
        'agent.costLimit': 0.014,
        'titles.enabled': false,
        providers: { mine: { baseUrl: server.url, models: { m: { price: { input: 1, cacheRead: 0.1, output: 4 } } } } },
      },
    })
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    agent.followup(prompt('one'))
    await agent.whenIdle()
    expect(costs(agent.session)).toMatchObject([{ amount: 0.01288, usage: { inputTokens: 12_000, cacheRead: 8_000, outputTokens: 15, reasoning: 5 } }])
    agent.followup(prompt('two'))
    await agent.whenIdle()
    expect([ends(agent.session), server.chats().length]).toEqual([['completed', 'paused'], 1])
    const { text } = await application.ctx.commands.run(agent, '/cost')
    expect(text?.split('\n')).toEqual([
      'This session: $0.01, 1 request, 20,000 tokens read (40% from the cache), 20 written',
      'Today, all sessions: $0.01, 1 request, 20,000 tokens read (40% from the cache), 20 written',
      'Limit: $0.01 of the $0.01 that this session may cost',
    ])
  })
})
