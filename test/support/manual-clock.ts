import type { Clock } from '../../extension/capabilities/clock.ts'

export interface ManualClock extends Clock {
  /** Move time on and fire what is due, in order of its time. */
  advance(ms: number): void
  /** Timers that wait. */
  readonly waiting: number
}

/** A clock that stands still until a test moves it. */
export function createManualClock(startedAt = 1_700_000_000_000): ManualClock {
  let elapsed = 0
  const timers = new Set<{ readonly at: number; readonly fire: () => void }>()
  return {
    now: () => startedAt + elapsed,
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
    get waiting() {
      return timers.size
    },
  }
}
