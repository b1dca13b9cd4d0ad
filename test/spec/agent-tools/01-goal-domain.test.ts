import { describe, expect, it } from 'vitest'
import type { EventDraft } from '../../../extension/core/log/event.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { GoalChange, GoalOperation, GoalPhase } from '../../../extension/features/goals/events.ts'
import { emptyLedger, ledgerAfter, type GoalLedger } from '../../../extension/features/goals/ledger.ts'
import { goalMoves } from '../../../extension/features/goals/moves.ts'
import { goalProjection } from '../../../extension/features/goals/projection.ts'
import type { GoalNews } from '../../../extension/features/goals/service.ts'
import { createGoalRig, goalOf, type GoalRig } from '../../support/goal-rig.ts'
import { settled } from '../../support/loop-rig.ts'

/** A rig whose driver begins nothing, so that goals stand where a test puts them. */
async function still(options: Parameters<typeof createGoalRig>[0] = {}) {
  const rig = createGoalRig({ isTrusted: false, ...options })
  return { rig, agent: await rig.begun() }
}
const codeOf = (work: () => unknown): string => {
  try {
    work()
    return 'ok'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}

/** Bring a goal to a phase; `disarmed` is an active one that waits for the person. */
type Standing = 'none' | GoalPhase | 'disarmed'
function bring(rig: GoalRig, agent: Agent, to: Standing): void {
  if (to === 'none') return
  const { goals } = rig
  const { goal } = goals.create(agent, { objective: 'Reach it' })
  if (to === 'paused') goals.pause(agent, goal)
  if (to === 'blocked') goals.block(agent, goal, { code: 'model-reported', message: 'No key' })
  if (to === 'complete') goals.complete(agent, goal)
  if (to === 'disarmed') goals.disarm(agent)
}

const act: Readonly<Record<GoalOperation, (rig: GoalRig, agent: Agent) => unknown>> = {
  create: ({ goals }, agent) => goals.create(agent, { objective: 'Another' }),
  edit: (rig, agent) => rig.goals.edit(agent, refOf(rig, agent), { objective: 'Other' }),
  pause: (rig, agent) => rig.goals.pause(agent, refOf(rig, agent)),
  resume: (rig, agent) => rig.goals.resume(agent, refOf(rig, agent)),
  complete: (rig, agent) => rig.goals.complete(agent, refOf(rig, agent)),
  block: (rig, agent) => rig.goals.block(agent, refOf(rig, agent), { code: 'other', message: 'm' }),
  clear: (rig, agent) => rig.goals.clear(agent, refOf(rig, agent)),
}
const refOf = (rig: GoalRig, agent: Agent) => rig.goals.read(agent.session)?.goal ?? { id: 'goal-none', revision: 1 }

/* Written down by hand from the table of the specification: what each operation leads to, or the code of its refusal. */
const absent = 'GOAL_NOT_FOUND'
const illegal = 'GOAL_INVALID_TRANSITION'
const exists = 'GOAL_ALREADY_EXISTS'
const table: Readonly<Record<GoalOperation, Readonly<Record<Standing, string>>>> = {
  create: { none: 'active armed', active: exists, disarmed: exists, paused: exists, blocked: exists, complete: 'active armed' },
  edit: { none: absent, active: 'active armed', disarmed: 'active disarmed', paused: 'paused disarmed', blocked: 'blocked disarmed', complete: 'complete disarmed' },
  pause: { none: absent, active: 'paused disarmed', disarmed: 'paused disarmed', paused: illegal, blocked: illegal, complete: illegal },
  resume: { none: absent, active: illegal, disarmed: 'active armed', paused: 'active armed', blocked: 'active armed', complete: illegal },
  complete: { none: absent, active: 'complete disarmed', disarmed: 'complete disarmed', paused: 'complete disarmed', blocked: 'complete disarmed', complete: illegal },
  block: { none: absent, active: 'blocked disarmed', disarmed: 'blocked disarmed', paused: illegal, blocked: illegal, complete: illegal },
  clear: { none: absent, active: 'none', disarmed: 'none', paused: 'none', blocked: 'none', complete: 'none' },
}
const moves = Object.entries(table).flatMap(([operation, row]) => Object.entries(row).map(([from, to]) => [operation as GoalOperation, from as Standing, to] as const))

describe('1.1 the state machine', () => {
  it.each(moves)('%s from %s: %s', async (operation, from, to) => {
    const { rig, agent } = await still()
    bring(rig, agent, from)
    const before = rig.goals.read(agent.session)
    const length = agent.session.length
    const code = codeOf(() => act[operation](rig, agent))
    const after = rig.goals.read(agent.session)
    if (code !== 'ok') expect([code, agent.session.length, after]).toEqual([to, length, before])
    else {
      expect(after === null ? 'none' : `${after.goal.phase} ${after.activation}`).toBe(to)
      if (after !== null && before !== null && operation !== 'create') expect(after.goal.revision).toBe(before.goal.revision + 1)
    }
  })
  it('has a row of data for every operation', () => expect(Object.keys(goalMoves).toSorted()).toEqual(Object.keys(table).toSorted()))

  it('resume needs rounds that are left, and drops the blocker; edit keeps it, and may set the cap below what was begun', async () => {
    const { rig, agent } = await still()
    bring(rig, agent, 'blocked')
    const edited = rig.goals.edit(agent, refOf(rig, agent), { objective: 'Other' })
    expect(edited.goal.blockedReason).toEqual({ code: 'model-reported', message: 'No key' })
    expect(rig.goals.resume(agent, edited.goal).goal.blockedReason).toBeUndefined()

    const { goal } = goalOf(rig, agent)
    agent.session.append(round(goal.id, goal.revision, 1))
    agent.session.append(round(goal.id, goal.revision, 2))
    const capped = rig.goals.edit(agent, goal, { maxGoalRounds: 1 }).goal
    expect([capped.maxGoalRounds, capped.roundsStarted]).toEqual([1, 2])
    const paused = rig.goals.pause(agent, capped).goal
    expect(codeOf(() => rig.goals.resume(agent, paused))).toBe(illegal)
    expect(codeOf(() => rig.goals.resume(agent, rig.goals.edit(agent, paused, { maxGoalRounds: 3 }).goal))).toBe('ok')
  })

  it('disarm changes neither revision nor log', async () => {
    const { rig, agent } = await still()
    bring(rig, agent, 'active')
    const [{ goal }, length] = [goalOf(rig, agent), agent.session.length]
    rig.goals.disarm(agent)
    expect([goalOf(rig, agent).goal, goalOf(rig, agent).activation, agent.session.length]).toEqual([goal, 'disarmed', length])
  })

  it('an id is never used twice, and a new goal begins at revision 1 with no rounds', async () => {
    const { rig, agent } = await still()
    bring(rig, agent, 'complete')
    const first = goalOf(rig, agent).goal
    rig.goals.create(agent, { objective: 'Next' })
    const { goal } = goalOf(rig, agent)
    expect([goal.id === first.id, goal.id.startsWith('goal-'), goal.revision, goal.roundsStarted, goal.maxGoalRounds]).toEqual([false, true, 1, 0, 256])
  })

  it('a clock that goes back never takes updatedAt back', async () => {
    const { rig, agent } = await still()
    bring(rig, agent, 'active')
    const before = goalOf(rig, agent).goal
    rig.clock.jump(-60_000)
    expect(rig.goals.pause(agent, before).goal.updatedAt).toBe(before.updatedAt)
  })

  it('takes the cap of rounds from the setting when nobody says', async () => {
    const { rig, agent } = await still({ settings: { 'goals.defaultMaxRounds': 7 } })
    expect(rig.goals.create(agent, { objective: 'x' }).goal.maxGoalRounds).toBe(7)
  })
})

describe('1.1 the codes', () => {
  const rows: readonly (readonly [string, (rig: GoalRig, agent: Agent) => unknown, string])[] = [
    ['a blank objective', ({ goals }, agent) => goals.create(agent, { objective: ' \n ' }), 'GOAL_INVALID_OBJECTIVE'],
    ['an objective of 20 001 characters', ({ goals }, agent) => goals.create(agent, { objective: 'x'.repeat(20_001) }), 'GOAL_INVALID_OBJECTIVE'],
    ...[0, -1, 1.5, Number.NaN, 2 ** 53].map((maxGoalRounds) => [`a cap of ${maxGoalRounds}`, ({ goals }: GoalRig, agent: Agent) => goals.create(agent, { objective: 'x', maxGoalRounds }), 'GOAL_INVALID_MAX_ROUNDS'] as const),
    ...([{ maxTokens: 0 }, { maxTokens: 1.5 }, { maxCost: -1 }, { maxMinutes: Number.POSITIVE_INFINITY }, { checks: Array.from({ length: 21 }, (_, index) => `${index}`) }, { checks: ['x'.repeat(4_001)] }, { checks: ['no-new-errors'] }] as const).map(
      (terms) => [`terms ${JSON.stringify(terms).slice(0, 40)}`, ({ goals }: GoalRig, agent: Agent) => goals.create(agent, { objective: 'x', terms }), 'GOAL_INVALID_TERMS'] as const,
    ),
    ['an edit of nothing', (rig, agent) => (bring(rig, agent, 'active'), rig.goals.edit(agent, refOf(rig, agent), {})), 'GOAL_INVALID_EDIT'],
    ['an edit to a blank objective', (rig, agent) => (bring(rig, agent, 'active'), rig.goals.edit(agent, refOf(rig, agent), { objective: ' ' })), 'GOAL_INVALID_OBJECTIVE'],
    ['a reason without words', (rig, agent) => (bring(rig, agent, 'active'), rig.goals.block(agent, refOf(rig, agent), { code: 'x', message: ' ' })), 'GOAL_INVALID_BLOCK_REASON'],
    ['a reason that is too long', (rig, agent) => (bring(rig, agent, 'active'), rig.goals.block(agent, refOf(rig, agent), { code: 'x', message: 'm'.repeat(4_001) })), 'GOAL_INVALID_BLOCK_REASON'],
    ['a code that is none', (rig, agent) => (bring(rig, agent, 'active'), rig.goals.block(agent, refOf(rig, agent), { code: 'No Code', message: 'm' })), 'GOAL_INVALID_BLOCK_REASON'],
    ['an older revision', (rig, agent) => (bring(rig, agent, 'paused'), rig.goals.resume(agent, { id: refOf(rig, agent).id, revision: 1 })), 'GOAL_STALE_REVISION'],
    ['another goal', (rig, agent) => (bring(rig, agent, 'active'), rig.goals.pause(agent, { id: 'goal-x', revision: 1 })), 'GOAL_STALE_REVISION'],
    ['no goal', (rig, agent) => rig.goals.pause(agent, { id: 'goal-x', revision: 1 }), 'GOAL_NOT_FOUND'],
  ]
  it.each(rows)('%s', async (_what, work, code) => {
    const { rig, agent } = await still()
    expect(codeOf(() => work(rig, agent))).toBe(code)
  })
  it('an agent that is gone', async () => {
    const { rig, agent } = await still()
    await agent.dispose()
    expect(codeOf(() => rig.goals.create(agent, { objective: 'x' }))).toBe('GOAL_AGENT_NOT_LIVE')
  })
  it('a session that another window writes', async () => {
    const { rig, agent } = await still()
    Object.defineProperty(agent.session, 'access', { value: 'read-only' })
    expect(codeOf(() => rig.goals.create(agent, { objective: 'x' }))).toBe('GOAL_AGENT_NOT_LIVE')
  })
})

describe('1.1 the event', () => {
  it('has exactly the keys of its two forms, and a mutation adds nothing for the model', async () => {
    const { rig, agent } = await still()
    const messages = agent.session.messages()
    bring(rig, agent, 'blocked')
    rig.goals.clear(agent, refOf(rig, agent))
    const changes = agent.session.events().flatMap((event) => (event.type === 'goal/change' ? [event.data] : []))
    expect(changes.map((data) => Object.keys(data).toSorted())).toEqual([
      ...Array.from({ length: 2 }, () => ['createdAt', 'goal', 'kind', 'operation', 'roundsStarted', 'updatedAt', 'version']),
      ['cleared', 'clearedAt', 'kind', 'operation', 'version'],
    ])
    expect(changes[1]).toMatchObject({ operation: 'block', goal: { revision: 2, phase: 'blocked', blockedReason: { code: 'model-reported' } } })
    expect(changes[2]).toMatchObject({ cleared: { revision: 3 } })
    expect(agent.session.messages()).toBe(messages)
  })

  it('goal/changed tells after the commit, and a listener that throws is contained', async () => {
    const { rig, agent } = await still()
    const told: (readonly [GoalNews['operation'], number, boolean])[] = []
    rig.ctx.on('goal/changed', () => {
      throw new Error('broken')
    })
    rig.ctx.on('goal/changed', (_agent, { operation, ref, goal }) => void told.push([operation, ref.revision, goal !== undefined]))
    bring(rig, agent, 'paused')
    rig.goals.clear(agent, refOf(rig, agent))
    expect(told).toEqual([['create', 1, true], ['pause', 2, true], ['clear', 3, false]])
  })
})

// Replay

const made = (more: object = {}, goal: object = {}): GoalChange =>
  ({ kind: 'goal/change', version: 1, operation: 'create', goal: { id: 'goal-a', revision: 1, objective: 'o', phase: 'active', maxGoalRounds: 3, ...goal }, roundsStarted: 0, createdAt: 5, updatedAt: 5, ...more })
const next = (operation: string, goal: object, more: object = {}): GoalChange => made({ operation, updatedAt: 6, ...more }, { revision: 2, ...goal })
const cleared = (more: object = {}): GoalChange => ({ kind: 'goal/change', version: 1, operation: 'clear', cleared: { id: 'goal-a', revision: 2 }, clearedAt: 6, ...more })
const change = (data: GoalChange): EventDraft => ({ type: 'goal/change', data })
const round = (goalId: string, revision: number, number: number): EventDraft => ({ type: 'user/message', surfaceOp: 'append', data: { id: `r${number}`, role: 'user', content: [], source: { kind: 'goal', goalId, revision, round: number } } })
const folded = (drafts: readonly EventDraft[]): GoalLedger => drafts.reduce((ledger, draft, seq) => ledgerAfter(ledger, { ...draft, seq, time: 10 + seq }), emptyLedger)

describe('1.1 replay is strict', () => {
  const faults: readonly (readonly [string, readonly EventDraft[]])[] = [
    ['another version', [change(made({ version: 2 }))]],
    ['a key more', [change(made({ extra: 1 }))]],
    ['a key more in the goal', [change(made({}, { extra: 1 }))]],
    ['a key less', [change(made({ createdAt: undefined }))]],
    ['an objective with blanks around it', [change(made({}, { objective: ' o' }))]],
    ['a cap of 0', [change(made({}, { maxGoalRounds: 0 }))]],
    ['a reason on an active goal', [change(made({}, { blockedReason: { code: 'a', message: 'm' } }))]],
    ['a blocked goal without a reason', [change(made()), change(next('block', { phase: 'blocked' }))]],
    ['a code that is not in kebab-case', [change(made()), change(next('block', { phase: 'blocked', blockedReason: { code: 'A_B', message: 'm' } }))]],
    ['a new goal that is not new', [change(made({}, { revision: 2 }))]],
    ['a new goal with rounds', [change(made({ roundsStarted: 1 }))]],
    ['a new goal over an unfinished one', [change(made()), change(made({}, { id: 'goal-b' }))]],
    ['an id that is used again', [change(made()), change(cleared()), change(made({ createdAt: 9, updatedAt: 9 }))]],
    ['a gap in the revisions', [change(made()), change(next('pause', { phase: 'paused', revision: 3 }))]],
    ['a revision twice', [change(made()), change(next('pause', { phase: 'paused', revision: 1 }))]],
    ['another goal', [change(made()), change(next('pause', { phase: 'paused', id: 'goal-b' }))]],
    ['an illegal move', [change(made()), change(next('pause', { phase: 'paused' })), change(next('pause', { phase: 'paused', revision: 3 }))]],
    ['a move that leads elsewhere', [change(made()), change(next('pause', { phase: 'complete' }))]],
    ['a clock that goes back', [change(made()), change(next('pause', { phase: 'paused' }, { updatedAt: 4 }))]],
    ['another time of creation', [change(made()), change(next('pause', { phase: 'paused' }, { createdAt: 4 }))]],
    ['a pause that changes the objective', [change(made()), change(next('pause', { phase: 'paused', objective: 'p' }))]],
    ['rounds that were not begun', [change(made()), change(next('pause', { phase: 'paused' }, { roundsStarted: 1 }))]],
    ['a clear of another revision', [change(made()), change(cleared({ cleared: { id: 'goal-a', revision: 3 } }))]],
    ['a clear of nothing', [change(cleared())]],
    ['a clear before the last change', [change(made()), change(cleared({ clearedAt: 4 }))]],
    ['a resume without rounds left', [change(made({}, { maxGoalRounds: 1 })), round('goal-a', 1, 1), change(next('pause', { phase: 'paused', maxGoalRounds: 1 }, { roundsStarted: 1 })), change(next('resume', { revision: 3, maxGoalRounds: 1 }, { roundsStarted: 1 }))]],
    ['a round without a goal', [round('goal-a', 1, 1)]],
    ['a round of another goal', [change(made()), round('goal-b', 1, 1)]],
    ['a round of another revision', [change(made()), round('goal-a', 2, 1)]],
    ['round 0', [change(made()), round('goal-a', 1, 0)]],
    ['a round that is left out', [change(made()), round('goal-a', 1, 2)]],
    ['a round twice', [change(made()), round('goal-a', 1, 1), round('goal-a', 1, 1)]],
    ['a round beyond the cap', [change(made({}, { maxGoalRounds: 1 })), round('goal-a', 1, 1), round('goal-a', 1, 2)]],
    ['a round of a paused goal', [change(made()), change(next('pause', { phase: 'paused' })), round('goal-a', 2, 1)]],
  ]
  it.each(faults)('%s fails at that event, and stays the failure of every later read', (_what, drafts) => {
    const ledger = folded(drafts)
    expect(ledger.failure?.seq).toBe(drafts.length - 1)
    const good = folded([...drafts, change(made({}, { id: 'goal-z' }))])
    expect(good.failure).toEqual(ledger.failure)
  })
  it('every legal move is none', () => {
    const blocked = { phase: 'blocked', blockedReason: { code: 'round-limit', message: 'm' } }
    const ledger = folded([
      change(made()), round('goal-a', 1, 1), change(next('edit', { objective: 'p', maxGoalRounds: 1 }, { roundsStarted: 1 })), change(next('block', { revision: 3, objective: 'p', maxGoalRounds: 1, ...blocked }, { roundsStarted: 1 })),
      change(next('edit', { revision: 4, objective: 'p', maxGoalRounds: 5, ...blocked }, { roundsStarted: 1 })), change(next('resume', { revision: 5, objective: 'p', maxGoalRounds: 5 }, { roundsStarted: 1 })),
      round('goal-a', 5, 2), change(next('complete', { revision: 6, objective: 'p', maxGoalRounds: 5, phase: 'complete' }, { roundsStarted: 2 })), change(made({ createdAt: 4, updatedAt: 4 }, { id: 'goal-b' })),
    ])
    expect([ledger.failure, ledger.goal?.id, ledger.goal?.roundsStarted]).toEqual([null, 'goal-b', 0])
  })
  it('the service reports it with the event, each time, and nothing drives or changes the goal', async () => {
    const { rig, agent } = await still()
    agent.session.append(round('goal-x', 1, 1))
    const at = agent.session.length - 1
    for (let time = 0; time < 2; time++) expect(() => rig.goals.read(agent.session)).toThrow(expect.objectContaining({ code: 'GOAL_LOG_CORRUPT', message: expect.stringContaining(`event ${at}`) as string }))
    expect(codeOf(() => rig.goals.create(agent, { objective: 'x' }))).toBe('GOAL_LOG_CORRUPT')
  })

  it('the projection goal is soft: the last change that can be read wins, null before a goal and after a clear', () => {
    const view = (drafts: readonly EventDraft[]) => {
      const state = drafts.reduce((held, draft, seq) => goalProjection.step(held, { ...draft, seq, time: seq }), goalProjection.start())
      return goalProjection.view(state)
    }
    expect(view([])).toBeNull()
    expect(view([change(made({ version: 9 }))])).toBeNull()
    expect(view([change(next('pause', { phase: 'paused', revision: 7 })), change(made({ extra: 1 }))])).toMatchObject({ revision: 7, phase: 'paused' })
    expect(view([change(made()), change(cleared({ clearedAt: 0 }))])).toBeNull()
    expect(Object.keys(view([change(made())])!)).not.toContain('activation')
  })
})

describe('restart', () => {
  it('keeps goal, revision, phase and counters, and never the permission to go on', async () => {
    const rig = createGoalRig({ isTrusted: false })
    const agent = await rig.begun()
    const { goal } = rig.goals.create(agent, { objective: 'x', terms: { maxTokens: 5_000, checks: ['npm test'] } })
    agent.session.append(round(goal.id, 1, 1))
    const before = goalOf(rig, agent)
    await agent.dispose()
    const again = createGoalRig({ store: rig.store })
    const resumed = await again.agents.resume(agent.id)
    await settled()
    const after = goalOf(again, resumed)
    expect([before.activation, after.activation, after.goal, after.maxTokens, after.checks]).toEqual(['armed', 'disarmed', before.goal, 5_000, ['npm test']])
    expect(resumed.status).toBe('idle')
  })
  it('a fork begins disarmed', async () => {
    const rig = createGoalRig({ isTrusted: false })
    const agent = await rig.begun()
    rig.goals.create(agent, { objective: 'x' })
    const child = await rig.ctx.sessions.fork(agent.id)
    const forked = await rig.agents.resume(child.id)
    expect([goalOf(rig, forked).goal.id, goalOf(rig, forked).activation]).toEqual([goalOf(rig, agent).goal.id, 'disarmed'])
  })
})
