import { foldWords } from '../../../base/search-words.ts'
import type { IndexChange, IndexedEvent } from '../../../capabilities/search-index.ts'
import type { Opened } from './opened.ts'
import { OFTEN, phrasesOf, rankOf, type Repeats, rowIdOf, surfaces } from './schema.ts'

/** A row for the full-text table. */
interface Phrases {
  readonly rowId: number
  readonly words: string
}

/** Write them in order, within the transaction that is open. */
export function writeChanges(open: Opened, changes: readonly IndexChange[]): void {
  let fresh: Phrases[] = []
  const settle = () => {
    // The full-text table writes a piece to the file each time a row comes before the last one.
    for (const { rowId, words } of fresh.sort((a, b) => a.rowId - b.rowId)) open.change('INSERT INTO phrases (rowid, words) VALUES (?, ?)', rowId, words)
    fresh = []
  }
  for (const change of changes) {
    const held = open.all('SELECT number, next_seq FROM sessions WHERE id = ?', change.id)[0] as { readonly number: number; readonly next_seq: number } | undefined
    switch (change.kind) {
      case 'forget':
        settle()
        if (held !== undefined) forget(open, held.number)
        break
      case 'shadow':
        if (held !== undefined) for (const seq of change.seqs) open.change('UPDATE events SET surface = 1 WHERE session = ? AND seq = ? AND surface = 0', held.number, seq)
        break
      case 'add': {
        const number = held?.number ?? open.change('INSERT INTO sessions (id, next_seq, stamp) VALUES (?, 0, ?)', change.id, '')
        for (const event of change.events) if (event.seq >= (held?.next_seq ?? 0)) fresh.push(add(open, number, event))
        open.change('UPDATE sessions SET next_seq = ?, stamp = ? WHERE number = ?', change.nextSeq, change.stamp, number)
      }
    }
  }
  settle()
}

function add(open: Opened, session: number, { seq, type, surface, time, text, paths = [] }: IndexedEvent): Phrases {
  const serial = open.change(
    'INSERT INTO events (session, seq, type, surface, time, length) VALUES (?, ?, ?, ?, ?, ?)', session, seq, open.numberOf('types', type), surfaces.indexOf(surface), time, text.length,
  )
  open.change('INSERT INTO texts VALUES (?, ?)', serial, text)
  for (const path of paths) open.change('INSERT OR IGNORE INTO event_paths VALUES (?, ?)', open.numberOf('paths', path), serial)
  const folded = foldWords(text)
  const repeats = noteWords(open, folded)
  for (const [word, count] of repeats) if (count >= OFTEN) open.change('INSERT INTO often VALUES (?, ?, ?)', word, rankOf(count, text.length), serial)
  return { rowId: rowIdOf(text.length, serial), words: phrasesOf(folded, session, repeats) }
}

/** Puts each word on the list of words, with how often it stood in a text, and gives the repeated ones. */
function noteWords(open: Opened, folded: string): Repeats {
  const repeats = new Map<string, number>()
  for (const known of open.words.countsOf(folded)) {
    if (known.count > 1) repeats.set(known.word, known.count)
    const bit = 1 << Math.min(known.count, OFTEN)
    if ((known.bits & bit) !== 0) continue
    open.change('INSERT INTO words VALUES (?, ?) ON CONFLICT (word) DO UPDATE SET counts = counts | excluded.counts', known.word, bit)
    known.bits |= bit
  }
  return repeats
}

function forget(open: Opened, session: number): void {
  // The full-text table keeps no texts, so it is told what to take away.
  const gone = open.all('SELECT serial, text FROM events JOIN texts USING (serial) WHERE session = ?', session).map(({ serial, text }) => ({ serial: serial as number, text: text as string }))
  for (const { serial, text } of gone.sort((a, b) => rowIdOf(a.text.length, a.serial) - rowIdOf(b.text.length, b.serial))) {
    const folded = foldWords(text)
    const repeats = new Map(open.words.countsOf(folded).filter(({ count }) => count > 1).map(({ word, count }) => [word, count]))
    open.change("INSERT INTO phrases (phrases, rowid, words) VALUES ('delete', ?, ?)", rowIdOf(text.length, serial), phrasesOf(folded, session, repeats))
    for (const [word, count] of repeats) if (count >= OFTEN) open.change('DELETE FROM often WHERE word = ? AND rank = ? AND serial = ?', word, rankOf(count, text.length), serial)
    open.change('DELETE FROM texts WHERE serial = ?', serial)
    open.change('DELETE FROM event_paths WHERE serial = ?', serial)
  }
  open.change('DELETE FROM events WHERE session = ?', session)
  open.change('DELETE FROM sessions WHERE number = ?', session)
}
