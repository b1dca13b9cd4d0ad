import { diffLines, diffWordsWithSpace } from 'diff'
import type { FileDiff } from '../../extension/protocol/cards.ts'

/** A piece of a changed line; `isChanged` marks the words that differ. */
export interface DiffPiece {
  readonly text: string
  readonly isChanged: boolean
}

export type DiffLine =
  | { readonly kind: 'same'; readonly oldNumber: number; readonly newNumber: number; readonly text: string }
  | { readonly kind: 'removed'; readonly oldNumber: number; readonly pieces: readonly DiffPiece[] }
  | { readonly kind: 'added'; readonly newNumber: number; readonly pieces: readonly DiffPiece[] }
  /** Unchanged lines left out. */
  | { readonly kind: 'gap'; readonly count: number }

/** Changed lines of one region, as they are numbered in the file. */
export interface DiffBody {
  readonly lines: readonly DiffLine[]
  readonly added: number
  readonly removed: number
}

const CONTEXT_LINES = 3
/** Beyond it comparing takes longer than a frame; the body then shows the old text removed and the new one added. */
const MAX_COMPARED_CHARS = 400_000
const MAX_COMPARE_MS = 100
/** Lines longer than this are data, not prose: marking words in them helps nobody. */
const MAX_WORD_MARK_CHARS = 500
/** Every old line is held against the new ones; beyond this many pairs nothing is marked. */
const MAX_PAIRS = 400
const MIN_LIKENESS = 0.4

/** Compare the two texts of a region, with word marks on lines that changed in place. */
export function diffBody({ oldText, newText, oldStart = 1, newStart = 1 }: FileDiff): DiffBody {
  const lines: DiffLine[] = []
  let [oldNumber, newNumber, added, removed] = [oldStart, newStart, 0, 0]
  const changes = lineChanges(oldText ?? '', newText)
  for (let index = 0; index < changes.length; index += 1) {
    const change = changes[index]!
    if (change.kind === 'same') {
      for (const text of change.lines) lines.push({ kind: 'same', oldNumber: oldNumber++, newNumber: newNumber++, text })
      continue
    }
    const gone = change.kind === 'removed' ? change.lines : []
    const next = change.kind === 'removed' && changes[index + 1]?.kind === 'added' ? changes[++index]!.lines : []
    const come = change.kind === 'added' ? change.lines : next
    removed += gone.length
    added += come.length
    const marked = wordMarks(gone, come)
    for (const pieces of marked.removed) lines.push({ kind: 'removed', oldNumber: oldNumber++, pieces })
    for (const pieces of marked.added) lines.push({ kind: 'added', newNumber: newNumber++, pieces })
  }
  return { lines: withGaps(lines), added, removed }
}

type LineChange = { readonly kind: 'same' | 'removed' | 'added'; readonly lines: readonly string[] }

function lineChanges(oldText: string, newText: string): readonly LineChange[] {
  const whole = (): readonly LineChange[] => [
    { kind: 'removed', lines: linesOf(oldText) },
    { kind: 'added', lines: linesOf(newText) },
  ]
  if (oldText === '' || newText === '' || oldText.length + newText.length > MAX_COMPARED_CHARS) return whole().filter(({ lines }) => lines.length > 0)
  const changes = diffLines(oldText, newText, { timeout: MAX_COMPARE_MS })
  return (
    changes?.map(({ added, removed, value }) => ({ kind: added ? 'added' : removed ? 'removed' : 'same', lines: linesOf(value) })) ?? whole()
  )
}

/** Lines without their ends; a text that ends with a line end has no empty last line. */
function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n|\n|\r/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Marks the words that differ on each line that became another one. */
function wordMarks(removed: readonly string[], added: readonly string[]): { readonly removed: readonly (readonly DiffPiece[])[]; readonly added: readonly (readonly DiffPiece[])[] } {
  const plain = (lines: readonly string[]) => lines.map((text): readonly DiffPiece[] => [{ text, isChanged: false }])
  const marked = { removed: plain(removed), added: plain(added) }
  if (removed.length * added.length > MAX_PAIRS) return marked
  let from = 0
  removed.forEach((oldLine, oldIndex) => {
    const pairs = added.slice(from).flatMap((newLine, index) => {
      const pair = markedPair(oldLine, newLine)
      return pair === null ? [] : [{ ...pair, index: from + index }]
    })
    const best = pairs.toSorted((a, b) => b.likeness - a.likeness)[0]
    if (best === undefined) return
    marked.removed[oldIndex] = best.removed
    marked.added[best.index] = best.added
    from = best.index + 1
  })
  return marked
}

interface MarkedPair {
  readonly removed: readonly DiffPiece[]
  readonly added: readonly DiffPiece[]
  /** Share of the letters that stayed. */
  readonly likeness: number
}

/** Null for lines that share too little to be one line that changed. */
function markedPair(oldLine: string, newLine: string): MarkedPair | null {
  if (oldLine.length > MAX_WORD_MARK_CHARS || newLine.length > MAX_WORD_MARK_CHARS) return null
  const words = diffWordsWithSpace(oldLine, newLine)
  const letters = (text: string) => text.replaceAll(/\W/g, '').length
  const kept = words.reduce((sum, { added, removed, value }) => (added || removed ? sum : sum + letters(value)), 0)
  const likeness = kept / Math.max(1, letters(oldLine), letters(newLine))
  if (likeness < MIN_LIKENESS) return null
  return {
    likeness,
    removed: words.filter(({ added }) => !added).map(({ value, removed }) => ({ text: value, isChanged: removed })),
    added: words.filter(({ removed }) => !removed).map(({ value, added }) => ({ text: value, isChanged: added })),
  }
}

function withGaps(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isNear = lines.map(() => false)
  lines.forEach(({ kind }, index) => {
    if (kind !== 'same') isNear.fill(true, Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1)
  })
  const shown: DiffLine[] = []
  for (let index = 0; index < lines.length; index += 1) {
    if (isNear[index]) {
      shown.push(lines[index]!)
      continue
    }
    const start = index
    while (index + 1 < lines.length && !isNear[index + 1]) index += 1
    shown.push({ kind: 'gap', count: index - start + 1 })
  }
  return shown
}
