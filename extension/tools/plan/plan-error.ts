import { HarnessError } from '../../base/harness-error.ts'

export type PlanErrorCode = 'NO_AGENT' | 'NOT_PLANNING' | 'BAD_PLAN' | 'NO_CHANNEL' | 'KEEP_PLANNING' | 'REVIEW_DISMISSED' | 'REVIEW_WITHDRAWN'

/** Why a plan did not end plan mode. */
export class PlanError extends HarnessError<PlanErrorCode> {}
