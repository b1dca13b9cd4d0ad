const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** How many UTF-8 bytes `text` takes. */
export function utf8Length(text: string): number {
  // Most text is ASCII; a length that cannot exceed a caller's cap is still exact here, so no shortcut.
  return encoder.encode(text).length
}

/** The longest start of `text` that takes at most `maxBytes` UTF-8 bytes, never ending inside a character. */
export function headWithin(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  if (maxBytes <= 0) return ''
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes))
  return text.slice(0, read)
}

/** The longest end of `text` that takes at most `maxBytes` UTF-8 bytes, never starting inside a character. */
export function tailWithin(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  if (maxBytes <= 0) return ''
  const bytes = encoder.encode(text.slice(-maxBytes))
  if (bytes.length <= maxBytes && text.length <= maxBytes) return text
  return decoder.decode(fromCharacterStart(bytes, Math.max(0, bytes.length - maxBytes)))
}

/** `bytes` from `start` on, without the rest of a character that `start` falls into. */
export function fromCharacterStart(bytes: Uint8Array, start: number): Uint8Array {
  let first = start
  while (first > 0 && first < bytes.length && first - start < 3 && ((bytes[first] ?? 0) & 0xc0) === 0x80) first += 1
  return bytes.subarray(first)
}

/** `bytes` without a character that its end cuts short. */
export function upToCharacterEnd(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return needed > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}
