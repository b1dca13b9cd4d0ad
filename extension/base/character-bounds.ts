/** UTF-8 `bytes` from `start` on, without the rest of a character that `start` falls into. */
export function fromCharacterStart(bytes: Uint8Array, start = 0): Uint8Array {
  let first = start
  while (first < bytes.length && first - start < 3 && isContinuation(bytes[first])) first += 1
  return bytes.subarray(first)
}

/** UTF-8 `bytes` without a character that their end cuts short. */
export function upToCharacterEnd(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (isContinuation(byte)) continue
    return bytesNeeded(byte) > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

const isContinuation = (byte: number | undefined) => ((byte ?? 0) & 0xc0) === 0x80
const bytesNeeded = (lead: number) => (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1)
