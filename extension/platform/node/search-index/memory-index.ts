import { hitOf } from '../../../capabilities/search-hit.ts'
import { compareHits, type IndexChange, type IndexedEvent, type IndexedSession, type IndexHit, type IndexPage, type IndexQuery, type SearchIndex } from '../../../capabilities/search-index.ts'
import { cursorFor, offsetOf } from './cursor.ts'

export interface MemoryIndexOptions {
  /** UTF-16 units of text that are kept; the sessions written to longest ago go first and are read from their logs then. */
  readonly maxChars?: number
}

const MAX_CHARS = 32_000_000

interface Kept extends IndexedSession {
  readonly events: readonly IndexedEvent[]
  readonly chars: number
}

/** For a host without SQLite: the newest sessions in memory, up to a cap, looked through one event after the other. Each window has its own. */
export class MemoryIndex implements SearchIndex {
  readonly engine = 'memory'
  readonly #maxChars: number
  /** In the order of the last write. */
  readonly #sessions = new Map<string, Kept>()
  #revision = 0

  constructor({ maxChars = MAX_CHARS }: MemoryIndexOptions = {}) {
    this.#maxChars = maxChars
  }

  async claim(): Promise<'owner'> {
    return 'owner'
  }

  async sessions(): Promise<readonly IndexedSession[]> {
    return [...this.#sessions.values()].map(({ id, nextSeq, stamp }) => ({ id, nextSeq, stamp }))
  }

  async write(changes: readonly IndexChange[]): Promise<void> {
    this.#revision += 1
    for (const change of changes) this.#apply(change)
    let chars = [...this.#sessions.values()].reduce((sum, kept) => sum + kept.chars, 0)
    for (const [id, kept] of this.#sessions) {
      if (chars <= this.#maxChars) break
      this.#sessions.delete(id)
      chars -= kept.chars
    }
  }

  async search(query: IndexQuery): Promise<IndexPage> {
    const offset = offsetOf(query, this.#revision)
    const all = query.sessions.flatMap((id) => (this.#sessions.get(id)?.events ?? []).flatMap((event) => hitOf(id, event, query) ?? []))
    const hits = ranked(all, query.per)
    const end = offset + query.limit
    return { hits: hits.slice(offset, end), cursor: hits.length > end ? cursorFor(query, this.#revision, end) : null }
  }

  async close(): Promise<void> {
    this.#sessions.clear()
  }

  #apply(change: IndexChange): void {
    const held = this.#sessions.get(change.id)
    this.#sessions.delete(change.id)
    if (change.kind === 'forget') return
    const kept = held ?? { id: change.id, nextSeq: 0, stamp: '', events: [], chars: 0 }
    if (change.kind === 'shadow') {
      const gone = new Set(change.seqs)
      const events = kept.events.map((event) => (gone.has(event.seq) && event.surface === 'current' ? { ...event, surface: 'shadowed' as const } : event))
      this.#sessions.set(change.id, { ...kept, events })
      return
    }
    const fresh = change.events.filter(({ seq }) => seq >= kept.nextSeq)
    this.#sessions.set(change.id, {
      id: change.id,
      nextSeq: change.nextSeq,
      stamp: change.stamp,
      events: [...kept.events, ...fresh],
      chars: fresh.reduce((sum, { text }) => sum + text.length, kept.chars),
    })
  }
}

/** Best first; of each session its best alone where that is asked for. */
export function ranked(hits: readonly IndexHit[], per: IndexQuery['per']): readonly IndexHit[] {
  const sorted = hits.toSorted(compareHits)
  if (per === 'event') return sorted
  const seen = new Set<string>()
  return sorted.filter(({ sessionId }) => !seen.has(sessionId) && seen.add(sessionId))
}
