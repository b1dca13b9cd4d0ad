import { diffLines } from 'diff'
import type { TextReplacement } from '../../capabilities/file-system.ts'

/** Above this many differing lines one range is replaced: looking for the finest cut would hold up the editor. */
const MAX_EDIT_LENGTH = 1_000

/**
 * Few small replacements that turn `before` into `after`, so that cursors, folds and marks elsewhere stay where they are.
 *
 * Shape: sorted, not overlapping, none empty on both sides; empty when the texts are equal.
 * Units: UTF-16 offsets into `before`, end exclusive; none cuts a surrogate pair or a CRLF in two.
 */
export function minimalEdits(before: string, after: string): readonly TextReplacement[] {
  if (before === after) return []
  const parts = diffLines(before, after, { maxEditLength: MAX_EDIT_LENGTH })
  if (parts === undefined) return [trimmed(before, { start: 0, end: before.length, newText: after })]
  const edits: TextReplacement[] = []
  let offset = 0
  let open: { start: number; end: number; newText: string } | null = null
  const close = () => {
    if (open !== null) edits.push(trimmed(before, open))
    open = null
  }
  for (const { added, removed, value } of parts) {
    if (!added && !removed) {
      close()
      offset += value.length
      continue
    }
    open ??= { start: offset, end: offset, newText: '' }
    if (removed) {
      offset += value.length
      open.end = offset
    } else {
      open.newText += value
    }
  }
  close()
  return edits
}

/** Leave out what both sides begin and end with. */
function trimmed(before: string, { start, end, newText }: TextReplacement): TextReplacement {
  let from = start
  let head = 0
  while (from < end && head < newText.length && before[from] === newText[head]) {
    from += 1
    head += 1
  }
  let to = end
  let tail = newText.length
  while (to > from && tail > head && before[to - 1] === newText[tail - 1]) {
    to -= 1
    tail -= 1
  }
  // A cut between the halves of a character or of a line end would be no position in the editor.
  while (head > 0 && (splits(before, from) || splits(newText, head))) {
    from -= 1
    head -= 1
  }
  while (tail < newText.length && (splits(before, to) || splits(newText, tail))) {
    to += 1
    tail += 1
  }
  return { start: from, end: to, newText: newText.slice(head, tail) }
}

function splits(text: string, offset: number): boolean {
  const left = text.charCodeAt(offset - 1)
  const right = text.charCodeAt(offset)
  return (left >= 0xd8_00 && left <= 0xdb_ff && right >= 0xdc_00 && right <= 0xdf_ff) || (left === 13 && right === 10)
}
