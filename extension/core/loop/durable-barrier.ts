import type { Session } from '../session/session.ts'

/**
 * Sees to it that everything the model is shown is on the disk before it is shown, with little waiting.
 *
 * Results are made durable from the moment they are written, while the next request is put together. The request then waits
 * only for what is left of that one sync; the marks of steps between the two need none of their own.
 * Source: runtime specification 12.2; at most one sync on the critical path of a step.
 */
export class DurableBarrier {
  readonly #session: Session
  #begun: { readonly length: number; readonly done: Promise<void> } | null = null

  constructor(session: Session) {
    this.#session = session
  }

  /** Begin to write what is there. A failure shows in `reach`: a store that failed once fails for good. */
  begin(): void {
    const done = this.#session.flush()
    done.catch(() => {})
    this.#begun = { length: this.#session.length, done }
  }

  /** Resolves when all events before `length` are durable. Errors: the store's; the effect must not happen then. */
  async reach(length: number): Promise<void> {
    const begun = this.#begun
    this.#begun = null
    await (begun && begun.length >= length ? begun.done : this.#session.flush())
  }
}
