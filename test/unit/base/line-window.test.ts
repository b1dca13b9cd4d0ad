import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineWindowScanner, type LineWindow } from '../../../extension/base/line-window.ts'

const wide: LineWindow = { offset: 1, limit: 2000, maxLineLength: 2000, maxBytes: 51_200 }

const scan = (pieces: readonly string[], window: Partial<LineWindow> = {}) => {
  const scanner = new LineWindowScanner({ ...wide, ...window })
  for (const piece of pieces) scanner.write(piece)
  return scanner.end()
}

describe('lines', () => {
  const check = (text: string, lines: readonly string[]) => {
    const result = scan([text])
    expect({ lines: result.lines.map(({ text }) => text), totalLines: result.totalLines }).toEqual({ lines, totalLines: lines.length })
  }

  it('an empty text has none', () => check('', []))
  it('a final line end adds none', () => check('a\n', ['a']))
  it('a last line without line end counts', () => check('a\nb', ['a', 'b']))
  it('a lone line end is an empty line', () => check('\n', ['']))
  it('CR before LF belongs to the line end', () => check('a\r\n\r\nb', ['a', '', 'b']))
  it('a lone CR is data', () => check('a\rb\r', ['a\rb\r']))
  it('two CR before LF: one is data', () => check('a\r\r\n', ['a\r']))
})

describe('the window', () => {
  const check = (text: string, window: Partial<LineWindow>, expected: object) => expect(scan([text], window)).toMatchObject(expected)
  const line = (number: number, text: string, isCut = false) => ({ number, text, isCut })

  it('begins at the offset and holds the limit', () => check('a\nb\nc\nd', { offset: 2, limit: 2 }, { lines: [line(2, 'b'), line(3, 'c')], totalLines: 4, isByteCapped: false }))
  it('past the end is empty', () => check('a\n', { offset: 3 }, { lines: [], totalLines: 1 }))
  it('a line at the cap is whole, also before CRLF', () => check('abc\r\n', { maxLineLength: 3 }, { lines: [line(1, 'abc')] }))
  it('a line over the cap is cut', () => check('abcd\r\n', { maxLineLength: 3 }, { lines: [line(1, 'abc', true)] }))
  it('a cut does not split a pair', () => check('ab😀c', { maxLineLength: 3 }, { lines: [line(1, 'ab', true)] }))
  it('a cut keeps a whole pair', () => check('a😀c', { maxLineLength: 3 }, { lines: [line(1, 'a😀', true)] }))
  it('the byte cap counts text and one separator a line', () => {
    check('ab\ncd\n', { maxBytes: 6 }, { lines: [line(1, 'ab'), line(2, 'cd')], isByteCapped: false })
    check('ab\ncd\n', { maxBytes: 5 }, { lines: [line(1, 'ab')], totalLines: 2, isByteCapped: true })
  })
  it('the byte cap counts UTF-8', () => check('é€😀\nx', { maxBytes: 9 }, { lines: [], isByteCapped: true }))
  it('a later short line is not squeezed in', () => check('a\nlong line\nb\n', { maxBytes: 5 }, { lines: [line(1, 'a')], totalLines: 3, isByteCapped: true }))
  it('a limit reached first is no byte cap', () => check('a\nb\n', { limit: 1, maxBytes: 2 }, { lines: [line(1, 'a')], isByteCapped: false }))
})

it('gives the same however the text is cut into pieces', () =>
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', 'b', '\r', '\n', '\r\n', '😀', 'é'), { maxLength: 40 }),
      fc.integer({ min: 1, max: 6 }),
      fc.record({ offset: fc.integer({ min: 1, max: 5 }), limit: fc.integer({ min: 1, max: 5 }), maxLineLength: fc.integer({ min: 1, max: 4 }), maxBytes: fc.integer({ min: 1, max: 30 }) }),
      (parts, step, window) => {
        const text = parts.join('')
        const pieces = Array.from({ length: Math.ceil(text.length / step) }, (_, index) => text.slice(index * step, (index + 1) * step))
        expect(scan(pieces, window)).toEqual(scan([text], window))
      },
    ),
  ))

it('counts line ends', () => {
  expect(scan(['a\r', '\nb\n']).eol).toBe('mixed')
  expect(scan(['a\r', '\n']).eol).toBe('crlf')
  expect(scan(['a\rb']).eol).toBe('none')
})
