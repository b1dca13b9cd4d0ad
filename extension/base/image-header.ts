export interface ImageHeader {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif'
  /** Pixels. */
  readonly width: number
  readonly height: number
}

/**
 * What the first bytes say of an image, whatever its name or its sender say; null for what is none of the four kinds or is cut off.
 *
 * Source: PNG specification 11.2.2, GIF89a 18, JPEG T.81 B.2.2, WebP container specification "VP8", "VP8L" and "VP8X".
 */
export function imageHeader(bytes: Uint8Array): ImageHeader | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    return png(view) ?? gif(view) ?? webp(view) ?? jpeg(view)
  } catch (error) {
    // The bytes end before the header does.
    if (error instanceof RangeError) return null
    throw error
  }
}

const textAt = (view: DataView, offset: number, length: number): string => String.fromCharCode(...Array.from({ length }, (_, index) => view.getUint8(offset + index)))

function png(view: DataView): ImageHeader | null {
  if (view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a || textAt(view, 12, 4) !== 'IHDR') return null
  return sized('image/png', view.getUint32(16), view.getUint32(20))
}

function gif(view: DataView): ImageHeader | null {
  if (!/^GIF8[79]a$/.test(textAt(view, 0, 6))) return null
  return sized('image/gif', view.getUint16(6, true), view.getUint16(8, true))
}

function webp(view: DataView): ImageHeader | null {
  if (textAt(view, 0, 4) !== 'RIFF' || textAt(view, 8, 4) !== 'WEBP') return null
  switch (textAt(view, 12, 4)) {
    case 'VP8 ':
      return sized('image/webp', view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff)
    case 'VP8L': {
      const bits = view.getUint32(21, true)
      return sized('image/webp', (bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1)
    }
    case 'VP8X':
      return sized('image/webp', (view.getUint32(24, true) & 0xffffff) + 1, (view.getUint32(26, true) >>> 8) + 1)
    default:
      return null
  }
}

/** Markers that stand alone, without a length behind them. */
const isBare = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)
/** Start of a frame, of whatever coding. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

function jpeg(view: DataView): ImageHeader | null {
  const frame = jpegFrame(view)
  return frame === null ? null : sized('image/jpeg', view.getUint16(frame + 7), view.getUint16(frame + 5))
}

/** Where the frame begins; null for what is no JPEG. */
function jpegFrame(view: DataView): number | null {
  if (view.getUint16(0) !== 0xffd8) return null
  for (let at = 2; ; ) {
    if (view.getUint8(at) !== 0xff) return null
    const marker = view.getUint8(at + 1)
    // A marker may be led by any number of fill bytes.
    if (marker === 0xff) at += 1
    else if (isBare(marker)) at += 2
    else if (isFrame(marker)) return at
    else at += 2 + Math.max(2, view.getUint16(at + 2))
  }
}

/** Whether an image goes on to its end, as far as its outer form says; its pixels are not looked at. */
export function isWholeImage(bytes: Uint8Array, { mediaType }: ImageHeader): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    switch (mediaType) {
      case 'image/png':
        return hasPngEnd(view)
      case 'image/gif':
        return bytes.findLast((byte) => byte !== 0) === 0x3b
      case 'image/webp':
        return view.getUint32(4, true) + 8 <= bytes.length
      case 'image/jpeg':
        // A thumbnail with an end of its own stands before the frame.
        return endOfJpeg(bytes) > (jpegFrame(view) ?? Infinity)
    }
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

function hasPngEnd(view: DataView): boolean {
  for (let at = 8; ; at += view.getUint32(at) + 12) if (textAt(view, at + 4, 4) === 'IEND') return at + 12 <= view.byteLength
}

function endOfJpeg(bytes: Uint8Array): number {
  let at = bytes.lastIndexOf(0xd9)
  while (at > 0 && bytes[at - 1] !== 0xff) at = bytes.lastIndexOf(0xd9, at - 1)
  return at
}

const sized = (mediaType: ImageHeader['mediaType'], width: number, height: number): ImageHeader | null => (width > 0 && height > 0 ? { mediaType, width, height } : null)
