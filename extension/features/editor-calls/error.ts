import { HarnessError } from '../../base/harness-error.ts'

/** `NOT_OFFERED`: the setting does not offer this tool, or not for this. `NOT_RUN`: the turn ended before the call had a result. */
export class EditorCallError extends HarnessError<'NOT_OFFERED' | 'NOT_RUN'> {}
