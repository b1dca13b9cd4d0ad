import { stripAnsi } from '../../base/strip-ansi.ts'

/** Of one line; the rest of a longer one is not looked at. */
const MAX_LINE_CHARS = 2_000

/** Cuts decoded output into lines as a reader sees them: without escape sequences, and of a line that was written over what stood last. */
export class OutputLines {
  #rest = ''

  /** The first `maxLines` of the lines that this text ends; a flood is not worth more. */
  push(text: string, maxLines: number): readonly string[] {
    const lines: string[] = []
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1 && lines.length < maxLines; end = text.indexOf('\n', from)) {
      this.#keep(text.slice(from, end))
      lines.push(this.unfinished)
      this.#rest = ''
      from = end + 1
    }
    const lastEnd = text.lastIndexOf('\n') + 1
    if (lastEnd > from) {
      this.#rest = ''
      from = lastEnd
    }
    this.#keep(text.slice(from))
    return lines
  }

  /** What stands after the last line break. */
  get unfinished(): string {
    return shown(this.#rest)
  }

  #keep(piece: string): void {
    if (this.#rest.length < MAX_LINE_CHARS) this.#rest += piece.slice(0, MAX_LINE_CHARS - this.#rest.length)
  }
}

function shown(raw: string): string {
  const line = stripAnsi(raw).replace(/\r+$/, '')
  return line.slice(line.lastIndexOf('\r') + 1)
}
