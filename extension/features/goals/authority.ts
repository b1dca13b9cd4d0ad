import type { Agents } from '../../core/loop/points.ts'
import type { Agent } from '../../core/session/agent.ts'
import { GoalToolError } from './error.ts'
import type { GoalLedger, GoalRecord } from './ledger.ts'

/** Whose word a call of a goal tool rests on. A turn may have both. */
export interface GoalAuthority {
  readonly agent: Agent
  /** A person spoke in this turn, to an agent that nobody started. */
  readonly isPersons: boolean
  /** The turn is the newest round of the goal as it stands. */
  readonly isRounds: boolean
}

interface Needs {
  readonly agents: Pick<Agents, 'live' | 'initiator'>
  readonly ledger: (agent: Agent) => GoalLedger
}

/**
 * The authority of a call, before anything else is looked at.
 *
 * Errors: `GoalToolError` `GOAL_TOOL_AGENT_REQUIRED` without an agent, `GOAL_TOOL_DRIVER_REQUIRED` outside the running turn of the live one.
 * Source: agent tools specification 1.2.
 */
export function authorityOf(agent: Agent | undefined, { agents, ledger }: Needs): GoalAuthority {
  if (agent === undefined) throw new GoalToolError('GOAL_TOOL_AGENT_REQUIRED', 'A goal belongs to a session, and this call has none.')
  const known = agents.live(agent.id) === agent ? ledger(agent) : null
  if (known === null || agent.status !== 'running' || agents.initiator() !== agent || !known.turn.isOpen)
    throw new GoalToolError('GOAL_TOOL_DRIVER_REQUIRED', 'Goal tools work only inside a running turn of the session they belong to.')
  return { agent, isPersons: agent.owner === undefined && known.turn.hasPerson, isRounds: isCurrentRound(known.goal, known.turn.round) }
}

/** Errors: `GoalToolError` `GOAL_TOOL_AUTHORITY_REQUIRED`. */
export function assertPersons({ isPersons }: GoalAuthority, action: string): void {
  if (!isPersons) throw new GoalToolError('GOAL_TOOL_AUTHORITY_REQUIRED', `To ${action} is the person's to decide, and they said nothing in this turn. Go on without it, or say in your answer what you would need.`)
}

/** Errors: `GoalToolError` `GOAL_TOOL_AUTHORITY_REQUIRED`. */
export function assertPersonsOrRounds({ isPersons, isRounds }: GoalAuthority, action: string): void {
  if (!isPersons && !isRounds)
    throw new GoalToolError('GOAL_TOOL_AUTHORITY_REQUIRED', `To ${action} needs a word of the person in this turn, or a round of the goal as it stands now. The goal was changed since this round began, or this is no round of it.`)
}

function isCurrentRound(goal: GoalRecord | null, round: GoalLedger['turn']['round']): boolean {
  return goal !== null && round !== null && round.goalId === goal.id && round.revision === goal.revision && round.round === goal.roundsStarted
}
