import { GoalToolError } from './error.ts'
import type { GoalRef } from './events.ts'

export type GoalAction = 'edit' | 'pause' | 'resume' | 'complete' | 'blocked'

/** The arguments of `update_goal`. */
export interface GoalUpdate {
  readonly goal_id: string
  readonly revision: number
  readonly action: GoalAction
  readonly objective?: string
  readonly max_goal_rounds?: number
  readonly blocked_reason?: string
}

/** Errors: `GoalToolError` `GOAL_TOOL_INVALID_UPDATE` when it names no state that can exist. */
export function refOf({ goal_id, revision }: GoalUpdate): GoalRef {
  if (goal_id === '' || goal_id.trim() !== goal_id) throw invalid('goal_id is the exact id of the goal, with no blanks around it. Read it with get_goal.')
  if (!Number.isSafeInteger(revision) || revision < 1) throw invalid(`revision is a whole number from 1, not ${revision}. Read it with get_goal.`)
  return { id: goal_id, revision }
}

/**
 * What the action takes of the arguments. Models that have to fill every field send `""` and `0` for what they do not mean.
 *
 * Errors: `GoalToolError` `GOAL_TOOL_INVALID_UPDATE` for a field of another action, and for a missing or blank reason.
 * Source: agent tools specification 1.5, "Filler rule".
 */
export function fieldsOf({ action, objective, max_goal_rounds, blocked_reason }: GoalUpdate): { readonly objective?: string; readonly maxGoalRounds?: number; readonly reason?: string } {
  const given = { objective: objective === '' ? undefined : objective, max_goal_rounds: max_goal_rounds === 0 ? undefined : max_goal_rounds, blocked_reason: blocked_reason === '' ? undefined : blocked_reason }
  const allowed: readonly string[] = action === 'edit' ? ['objective', 'max_goal_rounds'] : action === 'blocked' ? ['blocked_reason'] : []
  const misplaced = Object.entries(given).flatMap(([name, value]) => (value === undefined || allowed.includes(name) ? [] : [name]))
  if (misplaced.length > 0) throw invalid(`${misplaced.join(' and ')} ${misplaced.length === 1 ? 'does' : 'do'} not belong to action ${action}. Leave ${misplaced.length === 1 ? 'it' : 'them'} out.`)
  if (action === 'blocked') {
    if (given.blocked_reason === undefined || given.blocked_reason.trim() === '') throw invalid('blocked_reason is needed: say what is in the way and what the person would have to do.')
    return { reason: given.blocked_reason.trim() }
  }
  return { ...(given.objective !== undefined && { objective: given.objective }), ...(given.max_goal_rounds !== undefined && { maxGoalRounds: given.max_goal_rounds }) }
}

const invalid = (message: string) => new GoalToolError('GOAL_TOOL_INVALID_UPDATE', message)
