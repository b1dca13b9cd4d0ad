import type { IndexChange, IndexQuery, SearchIndexErrorCode } from '../../../capabilities/search-index.ts'

/** What the thread of the index is asked; each is answered under its number, in order. */
export type IndexRequest = { readonly number: number } & (
  | { readonly ask: 'open'; readonly folder: string }
  | { readonly ask: 'claim' }
  | { readonly ask: 'sessions' }
  | { readonly ask: 'write'; readonly changes: readonly IndexChange[] }
  | { readonly ask: 'search'; readonly query: IndexQuery }
  | { readonly ask: 'close' }
)

export type IndexReply =
  | { readonly number: number; readonly value: unknown }
  | { readonly number: number; readonly failure: { readonly code: SearchIndexErrorCode; readonly message: string } }
