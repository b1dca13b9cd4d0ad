import type { Baseline } from './baseline.ts'
import type { Image } from './events.ts'
import { applyLineEdits, isSame, joinLines, lineEdits, mergeLines, type LineEdit, type LineMerge } from './line-merge.ts'
import type { FileReview, HunkPlace, ReviewHunk } from './service.ts'

/** A file as it is now, in lines. */
export interface NowLines {
  readonly image: Image
  readonly lines: readonly string[]
}

/** What a file would become. */
export interface FilePlan {
  /** In the lines of the file as it is now. */
  readonly edits: readonly LineEdit[]
  readonly lines: readonly string[]
  /** The file would go. */
  readonly isGone: boolean
  /** The person changed the same lines since; these stay, unless it is forced. */
  readonly hasConflict: boolean
  /** The very bytes that stood there before. */
  readonly exact?: Image
}

/**
 * Take the changes behind `baseline` out of the file as it is now.
 *
 * `within`: only where these regions of the file are touched; null: everywhere. `isForced`: also where the person changed the same lines.
 * Shape: null when there is nothing to take out.
 */
export function planUndo({ baseline, now, within, isForced }: { readonly baseline: Baseline; readonly now: NowLines; readonly within: readonly HunkPlace[] | null; readonly isForced: boolean }): FilePlan | null {
  const meant = toUndo(baseline, now).filter((change) => within === null || within.some((hunk) => isOverlapping(change, hunk)))
  const taken = meant.filter(({ base }) => isForced || base === undefined)
  const hasConflict = taken.length < meant.length
  const isBack = within === null && baseline.image !== undefined && now.image === baseline.last && now.image !== baseline.image
  if (isBack) return { edits: taken, lines: baseline.lines, isGone: baseline.image === null, hasConflict: false, exact: baseline.image }
  if (taken.length === 0) return hasConflict ? { edits: [], lines: now.lines, isGone: false, hasConflict } : null
  const lines = applyLineEdits(now.lines, taken)
  // Where nothing of the person is left in a file that was not there, it goes.
  return { edits: taken, lines, isGone: baseline.isAbsent && lines.length === 0, hasConflict }
}

/** What has to change for the file to be the baseline again. */
function toUndo(baseline: Baseline, now: NowLines): LineMerge {
  if (now.image === null || baseline.last !== null) return mergeLines(baseline.lastLines, now.lines, baseline.lines)
  // The agent took the file away, and the person made one of that name: nothing of the two belongs together.
  return isSame(baseline.lines, now.lines) ? [] : [{ from: 0, to: now.lines.length, lines: baseline.lines, base: [] }]
}

/**
 * The agent's text from which the review goes on once the file became `next`: where the person changed lines of the agent, the agent's
 * own lines stand in the place of the person's, so that it is still known whose they are.
 */
export function agentsText(baseline: Baseline, now: NowLines, next: readonly string[]): readonly string[] {
  const mixed = toUndo(baseline, now).flatMap(({ from, to, base }) => (base === undefined ? [] : [{ from, to, lines: base }]))
  const own = applyLineEdits(now.lines, mixed)
  return applyLineEdits(own, mergeLines(now.lines, own, next).filter(({ base }) => base === undefined))
}

/** The baseline with what the person did since. Where they changed lines of the agent, it is as it was before both. */
export function liveBaseline(baseline: Baseline, now: NowLines): readonly string[] {
  if (now.image === baseline.last) return baseline.lines
  if (now.image !== null && baseline.last === null) return baseline.lines
  return applyLineEdits(baseline.lines, mergeLines(baseline.lastLines, baseline.lines, now.lines, { first: 'ours' }).filter(({ base }) => base === undefined))
}

/** The regions of a file that wait. */
export function hunksOf(baseline: Baseline, now: NowLines): readonly ReviewHunk[] {
  const conflicts = toUndo(baseline, now).filter(({ base }) => base !== undefined)
  const before = liveBaseline(baseline, now)
  let shift = 0
  return lineEdits(before, now.lines).map(({ from, to, lines }) => {
    const place = { from: from + shift, to: from + shift + lines.length }
    shift += lines.length - (to - from)
    return { baseFrom: from, baseTo: to, ...place, removed: before.slice(from, to), added: lines, isMixed: conflicts.some((conflict) => isOverlapping(conflict, place)) }
  })
}

export function reviewOf(path: string, baseline: Baseline, now: NowLines): FileReview {
  const hunks = hunksOf(baseline, now)
  const before = liveBaseline(baseline, now)
  const isGone = now.image === null
  const isAbsent = baseline.isAbsent && before.length === 0
  const isMixed = hunks.some((hunk) => hunk.isMixed)
  return { path, baseline: isAbsent ? null : joinLines(before), now: isGone ? null : joinLines(now.lines), hunks, isText: true, isChanged: hunks.length > 0 || isGone !== isAbsent, ...(isMixed && { sides: { agent: joinLines(baseline.lastLines), without: joinLines(baseline.lines) } }) }
}

/** The same region as when the person saw it. */
export const sameHunk = (hunks: readonly ReviewHunk[], place: HunkPlace): ReviewHunk | undefined =>
  hunks.find(({ baseFrom, baseTo, from, to }) => baseFrom === place.baseFrom && baseTo === place.baseTo && from === place.from && to === place.to)

/** One that holds no line overlaps what it touches. */
function isOverlapping(a: { readonly from: number; readonly to: number }, b: { readonly from: number; readonly to: number }): boolean {
  const isEmpty = a.from === a.to || b.from === b.to
  return isEmpty ? a.from <= b.to && b.from <= a.to : a.from < b.to && b.from < a.to
}
