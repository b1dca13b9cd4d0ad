import { HarnessError } from '../../base/harness-error.ts'
import { imageHeader, type ImageHeader } from '../../base/image-header.ts'
import type { Localization } from '../../capabilities/localization.ts'
import { imageLimits } from '../../protocol/image-limits.ts'

export type AttachmentErrorCode = 'NOT_AN_IMAGE' | 'IMAGE_TOO_LARGE' | 'TOO_MANY_PIXELS' | 'IMAGE_TOO_WIDE' | 'TOO_MANY_IMAGES' | 'MESSAGE_TOO_LARGE'

/** Something cannot go with a message, in words for the person; nothing was kept. */
export class AttachmentError extends HarnessError<AttachmentErrorCode> {}

/**
 * What an image is by its own bytes; its name and its sender are not asked.
 *
 * Errors: `AttachmentError`.
 */
export function checkedImage(bytes: Uint8Array, { t }: Localization): ImageHeader {
  const header = imageHeader(bytes)
  if (header === null) throw new AttachmentError('NOT_AN_IMAGE', t('This is no image that a model can read. Use PNG, JPEG, WebP or GIF.'))
  const { width, height } = header
  if (width * height > imageLimits.maxPixels) throw new AttachmentError('TOO_MANY_PIXELS', t('This image has {width} × {height} pixels; at most {max} million can be sent. Make it smaller first.', { width, height, max: imageLimits.maxPixels / 1e6 }))
  if (Math.max(width, height) > imageLimits.maxSide) throw new AttachmentError('IMAGE_TOO_WIDE', t('This image is {width} × {height} pixels; its longer side may have {max}. Make it smaller first.', { width, height, max: imageLimits.maxSide }))
  if (bytes.length > imageLimits.maxBytes) throw new AttachmentError('IMAGE_TOO_LARGE', t('This image has {size} MB; at most {max} MB can be sent. Make it smaller first.', { size: megabytes(bytes.length), max: megabytes(imageLimits.maxBytes) }))
  return header
}

/** Refuse one image more than a message may have. `held`: the sizes of those it has, in bytes. Errors: `AttachmentError`. */
export function checkRoom(held: readonly number[], bytes: number, { t }: Localization): void {
  if (held.length >= imageLimits.maxImages) throw new AttachmentError('TOO_MANY_IMAGES', t('A message can have {max} images. Take one out, or send the others with the next message.', { max: imageLimits.maxImages }))
  const all = held.reduce((sum, size) => sum + size, bytes)
  if (all > imageLimits.maxMessageBytes) throw new AttachmentError('MESSAGE_TOO_LARGE', t('The images of a message can have {max} MB together. Take one out, or send it with the next message.', { max: megabytes(imageLimits.maxMessageBytes) }))
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)
