export type GoalPhase = 'active' | 'paused' | 'blocked' | 'complete'

/** Why a goal stands still. `code` in lower kebab-case, `message` trimmed and not empty. */
export type BlockedReason = { readonly code: string; readonly message: string }

/** What the log keeps of a goal. `revision` grows by one with every durable change. */
export type GoalSnapshot = {
  /** `goal-` and a UUID; never used twice in a log. */
  readonly id: string
  readonly revision: number
  readonly objective: string
  readonly phase: GoalPhase
  readonly maxGoalRounds: number
  /** Exactly while it is blocked. */
  readonly blockedReason?: BlockedReason
}

/** Names one state of a goal, for whoever changes it. */
export interface GoalRef {
  readonly id: string
  readonly revision: number
}

export type SnapshotOperation = 'create' | 'edit' | 'pause' | 'resume' | 'complete' | 'block'
export type GoalOperation = SnapshotOperation | 'clear'

/** Source: agent tools specification 1.1. */
export type GoalChange =
  | {
      readonly kind: 'goal/change'
      readonly version: 1
      readonly operation: SnapshotOperation
      readonly goal: GoalSnapshot
      readonly roundsStarted: number
      readonly createdAt: number
      readonly updatedAt: number
    }
  | { readonly kind: 'goal/change'; readonly version: 1; readonly operation: 'clear'; readonly cleared: GoalRef; readonly clearedAt: number }

/** What a goal may spend and what has to hold before it counts as complete; whole at each change. */
export type GoalTerms = {
  /** Tokens of all kinds, cached ones too, children counted. */
  readonly maxTokens?: number
  /** Dollars, children counted. */
  readonly maxCost?: number
  /** Minutes in which turns ran. */
  readonly maxMinutes?: number
  /** Commands that must exit with 0, and `no-new-errors`. */
  readonly checks: readonly string[]
}

/** The check that no file has errors that it had not when the goal was made. */
export const NO_NEW_ERRORS = 'no-new-errors'

/** What became of one check. `output` is the end of what it wrote. */
export type CheckResult = { readonly check: string; readonly isOk: boolean; readonly outcome: string; readonly output: string; readonly durationMs: number }

declare module '../../core/log/event.ts' {
  interface EventMap {
    'goal/change': GoalChange
    /** Ours, `ignorable`. */
    'goal/terms': { readonly goalId: string } & GoalTerms
    /** Ours, `ignorable`: what was so when the goal was made. `started`: what agents that the session had started had used by then. */
    'goal/baseline': { readonly goalId: string; readonly started: { readonly tokens: number; readonly amount: number }; readonly errors?: readonly string[] }
    /** Ours, `ignorable`: the checks were run. */
    'goal/checked': { readonly goalId: string; readonly results: readonly CheckResult[] }
    /** Ours, `ignorable`: in this round the model said that it is blocked. */
    'goal/strike': { readonly goalId: string; readonly round: number }
  }
}

declare module '../../core/log/message.ts' {
  interface UserSources {
    /** Begins round `round` (from 1) of the goal. */
    goal: { readonly goalId: string; readonly revision: number; readonly round: number }
  }
}
