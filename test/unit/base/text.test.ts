import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clipped, fitBytes, fitEnds, fitTailBytes, utf8Length } from '../../../extension/base/text.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text).length
/** Any text, whole characters and lone surrogates alike. */
const anyText = fc.string({ unit: fc.oneof(fc.constantFrom('a', 'é', '€', '😀', '\ud83d', '\ude00'), fc.string({ unit: 'binary', maxLength: 2 })) })

describe('a line that is clipped', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['a😀b', 3, 'a…'],
    ['abc', 1, '…'],
  ])('%s to %i units', (text, maxLength, kept) => expect(clipped(text, maxLength)).toBe(kept))
  it('fits and is whole, whatever it was made of whole characters', () =>
    fc.assert(fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, max) => clipped(text, max + 1).length <= max + 1 && clipped(text, max + 1).isWellFormed())))
})

describe('utf8Length', () => {
  it('agrees with the encoder on any text', () => fc.assert(fc.property(anyText, (text) => utf8Length(text) === bytesOf(text))))
})

describe('fitBytes', () => {
  const check = (text: string, maxBytes: number, fitted: string, omittedBytes: number) =>
    expect(fitBytes(text, maxBytes)).toEqual({ text: fitted, omittedBytes })

  it('leaves a text that fits', () => check('aé', 3, 'aé', 0))
  it('cuts before a character that does not fit whole', () => check('aé', 2, 'a', 2))
  it('never cuts a surrogate pair', () => check('a😀b', 4, 'a', 5))
  it('keeps a pair that just fits', () => check('a😀b', 5, 'a😀', 1))
  it('cuts to nothing', () => check('€', 0, '', 3))
  it('refuses a negative cap', () => expect(() => fitBytes('a', -1)).toThrow(RangeError))
  it('refuses a cap that is no number', () => expect(() => fitBytes('a', Number.NaN)).toThrow(RangeError))
})

describe('fitTailBytes', () => {
  const check = (text: string, maxBytes: number, fitted: string, omittedBytes: number) =>
    expect(fitTailBytes(text, maxBytes)).toEqual({ text: fitted, omittedBytes })

  it('leaves a text that fits', () => check('éa', 3, 'éa', 0))
  it('cuts after a character that does not fit whole', () => check('éa', 2, 'a', 2))
  it('never cuts a surrogate pair', () => check('b😀a', 4, 'a', 5))
  it('keeps a pair that just fits', () => check('b😀a', 5, '😀a', 1))
})

describe('fitEnds', () => {
  it('keeps a text that fits in one piece', () =>
    expect(fitEnds('abcdef', { headBytes: 3, tailBytes: 3 })).toEqual({ head: 'abcdef', tail: '', omittedBytes: 0 }))
  it('cuts the middle', () => expect(fitEnds('abcdefg', { headBytes: 3, tailBytes: 2 })).toEqual({ head: 'abc', tail: 'fg', omittedBytes: 2 }))
  it('keeps characters whole on both sides', () =>
    expect(fitEnds('a😀bbbb😀a', { headBytes: 3, tailBytes: 3 })).toEqual({ head: 'a', tail: 'a', omittedBytes: 12 }))
})

describe('fitting', () => {
  it('fits the cap, loses nothing silently and cuts no character, for any text', () =>
    fc.assert(
      fc.property(anyText, fc.nat({ max: 40 }), fc.nat({ max: 40 }), (text, headBytes, tailBytes) => {
        const head = fitBytes(text, headBytes)
        const tail = fitTailBytes(text, headBytes)
        const ends = fitEnds(text, { headBytes, tailBytes })
        expect(text.startsWith(head.text) && text.endsWith(tail.text)).toBe(true)
        expect(bytesOf(head.text)).toBeLessThanOrEqual(headBytes)
        expect(bytesOf(head.text) + head.omittedBytes).toBe(bytesOf(text))
        expect(bytesOf(tail.text) + tail.omittedBytes).toBe(bytesOf(text))
        expect(bytesOf(ends.head) + bytesOf(ends.tail) + ends.omittedBytes).toBe(bytesOf(text))
      }),
    ))
})
