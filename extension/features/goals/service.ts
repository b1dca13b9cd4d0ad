import type { Undo } from '../../base/undo.ts'
import type { Emit } from '../../core/kernel/plugin.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Session } from '../../core/session/session.ts'
import type { BlockedReason, CheckResult, GoalOperation, GoalRef, GoalTerms } from './events.ts'
import type { GoalRecord } from './ledger.ts'

/** Armed: Bosun goes on by itself, round after round. It is never stored: a goal that was just loaded is disarmed. */
export type GoalActivation = 'armed' | 'disarmed'

export interface GoalState extends GoalTerms {
  readonly goal: GoalRecord
  readonly activation: GoalActivation
  readonly used: GoalUse
  /** What became of the checks when they were run last; null before. */
  readonly checked: readonly CheckResult[] | null
  /** Why no round begins though it is armed; null when nothing keeps it. */
  readonly heldBy: GoalHold | null
}

/** `untrusted`: the folder is; `one-turn`: this program ends with the person's turn; `agents`: some that the session started are at work. */
export type GoalHold = 'untrusted' | 'one-turn' | 'agents'

/** Since it was made. Tokens of all kinds, dollars (at least that when `isWhole` is false), minutes in which turns ran, up to now. */
export interface GoalUse {
  readonly tokens: number
  readonly amount: number
  readonly isWhole: boolean
  readonly minutes: number
  /** Epoch ms since when the turn that runs is counted; null at rest. */
  readonly countsSince: number | null
}

export interface NewGoal {
  readonly objective: string
  /** A whole number from 1; the setting says how many when absent. */
  readonly maxGoalRounds?: number
  readonly terms?: Partial<GoalTerms>
}

export interface GoalEdit {
  readonly objective?: string
  readonly maxGoalRounds?: number
}

/** What was changed. `goal` is absent after a clear. */
export interface GoalNews {
  /** `disarm` is no durable change, `terms` none of the goal itself. */
  readonly operation: GoalOperation | 'disarm' | 'terms'
  readonly ref: GoalRef
  readonly goal?: GoalRecord
}

/**
 * The one goal of each session. Every change names the state it builds on.
 *
 * Errors of all changes: `GoalError` `GOAL_AGENT_NOT_LIVE`, `GOAL_NOT_FOUND`, `GOAL_STALE_REVISION`, `GOAL_INVALID_TRANSITION`,
 *         `GOAL_LOG_CORRUPT`, and what the log refuses. Nothing is changed then.
 * Source: agent tools specification 1.1.
 */
export interface Goals {
  /** Null without a goal. Errors: `GOAL_LOG_CORRUPT`, the same at every read. */
  read(session: Session): GoalState | null
  /** The same, once what agents that it started used is counted too. */
  readWhole(session: Session): Promise<GoalState | null>
  /** Errors: also `GOAL_ALREADY_EXISTS`, `GOAL_INVALID_OBJECTIVE`, `GOAL_INVALID_MAX_ROUNDS`, `GOAL_INVALID_TERMS`. */
  create(agent: Agent, goal: NewGoal): GoalState
  /** Errors: also `GOAL_INVALID_EDIT`, `GOAL_INVALID_OBJECTIVE`, `GOAL_INVALID_MAX_ROUNDS`. */
  edit(agent: Agent, ref: GoalRef, edit: GoalEdit): GoalState
  pause(agent: Agent, ref: GoalRef): GoalState
  resume(agent: Agent, ref: GoalRef): GoalState
  complete(agent: Agent, ref: GoalRef): GoalState
  /** Errors: also `GOAL_INVALID_BLOCK_REASON`. */
  block(agent: Agent, ref: GoalRef, reason: BlockedReason): GoalState
  clear(agent: Agent, ref: GoalRef): void
  /** The person sets what it may use and what has to hold. The revision stays. Errors: also `GOAL_INVALID_TERMS`. */
  setTerms(agent: Agent, ref: GoalRef, terms: GoalTerms): GoalState
  /** Keep what the checks found. */
  noteChecks(agent: Agent, ref: GoalRef, results: readonly CheckResult[]): void
  /** The turn that runs is a round of a goal. */
  isInRound(agent: Agent): boolean
  /** There is an editor whose errors a check can ask for. */
  readonly knowsErrors: boolean
  /** Take the permission to go on by itself away; neither revision nor event. */
  disarm(agent: Agent): void
  /** Called after each change, and when what holds a goal changes. */
  onDidChange(listener: (agent: Agent) => void): Undo
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    goals: Goals
  }
  interface ExtensionPoints {
    /** After the commit. */
    'goal/changed': Emit<[agent: Agent, news: GoalNews]>
  }
}
