import type { SQLInputValue } from 'node:sqlite'
import { countPhrase, foldWords } from '../../../base/search-words.ts'
import { foundHit, hasSymbols, hitOf } from '../../../capabilities/search-hit.ts'
import type { IndexedEvent, IndexHit, IndexQuery } from '../../../capabilities/search-index.ts'
import { ranked } from './memory-index.ts'
import type { Opened, Row } from './opened.ts'
import { countMark, lengthOfRow, OFTEN, rowIdOf, serialOfRow, sessionMark, surfaces } from './schema.ts'

/** Hits are looked for among so many of the best rows first, then among eight times as many. */
const FIRST_ROWS = 400
/** Rows that are read at one go where they come in order. */
const PIECE_ROWS = 200
const NEXT_PIECE_ROWS = 2_000
/** Words of the index that a part of a word may stand for; beyond that every text is looked through. */
const MAX_WORDS = 256
/** Of the words that begin as typed, so many stand for all while there are too many. */
const MAX_BEGUN = 32
/** So many words may begin as typed before they are too many. */
const MAX_ENDINGS = 64
/** So many rows of a search for parts of words are counted one by one; of more, the order is nearly that of their counts. */
const MAX_COUNTED = 2_000
/** So few sessions are asked for by their marks in the full-text table, or left out by them. */
const MAX_MARKED = 64

/** A hit that is made when it is called: most are only passed over. */
export type Found = () => IndexHit

/** By number of the session, its id. */
type Asked = ReadonlyMap<number, string>

interface FoundRow extends Row {
  readonly serial: number
  readonly session: number
  readonly seq: number
  readonly length: number
  readonly time: number
}

/** The best hits in order, at least `count` of them where there are so many. */
export function bestHits(open: Opened, query: IndexQuery, count: number): readonly Found[] {
  const asked = askedOf(open, query.sessions)
  if (asked.size === 0) return []
  if (query.mode === 'words' && !query.phrase.includes(' ')) return wordHits(open, query, asked, count)
  const soon = query.mode === 'prefix' ? soonHits(open, query, asked, count) : null
  if (soon !== null) return soon
  const match = matchFor(open, query)
  if (match === '') return []
  if (match === null) return counted(open, rowsOf(open, query, asked, {}, -1), query, asked)
  for (let take = Math.max(FIRST_ROWS, count * 2); ; take *= 8) {
    const rows = rowsOf(open, query, asked, { match, isBest: true }, take)
    if (query.mode === 'substring' && rows.length <= MAX_COUNTED && rows.length < take) return counted(open, rows, query, asked)
    const hits = picked(open, rows, query, asked)
    if (hits.length >= count || rows.length < take) return hits
  }
}

function askedOf(open: Opened, ids: readonly string[]): Asked {
  const numbers = open.sessionNumbers()
  const asked = new Map<number, string>()
  for (const id of ids) {
    const number = numbers.get(id)
    if (number !== undefined) asked.set(number, id)
  }
  return asked
}

// One word: its texts come in order, those where it stands most often first

function wordHits(open: Opened, query: IndexQuery, asked: Asked, count: number): readonly Found[] {
  const best = new BestRows(open, query, asked, query.per === 'session' ? Math.min(count, asked.size) : count)
  const word = query.phrase
  const bits = open.number('SELECT counts FROM words WHERE word = ?', word) ?? 0
  const has = (times: number) => (bits & (1 << times)) !== 0
  if (has(OFTEN)) takeOften(open, query, asked, best)
  for (let times = OFTEN - 1; times > 1 && !best.isFull; times -= 1) if (has(times)) takeInOrder(open, query, asked, best, { match: `"${countMark(word, times)}"`, times })
  const repeated = Array.from({ length: OFTEN - 1 }, (_, at) => at + 2).filter(has)
  const once = repeated.length === 0 ? `"${word}"` : `("${word}" NOT (${repeated.map((times) => `"${countMark(word, times)}"`).join(' OR ')}))`
  if (!best.isFull && has(1)) takeInOrder(open, query, asked, best, { match: once, times: 1 })
  return best.found
}

function takeOften(open: Opened, query: IndexQuery, asked: Asked, best: BestRows): void {
  for (let take = PIECE_ROWS; ; take *= 8) {
    best.restart()
    const rows = rowsOf(open, query, asked, { often: query.phrase }, take)
    best.take(rows)
    if (rows.length < take) return best.settle()
    if (best.isFull) return
  }
}

/** Texts that hold the word equally often, by their length. */
function takeInOrder(open: Opened, query: IndexQuery, asked: Asked, best: BestRows, { match, times }: { readonly match: string; readonly times: number }): void {
  let after = -1
  for (let take = PIECE_ROWS; !best.isFull; take = NEXT_PIECE_ROWS) {
    const without = query.per === 'session' ? best.settledSessions.slice(0, MAX_MARKED) : []
    const rows = rowsOf(open, query, asked, { match: without.length === 0 ? match : `(${match} NOT (${without.map(marked).join(' OR ')}))`, after }, take)
    best.take(rows, times)
    const last = rows.at(-1)
    if (rows.length < take || last === undefined) return best.settle()
    after = rowIdOf(last.length, last.serial)
  }
}

/** Gathers rows that come by count and length, and puts those that are equal in both in the order of their time, session and number. */
class BestRows {
  readonly #open: Opened
  readonly #query: IndexQuery
  readonly #asked: Asked
  readonly #wanted: number
  readonly #sessions = new Set<number>()
  #found: Found[] = []
  /** Of one count and one length. */
  #group: { readonly row: FoundRow; readonly times: number }[] = []

  constructor(open: Opened, query: IndexQuery, asked: Asked, wanted: number) {
    this.#open = open
    this.#query = query
    this.#asked = asked
    this.#wanted = wanted
  }

  get found(): readonly Found[] {
    return this.#found
  }

  get isFull(): boolean {
    return this.#found.length >= this.#wanted
  }

  /** Sessions whose best is known. */
  get settledSessions(): readonly number[] {
    return [...this.#sessions]
  }

  restart(): void {
    this.#found = []
    this.#group = []
    this.#sessions.clear()
  }

  take(rows: readonly FoundRow[], times?: number): void {
    for (const row of rows) {
      if (this.isFull) return
      const one = { row, times: times ?? (row['count'] as number) }
      const [first] = this.#group
      if (first !== undefined && (first.times !== one.times || lengthKey(first.row) !== lengthKey(row))) this.settle()
      this.#group.push(one)
    }
  }

  /** No more of the same count and length will come. */
  settle(): void {
    const idOf = ({ session }: FoundRow) => this.#asked.get(session) ?? ''
    const group = this.#group.length < 2 ? this.#group : this.#group.sort(({ row: a }, { row: b }) => a.length - b.length || a.time - b.time || compareText(idOf(a), idOf(b)) || a.seq - b.seq)
    this.#group = []
    for (const { row, times } of group) {
      if (this.#query.per === 'session' && this.#sessions.has(row.session)) continue
      if (this.#query.symbols !== undefined && !hasSymbols(eventOf(this.#open, row.serial).text, this.#query.symbols)) continue
      this.#sessions.add(row.session)
      this.#found.push(() => foundHit(idOf(row), eventOf(this.#open, row.serial), times, this.#query))
    }
  }
}

const lengthKey = ({ length }: FoundRow): number => lengthOfRow(rowIdOf(length, 0))
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

// Several words, or parts of words: ranked by the full-text table

/** Rows as they come, and those that are equal but for their session in the order of its id: its number is another in an index that is made anew. */
function inOrder(rows: readonly FoundRow[], asked: Asked): readonly FoundRow[] {
  const isTied = (a: FoundRow, b: FoundRow | undefined) => b !== undefined && a['best'] === b['best'] && a.length === b.length && a.time === b.time
  if (!rows.some((row, at) => isTied(row, rows[at + 1]))) return rows
  const idOf = ({ session }: FoundRow) => asked.get(session) ?? ''
  return rows.toSorted((a, b) => (a['best'] as number) - (b['best'] as number) || a.length - b.length || a.time - b.time || compareText(idOf(a), idOf(b)) || a.seq - b.seq)
}

function picked(open: Opened, rows: readonly FoundRow[], query: IndexQuery, asked: Asked): readonly Found[] {
  const seen = new Set<number>()
  const hits: Found[] = []
  for (const { serial, session } of inOrder(rows, asked)) {
    if (query.per === 'session' && seen.has(session)) continue
    if (query.symbols !== undefined && !hasSymbols(eventOf(open, serial).text, query.symbols)) continue
    seen.add(session)
    hits.push(() => {
      const event = eventOf(open, serial)
      return foundHit(asked.get(session)!, event, countPhrase(foldWords(event.text), query.phrase, query.mode), query)
    })
  }
  return hits
}

function counted(open: Opened, rows: readonly FoundRow[], { phrase, mode, symbols, per }: IndexQuery, asked: Asked): readonly Found[] {
  const question = { phrase, mode, ...(symbols && { symbols }) }
  const hits = rows.flatMap(({ serial, session }) => hitOf(asked.get(session)!, eventOf(open, serial), question) ?? [])
  return ranked(hits, per).map((hit) => () => hit)
}

/**
 * Hits for a beginning of very many words, as when somebody has just begun to type one. All that they find would have to be gathered before
 * the first could be told, so it is looked for among the texts that hold what stands before it, or else among the shorter texts of its shortest words.
 * Null where that is not so, or does not help.
 */
function soonHits(open: Opened, query: IndexQuery, asked: Asked, count: number): readonly Found[] | null {
  const words = query.phrase.split(' ')
  const begun = words.pop()!
  // No folded word has what comes after this character.
  const found = open.all('SELECT word FROM words WHERE word >= ?1 AND word < ?2 ORDER BY length(word), word LIMIT ?3', begun, `${begun}\u{10ffff}`, MAX_ENDINGS + 1)
  if (found.length <= MAX_ENDINGS) return null
  if (words.length > 0) {
    const rows = rowsOf(open, query, asked, { match: `"${words.join(' ')}"` }, MAX_COUNTED)
    return rows.length < MAX_COUNTED ? counted(open, rows, query, asked) : null
  }
  const match = `(${found.slice(0, MAX_BEGUN).map(({ word }) => `"${String(word)}"`).join(' OR ')})`
  const rows = rowsOf(open, query, asked, { match }, Math.max(FIRST_ROWS, count * 2))
  const hits = counted(open, rows, query, asked)
  return hits.length >= count ? hits : null
}

/** An expression of the full-text table; empty when nothing can match, null when it would be too long. The phrase is folded: letters, digits, blanks. */
function matchFor(open: Opened, { phrase, mode }: IndexQuery): string | null {
  if (mode === 'words') return `"${phrase}"`
  if (mode === 'prefix') return `"${phrase}" *`
  const words = phrase.split(' ')
  const first = words[0]!
  const rest = words.slice(1).join(' ')
  const found = open.all(
    rest === '' ? 'SELECT word FROM words WHERE instr(word, ?) > 0 LIMIT ?' : 'SELECT word FROM words WHERE substr(word, -length(?1)) = ?1 LIMIT ?2',
    first,
    MAX_WORDS + 1,
  )
  if (found.length > MAX_WORDS) return null
  return found.map(({ word }) => (rest === '' ? `"${String(word)}"` : `"${String(word)} ${rest}" *`)).join(' OR ')
}

// Rows

interface Place {
  /** An expression of the full-text table: its rows come by length. */
  readonly match?: string
  /** Of `match`, the best first, by how often it stands there. */
  readonly isBest?: boolean
  /** Of `match`, those behind this one. */
  readonly after?: number
  /** A word: the texts that hold it very often, most often first. Neither: all events. */
  readonly often?: string
}

/** Rows that the filters let pass, at most `take` of them; all for -1. */
function rowsOf(open: Opened, query: IndexQuery, asked: Asked, { match, isBest = false, after = -1, often }: Place, take: number): readonly FoundRow[] {
  const { types, surfaces: shown, time, seq, files } = query
  const where: string[] = []
  const values: SQLInputValue[] = []
  const add = (condition: string, ...given: readonly SQLInputValue[]) => {
    where.push(condition)
    values.push(...given)
  }
  const known = open.sessionNumbers().size
  // Ranks depend on what is matched; one mark that all share changes nothing in their order.
  const isMarked = match !== undefined && asked.size < known && (asked.size === 1 || (!isBest && asked.size <= MAX_MARKED && asked.size * 4 <= known))
  if (match !== undefined) add('phrases MATCH ?', isMarked ? `(${match}) AND (${[...asked.keys()].map(marked).join(' OR ')})` : match)
  if (match !== undefined && !isBest) add('phrases.rowid > ?', after)
  if (often !== undefined) add('often.word = ?', often)
  if (!isMarked && asked.size < known) add('events.session IN (SELECT value FROM json_each(?))', JSON.stringify([...asked.keys()]))
  if (seq?.from !== undefined) add('events.seq >= ?', seq.from)
  if (seq?.to !== undefined) add('events.seq <= ?', seq.to)
  if (types !== undefined) add('events.type IN (SELECT number FROM types JOIN json_each(?) ON name = value)', JSON.stringify(types))
  if (shown !== undefined) add('events.surface IN (SELECT value FROM json_each(?))', JSON.stringify(shown.map((surface) => surfaces.indexOf(surface))))
  if (time?.from !== undefined) add('events.time >= ?', time.from)
  if (time?.to !== undefined) add('events.time <= ?', time.to)
  if (files !== undefined)
    add(`events.serial IN (SELECT event_paths.serial FROM event_paths JOIN paths ON paths.number = event_paths.path JOIN json_each(?) ON paths.path = value OR substr(paths.path, -length(value) - 1) = '/' || value)`, JSON.stringify(files))
  const { from, best, order } = sourceOf(match !== undefined, isBest, often !== undefined)
  const sql = `SELECT events.serial, events.session, events.seq, events.length, events.time${best} FROM ${from} WHERE ${where.length === 0 ? '1' : where.join(' AND ')} ORDER BY ${order} LIMIT ?`
  return open.all(sql, ...values, take) as readonly FoundRow[]
}

function sourceOf(isMatch: boolean, isBest: boolean, isOften: boolean): { readonly from: string; readonly best: string; readonly order: string } {
  const joined = `phrases CROSS JOIN events ON events.serial = ${serialOfRow}`
  if (isMatch && isBest) return { from: joined, best: ', bm25(phrases) AS best', order: 'best, events.length, events.time, events.serial' }
  if (isMatch) return { from: joined, best: '', order: 'phrases.rowid' }
  if (isOften) return { from: 'often CROSS JOIN events ON events.serial = often.serial', best: ', 1048576 - (often.rank >> 24) AS count', order: 'often.rank, often.serial' }
  return { from: 'events', best: '', order: 'events.serial' }
}

const marked = (session: number): string => `"${sessionMark(session)}"`

function eventOf(open: Opened, serial: number): IndexedEvent {
  const row = open.all('SELECT name, seq, surface, time, text FROM events JOIN texts USING (serial) JOIN types ON types.number = events.type WHERE events.serial = ?', serial)[0]
  // Written together in one transaction.
  const { name, seq, surface, time, text } = row as { readonly name: string; readonly seq: number; readonly surface: number; readonly time: number; readonly text: string }
  return { seq, type: name, surface: surfaces[surface]!, time, text }
}
