import { expect, it } from 'vitest'
import { createNodeClock } from '../../../../extension/platform/node/clock.ts'

it('tells the time, and fires once, behind what is due before it, unless it is taken back', async () => {
  const clock = createNodeClock()
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1000)
  const fired: string[] = []
  const cancel = clock.schedule(1, () => void fired.push('cancelled'))
  cancel()
  cancel()
  const before = clock.monotonicMs()
  await new Promise<void>((resolve) => {
    clock.schedule(40, () => (fired.push('later'), resolve()))
    clock.schedule(1, () => void fired.push('sooner'))
    fired.push('scheduled')
  })
  expect(fired).toEqual(['scheduled', 'sooner', 'later'])
  expect(clock.monotonicMs()).toBeGreaterThanOrEqual(before)
})

it.each([2 ** 31, 1e20])('does not fire at once for more than a timer can count: %d ms', async (delayMs) => {
  const clock = createNodeClock()
  const fired: string[] = []
  const cancel = clock.schedule(delayMs, () => void fired.push('far'))
  await new Promise<void>((resolve) => void clock.schedule(20, () => (fired.push('near'), resolve())))
  cancel()
  expect(fired).toEqual(['near'])
})
