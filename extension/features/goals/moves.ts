import { GoalError } from './error.ts'
import type { GoalOperation, GoalPhase } from './events.ts'

/** Where a goal stands, as far as a move asks. */
export interface GoalStanding {
  readonly phase: GoalPhase
  readonly maxGoalRounds: number
  readonly roundsStarted: number
  readonly isArmed: boolean
}

interface Move {
  /** `none`: there is no goal. */
  readonly from: readonly (GoalPhase | 'none')[]
  readonly to: GoalPhase | 'none' | 'as it was'
  /** What becomes of the permission to go on by itself. */
  readonly activation: 'armed' | 'disarmed' | 'as it was'
}

const every: readonly GoalPhase[] = ['active', 'paused', 'blocked', 'complete']

/** The moves of a goal. Source: agent tools specification 1.1, the table "State machine". */
export const goalMoves: Readonly<Record<GoalOperation, Move>> = {
  create: { from: ['none', 'complete'], to: 'active', activation: 'armed' },
  edit: { from: every, to: 'as it was', activation: 'as it was' },
  pause: { from: ['active'], to: 'paused', activation: 'disarmed' },
  resume: { from: ['paused', 'blocked', 'active'], to: 'active', activation: 'armed' },
  complete: { from: ['active', 'paused', 'blocked'], to: 'complete', activation: 'disarmed' },
  block: { from: ['active'], to: 'blocked', activation: 'disarmed' },
  clear: { from: every, to: 'none', activation: 'disarmed' },
}

/** Why the move cannot be made from here, or null. */
export function moveProblem(operation: GoalOperation, standing: GoalStanding | null): GoalError | null {
  const from = standing?.phase ?? 'none'
  if (!goalMoves[operation].from.includes(from)) {
    if (standing === null) return new GoalError('GOAL_NOT_FOUND', 'There is no goal. Create one first.')
    if (operation === 'create') return new GoalError('GOAL_ALREADY_EXISTS', `There is a goal already, and it is ${from}. Edit it, complete it or clear it before another one is made.`)
    return new GoalError('GOAL_INVALID_TRANSITION', `${words[operation]} is not possible while the goal is ${from}; it needs ${anyOf(goalMoves[operation].from)}. Read the goal and decide anew.`)
  }
  if (operation !== 'resume' || standing === null) return null
  if (from === 'active' && standing.isArmed) return new GoalError('GOAL_INVALID_TRANSITION', 'The goal is active and goes on by itself already; there is nothing to resume.')
  if (standing.roundsStarted >= standing.maxGoalRounds)
    return new GoalError('GOAL_INVALID_TRANSITION', `All ${standing.maxGoalRounds} rounds of the goal are used. Raise max_goal_rounds with an edit, then resume.`)
  return null
}

/** The phase after a legal move. */
export function phaseAfter(operation: Exclude<GoalOperation, 'clear'>, before: GoalPhase | null): GoalPhase {
  const { to } = goalMoves[operation]
  // Only `clear` leads to none, and only a goal that is there can be edited.
  return to === 'as it was' || to === 'none' ? (before ?? 'active') : to
}

const words: Readonly<Record<GoalOperation, string>> = { create: 'Creating', edit: 'Editing', pause: 'Pausing', resume: 'Resuming', complete: 'Completing', block: 'Blocking', clear: 'Clearing' }

const anyOf = (phases: readonly string[]): string => (phases.length === 1 ? String(phases[0]) : `${phases.slice(0, -1).join(', ')} or ${phases.at(-1)}`)
