import { describe, expect, it } from 'vitest'
import { draftOfGoal, emptyGoalDraft, goalFormOf, type GoalDraft } from '../../../webview/store/goal-form.ts'
import { goalMeters, goalSentence, goalStanding } from '../../../webview/text/goal-words.ts'
import type { GoalView } from '../../../extension/protocol/view-state.ts'

const goal: GoalView = {
  id: 'goal-1', revision: 2, objective: 'Make it green', phase: 'active', isArmed: true, heldBy: null, round: 3, maxRounds: 12, blocked: null,
  used: { tokens: 1_500, amount: 0.5, isWhole: true, minutes: 2, countsSince: null }, maxTokens: 2_000, maxCost: null, maxMinutes: 30, checks: ['npm test', 'no-new-errors'], canCheckErrors: true, results: null,
}

describe('the form of a goal', () => {
  it('says again what the goal says', () => {
    const { objective, maxRounds, maxTokens, maxCost, maxMinutes, checks } = goal
    expect(goalFormOf(draftOfGoal(goal))).toEqual({ form: { objective, maxRounds, maxTokens, maxCost, maxMinutes, checks } })
  })
  const rows: readonly (readonly [Partial<GoalDraft>, object])[] = [
    [{ objective: '  ' }, { bad: 'objective' }],
    [{ maxRounds: '0' }, { bad: 'maxRounds' }],
    [{ maxRounds: '1.5' }, { bad: 'maxRounds' }],
    [{ maxTokens: 'many' }, { bad: 'maxTokens' }],
    [{ maxCost: '-1' }, { bad: 'maxCost' }],
    [{ maxCost: '0' }, { bad: 'maxCost' }],
    [{ maxMinutes: '1e3' }, { bad: 'maxMinutes' }],
  ]
  it.each(rows)('%j', (draft, outcome) => expect(goalFormOf({ ...emptyGoalDraft, objective: 'x', ...draft })).toEqual(outcome))
  it('takes numbers as people write them, and a check a line', () =>
    expect(goalFormOf({ ...emptyGoalDraft, objective: ' x ', maxTokens: '500 000', maxCost: '2,50', maxMinutes: '.5', checks: ' npm test \n\n make\n', noNewErrors: true })).toEqual({
      form: { objective: 'x', maxRounds: null, maxTokens: 500_000, maxCost: 2.5, maxMinutes: 0.5, checks: ['npm test', 'make', 'no-new-errors'] },
    }))
})

describe('the words of a goal', () => {
  it('tell an active goal that goes on from one that waits', () => {
    const words = [{}, { isArmed: false }, { heldBy: 'trust' as const }, { heldBy: 'agents' as const }, { phase: 'paused' as const }, { phase: 'blocked' as const }, { phase: 'complete' as const }].map((more) => goalStanding({ ...goal, ...more }))
    expect(words).toEqual(['active', 'waits for you', 'waits for trust', 'waits for agents', 'paused', 'blocked', 'complete'])
    expect(goalSentence({ ...goal, phase: 'complete' })).toBeNull()
  })
  it('say what is used of what may be, time as it goes on', () => {
    const meters = goalMeters({ ...goal, used: { ...goal.used, countsSince: 60_000 } }, 120_000)
    expect(meters).toEqual([
      { name: 'Rounds', words: '3 of 12', share: 0.25 },
      { name: 'Tokens', words: '1.5k of 2k', share: 0.75 },
      { name: 'Cost', words: '$0.50', share: null },
      { name: 'Time', words: '3 min of 30 min', share: 0.1 },
    ])
  })
  it('say when no price is known', () => expect(goalMeters({ ...goal, used: { ...goal.used, amount: 0, isWhole: false } }, 0)[2]?.words).toBe('price unknown'))
})
