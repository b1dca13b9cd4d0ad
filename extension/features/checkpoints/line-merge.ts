import { diffArrays } from 'diff'

/** Lines `from` to `to` (0-based, exclusive) of one text become `lines`. A list of them is in order. */
export interface LineEdit {
  readonly from: number
  readonly to: number
  readonly lines: readonly string[]
}

/** One place of `ours` at which `theirs` has something else, in the lines of `ours`. */
export interface MergeChange extends LineEdit {
  /** Both sides changed these lines, each in its own way: what both had there before. Absent where the change is clean. */
  readonly base?: readonly string[]
}

/** What has to be done to `ours` so that it also holds what `theirs` changed, in order. */
export type LineMerge = readonly MergeChange[]

/** Beyond this many differing lines, or lines to look at, the regions are not told apart: the search would block too long. */
const MAX_DIFFERENT_LINES = 2_000
const MAX_SEARCHED_LINES = 40_000

/**
 * Merge by lines: what `theirs` changed of `base`, carried over to `ours`.
 *
 * Changes that only touch each other are no conflict, unlike in most merges: whoever types a line right below another's change means
 * both. Of two insertions at one place both stay, unless one holds the other; `first` says whose stands above. The same two sides have to
 * be merged in the same order each way, or the two texts that come of it differ.
 */
export function mergeLines(base: readonly string[], ours: readonly string[], theirs: readonly string[], { first }: { readonly first: 'ours' | 'theirs' } = { first: 'theirs' }): LineMerge {
  return mergeEdits(lineEdits(base, ours), lineEdits(base, theirs), base, first)
}

type Sided = LineEdit & { readonly isOurs: boolean }

function mergeEdits(ours: readonly LineEdit[], theirs: readonly LineEdit[], base: readonly string[], first: 'ours' | 'theirs'): LineMerge {
  const all = [...theirs.map((edit): Sided => ({ ...edit, isOurs: false })), ...ours.map((edit): Sided => ({ ...edit, isOurs: true }))]
  // At one place an insertion comes before what replaces the lines there, and theirs before ours.
  all.sort((a, b) => a.from - b.from || a.to - b.to || Number(a.isOurs) - Number(b.isOurs))
  const changes: MergeChange[] = []
  /** From lines of the base to lines of ours, behind all edits of ours that were passed. */
  let shift = 0
  for (let at = 0; at < all.length; ) {
    let end = at + 1
    const { from } = all[at]!
    let { to } = all[at]!
    while (isJoined(all[end], from, to)) {
      to = Math.max(to, all[end]!.to)
      end += 1
    }
    const cluster = all.slice(at, end)
    at = end
    const [mine, other] = [cluster.filter(({ isOurs }) => isOurs), cluster.filter(({ isOurs }) => !isOurs)]
    const ourLines = applied(base, { from, to }, mine)
    const theirLines = applied(base, { from, to }, other)
    const place = { from: from + shift, to: from + shift + ourLines.length }
    shift += ourLines.length - (to - from)
    if (other.length === 0 || isSame(ourLines, theirLines)) continue
    if (mine.length > 0 && from < to) changes.push({ ...place, lines: theirLines, base: base.slice(from, to) })
    else if (mine.length === 0) changes.push({ ...place, lines: theirLines })
    else changes.push(...insertion(place, ourLines, theirLines, first))
  }
  return changes
}

/** It overlaps these lines of the base, or both are insertions at one place. */
function isJoined(edit: LineEdit | undefined, from: number, to: number): boolean {
  return edit !== undefined && (edit.from < to || (from === to && edit.to === from))
}

/** Both sides put lines at one place. */
function insertion({ from, to }: { readonly from: number; readonly to: number }, ours: readonly string[], theirs: readonly string[], first: 'ours' | 'theirs'): readonly LineEdit[] {
  if (holds(ours, theirs)) return []
  if (holds(theirs, ours)) return [{ from, to, lines: theirs }]
  const at = first === 'theirs' ? from : to
  return [{ from: at, to: at, lines: theirs }]
}

const holds = (outer: readonly string[], inner: readonly string[]): boolean =>
  outer.some((_, start) => start + inner.length <= outer.length && inner.every((line, index) => line === outer[start + index]))

/** What the edits make of these lines. */
function applied(base: readonly string[], { from, to }: { readonly from: number; readonly to: number }, edits: readonly LineEdit[]): readonly string[] {
  const lines: string[] = []
  let at = from
  for (const edit of edits) {
    lines.push(...base.slice(at, edit.from), ...edit.lines)
    at = edit.to
  }
  return [...lines, ...base.slice(at, to)]
}

export function applyLineEdits(lines: readonly string[], edits: readonly LineEdit[]): readonly string[] {
  return applied(lines, { from: 0, to: lines.length }, edits)
}

/** The regions in which `after` differs from `before`, in the lines of `before`. */
export function lineEdits(before: readonly string[], after: readonly string[]): readonly LineEdit[] {
  // Most of a text is the same at both ends, and need not be searched.
  const limit = Math.min(before.length, after.length)
  let start = 0
  while (start < limit && before[start] === after[start]) start += 1
  let tail = 0
  while (tail < limit - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1
  const [oldPart, newPart] = [before.slice(start, before.length - tail), after.slice(start, after.length - tail)]
  if (oldPart.length === 0 && newPart.length === 0) return []
  const whole = { from: start, to: before.length - tail, lines: newPart }
  if (oldPart.length === 0 || newPart.length === 0 || oldPart.length + newPart.length > MAX_SEARCHED_LINES) return [whole]
  const parts = diffArrays([...oldPart], [...newPart], { maxEditLength: MAX_DIFFERENT_LINES })
  if (parts === undefined) return [whole]
  const edits: LineEdit[] = []
  let line = start
  let open: { from: number; to: number; lines: string[] } | null = null
  for (const { added, removed, value } of parts) {
    if (!added && !removed) {
      if (open !== null) edits.push(open)
      open = null
      line += value.length
      continue
    }
    open ??= { from: line, to: line, lines: [] }
    if (added) open.lines.push(...value)
    else open.to = line += value.length
  }
  if (open !== null) edits.push(open)
  return edits
}

/** Lines with their ends; none for an empty text. */
export function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** The text of lines; one without an end that does not stand last gets one. */
export function joinLines(lines: readonly string[]): string {
  const end = lines.find((line) => line.endsWith('\n'))?.endsWith('\r\n') === true ? '\r\n' : '\n'
  return lines.map((line, index) => (index === lines.length - 1 || line.endsWith('\n') ? line : line + end)).join('')
}

export const isSame = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((line, index) => line === b[index])
