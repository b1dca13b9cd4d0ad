/**
 * Where each row of a long list begins, from measured heights and from guesses for rows that were never shown.
 *
 * Units: CSS pixels. Heights belong to keys and stay when rows are added before them.
 */
export class RowOffsets {
  #keys: readonly string[] = []
  #estimate: (index: number) => number = () => 0
  readonly #heights = new Map<string, number>()
  #indexes = new Map<string, number>()
  #tops = new Float64Array(1)
  /** Tops up to this index are right. */
  #rightUpTo = 0

  get count(): number {
    return this.#keys.length
  }

  /** Take the rows as they are now. Cheap when only the end of the list changed. */
  setKeys(keys: readonly string[], estimate: (index: number) => number): void {
    const before = this.#keys
    let same = 0
    while (same < keys.length && same < before.length && keys[same] === before[same]) same += 1
    for (let index = same; index < before.length; index += 1) this.#indexes.delete(before[index]!)
    for (let index = same; index < keys.length; index += 1) this.#indexes.set(keys[index]!, index)
    this.#keys = keys
    this.#estimate = estimate
    if (this.#tops.length < keys.length + 1) {
      const grown = new Float64Array(Math.max(64, (keys.length + 1) * 2))
      grown.set(this.#tops)
      this.#tops = grown
    }
    this.#rightUpTo = Math.min(this.#rightUpTo, same)
  }

  /** True when this changed anything. */
  setHeight(key: string, height: number): boolean {
    if (this.#heights.get(key) === height) return false
    this.#heights.set(key, height)
    this.#rightUpTo = Math.min(this.#rightUpTo, this.#indexes.get(key) ?? Infinity)
    return true
  }

  indexOf(key: string): number {
    return this.#indexes.get(key) ?? -1
  }

  keyAt(index: number): string | undefined {
    return this.#keys[index]
  }

  /** Top of a row; for `count` the height of the whole list. */
  topOf(index: number): number {
    const wanted = Math.min(Math.max(index, 0), this.count)
    for (; this.#rightUpTo < wanted; this.#rightUpTo += 1) {
      const at = this.#rightUpTo
      this.#tops[at + 1] = this.#tops[at]! + (this.#heights.get(this.#keys[at]!) ?? this.#estimate(at))
    }
    return this.#tops[wanted]!
  }

  get totalHeight(): number {
    return this.topOf(this.count)
  }

  /** The row that covers a height; the nearest one outside the list. -1 for an empty list. */
  indexAt(y: number): number {
    let low = 0
    let high = this.count - 1
    if (y >= this.totalHeight) return high
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.topOf(middle) <= y) low = middle
      else high = middle - 1
    }
    return this.count === 0 ? -1 : low
  }
}
