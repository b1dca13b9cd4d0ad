/**
 * Bytes of a stream cut into lines, with a cap on what waits for its end.
 *
 * Units:  UTF-8 bytes, the line end not counted.
 * Errors: `push` gives false once a line outgrew the cap; what comes after is not kept.
 */
export class LineReader {
  readonly #onLine: (line: string) => void
  readonly #maxBytes: number
  #waiting: Uint8Array[] = []
  #bytes = 0
  #isOver = false

  constructor({ onLine, maxBytes }: { readonly onLine: (line: string) => void; readonly maxBytes: number }) {
    this.#onLine = onLine
    this.#maxBytes = maxBytes
  }

  push(chunk: Uint8Array): boolean {
    for (let start = 0; start < chunk.length && !this.#isOver; ) {
      const end = chunk.indexOf(10, start)
      this.#keep(chunk.subarray(start, end < 0 ? chunk.length : end))
      if (end < 0 || this.#isOver) break
      this.#tell()
      start = end + 1
    }
    return !this.#isOver
  }

  /** What stands behind the last line end. */
  end(): void {
    if (this.#bytes > 0 && !this.#isOver) this.#tell()
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.length
    if (this.#bytes > this.#maxBytes) {
      this.#isOver = true
      this.#waiting = []
      return
    }
    // The caller may use its memory again.
    if (part.length > 0) this.#waiting.push(part.slice())
  }

  #tell(): void {
    const line = new TextDecoder().decode(this.#waiting.length === 1 ? this.#waiting[0] : Buffer.concat(this.#waiting))
    this.#waiting = []
    this.#bytes = 0
    this.#onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
}
