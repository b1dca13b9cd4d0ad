import { PhotonImage, resize, SamplingFilter } from '@silvia-odwyer/photon-node'
import type { PictureLimits, ScaledPicture } from '../../capabilities/picture-scaler.ts'

/** What a thread is given, and what it answers. */
export interface PictureTask extends PictureLimits {
  readonly bytes: Uint8Array
  readonly mediaType: string
}
export type PictureAnswer = { readonly picture: ScaledPicture } | { readonly damage: string }

/** Of a photograph's quality, in percent. */
const JPEG_QUALITY = 85
/** Each try that is still too large in bytes is this much smaller. */
const SHRINK = 0.75
const MIN_SIDE = 64

/** Sharp pictures stay PNG while they fit; what was a photograph, or does not fit, becomes a JPEG. Never throws. */
export function scaledPicture({ bytes, mediaType, maxSide, maxBytes }: PictureTask): PictureAnswer {
  let picture: PhotonImage
  try {
    picture = PhotonImage.new_from_byteslice(bytes)
  } catch {
    // The module stops without words at data that it cannot follow.
    return { damage: 'its data is damaged or cut off' }
  }
  const longest = Math.max(picture.get_width(), picture.get_height())
  for (let side = Math.min(longest, maxSide); side >= Math.min(longest, maxSide, MIN_SIDE); side = Math.floor(side * SHRINK)) {
    const share = side / longest
    const [width, height] = [Math.max(1, Math.round(picture.get_width() * share)), Math.max(1, Math.round(picture.get_height() * share))]
    const small = share === 1 ? picture : resize(picture, width, height, SamplingFilter.Lanczos3)
    if (mediaType !== 'image/jpeg') {
      const png = small.get_bytes()
      if (png.length <= maxBytes) return { picture: { bytes: png, mediaType: 'image/png', width, height } }
    }
    const jpeg = small.get_bytes_jpeg(JPEG_QUALITY)
    if (jpeg.length <= maxBytes) return { picture: { bytes: jpeg, mediaType: 'image/jpeg', width, height } }
  }
  return { damage: 'it stays too large however small it is made' }
}
