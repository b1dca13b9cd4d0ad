import { describe, expect, it } from 'vitest'
import { fromCharacterStart, upToCharacterEnd } from '../../../extension/base/character-bounds.ts'

describe('cutting UTF-8 bytes', () => {
  const bytes = new TextEncoder().encode('aé😀')
  const check = (kept: Uint8Array, text: string) => expect(new TextDecoder().decode(kept)).toBe(text)

  it('drops the rest of a character at the start', () => check(fromCharacterStart(bytes, 2), '😀'))
  it('keeps a start between characters', () => check(fromCharacterStart(bytes, 1), 'é😀'))
  it('drops a character that the end cuts short', () => check(upToCharacterEnd(bytes.subarray(0, 6)), 'aé'))
  it('keeps a complete last character', () => check(upToCharacterEnd(bytes), 'aé😀'))
  it('leaves bytes that are no UTF-8 alone', () => expect(upToCharacterEnd(Uint8Array.of(0x80, 0x80, 0x80, 0x80))).toHaveLength(4))
})
