import { ModelError } from '../model/contract.ts'
import type { Failure } from '../model/contract.ts'

/** What the log and the person are told of anything that ended a turn. */
export function failureFrom(error: unknown): Failure {
  if (error instanceof ModelError) return error.failure
  return { code: 'UNKNOWN', message: textOf(error) }
}

function textOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message || error.name : String(error)
  } catch {
    // A thrown value may refuse to become text; then there is nothing more to say about it.
    return 'Something failed and gave no reason.'
  }
}
