import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { EventsFound, History } from '../../features/history/service.ts'
import { eventSearchCall } from './history.card.ts'
import { SEARCH_TIMEOUT_MS, sharedFilters, surfaceList, textList, textOutput } from './query-call.ts'
import { shownHit, shownTitle } from './words.ts'

/** `session_event_search`: events of one session by their words. Source: agent specification 9. */
export const createSessionEventSearch = (history: Pick<History, 'searchEvents' | 'limits'>): ToolDefinition =>
  defineTool({
    name: 'session_event_search',
    description: 'Search the events of one session for a phrase, by default this one up to the current step, also what was compacted away.',
    parameters: {
      session_id: { type: 'string' },
      query: { type: 'string', required: true, description: 'Words as they stand in the text.' },
      seq_from: { type: 'integer' },
      seq_to: { type: 'integer' },
      time_from: { type: 'string', description: 'ISO 8601 with zone.' },
      time_to: { type: 'string' },
      event_types: textList,
      surfaces: surfaceList,
      ...sharedFilters,
    },
    output: textOutput,
    timeoutMs: SEARCH_TIMEOUT_MS,
    limits: [
      { of: 'query', max: history.limits.queryChars, unit: 'characters' },
      { of: 'events', max: history.limits.results, unit: 'items' },
      { of: 'one call', max: SEARCH_TIMEOUT_MS, unit: 'ms' },
    ],
    async execute(args, exec) {
      const found = await history.searchEvents(
        exec.agent?.session,
        {
          sessionId: args.session_id,
          query: args.query,
          mode: args.match,
          eventTypes: args.event_types,
          surfaces: args.surfaces,
          seqFrom: args.seq_from,
          seqTo: args.seq_to,
          timeFrom: args.time_from,
          timeTo: args.time_to,
          files: args.files,
          symbols: args.symbols,
        },
        exec.signal,
      )
      return foundText(found, history.limits.results)
    },
    presentCall: eventSearchCall,
  })

function foundText({ title, hits, isCapped }: EventsFound, max: number): string {
  return [
    shownTitle(title),
    ...(hits.length === 0 ? ['No event has this.'] : hits.map(shownHit)),
    ...(isCapped ? [`Only the best ${max} events are shown. Narrow the search to see others.`] : []),
  ].join('\n\n')
}
