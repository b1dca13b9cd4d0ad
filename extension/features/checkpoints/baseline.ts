import type { Image } from './events.ts'
import { applyLineEdits, mergeLines } from './line-merge.ts'
import type { FileStep, FileUnderReview } from './projection.ts'

/** Lines of an image: none where there was no file; null where it is no text, or not kept any more. */
export type ReadLines = (image: Image) => Promise<readonly string[] | null>

/** A file as it would be had the agent not made certain changes, with everything the person did since. */
export interface Baseline {
  readonly lines: readonly string[]
  /** There would be no file. */
  readonly isAbsent: boolean
  /** The file right after the last of those changes; what differs from it now is the person's. */
  readonly last: Image
  readonly lastLines: readonly string[]
  /** Where no step of the person lies between the changes: the very bytes that stood there before. */
  readonly image?: Image
}

/**
 * Walk the changes in order; what lies between two of them was done by others and is carried into the baseline. Where others changed
 * the very lines of the agent in between, these are theirs from then on.
 *
 * Shape: null without a change whose before is known, or when one of the images is no text or gone.
 */
export async function baselineOf(steps: readonly FileStep[], base: FileUnderReview['base'], read: ReadLines): Promise<Baseline | null> {
  let at: { lines: readonly string[]; isAbsent: boolean; last: Image; image?: Image } | null = null
  if (base !== null) {
    const lines = await read(base.baseline)
    if (lines === null) return null
    at = { lines, isAbsent: base.baseline === null, last: base.current }
  }
  for (const step of steps) {
    if (base !== null && step.seq <= base.seq) continue
    if (step.before === undefined) {
      const lines = await read(step.after)
      if (lines === null) return null
      at = { lines, isAbsent: step.after === null, last: step.after }
      continue
    }
    const before = await read(step.before)
    if (before === null) return null
    if (at === null) at = { lines: before, isAbsent: step.before === null, last: step.after, image: step.before }
    else if (step.before === at.last) at = { ...at, last: step.after }
    else if (step.before === null) at = { lines: [], isAbsent: true, last: step.after }
    // Made anew by others after the agent took it away.
    else if (at.last === null) at = { lines: before, isAbsent: false, last: step.after }
    else {
      const last: readonly string[] | null = await read(at.last)
      if (last === null) return null
      at = { lines: rebased(at.lines, last, before), isAbsent: at.isAbsent, last: step.after }
    }
  }
  if (at === null) return null
  const lastLines = await read(at.last)
  return lastLines === null ? null : { ...at, lastLines }
}

/** What others did between `from` and `to`, done to `lines` too; where both changed the same lines, those of `to`. */
export const rebased = (lines: readonly string[], from: readonly string[], to: readonly string[]): readonly string[] => applyLineEdits(lines, mergeLines(from, lines, to, { first: 'ours' }))
