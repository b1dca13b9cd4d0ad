import type { SessionEvent } from '../core/log/event.ts'
import { seqOfRow } from './fork-points.ts'
import type { Transcript } from './transcript.ts'

/** The row that shows an event of the talk, or the last one before it; null where there is none. */
export function rowOfEvent(transcript: Pick<Transcript, 'call' | 'rows'>, event: SessionEvent): string | null {
  const callId = event.type === 'tool/call' ? event.data.callId : event.type === 'tool/code-dispatch' ? event.data.subCallId : event.type === 'tool/result' ? event.data.message.content[0].callId : undefined
  const call = callId === undefined ? undefined : transcript.call(callId)
  if (call !== undefined) return call.rowId
  const before = transcript.rows().filter(({ id }) => (seqOfRow(id) ?? Infinity) <= event.seq)
  // What was streamed stands under the number of its first part.
  const answer = event.type === 'assistant/message' ? before.findLast(({ kind }) => kind === 'text') : undefined
  return (answer ?? before.at(-1))?.id ?? null
}
