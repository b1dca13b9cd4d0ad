import type { Unit } from './units.ts'

/**
 * How many of the oldest units are summarised so that what stays is about `retainTokens`; 0 when nothing can be.
 *
 * The newest unit always stays. A cut that falls between a call and its result is moved toward the head, so that the pair stays
 * whole and stays; only a pair that alone would be twice what may stay goes into the summary.
 * Source: runtime specification 13.
 */
export function cutAt(units: readonly Unit[], retainTokens: number): number {
  let cut = units.length - 1
  if (cut <= 0) return 0
  let kept = units[cut]!.tokens
  while (cut > 0) {
    const next = units[cut - 1]!
    const isSplit = next.hasResults && kept < retainTokens && kept + next.tokens <= 2 * retainTokens
    if (kept + next.tokens > retainTokens && !isSplit) return cut
    kept += next.tokens
    cut--
  }
  return cut
}
