import type { Session } from '../session/session.ts'
import type { SurfaceEvent } from '../session/surface.ts'

/**
 * A fold of what the model still sees.
 *
 * Looks at each node of the surface once, and again only after a replacement: what a compaction took away is no longer in it.
 */
export class SurfaceFold<State> {
  readonly #session: Pick<Session, 'surface'>
  readonly #start: () => State
  readonly #step: (state: State, event: SurfaceEvent) => State
  #state: State
  #generation = -1
  #looked = 0

  constructor(session: Pick<Session, 'surface'>, { start, step }: { readonly start: () => State; readonly step: (state: State, event: SurfaceEvent) => State }) {
    this.#session = session
    this.#start = start
    this.#step = step
    this.#state = start()
  }

  /** As of now. */
  state(): State {
    const { nodes, generation } = this.#session.surface()
    if (generation !== this.#generation) {
      this.#generation = generation
      this.#looked = 0
      this.#state = this.#start()
    }
    for (; this.#looked < nodes.length; this.#looked++) {
      const node = nodes[this.#looked]
      if (node !== undefined) this.#state = this.#step(this.#state, node.event)
    }
    return this.#state
  }
}
