import { stripAnsi } from '../../base/strip-ansi.ts'

/** Of one line; the rest of a longer one is not looked at. */
const MAX_LINE_CHARS = 2_000

/** Cuts decoded output into lines as a reader sees them: without escape sequences, and of a line that was written over what stood last. */
export class OutputLines {
  #rest = ''

  /** The lines that this text ends. */
  push(text: string): readonly string[] {
    const pieces = text.split('\n')
    const lines: string[] = []
    pieces.forEach((piece, index) => {
      if (this.#rest.length < MAX_LINE_CHARS) this.#rest += piece.slice(0, MAX_LINE_CHARS - this.#rest.length)
      if (index === pieces.length - 1) return
      lines.push(shown(this.#rest))
      this.#rest = ''
    })
    return lines
  }

  /** What stands after the last line break. */
  get unfinished(): string {
    return shown(this.#rest)
  }
}

function shown(raw: string): string {
  const line = stripAnsi(raw).replace(/\r+$/, '')
  return line.slice(line.lastIndexOf('\r') + 1)
}
