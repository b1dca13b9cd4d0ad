/**
 * What an image of a message may be, after it was made ready.
 *
 * Units:  bytes, pixels.
 * Source: runtime specification 16.6.
 */
export const imageLimits = {
  mediaTypes: ['image/png', 'image/jpeg', 'image/webp', 'image/gif'],
  maxBytes: 3.5 * 1024 * 1024,
  maxPerMessage: 20,
  maxBytesPerMessage: 100 * 1024 * 1024,
  maxPixels: 40_000_000,
  maxSide: 2000,
} as const
