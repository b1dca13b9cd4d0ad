import * as z from 'zod'
import { imageLimits } from '../../protocol/image-limits.ts'
import type { Projection } from './projection.ts'

const { maxBytes, maxImages: maxPerMessage, maxMessageBytes: maxBytesPerMessage, maxPixels, maxSide } = imageLimits
/** Named as runtime specification 16.6 has them. */
const limits = { mediaTypes: ['image/png', 'image/jpeg', 'image/webp', 'image/gif'], maxBytes, maxPerMessage, maxBytesPerMessage, maxPixels, maxSide } as const
type ImageLimits = typeof limits

/** What images a message may carry: the same in every session, and no word about whether its model can see. */
export const imageLimitsProjection: Projection<ImageLimits, ImageLimits> = {
  key: 'imageLimits',
  stateVersion: 1,
  schema: () => {
    const [png, jpeg, webp, gif] = limits.mediaTypes
    return z.strictObject({
      mediaTypes: z.tuple([z.literal(png), z.literal(jpeg), z.literal(webp), z.literal(gif)]),
      maxBytes: z.literal(maxBytes),
      maxPerMessage: z.literal(maxPerMessage),
      maxBytesPerMessage: z.literal(maxBytesPerMessage),
      maxPixels: z.literal(maxPixels),
      maxSide: z.literal(maxSide),
    })
  },
  parts: 'none',
  start: () => limits,
  step: (state) => state,
  view: (state) => state,
}
