/** A word that was met, for all texts. */
export interface KnownWord {
  readonly word: string
  /** The counts with which the index lists it, as bits; 0 when that is not known. */
  bits: number
  /** In the text that was counted last. */
  count: number
  text: number
}

const MAX_WORDS = 200_000

/** Remembers words between texts, so that each word of a text costs one look-up. */
export class KnownWords {
  readonly #words = new Map<string, KnownWord>()
  #texts = 0

  /** The words of a folded text, each with its count in it, until the next text is counted. */
  countsOf(folded: string): readonly KnownWord[] {
    if (folded === '') return []
    if (this.#words.size > MAX_WORDS) this.#words.clear()
    const text = (this.#texts += 1)
    const met: KnownWord[] = []
    for (const word of folded.split(' ')) {
      const known = this.#words.get(word)
      if (known === undefined) {
        // What is cut out of a text would keep the whole of it in memory.
        const fresh = { word: Buffer.from(word).toString(), bits: 0, count: 1, text }
        this.#words.set(fresh.word, fresh)
        met.push(fresh)
      } else if (known.text === text) known.count += 1
      else {
        known.text = text
        known.count = 1
        met.push(known)
      }
    }
    return met
  }

  clear(): void {
    this.#words.clear()
  }
}
