import { HarnessError } from '../base/harness-error.ts'
import type { MatchMode } from '../base/search-words.ts'

/**
 * Full-text search over the events of all sessions. Derived from the logs: it may be deleted at any time and is made anew from them.
 *
 * One contract suite runs against every provider. Source: design 6.3, agent specification 9.
 */
export interface SearchIndexHost {
  /** Open it, making it anew where it is missing, broken or of another version. Errors: `FOREIGN_DATABASE`: what lies there is not ours and stays; `INDEX_FAILED`. */
  open(): Promise<SearchIndex>
  /** The application writes it along while it runs; else only when somebody searches. */
  readonly isKeptUp: boolean
}

export interface SearchIndex {
  /** Names what answers, for people. */
  readonly engine: 'sqlite' | 'memory'
  /** Whether this window writes it. One window does; when it is gone, the next that asks. */
  claim(): Promise<'owner' | 'reader'>
  /** Every session in it with how far it goes. One that is missing has to be read from its log. */
  sessions(): Promise<readonly IndexedSession[]>
  /** All of it or nothing, in order. Errors: `NOT_OWNER`; `INDEX_FAILED`. */
  write(changes: readonly IndexChange[]): Promise<void>
  /**
   * Hits best first: most occurrences, then the shorter text, then the earlier time, then session and number.
   *
   * Errors: `STALE_CURSOR` when something was written since the first page; `INVALID_CURSOR`; `INDEX_FAILED`.
   */
  search(query: IndexQuery): Promise<IndexPage>
  close(): Promise<void>
}

export interface IndexedSession {
  readonly id: string
  /** Events before this number are in it. */
  readonly nextSeq: number
  /** What the log looked like when it was read, in the words of whoever wrote it; empty while it is not known to be whole. */
  readonly stamp: string
}

export type IndexChange =
  | { readonly kind: 'add'; readonly id: string; readonly events: readonly IndexedEvent[]; readonly nextSeq: number; readonly stamp: string }
  /** These are no longer what the model sees. */
  | { readonly kind: 'shadow'; readonly id: string; readonly seqs: readonly number[] }
  | { readonly kind: 'forget'; readonly id: string }

/** `current`: the model sees it; `shadowed`: another event took its place; `log-only`: never meant for the model as it stands. */
export type EventSurface = 'current' | 'shadowed' | 'log-only'

export interface IndexedEvent {
  readonly seq: number
  readonly type: string
  readonly surface: EventSurface
  /** Epoch ms. */
  readonly time: number
  readonly text: string
  /** Files it speaks of, as it names them, with `/`. */
  readonly paths?: readonly string[]
}

export interface IndexQuery {
  /** Folded by `foldWords`, not empty. */
  readonly phrase: string
  readonly mode: MatchMode
  /** Only these. */
  readonly sessions: readonly string[]
  readonly types?: readonly string[]
  readonly surfaces?: readonly EventSurface[]
  /** Inclusive. */
  readonly time?: { readonly from?: number; readonly to?: number }
  /** Inclusive. */
  readonly seq?: { readonly from?: number; readonly to?: number }
  /** It speaks of one of these: the whole path, or the end of one after a `/`. */
  readonly files?: readonly string[]
  /** One of these stands in it, letter by letter and not inside a longer name. */
  readonly symbols?: readonly string[]
  /** `session`: the best event of each session. */
  readonly per: 'event' | 'session'
  /** Hits of one page, from 1. */
  readonly limit: number
  readonly cursor?: string
}

export interface IndexHit {
  readonly sessionId: string
  readonly seq: number
  readonly type: string
  readonly surface: EventSurface
  readonly time: number
  readonly matches: number
  /** UTF-16 units. */
  readonly length: number
  /** Of at most `SNIPPET_CHARS`. */
  readonly snippet: string
}

export interface IndexPage {
  readonly hits: readonly IndexHit[]
  /** Where the next page begins; null after the last. */
  readonly cursor: string | null
}

/** Code points of a snippet. Source: agent specification 9. */
export const SNIPPET_CHARS = 240

/** The order of hits, the same wherever they come from. */
export const compareHits = (a: IndexHit, b: IndexHit): number =>
  b.matches - a.matches || a.length - b.length || a.time - b.time || (a.sessionId < b.sessionId ? -1 : a.sessionId > b.sessionId ? 1 : a.seq - b.seq)

export type SearchIndexErrorCode = 'FOREIGN_DATABASE' | 'NOT_OWNER' | 'STALE_CURSOR' | 'INVALID_CURSOR' | 'INDEX_FAILED'

export class SearchIndexError extends HarnessError<SearchIndexErrorCode> {}

export const staleCursor = () => new SearchIndexError('STALE_CURSOR', 'The index was written while its answer was being read. Ask again from the first page.')
export const invalidCursor = () => new SearchIndexError('INVALID_CURSOR', 'The cursor does not belong to this question. Ask again from the first page.')
export const notOwner = () => new SearchIndexError('NOT_OWNER', 'Another window writes the index of sessions; it is only read here.')
export const foreignDatabase = (path: string) =>
  new SearchIndexError('FOREIGN_DATABASE', `${path} was not made by Bosun and stays as it is. Move it away, then the index of sessions can be made there.`)
export const indexFailed = (reason: string, cause?: unknown) =>
  new SearchIndexError('INDEX_FAILED', `The index of sessions failed: ${reason} Delete its folder to have it made anew.`, { cause })
