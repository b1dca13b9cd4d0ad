import { describe, expect, it } from 'vitest'
import { fitImage, type Decoded } from '../../../webview/images/fit-image.ts'
import { imageBytes } from '../../support/image-bytes.ts'

const bytesOf = (...args: Parameters<typeof imageBytes>) => new Uint8Array(imageBytes(...args))

/** A picture whose bytes are as many as `cost` says. */
function picture(width: number, height: number, cost: (size: { readonly width: number; readonly height: number }, kind: string, quality: number) => number) {
  const drawn: string[] = []
  let isClosed = false
  const decoded: Decoded = {
    width,
    height,
    encode: async (size, kind, quality) => {
      drawn.push(`${size.width}×${size.height} ${kind.slice(6)} ${quality}`)
      return new Uint8Array(Math.ceil(cost(size, kind, quality)))
    },
    close: () => void (isClosed = true),
  }
  return { drawn, isClosed: () => isClosed, decode: async () => decoded }
}
const never = () => Promise.reject(new Error('It was decoded.'))

describe('an image that fits', () => {
  it.each(['png', 'jpeg', 'gif', 'webp'] as const)('stays as it is, byte for byte: %s', async (kind) => {
    const bytes = bytesOf(kind, 2_000, 1_500, 1_000)
    const fitted = await fitImage(bytes, never)
    expect(fitted.ok && fitted.bytes === bytes).toBe(true)
  })
})

describe('an image that is too large', () => {
  it('is drawn with 2 000 pixels on its longer side', async () => {
    const { drawn, decode, isClosed } = picture(4_000, 1_000, () => 5_000)
    expect((await fitImage(bytesOf('png', 4_000, 1_000), decode)).ok).toBe(true)
    expect([drawn, isClosed()]).toEqual([['2000×500 png 1'], true])
  })
  it('keeps its size when only its bytes are too many, and becomes JPEG', async () => {
    const { drawn, decode } = picture(1_000, 500, (_size, kind) => (kind === 'image/png' ? 5e6 : 1e6))
    await fitImage(bytesOf('png', 1_000, 500, 4_000_000), decode)
    expect(drawn).toEqual(['1000×500 png 1', '1000×500 jpeg 0.92'])
  })
  it('stays a photograph: no PNG is tried for a JPEG', async () => {
    const { drawn, decode } = picture(3_000, 3_000, () => 1e6)
    await fitImage(bytesOf('jpeg', 3_000, 3_000), decode)
    expect(drawn).toEqual(['2000×2000 jpeg 0.92'])
  })
  it('loses quality first, then size, until it has 3.5 MiB', async () => {
    const { drawn, decode } = picture(2_000, 2_000, ({ width, height }, _kind, quality) => width * height * quality * 2.2)
    const fitted = await fitImage(bytesOf('jpeg', 2_000, 2_000, 4_000_000), decode)
    expect(fitted.ok && fitted.bytes.length <= 3.5 * 1024 * 1024).toBe(true)
    expect(drawn).toEqual(['2000×2000 jpeg 0.92', '2000×2000 jpeg 0.8', '2000×2000 jpeg 0.65', '2000×2000 jpeg 0.5', '1500×1500 jpeg 0.92', '1500×1500 jpeg 0.8', '1500×1500 jpeg 0.65'].slice(0, drawn.length))
    expect(drawn.at(-1)).toMatch(/^(2000×2000 jpeg 0.[68]|1500)/)
  })
  it('never loses a side altogether', async () => {
    const { drawn, decode } = picture(30_000, 1, () => 10)
    await fitImage(bytesOf('png', 30_000, 1), decode)
    expect(drawn).toEqual(['2000×1 png 1'])
  })
  it('is refused when it does not fit however small it is drawn', async () => {
    const { decode, isClosed } = picture(3_000, 3_000, () => 9e6)
    expect([await fitImage(bytesOf('png', 3_000, 3_000), decode), isClosed()]).toEqual([{ ok: false, reason: 'too-large' }, true])
  })
  it('is refused by its header when it has over 40 million pixels, before it is drawn', async () => {
    expect(await fitImage(bytesOf('png', 10_000, 5_000), never)).toEqual({ ok: false, reason: 'too-many-pixels' })
  })
})

describe('another kind of image', () => {
  it('is drawn when the browser can', async () => {
    const { drawn, decode } = picture(100, 50, () => 10)
    await fitImage(new Uint8Array([66, 77, 0, 0]), decode)
    expect(drawn).toEqual(['100×50 png 1'])
  })
  it('is refused when it cannot', async () => expect(await fitImage(new Uint8Array([1, 2]), async () => null)).toEqual({ ok: false, reason: 'not-an-image' }))
  it('is refused when it has over 40 million pixels', async () => {
    const { decode, isClosed } = picture(10_000, 5_000, () => 10)
    expect([await fitImage(new Uint8Array([1, 2]), decode), isClosed()]).toEqual([{ ok: false, reason: 'too-many-pixels' }, true])
  })
})
