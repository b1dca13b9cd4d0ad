import { imageLimits } from '../model/image-limits.ts'
import type { Projection } from './projection.ts'

type ImageLimits = typeof imageLimits

/** What images a message may carry: the same in every session, and no word about whether its model can see. */
export const imageLimitsProjection: Projection<ImageLimits, ImageLimits> = {
  key: 'imageLimits',
  stateVersion: 1,
  parts: 'none',
  start: () => imageLimits,
  step: (state) => state,
  view: (state) => state,
}
