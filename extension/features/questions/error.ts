import { HarnessError } from '../../base/harness-error.ts'

export type QuestionErrorCode =
  | 'ASK_ABORTED'
  | 'EMPTY_QUESTIONS'
  | 'CALLER_NOT_LIVE'
  | 'DELEGATED_CALLER'
  | 'BAD_INTENT'
  | 'NO_PROVIDER'
  | 'DUPLICATE_PROVIDER'
  | 'ASK_CANCELLED'

export class QuestionError extends HarnessError<QuestionErrorCode> {}
