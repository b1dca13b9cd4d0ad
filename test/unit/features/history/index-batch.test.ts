import { expect, it } from 'vitest'
import type { IndexChange, IndexedEvent } from '../../../../extension/capabilities/search-index.ts'
import { IndexBatch } from '../../../../extension/features/history/index-batch.ts'

const event = (seq: number, text = 'x'): IndexedEvent => ({ seq, type: 'user/message', surface: 'current', time: 0, text })

function start() {
  const writes: { readonly changes: readonly IndexChange[]; readonly end: () => void; readonly fail: (error: Error) => void }[] = []
  const batch = new IndexBatch({ write: (changes) => new Promise((resolve, reject) => void writes.push({ changes, end: resolve, fail: reject })) })
  return { batch, writes }
}

it('writes the changes of several sessions at one go, in order, without what was dropped', async () => {
  const { batch, writes } = start()
  batch.add(event(0))
  batch.shadow('a', [0], 1)
  batch.end('a', 2, 'whole')
  batch.add(event(0, 'half read'))
  batch.drop()
  batch.forget('b')
  const finished = batch.finish()
  await Promise.resolve()
  expect(writes.map(({ changes }) => changes)).toEqual([[
    { kind: 'add', id: 'a', events: [event(0)], nextSeq: 1, stamp: '' },
    { kind: 'shadow', id: 'a', seqs: [0] },
    { kind: 'add', id: 'a', events: [], nextSeq: 2, stamp: 'whole' },
    { kind: 'forget', id: 'b' },
  ]])
  writes[0]!.end()
  await finished
})
it('gathers on while one write is on its way, and never sends two', async () => {
  const { batch, writes } = start()
  batch.end('a', 1, '')
  await batch.send()
  batch.end('b', 1, '')
  const second = batch.send()
  await Promise.resolve()
  expect(writes.length).toBe(1)
  writes[0]!.end()
  await second
  expect(writes.length).toBe(2)
})
it.each<['send' | 'finish']>([['send'], ['finish']])('tells of a failed write with the next %s', async (next) => {
  const { batch, writes } = start()
  batch.end('a', 1, '')
  await batch.send()
  writes[0]!.fail(new Error('disk full'))
  await expect(batch[next]()).rejects.toThrow('disk full')
})
it.each([['many events', 2_000, 1], ['long texts', 2, 750_000]])('is full of %s', (_, count, chars) => {
  const { batch } = start()
  for (let seq = 0; seq < count; seq += 1) {
    expect(batch.isFull).toBe(false)
    batch.add(event(seq, 'x'.repeat(chars)))
  }
  expect(batch.isFull).toBe(true)
})
