import { clipped } from '../../base/text.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type ToolDefinition } from '../../core/tools/definition.ts'
import type { Web } from '../../features/web/service.ts'
import { presentCall, presentResult } from './web-search.card.ts'

/** Queries of one call. */
const MAX_QUERIES = 4
/** UTF-16 units of one query. */
const MAX_QUERY_LENGTH = 1_000
/** UTF-16 units of the answer that a card keeps. */
const MAX_CARD_ANSWER = 8_000

/** `web_search`: ask the provider that the person set up. Source: capability specification 14. */
export const createWebSearch = (web: Pick<Web, 'search' | 'timeoutMs' | 'maxSources'>): ToolDefinition =>
  defineTool({
    name: 'web_search',
    description: `Search the web: 1 to ${MAX_QUERIES} queries at once, each a different angle. Gives sources to cite.`,
    parameters: {
      queries: { type: 'array', required: true, items: { type: 'string' } },
    },
    output: {
      schema: {
        type: 'object',
        properties: {
          content: { type: 'string', description: 'What the provider says by itself.' },
          sources: {
            type: 'array',
            required: true,
            items: {
              type: 'object',
              properties: {
                url: { type: 'string', required: true },
                title: { type: 'string' },
                snippet: { type: 'string' },
                publishedAt: { type: 'string' },
              },
              additionalProperties: false,
            },
          },
          truncated: { type: 'boolean', required: true },
          failedQueries: {
            type: 'array',
            items: {
              type: 'object',
              properties: { query: { type: 'string', required: true }, reason: { type: 'string', required: true } },
              additionalProperties: false,
            },
          },
        },
        additionalProperties: false,
      },
      render: (_args, { content, sources, truncated, failedQueries = [] }) => {
        const parts = [
          ...(content === undefined ? [] : [content]),
          ...(sources.length > 0 ? [`Sources:\n${sources.map(sourceLine).join('\n')}`] : content === undefined ? ['No results. Try other words.'] : ['No sources were given.']),
          ...(truncated ? ['(There were more results; search for something narrower to see others.)'] : []),
          ...failedQueries.map(({ query, reason }) => `(The query "${query}" failed: ${reason})`),
          ...(sources.length > 0 ? ['Name the sources you use, as Markdown links.'] : []),
        ]
        return [{ type: 'text', text: parts.join('\n\n') }]
      },
      presentationMeta: (_args, { content, sources, truncated }) => ({
        sources: sources.map((source) => ({ ...source })),
        truncated,
        ...(content !== undefined && { answer: clipped(content, MAX_CARD_ANSWER) }),
      }),
    },
    timeoutMs: web.timeoutMs(),
    limits: [
      { of: 'queries', max: MAX_QUERIES, unit: 'items' },
      { of: 'one query', max: MAX_QUERY_LENGTH, unit: 'characters' },
      { of: 'sources', max: web.maxSources, unit: 'items' },
    ],
    isConcurrencySafe: () => true,
    async execute({ queries }, exec) {
      if (queries.length < 1 || queries.length > MAX_QUERIES) throw new ToolError('INVALID_ARGS', `queries has ${queries.length} entries. Give 1 to ${MAX_QUERIES}.`)
      const asked = queries.map((query) => query.trim())
      if (asked.includes('')) throw new ToolError('INVALID_ARGS', 'One of the queries is blank. Say what to search for.')
      const long = asked.find((query) => query.length > MAX_QUERY_LENGTH)
      if (long !== undefined) throw new ToolError('INVALID_ARGS', `One of the queries has ${long.length} characters; at most ${MAX_QUERY_LENGTH} are allowed. Search for its main words.`)
      const { content, sources, truncated, failedQueries } = await web.search({
        queries: [...new Set(asked)],
        signal: exec.signal,
        onModelRequest: (request) => void exec.agent?.session.append({ type: 'web/deepseek-search-llm-request', ignorable: true, data: { callId: exec.callId, ...request } }),
      })
      return {
        ...(content !== undefined && { content }),
        sources: sources.map((source) => ({ ...source })),
        truncated,
        ...(failedQueries.length > 0 && { failedQueries: failedQueries.map((one) => ({ ...one })) }),
      }
    },
    presentCall,
    presentResult,
  })

function sourceLine({ url, title, snippet, publishedAt }: { readonly url: string; readonly title?: string; readonly snippet?: string; readonly publishedAt?: string }): string {
  const name = (title ?? new URL(url).host).replaceAll(/[[\]]/g, '')
  return [`- [${name}](${url})${publishedAt === undefined ? '' : ` (${publishedAt})`}`, ...(snippet === undefined ? [] : [`  ${snippet}`])].join('\n')
}
