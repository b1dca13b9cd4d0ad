import { joinBytes } from './join-bytes.ts'

/**
 * What is text, and how it is stored.
 *
 * A byte order mark decides (UTF-8, UTF-16, UTF-32). Without one, a NUL byte near the start means binary; else bytes that are
 * valid UTF-8 are UTF-8; else, when no NUL byte stands anywhere, they are Latin-1 byte for byte, unless an editor knows
 * better. Only the rest is binary. Everything that decodes comes back as the same bytes.
 * Source: design 6.1 "What is text", capability specification 5 (the NUL window).
 */
export function decodeText(bytes: Uint8Array): DecodedText | null {
  for (const { codec, bomLength, forbidsNul } of readingsOf(bytes)) {
    if (forbidsNul && bytes.includes(0)) continue
    const text = codec.decode(bytes.subarray(bomLength))
    if (text !== null) return { text, codec, bomLength, form: { encoding: codec.label, hasBom: bomLength > 0, eol: eolOf(text) } }
  }
  return null
}

export interface DecodedText {
  /** Exact text without the mark, line ends as they stand. */
  readonly text: string
  readonly form: TextForm
  readonly codec: TextCodec
  readonly bomLength: number
}

/** How a file's text is stored. */
export interface TextForm {
  /** Such as `utf8`, `utf16le`, `latin1`, or the label of one of the editor's own encodings. */
  readonly encoding: string
  readonly hasBom: boolean
  /** Line ends in the text: `mixed` when more than one kind stands in it; `none` when it has no line end. A lone CR is data. */
  readonly eol: 'lf' | 'crlf' | 'mixed' | 'none'
}

/** One encoding. Whatever it decodes, it encodes to the same bytes, and parts of a text to parts of the bytes. */
export interface TextCodec {
  readonly label: string
  /** Null when the bytes are no text of this encoding. */
  decode(bytes: Uint8Array): string | null
  /** The bytes, or the UTF-16 offset of the first character that the encoding cannot hold. */
  encode(text: string): Uint8Array | { readonly unencodableAt: number }
  /** For text that comes in pieces cut anywhere, also inside a character. */
  createDecoder(): StreamDecoder
}

export interface StreamDecoder {
  /** The text that is complete so far, or null as soon as the bytes are no text of this encoding. */
  write(bytes: Uint8Array): string | null
  end(): string | null
}

/** One way to understand a file, tried in order. */
export interface Reading {
  readonly codec: TextCodec
  readonly bomLength: number
  /** Holds only when no NUL byte stands anywhere in the file. */
  readonly forbidsNul: boolean
}

/** Bytes from the start of a file that `readingsOf` wants to see. */
export const sniffBytes = 8192

/** The ways to understand a file that begins with `head` (all of it, or at least `sniffBytes`). */
export function readingsOf(head: Uint8Array): readonly Reading[] {
  const marked = marks
    .filter(({ bom }) => bom.every((byte, index) => head[index] === byte))
    .map(({ codec, bom }) => ({ codec, bomLength: bom.length, forbidsNul: false }))
  if (head.subarray(0, sniffBytes).includes(0)) return marked
  return [...marked, { codec: utf8, bomLength: 0, forbidsNul: false }, { codec: latin1, bomLength: 0, forbidsNul: true }]
}

export type Encoded = { readonly bytes: Uint8Array } | { readonly unencodable: Unencodable }

/** A character that the file's encoding cannot hold, and where it stands. */
export interface Unencodable {
  readonly character: string
  /** UTF-16 offset. */
  readonly offset: number
  /** 1-based; the column counts UTF-16 units. */
  readonly line: number
  readonly column: number
}

export function encodeText(text: string, codec: TextCodec, hasBom: boolean): Encoded {
  const body = codec.encode(text)
  if (!(body instanceof Uint8Array)) return { unencodable: unencodableAt(text, body.unencodableAt) }
  return { bytes: hasBom ? joinBytes([bomOf(codec), body]) : body }
}

/** Offsets are UTF-16 units into the decoded text, end exclusive; sorted, not overlapping. */
export interface ByteEdit {
  readonly start: number
  readonly end: number
  readonly newText: string
}

/**
 * Replace ranges of a stored text. The bytes outside the ranges are taken over, not encoded again.
 *
 * Errors: `RangeError` for ranges that are unsorted, overlap or leave the text.
 */
export function editBytes(bytes: Uint8Array, decoded: DecodedText, edits: readonly ByteEdit[]): Encoded {
  const { text, codec, bomLength } = decoded
  const whole = alignToCharacters(text, checkedRanges(text, edits))
  const parts: Uint8Array[] = [bytes.subarray(0, bomLength)]
  let textAt = 0
  let byteAt = bomLength
  for (const { start, end, newText } of whole) {
    const kept = encodedLength(codec, text.slice(textAt, start))
    const dropped = encodedLength(codec, text.slice(start, end))
    const added = codec.encode(newText)
    if (!(added instanceof Uint8Array)) return { unencodable: unencodableAt(applyEdits(text, edits), shiftOf(whole, start) + added.unencodableAt) }
    parts.push(bytes.subarray(byteAt, byteAt + kept), added)
    byteAt += kept + dropped
    textAt = end
  }
  parts.push(bytes.subarray(byteAt))
  return { bytes: joinBytes(parts) }
}

/** The text with the ranges replaced. */
export function applyEdits(text: string, edits: readonly ByteEdit[]): string {
  let result = ''
  let at = 0
  for (const { start, end, newText } of edits) {
    result += text.slice(at, start) + newText
    at = end
  }
  return result + text.slice(at)
}

/** The edits that lead back from what `edits` made of `before`. */
export function reversedEdits(before: string, edits: readonly ByteEdit[]): readonly ByteEdit[] {
  let shift = 0
  return edits.map(({ start, end, newText }) => {
    const at = start + shift
    shift += newText.length - (end - start)
    return { start: at, end: at + newText.length, newText: before.slice(start, end) }
  })
}

/** How many of each kind of line end stand in `text`. A lone CR is data. */
export function countLineEnds(text: string): { readonly lf: number; readonly crlf: number } {
  let lf = 0
  let crlf = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (text.charCodeAt(at - 1) === carriageReturn) crlf++
    else lf++
  }
  return { lf, crlf }
}

export function eolFrom({ lf, crlf }: { readonly lf: number; readonly crlf: number }): TextForm['eol'] {
  if (lf > 0 && crlf > 0) return 'mixed'
  if (crlf > 0) return 'crlf'
  return lf > 0 ? 'lf' : 'none'
}

/**
 * A whole new text with the line ends of the one it replaces: LF becomes CRLF where every line ended so.
 * A text that brings a CRLF of its own says what it wants and stays as it is.
 */
export const withLineEnds = (eol: TextForm['eol'], text: string): string =>
  eol === 'crlf' && !text.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text

/** CRLF to LF; a lone CR is data. */
export const toLf = (text: string): string => (text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text)

const eolOf = (text: string) => eolFrom(countLineEnds(text))

const carriageReturn = 13

// Encodings.

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const utf8Encoder = new TextEncoder()

export const utf8: TextCodec = {
  label: 'utf8',
  decode: decodeUtf8,
  encode: (text) => (text.isWellFormed() ? utf8Encoder.encode(text) : { unencodableAt: loneSurrogateIn(text) }),
  createDecoder: () => createCuttingDecoder(completeUtf8Length, decodeUtf8),
}

/** All 256 bytes one to one: not the Windows encoding of the same nickname, which has holes. */
export const latin1: TextCodec = {
  label: 'latin1',
  decode: (bytes) => textOfUnits(bytes),
  encode: (text) => {
    const bytes = new Uint8Array(text.length)
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index)
      if (unit > 0xff) return { unencodableAt: index }
      bytes[index] = unit
    }
    return bytes
  },
  createDecoder: () => createCuttingDecoder((length) => length, latin1.decode),
}

export const utf16le = createUtf16('utf16le', true)
export const utf16be = createUtf16('utf16be', false)
export const utf32le = createUtf32('utf32le', true)
export const utf32be = createUtf32('utf32be', false)

/** Longer marks first: the mark of UTF-16 begins that of UTF-32. */
const marks: readonly { readonly codec: TextCodec; readonly bom: readonly number[] }[] = [
  { codec: utf32le, bom: [0xff, 0xfe, 0, 0] },
  { codec: utf32be, bom: [0, 0, 0xfe, 0xff] },
  { codec: utf8, bom: [0xef, 0xbb, 0xbf] },
  { codec: utf16le, bom: [0xff, 0xfe] },
  { codec: utf16be, bom: [0xfe, 0xff] },
]

function bomOf(codec: TextCodec): Uint8Array {
  return Uint8Array.from(marks.find((mark) => mark.codec.label === codec.label)?.bom ?? [])
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    // The decoder's only way to say that the bytes are not UTF-8.
    return null
  }
}

/** Lone surrogates are kept: files of this encoding hold them, and they come back as they were. */
function createUtf16(label: string, isLittle: boolean): TextCodec {
  const decode = (bytes: Uint8Array) => {
    if (bytes.length % 2 !== 0) return null
    const units = new Uint16Array(bytes.length / 2)
    const low = isLittle ? 0 : 1
    for (let index = 0; index < units.length; index++) units[index] = bytes[2 * index + low]! | (bytes[2 * index + 1 - low]! << 8)
    return textOfUnits(units)
  }
  const encode = (text: string) => {
    const view = new DataView(new ArrayBuffer(text.length * 2))
    for (let index = 0; index < text.length; index++) view.setUint16(index * 2, text.charCodeAt(index), isLittle)
    return new Uint8Array(view.buffer)
  }
  return { label, decode, encode, createDecoder: () => createCuttingDecoder((length) => length - (length % 2), decode) }
}

function createUtf32(label: string, isLittle: boolean): TextCodec {
  const decode = (bytes: Uint8Array) => {
    if (bytes.length % 4 !== 0) return null
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const units = new Uint16Array(bytes.length / 2)
    let count = 0
    for (let at = 0; at < bytes.length; at += 4) {
      const point = view.getUint32(at, isLittle)
      if (point > 0x10_ff_ff || (point >= 0xd8_00 && point <= 0xdf_ff)) return null
      if (point > 0xff_ff) {
        units[count++] = 0xd8_00 + ((point - 0x1_00_00) >> 10)
        units[count++] = 0xdc_00 + ((point - 0x1_00_00) & 0x3_ff)
      } else units[count++] = point
    }
    return textOfUnits(units.subarray(0, count))
  }
  const encode = (text: string) => {
    if (!text.isWellFormed()) return { unencodableAt: loneSurrogateIn(text) }
    const view = new DataView(new ArrayBuffer(text.length * 4))
    let at = 0
    for (const character of text) {
      view.setUint32(at, character.codePointAt(0)!, isLittle)
      at += 4
    }
    return new Uint8Array(view.buffer, 0, at)
  }
  return { label, decode, encode, createDecoder: () => createCuttingDecoder((length) => length - (length % 4), decode) }
}

/** Decodes what is complete and carries the rest (a few bytes) to the next piece. */
function createCuttingDecoder(
  completeLength: (length: number, bytes: Uint8Array) => number,
  decode: (bytes: Uint8Array) => string | null,
): StreamDecoder {
  let carried: Uint8Array = new Uint8Array(0)
  return {
    write: (piece) => {
      const bytes = carried.length === 0 ? piece : joinBytes([carried, piece])
      const length = completeLength(bytes.length, bytes)
      // A copy: the caller may use the memory of the piece again. (`slice` copies only where no subclass changes it.)
      carried = new Uint8Array(bytes.subarray(length))
      return decode(bytes.subarray(0, length))
    },
    end: () => decode(carried),
  }
}

/** Bytes up to the start of a last character that is not all there. Bytes that cannot be UTF-8 are left for the decoder to refuse. */
function completeUtf8Length(length: number, bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = bytes[length - back]!
    if ((byte & 0xc0) === 0x80) continue
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return needed > back ? length - back : length
  }
  return length
}

/** In slices, because a call can only take so many arguments. */
function textOfUnits(units: Uint8Array | Uint16Array): string {
  const step = 8192
  if (units.length <= step) return String.fromCharCode(...units)
  let text = ''
  for (let at = 0; at < units.length; at += step) text += String.fromCharCode(...units.subarray(at, at + step))
  return text
}

// Editing.

/** `edits`, which stand in order, apart from each other and within `text`. Errors: `RangeError`. */
export function checkedRanges<T extends { readonly start: number; readonly end: number }>(text: string, edits: readonly T[]): readonly T[] {
  let last = 0
  for (const { start, end } of edits) {
    if (!(start >= last && end >= start && end <= text.length)) {
      throw new RangeError(`The range ${start} to ${end} overlaps another, is out of order or leaves the text of ${text.length} units.`)
    }
    last = end
  }
  return edits
}

/** Ranges that begin or end inside a character become one range over whole characters. */
function alignToCharacters(text: string, edits: readonly ByteEdit[]): readonly ByteEdit[] {
  const first = edits[0]
  const last = edits.at(-1)
  if (!first || !last || !edits.some(({ start, end }) => splitsPair(text, start) || splitsPair(text, end))) return edits
  const start = splitsPair(text, first.start) ? first.start - 1 : first.start
  const end = splitsPair(text, last.end) ? last.end + 1 : last.end
  const inner = edits.map((edit) => ({ ...edit, start: edit.start - start, end: edit.end - start }))
  return [{ start, end, newText: applyEdits(text.slice(start, end), inner) }]
}

const splitsPair = (text: string, offset: number) => isHigh(text.charCodeAt(offset - 1)) && isLow(text.charCodeAt(offset))
const isHigh = (unit: number) => unit >= 0xd8_00 && unit <= 0xdb_ff
const isLow = (unit: number) => unit >= 0xdc_00 && unit <= 0xdf_ff

function loneSurrogateIn(text: string): number {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (isHigh(unit) && isLow(text.charCodeAt(index + 1))) index++
    else if (isHigh(unit) || isLow(unit)) return index
  }
  return -1
}

/** Where an edit that starts at `start` of the old text begins in the new text. */
function shiftOf(edits: readonly ByteEdit[], start: number): number {
  return edits.reduce((at, edit) => (edit.start < start ? at + edit.newText.length - (edit.end - edit.start) : at), start)
}

function encodedLength(codec: TextCodec, text: string): number {
  const encoded = codec.encode(text)
  return encoded instanceof Uint8Array ? encoded.length : Number.NaN
}

function unencodableAt(text: string, offset: number): Unencodable {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return {
    character: String.fromCodePoint(text.codePointAt(offset) ?? 0xff_fd),
    offset,
    line: countLineEndsBefore(before) + 1,
    column: offset - lineStart + 1,
  }
}

function countLineEndsBefore(text: string): number {
  const { lf, crlf } = countLineEnds(text)
  return lf + crlf
}
