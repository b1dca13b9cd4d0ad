import type { SessionEvent } from '../../core/log/event.ts'
import { isSurfaceEvent } from '../../core/session/surface.ts'
import { queryError } from './error.ts'
import { SurfaceNumbers } from './searchable.ts'
import type { EventTrace } from './service.ts'

/** Gathers, event by event of one session, what one of them replaced, came from and led to. */
export class EventLinks {
  readonly #seq: number
  readonly #surface = new SurfaceNumbers()
  readonly #replacedBy = new Map<number, number>()
  readonly #derived: number[] = []
  #event: SessionEvent | null = null
  #replaces: readonly number[] = []

  constructor(seq: number) {
    this.#seq = seq
  }

  /** Errors: `SESSION_QUERY_INVALID_SURFACE`. */
  take(event: SessionEvent): void {
    const gone = this.#surface.take(event)
    if (gone === null) throw queryError('SESSION_QUERY_INVALID_SURFACE')
    for (const seq of gone) this.#replacedBy.set(seq, event.seq)
    if (event.seq === this.#seq) {
      this.#event = event
      this.#replaces = gone
    }
    if (event.sourceEventSeqs?.includes(this.#seq) === true) this.#derived.push(event.seq)
  }

  /** Null when there was no such event. */
  trace(): EventTrace | null {
    const event = this.#event
    if (event === null) return null
    const chain: number[] = []
    for (let at = this.#replacedBy.get(event.seq); at !== undefined; at = this.#replacedBy.get(at)) chain.push(at)
    return {
      seq: event.seq,
      type: event.type,
      time: event.time,
      surface: !isSurfaceEvent(event) ? 'log-only' : chain.length > 0 ? 'shadowed' : 'current',
      replacedBy: chain[0] ?? null,
      chain,
      replaces: this.#replaces,
      sources: event.sourceEventSeqs ?? [],
      derived: this.#derived,
    }
  }
}
