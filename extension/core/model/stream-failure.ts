import { messageOf } from '../../base/message-of.ts'
import type { Failure, FinishReason } from './contract.ts'
import { ModelError } from './contract.ts'

/** What a thrown value means for a request. `signal` tells a cancelled request from one that broke. */
export function finishFrom(error: unknown, signal: AbortSignal): FinishReason {
  if (signal.aborted) return { kind: 'aborted', failure: cancelled }
  return { kind: 'error', failure: failureFrom(error) }
}

/** The failure that a thrown value stands for. */
export function failureFrom(error: unknown): Failure {
  if (error instanceof ModelError) return error.failure
  return { code: 'UNKNOWN', message: `The request to the model failed: ${textOf(error)}. Retry, or choose another model.` }
}

export const cancelled: Failure = { code: 'ABORTED', message: 'The request was cancelled.' }

export const streamClosed: Failure = {
  code: 'STREAM_CLOSED',
  message: 'The model’s answer stopped before its end: the connection closed without a finish. Retry, or choose another model.',
}

export const emptyResponse: Failure = {
  code: 'EMPTY_RESPONSE',
  message: 'The model ended its answer without saying or calling anything. Retry, or choose another model.',
}

export const answerTooLong: Failure = {
  code: 'MALFORMED_RESPONSE',
  message: 'The model’s answer passed 16 million characters and was ended. Ask for less at once, or choose another model.',
}

function textOf(error: unknown): string {
  try {
    return messageOf(error)
  } catch {
    // A thrown value whose text cannot be had; what it is stays unknown.
    return 'unknown reason'
  }
}
