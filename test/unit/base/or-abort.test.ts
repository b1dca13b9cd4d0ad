import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { orAbort } from '../../../extension/base/or-abort.ts'

const never = new Promise<never>(() => {})
const setUp = () => {
  const controller = new AbortController()
  return { controller, listeners: () => getEventListeners(controller.signal, 'abort').length }
}

it('gives the value and leaves no listener', async () => {
  const { controller, listeners } = setUp()
  expect([await orAbort(Promise.resolve(1), controller.signal), listeners()]).toEqual([1, 0])
})
it('fails as the work fails', async () => {
  const { controller, listeners } = setUp()
  await expect(orAbort(Promise.reject(new Error('no')), controller.signal)).rejects.toThrow('no')
  expect(listeners()).toBe(0)
})
it('gives up with the reason when the signal fires', async () => {
  const { controller, listeners } = setUp()
  const outcome = orAbort(never, controller.signal)
  controller.abort(new Error('stopped'))
  await expect(outcome).rejects.toThrow('stopped')
  expect(listeners()).toBe(0)
})
it('gives up at once when it had fired before, and swallows what the work says later', async () => {
  const { controller } = setUp()
  controller.abort(new Error('stopped'))
  await expect(orAbort(Promise.reject(new Error('later')), controller.signal)).rejects.toThrow('stopped')
})
