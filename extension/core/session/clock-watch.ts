import type { Clock } from '../../capabilities/clock.ts'

/** What the time of day may be ahead or behind by without anybody having set it. */
const MAX_DRIFT_MS = 3_600_000

/** Tells when the time of day was set, or the machine slept: its age is then no reason to take anything away for good. */
export interface ClockWatch {
  /** Since the last question, or since the watch began, the time of day went otherwise than time went by. */
  hasJumped(): boolean
}

export function createClockWatch(clock: Pick<Clock, 'now' | 'monotonicMs'>): ClockWatch {
  const offset = () => clock.now() - clock.monotonicMs()
  let last = offset()
  return {
    hasJumped() {
      const before = last
      last = offset()
      return Math.abs(last - before) > MAX_DRIFT_MS
    },
  }
}
