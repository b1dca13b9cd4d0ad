import { HarnessError } from '../../base/harness-error.ts'
import { messageOf } from '../../base/message-of.ts'
import type { CompactionErrorCode } from '../log/event.ts'

/** Why room was not made. The talk is as it was before. Source: runtime specification 13. */
export class CompactionError extends HarnessError<CompactionErrorCode> {}

export const compactionBusy = (cause?: unknown) =>
  new CompactionError('busy', 'The conversation is being worked on. Wait until Bosun is done, or stop it, then compact.', { cause })
export const compactionCancelled = () => new CompactionError('cancelled', 'Compacting was stopped. The conversation is as it was.')
export const compactionChanged = () => new CompactionError('changed', 'The conversation changed while it was summarized, so the summary was not used. Compact again.')
export const summaryFailed = (reason: string, cause?: unknown) => new CompactionError('summary', `No usable summary was made: ${reason}`, { cause })
export const commitFailed = (cause: unknown) => new CompactionError('commit', `The summary could not be put in place: ${messageOf(cause)}`, { cause })
export const persistenceFailedBefore = (cause: unknown) =>
  new CompactionError('persistence', `The conversation was not compacted, because what was said last could not be put on the disk: ${messageOf(cause)}`, { cause })
export const persistenceFailed = (cause: unknown) =>
  new CompactionError('persistence', `The conversation was compacted, but that is not on the disk yet: ${messageOf(cause)}`, { cause })
