import type { Clock } from '../../capabilities/clock.ts'

/** The time of this machine. */
export function createNodeClock(): Clock {
  return {
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    schedule(delayMs, fire) {
      const dueAt = performance.now() + delayMs
      let timer: NodeJS.Timeout
      const arm = () => {
        const leftMs = dueAt - performance.now()
        timer = leftMs > LONGEST_TIMER_MS ? setTimeout(arm, LONGEST_TIMER_MS) : setTimeout(fire, Math.max(0, leftMs))
      }
      arm()
      return () => clearTimeout(timer)
    },
  }
}

/** What a timer of Node can count; it fires at once for more. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
