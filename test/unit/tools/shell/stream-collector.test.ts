import { describe, expect, it } from 'vitest'
import type { SpillFile } from '../../../../extension/capabilities/blob-store.ts'
import { StreamCollector } from '../../../../extension/tools/shell/stream-collector.ts'
import { createMemoryBlobStore } from '../../../support/memory-blob-store.ts'

const setUp = (over: { maxBytes?: number; headBytes?: number; maxSpillBytes?: number; openSpill?: () => Promise<SpillFile> } = {}) => {
  const blobs = createMemoryBlobStore()
  const collector = new StreamCollector({ maxBytes: 10, maxSpillBytes: 100, openSpill: () => blobs.openSpill('s', 'out.log'), ...over })
  const push = (...texts: string[]) => texts.forEach((text) => collector.push(Buffer.from(text)))
  return { blobs, collector, push }
}

describe('a finished stream', () => {
  it('of exactly the cap is whole and not saved', async () => {
    const { push, collector, blobs } = setUp()
    push('12345', '67890')
    expect(await collector.finish()).toEqual({ text: '1234567890', truncated: false, totalBytes: 10 })
    expect(blobs.spills.size).toBe(0)
  })
  it('of one byte more keeps its end and is saved whole', async () => {
    const { push, collector, blobs } = setUp()
    push('12345', '67890', 'A')
    const { spillPath = '', ...rest } = await collector.finish()
    expect(rest).toEqual({ text: '234567890A', truncated: true, totalBytes: 11, omittedBytes: 1 })
    expect(blobs.spills.get(spillPath)).toBe('1234567890A')
  })
  it('is saved whole when one chunk alone is over the cap, and what follows too', async () => {
    const { push, collector, blobs } = setUp()
    push('x'.repeat(30), 'tail')
    const { spillPath = '', text } = await collector.finish()
    expect([text, blobs.spills.get(spillPath)]).toEqual(['xxxxxxtail', `${'x'.repeat(30)}tail`])
  })
  it('over the cap of its file has none', async () => {
    const { push, collector, blobs } = setUp()
    push('x'.repeat(60), 'y'.repeat(41))
    expect(await collector.finish()).toEqual({ text: 'y'.repeat(10), truncated: true, totalBytes: 101, omittedBytes: 91 })
    expect(blobs.spills.size).toBe(0)
  })
  it('whose file fails has none', async () => {
    const openSpill = () => Promise.reject(new Error('no disk'))
    const { push, collector } = setUp({ openSpill })
    push('x'.repeat(11))
    expect(await collector.finish()).toEqual({ text: 'x'.repeat(10), truncated: true, totalBytes: 11, omittedBytes: 1 })
  })
  it('whose file cannot be closed has none', async () => {
    const { push, collector } = setUp({
      openSpill: async () => ({ path: '/p', append: async () => {}, close: () => Promise.reject(new Error('full')), discard: async () => {} }),
    })
    push('x'.repeat(11))
    expect(await collector.finish()).toEqual({ text: 'x'.repeat(10), truncated: true, totalBytes: 11, omittedBytes: 1 })
  })
  it('is never cut inside a character', async () => {
    const { push, collector } = setUp()
    push('😀😀😀') // 12 bytes: the cut at 2 falls into the first
    expect((await collector.finish()).text).toBe('😀😀')
  })
  it('keeps its beginning too when told so, and says between both how much is missing', async () => {
    const { push, collector } = setUp({ headBytes: 4 })
    push('ab', 'cdefgh', 'ijkl', 'mnop')
    expect(await collector.finish()).toMatchObject({ text: 'abcd\n[… 6 bytes left out …]\nklmnop', omittedBytes: 6 })
    expect(collector.shown()).toEqual({ text: 'abcd\n[… 6 bytes left out …]\nklmnop', omittedBytes: 6 })
  })
  it('counts what the cuts at characters cost as left out', async () => {
    const { push, collector } = setUp({ headBytes: 5 })
    push('😀😀😀😀')
    expect((await collector.finish()).text).toBe('😀\n[… 8 bytes left out …]\n😀')
  })
  it('keeps a character that came in two chunks', async () => {
    const { collector } = setUp()
    const bytes = Buffer.from('a😀')
    collector.push(bytes.subarray(0, 3))
    collector.push(bytes.subarray(3))
    expect((await collector.finish()).text).toBe('a😀')
  })
})

describe('reading while it runs', () => {
  it('gives each part once, a split character with its second half', () => {
    const { push, collector } = setUp()
    const bytes = Buffer.from('é')
    push('ab')
    collector.push(bytes.subarray(0, 1))
    const first = collector.readDelta().text
    collector.push(bytes.subarray(1))
    expect([first, collector.readDelta().text, collector.readDelta().text]).toEqual(['ab', 'é', ''])
  })
  it('says how much left the memory unread, and where it is', async () => {
    const { push, collector } = setUp()
    push('x'.repeat(15))
    await collector.finish()
    expect(collector.readDelta()).toEqual({ text: 'x'.repeat(10), lostBytes: 5, spillPath: expect.stringContaining('out.log') as string })
    expect(collector.readDelta()).toMatchObject({ text: '', lostBytes: 0 })
  })
})
