import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  applyEdits,
  countLineEnds,
  decodeText,
  editBytes,
  encodeText,
  latin1,
  readingsOf,
  utf16be,
  utf16le,
  utf32be,
  utf32le,
  utf8,
  type ByteEdit,
  type TextCodec,
} from '../../../extension/base/encoding.ts'

const bytesOf = (...parts: readonly (string | readonly number[])[]) =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...Buffer.from(part)] : part)))

describe('what is text', () => {
  const check = (bytes: Uint8Array, text: string | null, encoding?: string, hasBom = false) => {
    const decoded = decodeText(bytes)
    expect(decoded && { text: decoded.text, encoding: decoded.form.encoding, hasBom: decoded.form.hasBom }).toEqual(
      text === null ? null : { text, encoding, hasBom },
    )
  }

  it('an empty file is UTF-8', () => check(bytesOf(), '', 'utf8'))
  it('ASCII is UTF-8', () => check(bytesOf('a\n'), 'a\n', 'utf8'))
  it('UTF-8 with characters of all lengths', () => check(bytesOf('aé€😀'), 'aé€😀', 'utf8'))
  it('UTF-8 with a mark', () => check(bytesOf([0xef, 0xbb, 0xbf], 'é'), 'é', 'utf8', true))
  it('a second mark is text', () => check(bytesOf([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf]), '\u{FEFF}', 'utf8', true))
  it('UTF-16 little-endian by its mark', () => check(bytesOf([0xff, 0xfe, 0x61, 0, 0x3d, 0xd8, 0, 0xde]), 'a😀', 'utf16le', true))
  it('UTF-16 big-endian by its mark', () => check(bytesOf([0xfe, 0xff, 0, 0x61, 0xd8, 0x3d, 0xde, 0]), 'a😀', 'utf16be', true))
  it('UTF-16 with a lone surrogate keeps it', () => check(bytesOf([0xff, 0xfe, 0x3d, 0xd8]), '\u{D83D}', 'utf16le', true))
  it('UTF-32 little-endian by its mark', () => check(bytesOf([0xff, 0xfe, 0, 0, 0, 0xf6, 1, 0]), '😀', 'utf32le', true))
  it('UTF-32 big-endian by its mark', () => check(bytesOf([0, 0, 0xfe, 0xff, 0, 1, 0xf6, 0]), '😀', 'utf32be', true))
  it('bytes that are no UTF-8 are Latin-1', () => check(bytesOf('caf', [0xe9]), 'café', 'latin1'))
  it('Latin-1 has no holes between 0x80 and 0x9f', () => check(bytesOf([0x81, 0x8d, 0x90, 0x9d, 0xff]), '\u{81}\u{8D}\u{90}\u{9D}ÿ', 'latin1'))
  it('a mark that lies leaves Latin-1', () => check(bytesOf([0xef, 0xbb, 0xbf, 0xe9]), 'ï»¿é', 'latin1'))
  it('UTF-16 of odd length without NUL is Latin-1', () => check(bytesOf([0xff, 0xfe, 0x61]), 'ÿþa', 'latin1'))
  it('UTF-16 of odd length with NUL is binary', () => check(bytesOf([0xff, 0xfe, 0x61, 0, 0x61]), null))
  it('NUL near the start is binary, also when the bytes are UTF-8', () => check(bytesOf('a', [0]), null))
  it('the NUL window ends after 8 192 bytes', () => {
    check(bytesOf('a'.repeat(8191), [0]), null)
    check(bytesOf('a'.repeat(8192), [0]), 'a'.repeat(8192) + '\0', 'utf8')
  })
  it('a late NUL in what is no UTF-8 is binary', () => check(bytesOf('a'.repeat(8192), [0xe9, 0]), null))
  it('overlong and surrogate forms are no UTF-8', () => {
    check(bytesOf([0xc0, 0xaf]), 'À¯', 'latin1')
    check(bytesOf([0xed, 0xa0, 0x80]), 'í\u{A0}\u{80}', 'latin1')
  })
})

describe('line ends', () => {
  const check = (text: string, eol: string) => expect(decodeText(bytesOf(text))?.form.eol).toBe(eol)

  it('none', () => check('a', 'none'))
  it('a lone CR is data', () => check('a\rb', 'none'))
  it('LF', () => check('a\n\nb', 'lf'))
  it('CRLF', () => check('\r\na\r\n', 'crlf'))
  it('mixed', () => check('a\nb\r\n', 'mixed'))
  it('are counted', () => expect(countLineEnds('\na\r\nb\r\r\n\r')).toEqual({ lf: 1, crlf: 2 }))
})

describe('characters that the encoding cannot hold', () => {
  const check = (text: string, codec: TextCodec, unencodable: object) => expect(encodeText(text, codec, false)).toEqual({ unencodable })

  it('are named with their place', () => check('a\r\nbc€', latin1, { character: '€', offset: 5, line: 2, column: 3 }))
  it('are whole characters', () => check('😀', latin1, { character: '😀', offset: 0, line: 1, column: 1 }))
  it('are lone surrogates in UTF-8', () => check('x\u{D800}y', utf8, { character: '\u{D800}', offset: 1, line: 1, column: 2 }))
  it('are lone surrogates in UTF-32', () => check('\u{DC00}', utf32le, { character: '\u{DC00}', offset: 0, line: 1, column: 1 }))
  it('are named with their place in the edited text', () => {
    const bytes = bytesOf([0xe9], '\nabc\n')
    const edits = [
      { start: 0, end: 1, newText: 'long' },
      { start: 2, end: 5, newText: 'x€' },
    ]
    expect(editBytes(bytes, decodeText(bytes)!, edits)).toEqual({ unencodable: { character: '€', offset: 6, line: 2, column: 2 } })
  })
})

describe('editing ranges', () => {
  const check = (bytes: Uint8Array, edits: readonly ByteEdit[], after: Uint8Array) =>
    expect(editBytes(bytes, decodeText(bytes)!, edits)).toEqual({ bytes: after })

  it('keeps the mark and the other bytes', () =>
    check(bytesOf([0xef, 0xbb, 0xbf], 'é\r\nb\n'), [{ start: 3, end: 4, newText: '€' }], bytesOf([0xef, 0xbb, 0xbf], 'é\r\n€\n')))
  it('keeps Latin-1', () => check(bytesOf([0xe9], 'a'), [{ start: 1, end: 2, newText: 'ü' }], bytesOf([0xe9, 0xfc])))
  it('may halve a pair when the other half comes with it', () =>
    check(bytesOf('a😀b'), [{ start: 2, end: 3, newText: '\u{DE01}' }], bytesOf('a😁b')))
  it('refuses to leave half a pair', () => {
    const bytes = bytesOf('a😀b')
    expect(editBytes(bytes, decodeText(bytes)!, [{ start: 1, end: 2, newText: '' }])).toEqual({
      unencodable: { character: '\u{DE00}', offset: 1, line: 1, column: 2 },
    })
  })
  it.each([
    [[{ start: 2, end: 1, newText: '' }]],
    [[{ start: 0, end: 9, newText: '' }]],
    [[{ start: 1, end: 2, newText: '' }, { start: 1, end: 2, newText: '' }]],
    [[{ start: Number.NaN, end: 2, newText: '' }]],
  ])('refuses the ranges %j', (edits) => {
    const bytes = bytesOf('abc')
    expect(() => editBytes(bytes, decodeText(bytes)!, edits)).toThrow(RangeError)
  })
})

describe('properties', () => {
  const codecs = [utf8, latin1, utf16le, utf16be, utf32le, utf32be]
  const marks: Record<string, readonly number[]> = {
    utf8: [0xef, 0xbb, 0xbf],
    utf16le: [0xff, 0xfe],
    utf16be: [0xfe, 0xff],
    utf32le: [0xff, 0xfe, 0, 0],
    utf32be: [0, 0, 0xfe, 0xff],
  }
  const anyBytes = fc.tuple(fc.constantFrom([], ...Object.values(marks)), fc.uint8Array({ maxLength: 40 })).map(([mark, rest]) => bytesOf(mark, [...rest]))
  const textFor = (codec: TextCodec) =>
    fc.string({ unit: codec === latin1 ? fc.integer({ min: 1, max: 255 }).map((code) => String.fromCodePoint(code)) : 'binary', maxLength: 30 })

  it('whatever is text comes back as the same bytes', () =>
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const decoded = decodeText(bytes)
        if (decoded) expect(encodeText(decoded.text, decoded.codec, decoded.form.hasBom)).toEqual({ bytes })
      }),
      { numRuns: 2000 },
    ))

  it('whatever has no NUL is text', () =>
    fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => decodeText(bytes.filter((byte) => byte !== 0)) !== null)))

  it.each(codecs)('text in $label with a mark is read as that', (codec) =>
    fc.assert(
      fc.property(textFor(codec), (text) => {
        if (codec === latin1) return
        const { bytes } = encodeText(text, codec, true) as { bytes: Uint8Array }
        const decoded = decodeText(bytes)
        // A text of UTF-16 that begins with NUL looks like UTF-32.
        if (text.startsWith('\0')) return
        expect(decoded && { text: decoded.text, encoding: decoded.form.encoding }).toEqual({ text, encoding: codec.label })
      }),
    ),
  )

  it.each(codecs)('edits in $label equal a new encoding of the edited text, with the other bytes taken over', (codec) =>
    fc.assert(
      fc.property(textFor(codec), fc.array(fc.tuple(fc.nat(31), fc.nat(31), textFor(codec)), { maxLength: 4 }), (text, raw) => {
        const body = codec.encode(text) as Uint8Array
        const decoded = { text, codec, bomLength: 0, form: { encoding: codec.label, hasBom: false, eol: 'none' as const } }
        const edits = sortedRanges(raw, text.length)
        const expected = encodeText(applyEdits(text, edits), codec, false)
        expect(editBytes(body, decoded, edits)).toEqual(expected)
      }),
    ),
  )

  it.each(codecs)('$label decodes the same in pieces cut anywhere', (codec) =>
    fc.assert(
      fc.property(fc.oneof(textFor(codec).map((text) => codec.encode(text) as Uint8Array), fc.uint8Array({ maxLength: 20 })), fc.infiniteStream(fc.integer({ min: 1, max: 5 })), (bytes, sizes) => {
        const decoder = codec.createDecoder()
        const parts: (string | null)[] = []
        for (let at = 0; at < bytes.length; ) {
          const size = sizes.next().value ?? 1
          parts.push(decoder.write(bytes.subarray(at, at + size)))
          at += size
        }
        parts.push(decoder.end())
        expect(parts.includes(null) ? null : parts.join('')).toBe(codec.decode(bytes))
      }),
    ),
  )

  it('a decoder does not mind that its caller uses the same memory again', () => {
    const decoder = utf8.createDecoder()
    const memory = Buffer.alloc(2)
    const parts = [...bytesOf('aé€')].reduce<readonly number[][]>((pairs, byte, index) => (index % 2 ? [...pairs.slice(0, -1), [...pairs.at(-1)!, byte]] : [...pairs, [byte]]), [])
    expect(parts.map((pair) => decoder.write(memory.fill(Buffer.from(pair)).subarray(0, pair.length))).join('')).toBe('aé€')
  })

  it('the readings say what a whole decoding finds', () =>
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const reading = readingsOf(bytes).find(({ codec, bomLength, forbidsNul }) => !(forbidsNul && bytes.includes(0)) && codec.decode(bytes.subarray(bomLength)) !== null)
        expect(reading?.codec.label).toBe(decodeText(bytes)?.form.encoding)
      }),
    ))
})

function sortedRanges(raw: readonly (readonly [number, number, string])[], length: number): readonly ByteEdit[] {
  const offsets = raw.flatMap(([a, b]) => [Math.min(a, length), Math.min(b, length)]).toSorted((a, b) => a - b)
  return raw.map(([, , newText], index) => ({ start: offsets[2 * index]!, end: offsets[2 * index + 1]!, newText }))
}
