import { eolFrom, type TextForm } from './encoding.ts'

/** Which lines of a text are wanted, and how much of them. */
export interface LineWindow {
  /** 1-based first line. */
  readonly offset: number
  readonly limit: number
  /** UTF-16 units a line may have before it is cut. */
  readonly maxLineLength: number
  /** UTF-8 bytes of line text plus one separator per line that the window may hold. */
  readonly maxBytes: number
}

export interface WindowLine {
  readonly number: number
  readonly text: string
  readonly isCut: boolean
}

export interface WindowResult {
  readonly lines: readonly WindowLine[]
  readonly totalLines: number
  /** The byte cap ended the window before `limit` lines. */
  readonly isByteCapped: boolean
  readonly eol: TextForm['eol']
}

/**
 * Picks a window of lines out of a text that comes in pieces, and counts all of them, in memory bounded by the window.
 *
 * A CR before LF belongs to the line end; a lone CR is data. A final line end adds no line. A cut never splits a
 * surrogate pair. The first line that does not fit under the byte cap ends the window.
 */
export class LineWindowScanner {
  readonly #window: LineWindow
  readonly #lines: WindowLine[] = []
  #totalLines = 0
  #bytes = 0
  #isByteCapped = false
  #lf = 0
  #crlf = 0
  // The line that is being read: its beginning, its whole length, and whether its last unit so far is a CR.
  #head = ''
  #length = 0
  #endsWithCr = false

  constructor(window: LineWindow) {
    this.#window = window
  }

  write(text: string): void {
    let at = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
      this.#extend(text, at, end)
      if (this.#endsWithCr) this.#crlf++
      else this.#lf++
      this.#finishLine(this.#endsWithCr ? this.#length - 1 : this.#length)
      at = end + 1
    }
    this.#extend(text, at, text.length)
  }

  end(): WindowResult {
    if (this.#length > 0) this.#finishLine(this.#length)
    return {
      lines: this.#lines,
      totalLines: this.#totalLines,
      isByteCapped: this.#isByteCapped,
      eol: eolFrom({ lf: this.#lf, crlf: this.#crlf }),
    }
  }

  #extend(text: string, start: number, end: number): void {
    if (start === end) return
    // One unit more than is shown, to know whether the cut would split a pair.
    const room = this.#window.maxLineLength + 1 - this.#head.length
    if (room > 0 && this.#isWanted()) this.#head += text.slice(start, Math.min(end, start + room))
    this.#length += end - start
    this.#endsWithCr = text.charCodeAt(end - 1) === 13
  }

  #isWanted(): boolean {
    return this.#totalLines + 1 >= this.#window.offset && this.#lines.length < this.#window.limit && !this.#isByteCapped
  }

  #finishLine(length: number): void {
    if (this.#isWanted()) {
      const isCut = length > this.#window.maxLineLength
      const line = { number: this.#totalLines + 1, text: isCut ? cut(this.#head, this.#window.maxLineLength) : this.#head.slice(0, length), isCut }
      const bytes = utf8Length(line.text) + 1
      if (this.#bytes + bytes > this.#window.maxBytes) this.#isByteCapped = true
      else {
        this.#bytes += bytes
        this.#lines.push(line)
      }
    }
    this.#totalLines++
    this.#head = ''
    this.#length = 0
    this.#endsWithCr = false
  }
}

/** `text` at most `length` units long, not ending in half a surrogate pair. */
function cut(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  const next = text.charCodeAt(length)
  const splits = last >= 0xd8_00 && last <= 0xdb_ff && next >= 0xdc_00 && next <= 0xdf_ff
  return text.slice(0, splits ? length - 1 : length)
}

/** UTF-8 bytes of `text`; a lone surrogate counts as the three bytes of its replacement. */
function utf8Length(text: string): number {
  let length = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    if (unit < 0x8_00) length++
    else if (unit >= 0xd8_00 && unit <= 0xdb_ff && (text.charCodeAt(index + 1) & 0xfc_00) === 0xdc_00) {
      length += 2
      index++
    } else length += 2
  }
  return length
}
