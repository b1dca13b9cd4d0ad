/** A place in a text: zero-based, in UTF-16 units of its line. */
export interface TextPlace {
  readonly line: number
  readonly character: number
}

/**
 * Lines of a text as editors and language servers count them: `\n`, `\r\n` and a lone `\r` end one.
 * Source: Language Server Protocol 3.17, "Text Documents".
 */
export class TextLines {
  /** Where each line begins. */
  readonly #starts: number[] = [0]
  readonly #text: string

  constructor(text: string) {
    this.#text = text
    for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) this.#starts.push(index + end.length)
  }

  get count(): number {
    return this.#starts.length
  }

  /** Zero-based, without its end; undefined past the last one. */
  line(line: number): string | undefined {
    const start = this.#starts[line]
    return start === undefined ? undefined : this.#text.slice(start, this.#starts[line + 1] ?? this.#text.length).replace(/[\r\n]+$/, '')
  }

  /** Past the end of a line means its end, past the last line the end of the text. */
  offsetOf({ line, character }: TextPlace): number {
    const start = this.#starts[line]
    return start === undefined ? this.#text.length : start + Math.min(character, this.line(line)?.length ?? 0)
  }

  placeOf(offset: number): TextPlace {
    let [low, high] = [0, this.#starts.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low, character: offset - (this.#starts[low] ?? 0) }
  }
}
