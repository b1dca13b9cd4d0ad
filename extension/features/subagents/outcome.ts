import { fitBytes } from '../../base/text.ts'
import type { SessionEvent, TurnEndReason } from '../../core/log/event.ts'
import { subagentLimits } from './limits.ts'
import type { ChildOutcome, ChildStopReason } from './service.ts'

/** Why the newest turn of a child is over, in the words that its parent acts on. */
const stopReasons: Readonly<Record<TurnEndReason['kind'], ChildStopReason>> = {
  completed: 'completed',
  aborted: 'aborted',
  interrupted: 'aborted',
  blocked: 'refusal',
  error: 'error',
  paused: 'error',
  'max-tokens': 'max-tokens',
}

/**
 * What a child's own events say it came to: of one epoch, so without what its log began with.
 *
 * A child whose work was taken back before any turn, or behind its last one, was aborted.
 */
export function outcomeOf(events: readonly SessionEvent[]): ChildOutcome {
  const end = events.findLast((event) => event.type === 'turn/end')
  const output = finalOutput(events)
  if (end === undefined || isWorkTakenBack(events, end.seq)) return { stopReason: 'aborted', output }
  const { reason } = end.data
  const diagnostic = diagnosticOf(reason)
  return { stopReason: stopReasons[reason.kind], output, ...(diagnostic !== undefined && { diagnostic }) }
}

const isWorkTakenBack = (events: readonly SessionEvent[], after: number): boolean =>
  events.some((event) => event.seq > after && event.type === 'agent/inbox/spliced' && event.data.outcome === 'canceled')

/** The newest answer with content; failing that, what was streamed so far; otherwise nothing. Source: agent tools specification 6.1. */
function finalOutput(events: readonly SessionEvent[]): string {
  for (let at = events.length - 1; at >= 0; at--) {
    const event = events[at]
    if (event?.type !== 'assistant/message') continue
    const text = event.data.message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
    if (text.trim() !== '') return text
  }
  return events.flatMap((event) => (event.type === 'assistant/chunk' && event.data.chunk.type === 'text-delta' ? [event.data.chunk.delta] : [])).join('')
}

function diagnosticOf(reason: TurnEndReason): string | undefined {
  if (reason.kind === 'error') return fitBytes(`${reason.failure.code}: ${reason.failure.message}`, subagentLimits.diagnosticBytes).text
  if (reason.kind !== 'paused') return undefined
  return `It came to a limit: ${reason.limit} ${reason.cap === 'cost' ? 'dollars' : reason.cap}${reason.per === undefined ? ' a turn' : ` per ${reason.per}`}.`
}
