import { orAbort } from '../../base/or-abort.ts'
import type { Clock } from '../../capabilities/clock.ts'

/** After the second change; twice as long after each further one, until the longest. */
const PAUSE_MS = 100
const MAX_PAUSE_MS = 30_000
/** A list that was quiet for as long is read at once again. */
const QUIET_MS = 60_000

/** Reads a list of a server after each change that it tells: once for all that came meanwhile, and less and less often for one that never rests. */
export class ListFollower {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'schedule'>
  readonly #read: () => Promise<void>
  #isReading = false
  #isStale = false
  #streak = 0
  #changedAtMs = 0

  /** `read` never rejects. */
  constructor(clock: Pick<Clock, 'monotonicMs' | 'schedule'>, read: () => Promise<void>) {
    this.#clock = clock
    this.#read = read
  }

  /** Resolves when nobody needs to wait for this change any more; never rejects. The signal and `isCurrent` end the reading. */
  async changed(signal: AbortSignal, isCurrent: () => boolean): Promise<void> {
    const now = this.#clock.monotonicMs()
    if (now - this.#changedAtMs >= QUIET_MS) this.#streak = 0
    this.#changedAtMs = now
    this.#isStale = true
    if (this.#isReading) return
    this.#isReading = true
    while (this.#isStale && isCurrent() && !signal.aborted) {
      if (this.#streak > 0) await this.#pause(signal)
      if (!isCurrent() || signal.aborted) break
      this.#isStale = false
      this.#streak += 1
      await this.#read()
    }
    this.#isReading = false
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const over = Promise.withResolvers<void>()
    const cancel = this.#clock.schedule(Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** (this.#streak - 1)), () => over.resolve())
    try {
      await orAbort(over.promise, signal)
    } catch {
      // The server is stopped: whoever waits looks at the signal.
    } finally {
      cancel()
    }
  }
}
