import * as z from 'zod'
import { imageLimits } from '../model/image-limits.ts'
import type { Projection } from './projection.ts'

type ImageLimits = typeof imageLimits

/** What images a message may carry: the same in every session, and no word about whether its model can see. */
export const imageLimitsProjection: Projection<ImageLimits, ImageLimits> = {
  key: 'imageLimits',
  stateVersion: 1,
  schema: () => {
    const { mediaTypes: [png, jpeg, webp, gif], maxBytes, maxPerMessage, maxBytesPerMessage, maxPixels, maxSide } = imageLimits
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
  start: () => imageLimits,
  step: (state) => state,
  view: (state) => state,
}
