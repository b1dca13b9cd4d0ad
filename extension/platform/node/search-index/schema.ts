import type { EventSurface } from '../../../capabilities/search-index.ts'

/**
 * The tables of the index.
 *
 * An event has a serial number by which its facts and its text are kept. The full-text table lists texts by `rowIdOf`: by their length
 * first, so that what a word finds comes shorter texts first, without sorting. It holds folded words and marks (`marksOf`) and no sizes,
 * so that its `bm25` depends on nothing but how often a phrase stands in a text: its order is that of the counts.
 */
export const schema = `
  CREATE TABLE state (revision INTEGER NOT NULL);
  INSERT INTO state VALUES (1);
  CREATE TABLE sessions (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, next_seq INTEGER NOT NULL, stamp TEXT NOT NULL);
  CREATE TABLE types (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE events (serial INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, seq INTEGER NOT NULL, type INTEGER NOT NULL, surface INTEGER NOT NULL, time REAL NOT NULL, length INTEGER NOT NULL);
  CREATE UNIQUE INDEX events_by_place ON events (session, seq);
  CREATE TABLE texts (serial INTEGER PRIMARY KEY, text TEXT NOT NULL);
  CREATE TABLE paths (number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
  CREATE TABLE event_paths (path INTEGER NOT NULL, serial INTEGER NOT NULL, PRIMARY KEY (path, serial)) WITHOUT ROWID;
  CREATE INDEX event_paths_by_event ON event_paths (serial);
  CREATE TABLE words (word TEXT PRIMARY KEY, counts INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE often (word TEXT NOT NULL, rank INTEGER NOT NULL, serial INTEGER NOT NULL, PRIMARY KEY (word, rank, serial)) WITHOUT ROWID;
  CREATE VIRTUAL TABLE phrases USING fts5(words, content='', columnsize=0, tokenize='ascii');
  INSERT INTO phrases (phrases, rank) VALUES ('hashsize', 16777216);
  INSERT INTO phrases (phrases, rank) VALUES ('automerge', 8);
`

/** In the order of their numbers. */
export const surfaces: readonly EventSurface[] = ['current', 'shadowed', 'log-only']

/** A row of the full-text table: length above, serial number below. Both together stay a safe integer. */
const SERIALS = 2 ** 34
const MAX_LENGTH = 2 ** 19 - 1
export const rowIdOf = (length: number, serial: number): number => Math.min(length, MAX_LENGTH) * SERIALS + serial
/** In SQL. */
export const serialOfRow = `phrases.rowid & ${SERIALS - 1}`
export const lengthOfRow = (rowId: number): number => Math.floor(rowId / SERIALS)

/** Counts below it have a mark each; the rare texts with a word so often or more often are listed in `often`, by how often. */
export const OFTEN = 30

/** A character that no folded word has. What begins with it is a mark. */
const mark = '\u{f8ff}'
/** The mark of a text in which the word stands `count` times; of `OFTEN`, so often or more often. */
export const countMark = (word: string, count: number): string => `${mark}${count}${mark}${word}`
export const sessionMark = (session: number): string => `${mark}s${session}`

/** How often each word stands in a text, of those that stand there twice or more. */
export type Repeats = ReadonlyMap<string, number>

/**
 * What the full-text table holds of a text. `bm25` without sizes turns around where texts have three words or fewer on the average, so each gets
 * two more marks that nobody asks for.
 */
export function phrasesOf(folded: string, session: number, repeats: Repeats): string {
  let words = `${folded} ${sessionMark(session)} ${mark} ${mark}`
  for (const [word, count] of repeats) words += ` ${countMark(word, Math.min(count, OFTEN))}`
  return words
}

/** Of the rank in `often`: small for many occurrences, then for short texts. */
const MAX_RANKED = 2 ** 20
export const rankOf = (count: number, length: number): number => (MAX_RANKED - Math.min(count, MAX_RANKED)) * 2 ** 24 + Math.min(length, 2 ** 24 - 1)
