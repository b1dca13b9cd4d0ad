import { HarnessError } from '../../base/harness-error.ts'

/** The first two before a run exists; the next nine end a run from within; the last are what its caller is told. */
export type WorkflowErrorCode =
  | 'META_INVALID'
  | 'SCRIPT_PARSE'
  | 'INVALID_ARGUMENT'
  | 'UNSUPPORTED_OPTION'
  | 'UNSUPPORTED_SCHEMA'
  | 'AGENT_CAP'
  | 'ITEM_CAP'
  | 'AGENT_START'
  | 'AGENT_RESULT'
  | 'RESULT_UNSERIALIZABLE'
  | 'CANCELLED'
  | 'SCRIPT_FAILED'
  | 'WORKFLOW_FAILED'
  | 'WORKFLOW_CANCELLED'
  | 'NO_AGENT'
  | 'NOT_TRUSTED'
  | 'UNKNOWN_RUN'
  /** It runs, or another run goes on from it just now. */
  | 'RUN_UNDER_WAY'

export class WorkflowError extends HarnessError<WorkflowErrorCode> {}
