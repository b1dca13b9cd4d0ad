import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { History, SessionsFound } from '../../features/history/service.ts'
import { searchCall } from './history.card.ts'
import { SEARCH_TIMEOUT_MS, sharedFilters, surfaceList, textList, textOutput } from './query-call.ts'
import { shownHit, shownParent, shownTime, shownTitle } from './words.ts'

/** `session_search`: earlier sessions of the workspace by their words. Source: agent specification 9. */
export const createSessionSearch = (history: Pick<History, 'searchSessions' | 'limits'>): ToolDefinition =>
  defineTool({
    name: 'session_search',
    description: 'Search the other sessions of this workspace for a phrase; gives the best event of each. Filters are combined.',
    parameters: {
      query: { type: 'string', required: true, description: 'Words as they stand in the text.' },
      session_ids: textList,
      parent_session_ids: textList,
      include_root_sessions: { type: 'boolean', description: 'Also those without a parent; alone: only those.' },
      availability: { type: 'array', items: { type: 'string', enum: ['live', 'persisted'] } },
      event_types: textList,
      event_surfaces: surfaceList,
      created_at_from: { type: 'string', description: 'ISO 8601 with zone, as all times here.' },
      created_at_to: { type: 'string' },
      event_time_from: { type: 'string' },
      event_time_to: { type: 'string' },
      event_seq_from: { type: 'integer' },
      event_seq_to: { type: 'integer' },
      ...sharedFilters,
    },
    output: textOutput,
    timeoutMs: SEARCH_TIMEOUT_MS,
    limits: [
      { of: 'query', max: history.limits.queryChars, unit: 'characters' },
      { of: 'sessions', max: history.limits.results, unit: 'items' },
      { of: 'one call', max: SEARCH_TIMEOUT_MS, unit: 'ms' },
    ],
    async execute(args, exec) {
      const found = await history.searchSessions(
        exec.agent?.session,
        {
          query: args.query,
          mode: args.match,
          sessionIds: args.session_ids,
          parentSessionIds: args.parent_session_ids,
          includeRootSessions: args.include_root_sessions,
          availability: args.availability,
          eventTypes: args.event_types,
          surfaces: args.event_surfaces,
          createdFrom: args.created_at_from,
          createdTo: args.created_at_to,
          timeFrom: args.event_time_from,
          timeTo: args.event_time_to,
          seqFrom: args.event_seq_from,
          seqTo: args.event_seq_to,
          files: args.files,
          symbols: args.symbols,
        },
        exec.signal,
      )
      return foundText(found, history.limits.results)
    },
    presentCall: searchCall,
  })

function foundText({ sessions, isCapped }: SessionsFound, max: number): string {
  if (sessions.length === 0) return 'No other session of this workspace has this.'
  const entries = sessions.map(({ id, title, createdAt, parent, availability, best }) => `${id}: ${shownTitle(title)}\n  created ${shownTime(createdAt)}, ${shownParent(parent)}, ${availability}\n  ${shownHit(best)}`)
  return [...entries, ...(isCapped ? [`Only the best ${max} sessions are shown. Narrow the search to see others.`] : [])].join('\n\n')
}
