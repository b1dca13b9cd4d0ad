import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromCharacterStart, headWithin, tailWithin, upToCharacterEnd, utf8Length } from '../../../extension/base/utf8.ts'

describe('cutting text by bytes', () => {
  const check = (text: string, maxBytes: number, head: string, tail: string) =>
    expect([headWithin(text, maxBytes), tailWithin(text, maxBytes)]).toEqual([head, tail])

  it('keeps what fits', () => check('abc', 3, 'abc', 'abc'))
  it('cuts ASCII exactly', () => check('abcd', 3, 'abc', 'bcd'))
  it('never cuts inside a two-byte character', () => check('éé', 3, 'é', 'é'))
  it('never cuts inside a surrogate pair', () => check('a😀b', 4, 'a', 'b'))
  it('keeps a whole surrogate pair', () => check('😀', 4, '😀', '😀'))
  it('gives nothing for a cap of nothing', () => check('abc', 0, '', ''))

  it('stays within any cap and keeps a real start and end', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, cap) => {
        const head = headWithin(text, cap)
        const tail = tailWithin(text, cap)
        return text.startsWith(head) && text.endsWith(tail) && utf8Length(head) <= cap && utf8Length(tail) <= cap
      }),
    ))
})

describe('cutting bytes', () => {
  const bytes = new TextEncoder().encode('aé😀')
  const check = (kept: Uint8Array, text: string) => expect(new TextDecoder().decode(kept)).toBe(text)

  it('drops the rest of a character at the start', () => check(fromCharacterStart(bytes, 2), '😀'))
  it('keeps a start between characters', () => check(fromCharacterStart(bytes, 1), 'é😀'))
  it('drops a character that the end cuts short', () => check(upToCharacterEnd(bytes.subarray(0, 6)), 'aé'))
  it('keeps a complete last character', () => check(upToCharacterEnd(bytes), 'aé😀'))
  it('leaves bytes that are no UTF-8 alone', () => expect(upToCharacterEnd(Uint8Array.of(0x80, 0x80, 0x80, 0x80))).toHaveLength(4))
})
