import { HarnessError } from '../../base/harness-error.ts'

export class WorkflowToolError extends HarnessError<'NO_AGENT' | 'PROVIDER_UNFIT' | 'RALPH_RESULT'> {}
