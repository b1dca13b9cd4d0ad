import { expect, it } from 'vitest'
import type { FittedImage } from '../../../webview/images/fit-image.ts'
import { createAttaching } from '../../../webview/store/attaching.ts'

function rig(fit: (bytes: Uint8Array<ArrayBuffer>) => Promise<FittedImage> = async (bytes) => ({ ok: true, bytes })) {
  const told: { readonly id: string; readonly name: string; readonly data: string }[] = []
  let count = 0
  const attaching = createAttaching({ fit, attachImage: (id, name, data) => told.push({ id, name, data }), newId: () => `i${(count += 1)}` })
  return { attaching, told, pending: () => attaching.pending.value.map(({ id }) => id) }
}
const file = (name: string, content = 'hi') => new File([content], name, { type: 'image/png' })
const until = async (isDone: () => boolean) => {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 1))
}

it('tells the host the bytes of an image, and waits for its word', async () => {
  const { attaching, told, pending } = rig()
  attaching.add([file('a.png')])
  expect(pending()).toEqual(['i1'])
  await until(() => told.length === 1)
  expect([told, pending()]).toEqual([[{ id: 'i1', name: 'a.png', data: 'aGk=' }], ['i1']])
  attaching.attached('i1', null)
  expect([pending(), attaching.problem.value]).toEqual([[], null])
})

it('does one after the other, in their order', async () => {
  let running = 0
  let most = 0
  const { attaching, told } = rig(async (bytes) => {
    most = Math.max(most, (running += 1))
    await new Promise((resolve) => setTimeout(resolve, 1))
    running -= 1
    return { ok: true, bytes }
  })
  attaching.add([file('a.png'), file('b.png'), file('c.png')])
  await until(() => told.length === 3)
  expect([most, told.map(({ name }) => name)]).toEqual([1, ['a.png', 'b.png', 'c.png']])
})

it('has no name for what comes from the clipboard', async () => {
  const { attaching, told } = rig()
  attaching.add([file('image.png')])
  await until(() => told.length === 1)
  expect(told[0]!.name).toBe('')
})

it('says why one is not taken, and goes on with the next', async () => {
  const { attaching, told, pending } = rig(async (bytes) => (bytes.length === 3 ? { ok: false, reason: 'not-an-image' } : { ok: true, bytes }))
  attaching.add([file('a.png', 'bad'), file('b.png')])
  await until(() => told.length === 1)
  expect([attaching.problem.value, pending()]).toEqual(['a.png is no image that a model can read. Name a file with @ instead.', ['i2']])
})

it('says what the host refuses', () => {
  const { attaching, pending } = rig()
  attaching.add([file('a.png')])
  attaching.attached('i1', 'Deep reads text only.')
  expect([attaching.problem.value, pending()]).toEqual(['Deep reads text only.', []])
  attaching.closeProblem()
  expect(attaching.problem.value).toBe(null)
})

it('outlives a picture that breaks the browser', async () => {
  const { attaching, told } = rig(async (bytes) => {
    if (bytes.length === 3) throw new Error('out of memory')
    return { ok: true, bytes }
  })
  attaching.add([file('a.png', 'bad'), file('b.png')])
  await until(() => told.length === 1)
  expect(attaching.problem.value).toBe('a.png could not be read: out of memory')
})
