import { describe, expect, it } from 'vitest'
import type { ToolContent } from '../../../../extension/core/log/message.ts'
import { shortenedContent, shortenedText } from '../../../../extension/core/compaction/prune.ts'

const caps = { trigger: 400, head: 100, tail: 50 }
const mark = (count: number) => `\n[${count} characters were left out here to save room. Call the tool again if they are needed.]\n`
const image: ToolContent = { type: 'image', attachment: { attachmentId: 'sha256:0', mediaType: 'image/png', bytes: 1 } }
const text = (value: string): ToolContent => ({ type: 'text', text: value })

describe('a text that is shortened', () => {
  const check = (value: string, expected: string | null, own = caps) => {
    const short = shortenedText(value, own)
    expect(short).toBe(expected)
    if (short !== null) expect(shortenedText(short, own)).toBeNull()
  }

  it('is left as it is up to the trigger', () => check('a'.repeat(400), null))
  it('is counted in code points', () => check('😀'.repeat(400), null))
  it('keeps its head and its tail around a mark', () => check(`${'a'.repeat(200)}${'b'.repeat(201)}`, `${'a'.repeat(100)}${mark(251)}${'b'.repeat(50)}`))
  it('is never cut inside a character', () => check('😀'.repeat(401), `${'😀'.repeat(100)}${mark(251)}${'😀'.repeat(50)}`))
  it('keeps lone surrogates as they are', () => check(`\ud83d${'a'.repeat(400)}\ude00`, `\ud83d${'a'.repeat(99)}${mark(252)}${'a'.repeat(49)}\ude00`))
  it('is never longer than the trigger, whatever head and tail say', () => {
    const short = shortenedText('a'.repeat(1_000), { trigger: 400, head: 900, tail: 900 })!
    expect(short.length).toBeLessThanOrEqual(400)
    expect(shortenedText(short, { trigger: 400, head: 900, tail: 900 })).toBeNull()
  })
})

describe('a result that is shortened', () => {
  it('is left as it is when its texts together are short', () => expect(shortenedContent([text('a'.repeat(200)), image, text('b'.repeat(199))], caps)).toBeNull())
  it('keeps its images and joins its texts in the place of the first', () =>
    expect(shortenedContent([image, text('a'.repeat(300)), image, text('b'.repeat(300))], caps)).toEqual([image, text(`${'a'.repeat(100)}${mark(451)}${'b'.repeat(50)}`), image]))
})
