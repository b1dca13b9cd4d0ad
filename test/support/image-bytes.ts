/** The beginning of an image of a kind and a size, with nothing to draw behind it. */
export function imageBytes(kind: 'png' | 'jpeg' | 'gif' | 'webp' | 'webp-lossless' | 'webp-extended', width: number, height: number, extraBytes = 0): Uint8Array {
  const start = starts[kind](width, height)
  const bytes = new Uint8Array(start.length + extraBytes)
  bytes.set(start)
  return bytes
}

const text = (letters: string) => Array.from({ length: letters.length }, (_, at) => letters.charCodeAt(at))
const big = (value: number, length: number) => Array.from({ length }, (_, index) => (value / 256 ** (length - 1 - index)) & 0xff)
const little = (value: number, length: number) => big(value, length).toReversed()

const starts: Readonly<Record<Parameters<typeof imageBytes>[0], (width: number, height: number) => readonly number[]>> = {
  png: (width, height) => [0x89, ...text('PNG\r\n\x1a\n'), 0, 0, 0, 13, ...text('IHDR'), ...big(width, 4), ...big(height, 4), 8, 6, 0, 0, 0],
  gif: (width, height) => [...text('GIF89a'), ...little(width, 2), ...little(height, 2), 0, 0, 0],
  // Behind an application part of 16 bytes and a fill byte, as cameras write them.
  jpeg: (width, height) => [0xff, 0xd8, 0xff, 0xe0, 0, 16, ...text('JFIF'), 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0xff, 0xff, 0xc2, 0, 17, 8, ...big(height, 2), ...big(width, 2), 3, 1, 0x11, 0],
  webp: (width, height) => [...text('RIFF'), 0, 0, 0, 0, ...text('WEBPVP8 '), 0, 0, 0, 0, 0, 0, 0, 0x9d, 0x01, 0x2a, ...little(width, 2), ...little(height, 2)],
  'webp-lossless': (width, height) => [...text('RIFF'), 0, 0, 0, 0, ...text('WEBPVP8L'), 0, 0, 0, 0, 0x2f, ...little(width - 1 + (height - 1) * 2 ** 14, 4)],
  'webp-extended': (width, height) => [...text('RIFF'), 0, 0, 0, 0, ...text('WEBPVP8X'), 10, 0, 0, 0, 0, 0, 0, 0, ...little(width - 1, 3), ...little(height - 1, 3)],
}
