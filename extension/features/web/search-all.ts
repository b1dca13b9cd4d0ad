import { WebError, webAborted } from '../../capabilities/web-pages.ts'
import { QueryError, type QueryAnswer } from './providers/provider.ts'
import type { SearchAnswer, SearchSource } from './service.ts'

/** Sources that one search gives, of all its queries together. */
export const MAX_RESULTS = 8

/**
 * Ask several queries at once and put their answers together: sources in turn by rank, each address once.
 *
 * What would befall every query (a refused key, a limit, no network) aborts the others, waits for them and fails the whole. A query
 * that failed by itself is told of beside what the others found; when none found anything, the first failure is thrown.
 */
export async function searchAll(queries: readonly string[], signal: AbortSignal, ask: (query: string, signal: AbortSignal) => Promise<QueryAnswer>): Promise<SearchAnswer> {
  const siblings = new AbortController()
  const either = AbortSignal.any([signal, siblings.signal])
  let fatal: unknown
  const outcomes = await Promise.all(
    queries.map(async (query) => {
      try {
        return { query, found: await ask(query, either) }
      } catch (error) {
        if (!(error instanceof QueryError) && !siblings.signal.aborted && !signal.aborted) {
          fatal = error
          siblings.abort()
        }
        return { query, error }
      }
    }),
  )
  if (signal.aborted) throw webAborted()
  if (siblings.signal.aborted) throw asError(fatal)
  const good = outcomes.flatMap(({ query, found }) => (found === undefined ? [] : [{ query, ...found }]))
  const failed = outcomes.flatMap(({ query, error }) => (error === undefined ? [] : [{ query, error }]))
  if (good.length === 0) throw asError(failed[0]?.error)
  const sources = inTurn(good.map((one) => one.sources))
  const content = contentOf(good, queries.length)
  return {
    ...(content !== '' && { content }),
    sources: sources.slice(0, MAX_RESULTS),
    truncated: sources.length > MAX_RESULTS,
    failedQueries: failed.map(({ query, error }) => ({ query, reason: asError(error).message })),
  }
}

function contentOf(answers: readonly { readonly query: string; readonly answer?: string }[], asked: number): string {
  const said = answers.flatMap(({ query, answer }) => (answer === undefined ? [] : [{ query, answer }]))
  return asked === 1 ? (said[0]?.answer ?? '') : said.map(({ query, answer }) => `## ${query.replace(/\s+/g, ' ')}\n\n${answer}`).join('\n\n')
}

/** The first of each, then the second of each. */
function inTurn(lists: readonly (readonly SearchSource[])[]): readonly SearchSource[] {
  const byUrl = new Map<string, SearchSource>()
  const longest = Math.max(0, ...lists.map(({ length }) => length))
  for (let rank = 0; rank < longest; rank++) {
    for (const list of lists) {
      const source = list[rank]
      if (source !== undefined && !byUrl.has(source.url)) byUrl.set(source.url, source)
    }
  }
  return [...byUrl.values()]
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new WebError('WEB_PROVIDER_ERROR', `The search failed: ${String(error)}.`, { cause: error }))
