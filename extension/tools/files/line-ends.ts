import { toLf } from '../../base/encoding.ts'

/** A text with `\n` line ends only, and the way back. A lone CR is data. */
export interface NormalisedText {
  readonly text: string
  /** The place in the original text of an offset in the normalised one. */
  readonly originalOffset: (offset: number) => number
}

export function normaliseLineEnds(original: string): NormalisedText {
  if (!original.includes('\r\n')) return { text: original, originalOffset: (offset) => offset }
  const text = toLf(original)
  // Where each `\n` that was `\r\n` stands in the normalised text: every one before an offset moves it by one.
  const pairs: number[] = []
  for (let at = original.indexOf('\r\n'); at >= 0; at = original.indexOf('\r\n', at + 2)) pairs.push(at - pairs.length)
  return { text, originalOffset: (offset) => offset + countBelow(pairs, offset) }
}

/** Of ascending `numbers`, how many are less than `limit`. */
function countBelow(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? 0) < limit) low = middle + 1
    else high = middle
  }
  return low
}

/** The line end that new lines at `start` should have: the next one, else the one before; `\n` in a text without any. */
export function lineEndAt(original: string, start: number): '\n' | '\r\n' {
  const next = original.indexOf('\n', start)
  const at = next >= 0 ? next : original.lastIndexOf('\n', start)
  return at > 0 && original[at - 1] === '\r' ? '\r\n' : '\n'
}

/** 1-based line of each of `offsets`, which ascend, in a text with `\n` line ends. */
export function linesOf(text: string, offsets: readonly number[]): readonly number[] {
  let line = 1
  let end = text.indexOf('\n')
  return offsets.map((offset) => {
    for (; end >= 0 && end < offset; end = text.indexOf('\n', end + 1)) line += 1
    return line
  })
}

/** 1-based line of an offset in a text with `\n` line ends. */
export function lineOf(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1
  return line
}
