import { diffArrays } from 'diff'

/** A changed region with its surroundings. Starts are 1-based; texts are whole lines with `\n` ends, the last maybe without. */
export type Hunk = {
  readonly oldStart: number
  readonly newStart: number
  readonly oldText: string
  readonly newText: string
}

export type Changes = {
  readonly hunks: readonly Hunk[]
  readonly added: number
  readonly removed: number
}

const CONTEXT_LINES = 3
/** Beyond this many different lines, or lines to look at, the regions are not told apart: the search would block too long. */
const MAX_DIFFERENT_LINES = 300
const MAX_SEARCHED_LINES = 40_000

interface Edit {
  /** 0-based and exclusive, in lines. */
  readonly oldFrom: number
  readonly oldTo: number
  readonly newFrom: number
  readonly newTo: number
}

/** The regions in which two texts with `\n` line ends differ, with three lines around each. */
export function changesBetween(before: string, after: string): Changes {
  // Most of a file is the same at both ends, and need not be cut into lines.
  const { start, oldEnd, newEnd, linesBefore } = differingPart(before, after)
  const [oldPart, newPart] = [before.slice(start, oldEnd), after.slice(start, newEnd)]
  if (oldPart === newPart) return { hunks: [], added: 0, removed: 0 }
  const [removed, added] = [countLineEnds(oldPart), countLineEnds(newPart)]
  if (removed + added > MAX_SEARCHED_LINES) return { hunks: [{ oldStart: linesBefore + 1, newStart: linesBefore + 1, oldText: oldPart, newText: newPart }], added, removed }
  return changesOfLines(linesOf(oldPart), linesOf(newPart), linesBefore)
}

function changesOfLines(oldLines: readonly string[], newLines: readonly string[], linesBefore: number): Changes {
  const edits = editsBetween(oldLines, newLines)
  const sum = (size: (edit: Edit) => number) => edits.reduce((total, edit) => total + size(edit), 0)
  return {
    hunks: grouped(edits).map((group) => hunkOf(group, oldLines, newLines, linesBefore)),
    added: sum(({ newFrom, newTo }) => newTo - newFrom),
    removed: sum(({ oldFrom, oldTo }) => oldTo - oldFrom),
  }
}

/** Offsets of the whole lines that hold every difference, and the context around it. */
function differingPart(before: string, after: string) {
  const limit = Math.min(before.length, after.length)
  let same = 0
  while (same < limit && before.charCodeAt(same) === after.charCodeAt(same)) same += 1
  const firstLine = lineStart(before, same)
  let tail = 0
  while (tail < limit - firstLine && before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)) tail += 1
  // The common end begins with a whole line in both.
  const [oldTail, newTail] = [before.length - tail, after.length - tail]
  if (!(isLineStart(before, oldTail) && isLineStart(after, newTail))) tail = before.length - nextLine(before, oldTail)
  let end = before.length - tail
  for (let line = 0; line < CONTEXT_LINES; line += 1) end = nextLine(before, end)
  let start = firstLine
  for (let line = 0; line < CONTEXT_LINES && start > 0; line += 1) start = lineStart(before, start - 1)
  return { start, oldEnd: end, newEnd: after.length - (before.length - end), linesBefore: countLineEnds(before.slice(0, start)) }
}

const isLineStart = (text: string, offset: number) => offset === 0 || text[offset - 1] === '\n'

/** Of the line that holds `offset`. */
const lineStart = (text: string, offset: number) => (offset <= 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1)

function nextLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset)
  return end < 0 ? text.length : end + 1
}

function countLineEnds(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1
  return count
}

/** Lines with their ends; none for an empty text. */
function linesOf(text: string): readonly string[] {
  const lines: string[] = []
  let start = 0
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    lines.push(text.slice(start, end + 1))
    start = end + 1
  }
  if (start < text.length) lines.push(text.slice(start))
  return lines
}

function editsBetween(before: readonly string[], after: readonly string[]): readonly Edit[] {
  const parts = diffArrays([...before], [...after], { maxEditLength: MAX_DIFFERENT_LINES })
  return parts === undefined ? [oneEdit(before, after)] : editsFrom(parts)
}

/** From the first to the last difference. */
function oneEdit(before: readonly string[], after: readonly string[]): Edit {
  const limit = Math.min(before.length, after.length)
  let start = 0
  while (start < limit && before[start] === after[start]) start += 1
  let end = 0
  while (end < limit - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1
  return { oldFrom: start, oldTo: before.length - end, newFrom: start, newTo: after.length - end }
}

function editsFrom(parts: readonly { readonly added: boolean; readonly removed: boolean; readonly value: readonly string[] }[]): readonly Edit[] {
  const edits: Edit[] = []
  let [oldAt, newAt] = [0, 0]
  let open: { oldFrom: number; newFrom: number } | undefined
  const close = () => {
    if (open) edits.push({ ...open, oldTo: oldAt, newTo: newAt })
    open = undefined
  }
  for (const { added, removed, value } of parts) {
    if (!added && !removed) {
      close()
      oldAt += value.length
      newAt += value.length
      continue
    }
    open ??= { oldFrom: oldAt, newFrom: newAt }
    if (removed) oldAt += value.length
    else newAt += value.length
  }
  close()
  return edits
}

/** Edits whose surroundings touch make one hunk. */
function grouped(edits: readonly Edit[]): readonly (readonly Edit[])[] {
  const groups: Edit[][] = []
  for (const edit of edits) {
    const last = groups.at(-1)
    const previous = last?.at(-1)
    if (last && previous && edit.oldFrom - previous.oldTo <= 2 * CONTEXT_LINES) last.push(edit)
    else groups.push([edit])
  }
  return groups
}

function hunkOf(group: readonly Edit[], oldLines: readonly string[], newLines: readonly string[], linesBefore: number): Hunk {
  const [first, last] = [group[0], group.at(-1)]
  if (!first || !last) throw new RangeError('A hunk has at least one edit.')
  const lead = Math.min(CONTEXT_LINES, first.oldFrom)
  const trail = Math.min(CONTEXT_LINES, oldLines.length - last.oldTo)
  return {
    oldStart: linesBefore + first.oldFrom - lead + 1,
    newStart: linesBefore + first.newFrom - lead + 1,
    oldText: oldLines.slice(first.oldFrom - lead, last.oldTo + trail).join(''),
    newText: newLines.slice(first.newFrom - lead, last.newTo + trail).join(''),
  }
}
