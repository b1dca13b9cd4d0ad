import type { Clock } from '../../capabilities/clock.ts'
import type { Undo } from '../../base/undo.ts'
import type { StreamChunk } from '../model/contract.ts'

type Delta = Extract<StreamChunk, { readonly type: 'text-delta' | 'reasoning-delta' | 'tool-call-delta' }>

interface BlockLog {
  /** On the monotonic clock. */
  loggedAt: number
  waiting: Delta | null
}

/** A block writes at most one event in this time, unless it is large. */
const intervalMs = 50
/** Characters that wait at most. */
const maxWaiting = 1024

/**
 * Writes the parts of a stream as they arrive, with the deltas of a block joined so that the log stays small.
 *
 * The rule: a delta is written at once when its block wrote nothing for 50 ms; otherwise it waits and is joined with what
 * follows, until 50 ms have passed since the block last wrote (a timer sees to it when the stream stands still) or 1 024
 * characters wait. Every other part is written at once, after all that waits. So no delta is lost and the order within a
 * block is kept; a block writes at most one event per 50 ms or per 1 024 characters.
 */
export class ChunkLog {
  readonly #clock: Clock
  readonly #write: (chunk: StreamChunk) => number
  readonly #blocks = new Map<number, BlockLog>()
  readonly #seqs: number[] = []
  #stopTimer: Undo | null = null
  #failure: { readonly error: unknown } | null = null

  /** `write` puts one part into the log and gives its `seq`. */
  constructor(clock: Clock, write: (chunk: StreamChunk) => number) {
    this.#clock = clock
    this.#write = write
  }

  /** Errors: those of `write`, also of a write by the timer before. */
  add(chunk: StreamChunk): void {
    if (this.#failure) throw this.#failure.error
    if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta' || chunk.type === 'tool-call-delta') this.#addDelta(chunk)
    else {
      this.#flush()
      this.#put(chunk)
    }
  }

  /** Write what waits and stop. Gives the `seq` of every part, in order. Errors: as `add`. */
  end(): readonly number[] {
    this.#stopTimer?.()
    this.#stopTimer = null
    if (this.#failure) throw this.#failure.error
    this.#flush()
    return this.#seqs
  }

  #addDelta(delta: Delta): void {
    const now = this.#clock.monotonicMs()
    const block = this.#blocks.get(delta.index) ?? { loggedAt: -Infinity, waiting: null }
    this.#blocks.set(delta.index, block)
    const joined = block.waiting ? join(block.waiting, delta) : delta
    if (!joined) {
      this.#writeWaiting(block)
      block.waiting = delta
    } else block.waiting = joined
    if (now - block.loggedAt >= intervalMs || lengthOf(block.waiting) >= maxWaiting) this.#writeWaiting(block)
    else this.#stopTimer ??= this.#clock.schedule(Math.max(0, block.loggedAt + intervalMs - now), () => this.#onTimer())
  }

  #onTimer(): void {
    this.#stopTimer = null
    const now = this.#clock.monotonicMs()
    let next = Infinity
    try {
      for (const block of this.#blocks.values()) {
        if (!block.waiting) continue
        if (now - block.loggedAt >= intervalMs) this.#writeWaiting(block)
        else next = Math.min(next, block.loggedAt + intervalMs)
      }
    } catch (error) {
      // A timer has nobody to throw to: the stream hears of it with its next part.
      this.#failure = { error }
      return
    }
    if (next < Infinity) this.#stopTimer = this.#clock.schedule(next - now, () => this.#onTimer())
  }

  #flush(): void {
    for (const block of this.#blocks.values()) this.#writeWaiting(block)
  }

  #writeWaiting(block: BlockLog): void {
    if (!block.waiting) return
    const chunk = block.waiting
    block.waiting = null
    block.loggedAt = this.#clock.monotonicMs()
    this.#put(chunk)
  }

  #put(chunk: StreamChunk): void {
    this.#seqs.push(this.#write(chunk))
  }
}

/** Undefined when the two cannot be one delta without loss. */
function join(first: Delta, second: Delta): Delta | undefined {
  if (first.type === 'tool-call-delta') {
    if (second.type !== 'tool-call-delta' || isOther(first.id, second.id) || isOther(first.name, second.name)) return undefined
    const id = first.id ?? second.id
    const name = first.name ?? second.name
    return {
      ...first,
      ...(id !== undefined && { id }),
      ...(name !== undefined && { name }),
      argumentsDelta: first.argumentsDelta + second.argumentsDelta,
    }
  }
  return second.type === first.type ? { ...first, delta: first.delta + second.delta } : undefined
}

const isOther = (first: string | undefined, second: string | undefined) => first !== undefined && second !== undefined && first !== second
const lengthOf = (delta: Delta) => (delta.type === 'tool-call-delta' ? delta.argumentsDelta : delta.delta).length
