import { countPhrase, foldWords, snippetAround } from '../base/search-words.ts'
import { SNIPPET_CHARS, type IndexedEvent, type IndexHit, type IndexQuery } from './search-index.ts'

/** What a query asks of one event, whoever holds it. */
export type EventQuery = Pick<IndexQuery, 'phrase' | 'mode' | 'types' | 'surfaces' | 'time' | 'seq' | 'files' | 'symbols'>

/** The event as a hit, or null when the query does not find it: what every provider of the index has to agree with. */
export function hitOf(sessionId: string, event: IndexedEvent, query: EventQuery): IndexHit | null {
  if (!isAsked(event, query)) return null
  const matches = countPhrase(foldWords(event.text), query.phrase, query.mode)
  if (matches === 0 || !hasSymbols(event.text, query.symbols)) return null
  return foundHit(sessionId, event, matches, query)
}

/** The hit for an event that holds the phrase `matches` times. */
export function foundHit(sessionId: string, { seq, type, surface, time, text }: IndexedEvent, matches: number, { phrase, mode }: EventQuery): IndexHit {
  return { sessionId, seq, type, surface, time, matches, length: text.length, snippet: snippetAround(text, phrase, mode, SNIPPET_CHARS) }
}

function isAsked({ type, surface, time, seq, paths = [] }: IndexedEvent, { types, surfaces, time: times, seq: seqs, files }: EventQuery): boolean {
  if (types !== undefined && !types.includes(type)) return false
  if (surfaces !== undefined && !surfaces.includes(surface)) return false
  if (!isWithin(time, times) || !isWithin(seq, seqs)) return false
  return files === undefined || files.some((file) => paths.some((path) => path === file || path.endsWith(`/${file}`)))
}

const isWithin = (value: number, range: { readonly from?: number; readonly to?: number } | undefined): boolean =>
  range === undefined || (value >= (range.from ?? -Infinity) && value <= (range.to ?? Infinity))

/** Whether one of the names stands in the text as it is written, and not inside a longer one. */
export function hasSymbols(text: string, symbols: readonly string[] | undefined): boolean {
  if (symbols === undefined) return true
  return symbols.some((symbol) => {
    for (let at = text.indexOf(symbol); at >= 0; at = text.indexOf(symbol, at + 1)) {
      if (!isNameChar(text[at - 1]) && !isNameChar(text[at + symbol.length])) return true
    }
    return false
  })
}

const isNameChar = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}_$]/u.test(char)
