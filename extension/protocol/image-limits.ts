/** What an image may be that goes with a message. Both sides hold to it: the view makes images fit, the host looks at the bytes. Source: runtime specification 16.6. */
export const imageLimits = {
  /** Bytes of one image: 3.5 MiB. */
  maxBytes: 3.5 * 1024 * 1024,
  /** Pixels. */
  maxSide: 2_000,
  maxPixels: 40_000_000,
  maxImages: 20,
  /** Bytes of all images of a message: 100 MiB. */
  maxMessageBytes: 100 * 1024 * 1024,
} as const
