import { eventCount, isRow, unpackOne, unpackRow, type ChunkRow } from './chunk-rows.ts'
import type { SessionEvent } from './event.ts'

/** The events of a session in memory. Runs of streamed deltas are held packed and unpacked when asked for, so a long talk stays small. */
export class EventList {
  readonly #items: (SessionEvent | ChunkRow)[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  push(item: SessionEvent | ChunkRow): void {
    this.#items.push(item)
    this.#length += eventCount(item)
  }

  /** Hold the newest events, which `row` was made of, as that row. */
  pack(row: ChunkRow): void {
    this.#items.splice(this.#indexOf(row.seq), row.deltas.length, row)
  }

  /** As they are held, oldest first. */
  get items(): readonly (SessionEvent | ChunkRow)[] {
    return this.#items
  }

  at(seq: number): SessionEvent | undefined {
    const item = this.#items[this.#indexOf(seq)]
    if (item === undefined || seq >= this.#length || seq < 0) return undefined
    return isRow(item) ? unpackOne(item, seq - item.seq) : item
  }

  /** Events with `from <= seq < to`. */
  slice(from: number, to: number): readonly SessionEvent[] {
    const events: SessionEvent[] = []
    if (from >= this.#length) return events
    for (let index = this.#indexOf(Math.max(from, 0)); index < this.#items.length; index++) {
      const item = this.#items[index]!
      if (item.seq >= to) break
      if (!isRow(item)) events.push(item)
      else if (item.seq >= from && item.seq + item.deltas.length <= to) events.push(...unpackRow(item))
      else for (let seq = Math.max(from, item.seq); seq < Math.min(to, item.seq + item.deltas.length); seq++) events.push(unpackOne(item, seq - item.seq))
    }
    return events
  }

  /** All events but the parts of streams, which stay packed. */
  milestones(): readonly SessionEvent[] {
    return this.#items.filter((item) => !isRow(item) && item.type !== 'assistant/chunk') as SessionEvent[]
  }

  /** Index of the item that holds event `seq`. */
  #indexOf(seq: number): number {
    let low = 0
    let high = this.#items.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#items[middle]!.seq <= seq) low = middle
      else high = middle - 1
    }
    return low
  }
}
