import type { Clock } from '../../extension/capabilities/clock.ts'

export interface ManualClock extends Clock {
  /** Move time on and fire what is due, in order of its time. */
  advance(ms: number): void
  /** Set the time of day otherwise, as a person or the network does; no time goes by. */
  jump(ms: number): void
  /** Timers that wait. */
  readonly waiting: number
  /** Milliseconds until the first of them fires; null without one. */
  readonly nextIn: number | null
}

/** A clock that stands still until a test moves it. */
export function createManualClock(startedAt = 1_700_000_000_000): ManualClock {
  let elapsed = 0
  let set = 0
  const timers = new Set<{ readonly at: number; readonly fire: () => void }>()
  return {
    now: () => startedAt + set + elapsed,
    monotonicMs: () => elapsed,
    schedule(delayMs, fire) {
      const timer = { at: elapsed + delayMs, fire }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    advance(ms) {
      const end = elapsed + ms
      for (;;) {
        const due = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (due === undefined) break
        timers.delete(due)
        elapsed = Math.max(elapsed, due.at)
        due.fire()
      }
      elapsed = end
    },
    jump(ms) {
      set += ms
    },
    get waiting() {
      return timers.size
    },
    get nextIn() {
      return timers.size === 0 ? null : Math.max(0, Math.min(...[...timers].map(({ at }) => at)) - elapsed)
    },
  }
}
