import { HarnessError } from '../base/harness-error.ts'

/** Makes pictures small enough for a model. */
export interface PictureScaler {
  /**
   * A picture of the same proportions within the limits, off the host's thread, within limits of time and memory. Of a moving picture the first frame.
   *
   * Errors: `PictureError`.
   */
  fit(bytes: Uint8Array, limits: PictureLimits, signal: AbortSignal): Promise<ScaledPicture>
}

export interface PictureLimits {
  /** Pixels of the longer side. */
  readonly maxSide: number
  readonly maxBytes: number
}

export interface ScaledPicture {
  readonly bytes: Uint8Array
  readonly mediaType: 'image/png' | 'image/jpeg'
  readonly width: number
  readonly height: number
}

export type PictureErrorCode = 'PICTURE_DAMAGED' | 'PICTURE_TIMEOUT' | 'PICTURE_ABORTED'

export class PictureError extends HarnessError<PictureErrorCode> {}

/** `reason` is a clause in plain words. */
export const pictureDamaged = (reason: string) => new PictureError('PICTURE_DAMAGED', `The picture cannot be drawn: ${reason}.`)
export const pictureTimeout = (timeoutMs: number) => new PictureError('PICTURE_TIMEOUT', `The picture was not made smaller within ${timeoutMs} ms. Make a smaller copy by other means.`)
export const pictureAborted = () => new PictureError('PICTURE_ABORTED', 'Making the picture smaller was stopped.')
