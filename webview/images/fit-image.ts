import { imageHeader } from '../../extension/base/image-header.ts'
import { imageLimits } from '../../extension/protocol/image-limits.ts'

export type FittedImage = { readonly ok: true; readonly bytes: Uint8Array<ArrayBuffer> } | { readonly ok: false; readonly reason: 'not-an-image' | 'too-many-pixels' | 'too-large' }

/** A picture that can be drawn at any size. */
export interface Decoded {
  readonly width: number
  readonly height: number
  /** Its bytes when it is drawn at that size. */
  encode(size: { readonly width: number; readonly height: number }, kind: 'image/png' | 'image/jpeg', quality: number): Promise<Uint8Array<ArrayBuffer>>
  close(): void
}

export type Decode = (bytes: Uint8Array<ArrayBuffer>) => Promise<Decoded | null>

/** JPEG qualities that are tried before a picture is made smaller. */
const QUALITIES = [0.92, 0.8, 0.65, 0.5]
const SHRINK = 0.75
const LEAST_SIDE = 64

/**
 * An image as a model takes it: at most 2 000 pixels a side and 3.5 MiB.
 *
 * What fits already stays as it is, byte for byte, so that nothing is lost of it and a moving picture still moves.
 * Source: runtime specification 16.6.
 */
export async function fitImage(bytes: Uint8Array<ArrayBuffer>, decode: Decode): Promise<FittedImage> {
  const header = imageHeader(bytes)
  if (header !== null && header.width * header.height > imageLimits.maxPixels) return { ok: false, reason: 'too-many-pixels' }
  if (header !== null && Math.max(header.width, header.height) <= imageLimits.maxSide && bytes.length <= imageLimits.maxBytes) return { ok: true, bytes }
  const picture = await decode(bytes)
  if (picture === null) return { ok: false, reason: 'not-an-image' }
  try {
    if (picture.width * picture.height > imageLimits.maxPixels) return { ok: false, reason: 'too-many-pixels' }
    return await smaller(picture, header?.mediaType !== 'image/jpeg')
  } finally {
    picture.close()
  }
}

/** Drawn pictures and screenshots stay sharp as PNG while that is small enough; photographs and the rest become JPEG. */
async function smaller(picture: Decoded, mayBePng: boolean): Promise<FittedImage> {
  const longest = Math.max(picture.width, picture.height)
  for (let side = Math.min(longest, imageLimits.maxSide); side >= Math.min(LEAST_SIDE, longest); side = Math.floor(side * SHRINK)) {
    const scale = side / longest
    const size = { width: Math.max(1, Math.round(picture.width * scale)), height: Math.max(1, Math.round(picture.height * scale)) }
    if (mayBePng) {
      const bytes = await picture.encode(size, 'image/png', 1)
      if (bytes.length <= imageLimits.maxBytes) return { ok: true, bytes }
    }
    for (const quality of QUALITIES) {
      const bytes = await picture.encode(size, 'image/jpeg', quality)
      if (bytes.length <= imageLimits.maxBytes) return { ok: true, bytes }
    }
  }
  return { ok: false, reason: 'too-large' }
}
