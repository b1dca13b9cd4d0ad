import type { Undo } from '../../base/undo.ts'
import type { JsonObject } from '../../base/json.ts'

export interface SearchSource {
  readonly url: string
  readonly title?: string
  readonly snippet?: string
  /** As the provider writes it. */
  readonly publishedAt?: string
}

export interface SearchAnswer {
  /** What the provider says by itself; one heading a query when there were several. */
  readonly content?: string
  readonly sources: readonly SearchSource[]
  /** There were more sources than are given. */
  readonly truncated: boolean
  /** Queries that failed while others did not, with the reason. */
  readonly failedQueries: readonly { readonly query: string; readonly reason: string }[]
}

export interface SearchRequest {
  /** 1 to `MAX_QUERIES`, different from each other. */
  readonly queries: readonly string[]
  readonly signal: AbortSignal
  /** Called for each request that a language model answers. */
  readonly onModelRequest?: (request: SearchModelRequest) => void
}

/** A search that a language model answered: what was asked and what it cost. No key is in it. */
export type SearchModelRequest = {
  readonly endpoint: string
  readonly apiVersion: string
  readonly body: JsonObject
  readonly model: string
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly searches: number | null
}

export interface ReadPage {
  /** After redirects. */
  readonly url: string
  readonly statusCode: number
  readonly kind: 'html' | 'text'
  /** Markdown for what was HTML. */
  readonly text: string
  /** HTML that could not be turned into text. */
  readonly isRaw: boolean
  /** HTML too large to become Markdown in time: its words alone. */
  readonly isPlain: boolean
  readonly isCut: boolean
  readonly isDamaged: boolean
  /** Of a PDF; `read` is less than `total` where a limit was met. */
  readonly pages?: { readonly total: number; readonly read: number }
  /** 1-based; null when the address names no part, or the page has none of that name. */
  readonly anchorLine: number | null
}

/** Searching the web and reading its pages, as the person set it up. */
export interface Web {
  /** Sources that one search gives, of all its queries together. */
  readonly maxSources: number
  /** Who searches, once a provider is set up; several when the settings do not say which. */
  searchers(): readonly { readonly name: string; readonly host: string }[]
  /** The keys that providers of searches want, one a provider that has its key for nothing else. */
  keys(): readonly { readonly name: string; readonly title: string; readonly keyName: string }[]
  isFetchOn(): boolean
  /** Milliseconds for a search. */
  timeoutMs(): number
  /** After any of the above changed. */
  onDidChange(listener: () => void): Undo
  /** Errors: `WebError`. */
  search(request: SearchRequest): Promise<SearchAnswer>
  /**
   * The address as it would be fetched, and this machine with its port where it names that and no setting opened it:
   * whoever fetches it asked the person about it before. Errors: `WebError` `WEB_INVALID_URL`, `WEB_BLOCKED_URL`.
   */
  check(url: string): { readonly href: string; readonly ownMachine: string | null }
  /** A page as text; what was read a short while ago is not fetched again. Errors: `WebError`. */
  read(request: { readonly url: string; readonly isWhole: boolean; readonly signal: AbortSignal }): Promise<ReadPage>
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    web: Web
  }
}

declare module '../../core/log/event.ts' {
  interface EventMap {
    'web/deepseek-search-llm-request': SearchModelRequest & { readonly callId: string }
  }
}
