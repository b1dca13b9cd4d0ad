import { foldWords } from '../../base/search-words.ts'
import type { IndexQuery } from '../../capabilities/search-index.ts'
import { queryError } from './error.ts'
import { historyLimits } from './limits.ts'
import type { EventSearch, SessionSearch } from './service.ts'

/** What of a query does not depend on the sessions that are asked. */
export type EventFilters = Pick<IndexQuery, 'phrase' | 'mode' | 'types' | 'surfaces' | 'time' | 'seq' | 'files' | 'symbols'>

type Shared = Omit<SessionSearch & EventSearch, 'sessionId' | 'sessionIds' | 'parentSessionIds' | 'includeRootSessions' | 'availability' | 'createdFrom' | 'createdTo'>

/** The filters, checked. Errors: `SESSION_QUERY_INVALID_QUERY`, `SESSION_QUERY_INVALID_FILTER`. */
export function eventFilters({ query, mode = 'words', eventTypes, surfaces, seqFrom, seqTo, timeFrom, timeTo, files, symbols }: Shared): EventFilters {
  const phrase = phraseFrom(query)
  const seq = seqRange(seqFrom, seqTo)
  const time = timeRange(timeFrom, timeTo)
  for (const list of [eventTypes, surfaces, files, symbols]) checkList(list)
  return {
    phrase,
    mode,
    ...(eventTypes && { types: eventTypes }),
    ...(surfaces && { surfaces }),
    ...(time && { time }),
    ...(seq && { seq }),
    ...(files && { files: files.map((file) => file.replaceAll('\\', '/').replace(/^\.\//, '')) }),
    ...(symbols && { symbols }),
  }
}

/** Errors: `SESSION_QUERY_INVALID_QUERY`. */
export function phraseFrom(query: string): string {
  const trimmed = query.trim().replace(/\s+/g, ' ')
  const phrase = foldWords(trimmed)
  if (trimmed.length > historyLimits.queryChars || query.includes('\0') || phrase === '') throw queryError('SESSION_QUERY_INVALID_QUERY')
  return phrase
}

/** A list that is given names something. Errors: `SESSION_QUERY_INVALID_FILTER`. */
export function checkList(list: readonly string[] | undefined): void {
  if (list !== undefined && (list.length === 0 || list.some((value) => value.trim() === ''))) throw queryError('SESSION_QUERY_INVALID_FILTER')
}

function seqRange(from: number | undefined, to: number | undefined): { readonly from?: number; readonly to?: number } | undefined {
  for (const bound of [from, to]) if (bound !== undefined && (!Number.isSafeInteger(bound) || bound < 0)) throw queryError('SESSION_QUERY_INVALID_FILTER')
  if (from !== undefined && to !== undefined && from > to) throw queryError('SESSION_QUERY_INVALID_FILTER')
  return from === undefined && to === undefined ? undefined : { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

/** Times of whole milliseconds between two moments that may be finer. Errors: `SESSION_QUERY_INVALID_FILTER`. */
export function timeRange(from: string | undefined, to: string | undefined): { readonly from?: number; readonly to?: number } | undefined {
  if (from === undefined && to === undefined) return undefined
  const [first, last] = [from, to].map((text) => (text === undefined ? undefined : momentFrom(text)))
  if (first !== undefined && last !== undefined && (first.ms > last.ms || (first.ms === last.ms && first.finer > last.finer))) throw queryError('SESSION_QUERY_INVALID_FILTER')
  // A moment within a millisecond begins after it and ends with it.
  return { ...(first && { from: first.finer === '' ? first.ms : first.ms + 1 }), ...(last && { to: last.ms }) }
}

const moment = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(Z|[+-]\d{2}:\d{2})$/i

/** Epoch ms and the digits behind them, without zeros at the end. */
function momentFrom(text: string): { readonly ms: number; readonly finer: string } {
  const [, year, month, day, hour, minute, second = '00', fraction = '', zone] = moment.exec(text) ?? []
  if (zone === undefined) throw queryError('SESSION_QUERY_INVALID_FILTER')
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}${zone.toUpperCase()}`)
  // The language takes 30 February for 2 March, and midnight for the hour 24.
  const isOnCalendar = Number(day) >= 1 && Number(day) <= new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate()
  if (Number.isNaN(ms) || !isOnCalendar || Number(hour) > 23) throw queryError('SESSION_QUERY_INVALID_FILTER')
  return { ms, finer: fraction.slice(3).replace(/0+$/, '') }
}
