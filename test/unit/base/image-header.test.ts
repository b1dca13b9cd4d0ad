import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { imageHeader } from '../../../extension/base/image-header.ts'
import { root } from '../../../scripts/root.ts'
import { imageBytes } from '../../support/image-bytes.ts'

describe('a header', () => {
  it.each([
    ['png', 'image/png', 640, 480],
    ['gif', 'image/gif', 640, 480],
    ['jpeg', 'image/jpeg', 640, 480],
    ['webp', 'image/webp', 640, 480],
    ['webp-lossless', 'image/webp', 640, 480],
    ['webp-extended', 'image/webp', 640, 480],
    ['png', 'image/png', 70_000, 1],
    ['webp-lossless', 'image/webp', 16_384, 16_384],
    ['webp-extended', 'image/webp', 16_777_216, 3],
  ] as const)('of %s: %s, %d × %d', (kind, mediaType, width, height) => expect(imageHeader(imageBytes(kind, width, height))).toEqual({ mediaType, width, height }))

  it('of a real file', () => expect(imageHeader(readFileSync(join(root, 'media/bosun.png')))?.mediaType).toBe('image/png'))
  it('within a larger buffer', () => {
    const held = new Uint8Array([1, 2, 3, ...imageBytes('png', 5, 6)])
    expect(imageHeader(held.subarray(3))).toEqual({ mediaType: 'image/png', width: 5, height: 6 })
  })
})

describe('no header', () => {
  const check = (bytes: Uint8Array) => expect(imageHeader(bytes)).toBeNull()

  it('of nothing', () => check(new Uint8Array()))
  it('of words', () => check(new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>')))
  it('of an image without a size', () => check(imageBytes('png', 0, 10)))
  it('of a RIFF that is a sound', () => check(new TextEncoder().encode('RIFF....WAVEfmt ................')))
  it.each(['png', 'gif', 'jpeg', 'webp', 'webp-lossless', 'webp-extended'] as const)('of %s that is cut off anywhere before its size', (kind) => {
    const whole = imageBytes(kind, 640, 480)
    const known = Array.from({ length: whole.length }, (_, length) => imageHeader(whole.subarray(0, length)) !== null)
    // Once it is known it stays so, and nothing shorter is taken for something else.
    expect(known.indexOf(true) === -1 || known.slice(known.indexOf(true)).every(Boolean)).toBe(true)
    expect(known.slice(0, 8).some(Boolean)).toBe(false)
  })
  it('of a JPEG that never comes to its frame', () => check(new Uint8Array([0xff, 0xd8, ...Array.from({ length: 400 }, (_, at) => [0xff, 0xe1, 0, 4][at % 4]!)])))
})
