import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { EventWindow, History, Neighbour } from '../../features/history/service.ts'
import { eventReadCall } from './history.card.ts'
import { textOutput } from './query-call.ts'
import { shownTime } from './words.ts'

/** `session_event_read`: one event whole, and the texts around it. Source: agent specification 9. */
export const createSessionEventRead = (history: Pick<History, 'readEvent' | 'limits'>): ToolDefinition =>
  defineTool({
    name: 'session_event_read',
    description: 'Read one event of a session whole, as JSON, with the texts of its neighbours.',
    parameters: {
      session_id: { type: 'string' },
      seq: { type: 'integer', required: true },
      before: { type: 'integer', description: `Neighbours, at most ${history.limits.neighbours}.` },
      after: { type: 'integer' },
    },
    output: textOutput,
    limits: [{ of: 'neighbours on either side', max: history.limits.neighbours, unit: 'items' }],
    isConcurrencySafe: () => true,
    execute: async ({ session_id, seq, before = 0, after = 0 }, exec) => windowText(await history.readEvent(exec.agent?.session, { sessionId: session_id, seq, before, after }, exec.signal)),
    presentCall: eventReadCall,
  })

function windowText({ event, before, after }: EventWindow): string {
  const json = JSON.stringify(event, null, 2)
  const fence = '`'.repeat(Math.max(3, ...[...json.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)))
  return [...before.map(neighbourText), `${fence}json\n${json}\n${fence}`, ...after.map(neighbourText)].join('\n\n')
}

const neighbourText = ({ seq, type, time, text }: Neighbour): string => [`event ${seq}, ${type}, ${shownTime(time)}`, ...(text === '' ? [] : [text])].join('\n')
