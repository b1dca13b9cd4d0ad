import { imageHeader } from '../../base/image-header.ts'
import { pictureAborted, pictureDamaged, pictureTimeout, type PictureScaler } from '../../capabilities/picture-scaler.ts'
import { inOwnThread } from './one-task-thread.ts'
import type { PictureAnswer } from './scale-picture.ts'

export interface PictureScalerOptions {
  /** The worker's program: `dist/scale-picture.js`, or `scale-picture-main.ts` where the sources run as they are. */
  readonly entry: string | URL
  /** Default: 30 s. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 30_000
/** Of the thread; the pixels themselves are in the memory of the WebAssembly module. */
const MAX_HEAP_MB = 512
/** Pixels of the picture, of the smaller one, and of what is between. */
const MAX_GROWTH_MB = 2_048

/** Makes pictures smaller in threads that live for one picture, one at a time. */
export function createPictureScaler({ entry, timeoutMs = TIMEOUT_MS }: PictureScalerOptions): PictureScaler {
  const failures = { aborted: pictureAborted, timeout: () => pictureTimeout(timeoutMs), broken: pictureDamaged }
  let last: Promise<unknown> = Promise.resolve()
  return {
    async fit(bytes, limits, signal) {
      const task = { bytes, mediaType: imageHeader(bytes)?.mediaType ?? '', ...limits }
      const work = last.then(() => inOwnThread<PictureAnswer>({ entry, task, timeoutMs, maxHeapMb: MAX_HEAP_MB, maxGrowthMb: MAX_GROWTH_MB, signal, failures }))
      last = work.catch(() => undefined)
      const answer = await work
      if ('picture' in answer) return answer.picture
      throw pictureDamaged(answer.damage)
    },
  }
}
