import { expect, it } from 'vitest'
import { createClockWatch } from '../../../../extension/core/session/clock-watch.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

const hour = 3_600_000

it.each([
  ['by nothing', 0, false],
  ['by minutes, as a clock is put right', 600_000, false],
  ['forward by hours', 5 * hour, true],
  ['back by hours', -5 * hour, true],
  ['forward by years', 10 * 365 * 24 * hour, true],
])('a clock that was set %s', (_name, ms, hasJumped) => {
  const clock = createManualClock()
  const watch = createClockWatch(clock)
  clock.advance(6 * hour)
  clock.jump(ms)
  // Once told, what it shows from then on is what it shows.
  expect([watch.hasJumped(), watch.hasJumped()]).toEqual([hasJumped, false])
})
