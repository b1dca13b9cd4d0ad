import { crc32, deflateSync } from 'node:zlib'

/** A PNG that can be drawn: a gradient, or noise that compresses badly. */
export function wholePng(width: number, height: number, fill: 'gradient' | 'noise' = 'gradient'): Uint8Array {
  const rows = Buffer.alloc((width * 3 + 1) * height)
  let seed = 1
  for (let at = 0; at < rows.length; at += 1) {
    if (at % (width * 3 + 1) === 0) continue
    // A xorshift: the same noise each time.
    seed ^= seed << 13
    seed ^= seed >>> 17
    seed ^= seed << 5
    rows[at] = fill === 'noise' ? seed & 0xff : at % 251
  }
  const size = Buffer.alloc(13)
  size.writeUInt32BE(width, 0)
  size.writeUInt32BE(height, 4)
  size.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', size), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))])
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}
