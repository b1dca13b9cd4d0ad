import { createHash } from 'node:crypto'
import { invalidCursor, staleCursor, type IndexQuery } from '../../../capabilities/search-index.ts'

/** Where a page begins: number of the hit, bound to the question and to the state of the index. */
export const cursorFor = (query: IndexQuery, revision: number, offset: number): string => `${revision}.${offset}.${fingerprint(query)}`

/** Number of the first hit of the page. Errors: `INVALID_CURSOR`; `STALE_CURSOR`. */
export function offsetOf(query: IndexQuery, revision: number): number {
  if (query.cursor === undefined) return 0
  const [, written, offset, mark] = /^(\d{1,15})\.(\d{1,9})\.([0-9a-f]{16})$/.exec(query.cursor) ?? []
  if (written === undefined || mark !== fingerprint(query)) throw invalidCursor()
  if (Number(written) !== revision) throw staleCursor()
  return Number(offset)
}

function fingerprint({ cursor: _, limit: _limit, ...question }: IndexQuery): string {
  return createHash('sha256').update(JSON.stringify(question)).digest('hex').slice(0, 16)
}
