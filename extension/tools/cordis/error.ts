import { HarnessError } from '../../base/harness-error.ts'

export class DynamicToolError extends HarnessError<'NO_AGENT' | 'PLUGIN_MISSING'> {}
