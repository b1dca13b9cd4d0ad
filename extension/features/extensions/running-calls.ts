import type { Clock } from '../../capabilities/clock.ts'

/** Milliseconds that a body of another extension has to end after it was stopped. */
export const GRACE_MS = 5_000

/**
 * The calls of a tool whose body is not ours: each ends soon after it was stopped, whatever the body does.
 *
 * A body that does not listen to its signal goes on where nobody can end it; what it gives by then is not looked at.
 */
export class RunningCalls {
  readonly #clock: Clock
  readonly #words: { readonly stuck: () => Error; readonly gone: () => Error }
  readonly #running = new Map<AbortController, Promise<unknown>>()

  constructor(clock: Clock, words: { readonly stuck: () => Error; readonly gone: () => Error }) {
    this.#clock = clock
    this.#words = words
  }

  /** One that was stopped before it began is bounded as any other. Errors: what the body throws; `gone` when it failed because the tool went, `stuck` when it did not end in time. */
  async run<T>(caller: AbortSignal, body: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
    const controller = new AbortController()
    const signal = AbortSignal.any([caller, controller.signal])
    const { promise: stuck, reject } = Promise.withResolvers<never>()
    let unwatch = (): void => {}
    const onAbort = () => void (unwatch = this.#clock.schedule(GRACE_MS, () => reject(this.#words.stuck())))
    // It tells of no abort that was before.
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    // What is left behind may fail when nobody listens any more.
    stuck.catch(() => {})
    const run = (async () => await body(signal))()
    run.catch(() => {})
    const end = Promise.race([run, stuck])
    this.#running.set(controller, end)
    try {
      return await end
    } catch (error) {
      throw controller.signal.aborted && !caller.aborted ? this.#words.gone() : error
    } finally {
      this.#running.delete(controller)
      signal.removeEventListener('abort', onAbort)
      unwatch()
    }
  }

  /** Stop every call and wait until each has ended. */
  async end(): Promise<void> {
    const ends = [...this.#running.values()]
    for (const controller of this.#running.keys()) controller.abort(this.#words.gone())
    await Promise.allSettled(ends)
  }
}
