import { HarnessError } from '../../base/harness-error.ts'

export type GoalErrorCode =
  | 'GOAL_AGENT_NOT_LIVE'
  | 'GOAL_NOT_FOUND'
  | 'GOAL_ALREADY_EXISTS'
  | 'GOAL_STALE_REVISION'
  | 'GOAL_INVALID_OBJECTIVE'
  | 'GOAL_INVALID_MAX_ROUNDS'
  | 'GOAL_INVALID_BLOCK_REASON'
  | 'GOAL_INVALID_EDIT'
  | 'GOAL_INVALID_TRANSITION'
  /** Ours: a budget that is no positive number, or a check that cannot be run. */
  | 'GOAL_INVALID_TERMS'
  /** Ours: what the log says of goals contradicts itself. */
  | 'GOAL_LOG_CORRUPT'

/** A change of a goal that was refused; nothing was changed. Source: agent tools specification 1.1. */
export class GoalError extends HarnessError<GoalErrorCode> {}

export type GoalToolErrorCode =
  | 'GOAL_TOOL_AGENT_REQUIRED'
  | 'GOAL_TOOL_DRIVER_REQUIRED'
  | 'GOAL_TOOL_AUTHORITY_REQUIRED'
  | 'GOAL_TOOL_INVALID_UPDATE'
  | 'GOAL_TOOL_BLOCK_THRESHOLD'
  /** Ours: a check of the goal did not pass, so it is not complete. */
  | 'GOAL_TOOL_CHECK_FAILED'

/** A call of a goal tool that was refused. Source: agent tools specification 1.2, 1.5. */
export class GoalToolError extends HarnessError<GoalToolErrorCode> {}
