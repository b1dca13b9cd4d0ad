import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TextLines } from '../../../extension/base/text-places.ts'

describe('the lines of a text', () => {
  const rows: readonly [name: string, text: string, lines: readonly string[]][] = [
    ['an empty text has one', '', ['']],
    ['without an end', 'a', ['a']],
    ['after the last end another begins', 'a\n', ['a', '']],
    ['each kind of end counts once', 'a\nb\r\nc\rd', ['a', 'b', 'c', 'd']],
    ['ends in a row are empty lines', '\n\r\n\r\r', ['', '', '', '', '']],
  ]
  it.each(rows)('%s', (_name, text, lines) => {
    const read = new TextLines(text)
    expect(Array.from({ length: read.count + 1 }, (_, line) => read.line(line))).toEqual([...lines, undefined])
  })
})

describe('a place', () => {
  const lines = new TextLines('ab\r\ncd\n')
  const rows: readonly [line: number, character: number, offset: number][] = [
    [0, 0, 0],
    [0, 2, 2],
    [0, 9, 2],
    [1, 1, 5],
    [2, 0, 7],
    [9, 4, 7],
  ]
  it.each(rows)('line %i, character %i is offset %i', (line, character, offset) => expect(lines.offsetOf({ line, character })).toBe(offset))
  it('of an offset leads back to it, wherever no line end is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', '\n', '\r\n', '\r', '😀')), fc.nat(), (parts, at) => {
        const text = parts.join('')
        const offset = at % (text.length + 1)
        fc.pre(!(text[offset - 1] === '\r' && text[offset] === '\n'))
        const read = new TextLines(text)
        expect(read.offsetOf(read.placeOf(offset))).toBe(offset)
      }),
    )
  })
})
