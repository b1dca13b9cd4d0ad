import { describe, expect, it } from 'vitest'
import { GRACE_MS, RunningCalls } from '../../../../extension/features/extensions/running-calls.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

const rig = () => {
  const clock = createManualClock()
  return { clock, calls: new RunningCalls(clock, { stuck: () => new Error('stuck'), gone: () => new Error('gone') }), stop: new AbortController() }
}
/** A body that ends when it is stopped. */
const polite = (signal: AbortSignal) => new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true }))
const forever = () => new Promise<never>(() => {})

describe('a running call', () => {
  it('gives what its body gives, and leaves no timer', async () => {
    const { clock, calls, stop } = rig()
    expect([await calls.run(stop.signal, () => 7), clock.waiting]).toEqual([7, 0])
  })
  it('fails as its body fails, at once or later', async () => {
    const { calls, stop } = rig()
    await expect(calls.run(stop.signal, () => { throw new Error('now') })).rejects.toThrow('now')
    await expect(calls.run(stop.signal, () => Promise.reject(new Error('later')))).rejects.toThrow('later')
  })
  it('that the caller stops fails as its body says', async () => {
    const { clock, calls, stop } = rig()
    const run = calls.run(stop.signal, polite)
    stop.abort()
    await expect(run).rejects.toThrow('stopped')
    expect(clock.waiting).toBe(0)
  })
  it('that does not listen is left alone after a while', async () => {
    const { clock, calls, stop } = rig()
    const run = calls.run(stop.signal, forever)
    stop.abort()
    clock.advance(GRACE_MS - 1)
    let isOver = false
    run.catch(() => (isOver = true))
    await Promise.resolve()
    expect(isOver).toBe(false)
    clock.advance(1)
    await expect(run).rejects.toThrow('stuck')
  })
})

it('a call that was stopped before it began is left alone after a while too', async () => {
  const { clock, calls, stop } = rig()
  stop.abort()
  const run = calls.run(stop.signal, forever)
  expect(clock.nextIn).toBe(GRACE_MS)
  clock.advance(GRACE_MS)
  await expect(run).rejects.toThrow('stuck')
  expect(clock.waiting).toBe(0)
})

describe('the end of all calls', () => {
  it('stops them, says why, and waits for them', async () => {
    const { calls, stop } = rig()
    const runs = Promise.allSettled([calls.run(stop.signal, polite), calls.run(stop.signal, polite)])
    await calls.end()
    expect((await runs).map((run) => run.status === 'rejected' && String(run.reason))).toEqual(['Error: gone', 'Error: gone'])
  })
  it('keeps what a body still brought about', async () => {
    const { calls, stop } = rig()
    const run = calls.run(stop.signal, (signal) => new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('done all the same'), { once: true })))
    await calls.end()
    expect(await run).toBe('done all the same')
  })
  it('waits no longer than a body has to end', async () => {
    const { clock, calls, stop } = rig()
    const run = calls.run(stop.signal, forever)
    const end = calls.end()
    clock.advance(GRACE_MS)
    await end
    await expect(run).rejects.toThrow('gone')
  })
})
