import { afterEach, describe, expect, it } from 'vitest'
import { GoalError } from '../../../extension/features/goals/error.ts'
import type { GoalRef, GoalTerms } from '../../../extension/features/goals/events.ts'
import type { GoalRecord } from '../../../extension/features/goals/ledger.ts'
import type { Goals, GoalState } from '../../../extension/features/goals/service.ts'
import { chatRig, type RigOptions } from './chat-rig.ts'

type Rig = Awaited<ReturnType<typeof chatRig>>
const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.controller.dispose()
})

const record = (more: Partial<GoalRecord> = {}): GoalRecord => ({ id: 'goal-1', revision: 3, objective: 'Make it green', phase: 'active', maxGoalRounds: 9, roundsStarted: 2, createdAt: 1, updatedAt: 2, ...more })
const state = (more: Partial<GoalState> = {}): GoalState => ({ goal: record(), activation: 'armed', heldBy: null, used: { tokens: 900, amount: 0.5, isWhole: true, minutes: 3, countsSince: null }, checked: null, checks: [], ...more })

/** The chat with a session on screen, and its goal as a test says. */
async function setUp(begun: GoalState | null, options: RigOptions = {}) {
  let now = begun
  const calls: unknown[] = []
  const listeners = new Set<(agent: never) => void>()
  const act = (name: string) => (_agent: unknown, ref: GoalRef, more?: unknown) => {
    calls.push([name, ref.revision, ...(more === undefined ? [] : [more])])
    if (now === null || ref.revision !== now.goal.revision) throw new GoalError('GOAL_STALE_REVISION', 'It has changed.')
    return now
  }
  const goals: Partial<Goals> = {
    read: () => now,
    create: (_agent, goal) => (calls.push(['create', goal]), state()),
    pause: act('pause'),
    resume: act('resume'),
    complete: act('complete'),
    clear: act('clear'),
    edit: act('edit'),
    setTerms: act('terms'),
    isInRound: () => true,
    knowsErrors: true,
    onDidChange: (listener) => (listeners.add(listener), () => void listeners.delete(listener)),
  }
  const rig = await chatRig({ goals, ...options })
  rigs.push(rig)
  await rig.send('begin')
  const change = async (next: GoalState | null) => {
    now = next
    for (const listener of listeners) listener(rig.agent('s1') as never)
    await rig.settle()
  }
  return { rig, calls, change }
}
const form = { objective: 'Make it green', maxRounds: 9, maxTokens: null, maxCost: null, maxMinutes: null, checks: [] }

describe('the room of the goal', () => {
  it('shows the goal in the page, in an item of its own and in the conditions of commands, and tells armed from disarmed', async () => {
    const { rig, change } = await setUp(null)
    expect([rig.state().goal, rig.editor.goalStatus]).toEqual([null, null])
    await change(state())
    expect(rig.state().goal).toMatchObject({ revision: 3, phase: 'active', isArmed: true, round: 2, maxRounds: 9, canCheckErrors: true })
    expect(rig.editor.goalStatus).toEqual({ text: '$(target) active 2/9', heading: 'Goal: Make it green', lines: ['active, round 2 of 9'], isWarning: false })
    expect([...rig.editor.conditions].filter((name) => name.startsWith('bosun.goal')).toSorted()).toEqual(['bosun.goal', 'bosun.goal.active', 'bosun.goal.unfinished'])
    await change(state({ activation: 'disarmed' }))
    expect([rig.state().goal?.isArmed, rig.editor.goalStatus?.text, rig.editor.conditions.has('bosun.goal.resumable')]).toEqual([false, '$(target) waits for you 2/9', true])
    await change(state({ goal: record({ phase: 'blocked', blockedReason: { code: 'token-limit', message: 'Used up.' } }), maxTokens: 900 }))
    expect(rig.editor.goalStatus).toMatchObject({ text: '$(target) blocked 2/9 100%', isWarning: true, lines: ['blocked, round 2 of 9', 'Used up.', '900 of 900 tokens'] })
    await change(state({ goal: record({ phase: 'complete' }) }))
    expect(rig.editor.goalStatus).toBeNull()
  })

  it.each(['pause', 'resume', 'complete'] as const)('%s is done for the goal as it was seen', async (action) => {
    const { rig, calls } = await setUp(state())
    await rig.say({ type: 'goal', action, id: 'goal-1', revision: 3 })
    expect(calls).toEqual([[action, 3]])
  })

  it('one that has changed since is not done, and the person is told', async () => {
    const { rig } = await setUp(state())
    await rig.say({ type: 'goal', action: 'pause', id: 'goal-1', revision: 2 })
    expect(rig.state().notices.map(({ text }) => text)).toEqual(['The goal has changed since you saw it, so nothing was done. It is shown as it is now.'])
    await rig.say({ type: 'goal', action: 'pause', id: 'goal-1', revision: 3 })
    expect(rig.state().notices).toEqual([])
  })

  it('clears after a yes alone, and stops the round that runs', async () => {
    const { rig, calls } = await setUp(state())
    await rig.say({ type: 'goal', action: 'clear', id: 'goal-1', revision: 3 })
    expect(calls).toEqual([])
    rig.editor.answers.push(true)
    await rig.say({ type: 'goal', action: 'clear', id: 'goal-1', revision: 3 })
    expect([calls, rig.calls.some((call) => Array.isArray(call) && call[0] === 'cancel')]).toEqual([[['clear', 3]], true])
  })

  it('a second click while the first is asked about does nothing', async () => {
    const { rig, calls } = await setUp(state())
    let answer: (yes: boolean) => void = () => {}
    rig.editor.confirm = () => new Promise((resolve) => (answer = resolve))
    const first = rig.say({ type: 'goal', action: 'clear', id: 'goal-1', revision: 3 })
    await rig.say({ type: 'goal', action: 'pause', id: 'goal-1', revision: 3 })
    answer(true)
    await first
    await rig.settle()
    expect(calls).toEqual([['clear', 3]])
  })

  it('extends what ran out and goes on', async () => {
    const { rig, calls } = await setUp(state({ goal: record({ phase: 'blocked', blockedReason: { code: 'token-limit', message: 'Used up.' } }), activation: 'disarmed', maxTokens: 800, checks: ['a'] }))
    await rig.say({ type: 'goal', action: 'extend', id: 'goal-1', revision: 3 })
    expect(calls).toEqual([['terms', 3, { maxTokens: 1_700, checks: ['a'] } satisfies GoalTerms], ['resume', 3]])
  })

  it('is told once of a budget that is used up, with Extend and Stop', async () => {
    const { rig, change } = await setUp(state())
    const used = state({ goal: record({ revision: 4, phase: 'blocked', blockedReason: { code: 'cost-limit', message: 'Used up.' } }), activation: 'disarmed' })
    await change(used)
    await change(used)
    expect(rig.attention.told.filter(({ text }) => text.startsWith('The goal'))).toEqual([{ level: 'warning', text: 'The goal is blocked. Used up.' }])
  })

  it('saves what the form changed: terms alone keep the revision', async () => {
    const { rig, calls } = await setUp(state())
    await rig.say({ type: 'goal-edit', id: 'goal-1', revision: 3, ...form, maxTokens: 500, checks: ['npm test'] })
    await rig.say({ type: 'goal-edit', id: 'goal-1', revision: 3, ...form, objective: 'Other' })
    expect(calls).toEqual([['terms', 3, { maxTokens: 500, checks: ['npm test'] }], ['terms', 3, { checks: [] }], ['edit', 3, { objective: 'Other', maxGoalRounds: 9 }]])
  })

  it('sets a goal, in a session that begins with it where there is none', async () => {
    const { rig, calls } = await setUp(null)
    await rig.controller.run('new-session')
    await rig.say({ type: 'goal-create', ...form, maxRounds: null, maxCost: 2 })
    expect(calls).toEqual([['create', { objective: 'Make it green', terms: { maxCost: 2, checks: [] } }]])
    expect(rig.state().session).not.toBeNull()
  })

  it('asks once about a goal that waits when its session is opened', async () => {
    const { rig } = await setUp(state({ activation: 'disarmed' }))
    await rig.controller.run('new-session')
    await rig.say({ type: 'session-open', id: 's1' })
    await rig.controller.run('new-session')
    await rig.say({ type: 'session-open', id: 's1' })
    expect(rig.attention.told.filter(({ text }) => text.includes('waits, round 2 of 9')).length).toBe(1)
  })

  it('says of a command that the session has no goal', async () => {
    const { rig } = await setUp(null)
    await rig.controller.runGoal('pause')
    await rig.settle()
    expect(rig.state().notices.map(({ text }) => text)).toEqual(['This session has no goal.'])
  })
})
