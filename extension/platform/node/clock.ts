import type { Clock } from '../../capabilities/clock.ts'

/** The time of this machine. */
export function createNodeClock(): Clock {
  return {
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    schedule(delayMs, fire) {
      const timer = setTimeout(fire, delayMs)
      return () => clearTimeout(timer)
    },
  }
}
