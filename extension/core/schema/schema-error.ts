import { HarnessError } from '../../base/harness-error.ts'

/** A schema outside the supported subset. The message names the place and what is allowed there. */
export class SchemaError extends HarnessError<'UNSUPPORTED_SCHEMA'> {
  constructor(path: string, problem: string) {
    super('UNSUPPORTED_SCHEMA', `Schema at ${path}: ${problem}`)
  }
}
