import { utf8Length } from '../../base/text.ts'

/** Bytes of JSON that a search card may add to the log. */
export const MAX_META_BYTES = 65_536

/** The first items whose JSON fits the card, at least one. */
export function fittingItems<T>(items: Iterable<T>): readonly T[] {
  const kept: T[] = []
  let bytes = 0
  for (const item of items) {
    bytes += utf8Length(JSON.stringify(item)) + 1
    if (kept.length > 0 && bytes > MAX_META_BYTES) break
    kept.push(item)
  }
  return kept
}
