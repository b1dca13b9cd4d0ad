import type { IndexChange, IndexedEvent, SearchIndex } from '../../capabilities/search-index.ts'

/** What goes to the index at one go: large enough that a write costs little beside what it writes, small enough that a search behind it waits but a moment. */
const BATCH_CHARS = 1_500_000
const BATCH_EVENTS = 2_000

/**
 * Gathers changes of sessions, one session after the other, and writes them while the next ones are gathered: one write is on its way at a time.
 *
 * Errors: those of a write come with the next `send` or with `finish`.
 */
export class IndexBatch {
  readonly #index: Pick<SearchIndex, 'write'>
  #changes: IndexChange[] = []
  /** Of the session that is gathered now. */
  #events: IndexedEvent[] = []
  #chars = 0
  #count = 0
  #writing: Promise<void> = Promise.resolve()

  constructor(index: Pick<SearchIndex, 'write'>) {
    this.#index = index
  }

  get isFull(): boolean {
    return this.#chars >= BATCH_CHARS || this.#count >= BATCH_EVENTS
  }

  add(event: IndexedEvent): void {
    this.#events.push(event)
    this.#chars += event.text.length
    this.#count += 1
  }

  shadow(id: string, seqs: readonly number[], nextSeq: number): void {
    this.end(id, nextSeq, '')
    this.#changes.push({ kind: 'shadow', id, seqs })
  }

  /** What was added is of this session, up to `nextSeq`. */
  end(id: string, nextSeq: number, stamp: string): void {
    this.#changes.push({ kind: 'add', id, events: this.#events, nextSeq, stamp })
    this.#events = []
  }

  forget(id: string): void {
    this.#changes.push({ kind: 'forget', id })
  }

  /** Leave out what was added since the last end. */
  drop(): void {
    this.#events = []
  }

  /** Resolves once what was sent before is written. */
  async send(): Promise<void> {
    await this.#writing
    const changes = this.#changes
    this.#changes = []
    this.#chars = 0
    this.#count = 0
    if (changes.length === 0) return
    this.#writing = this.#index.write(changes)
    // Whoever waits for it next is told.
    this.#writing.catch(() => {})
  }

  async finish(): Promise<void> {
    await this.send()
    await this.#writing
  }
}
