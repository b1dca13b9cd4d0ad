import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { EventTrace, History } from '../../features/history/service.ts'
import { eventTraceCall } from './history.card.ts'
import { textOutput } from './query-call.ts'
import { shownSeqs, shownTime } from './words.ts'

/** `session_event_trace`: what took the place of an event, what it replaced, and what it came from and led to. Source: agent specification 9. */
export const createSessionEventTrace = (history: Pick<History, 'traceEvent' | 'limits'>): ToolDefinition =>
  defineTool({
    name: 'session_event_trace',
    description: 'Show what replaced an event for the model, what it replaced, its sources, and the events made from it.',
    parameters: { session_id: { type: 'string' }, seq: { type: 'integer', required: true } },
    output: textOutput,
    isConcurrencySafe: () => true,
    execute: async ({ session_id, seq }, exec) => traceText(await history.traceEvent(exec.agent?.session, { sessionId: session_id, seq }, exec.signal)),
    presentCall: eventTraceCall,
  })

const traceText = ({ seq, type, time, surface, replacedBy, chain, replaces, sources, derived }: EventTrace): string =>
  [
    `event ${seq}, ${type}, ${surface}, ${shownTime(time)}`,
    `replaced by: ${replacedBy ?? 'none'}`,
    `replacement chain: ${chain.length === 0 ? 'none' : [seq, ...chain].join(' → ')}`,
    `replaces: ${shownSeqs(replaces)}`,
    `sources: ${shownSeqs(sources)}`,
    `derived events: ${shownSeqs(derived)}`,
  ].join('\n')
