import type { Clock } from '../../extension/capabilities/clock.ts'

/** The time of this machine, for tests that speak to a real server. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule(delayMs, fire) {
    const timer = setTimeout(fire, delayMs)
    return () => clearTimeout(timer)
  },
}
