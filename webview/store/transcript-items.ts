import type { FoldClass } from './fold-class.ts'

/** What the folding needs to know of a row. */
export interface FoldableRow {
  readonly id: string
  readonly turn: number
  readonly kind: string
  readonly foldClass: FoldClass
  /** The row of the call whose program made this one. */
  readonly parent?: string
}

/** One line or block of the transcript as it is listed. */
export type TranscriptItem =
  | { readonly kind: 'row'; readonly id: string; readonly isInside?: true }
  /** Explorations side by side, with the thoughts between them, as one line. */
  | { readonly kind: 'group'; readonly id: string; readonly rowIds: readonly string[]; readonly isInside?: true }
  /** The way to an ended turn's answer as one line; open or not, its rows follow when open. */
  | { readonly kind: 'turn-fold'; readonly id: string; readonly turn: number; readonly hiddenCount: number; readonly isOpen: boolean }

/** An ended turn folds only when this many lines go away: less would save nothing and hide something. */
const MIN_FOLDED_LINES = 6

/**
 * Fold rows into the items of the transcript.
 *
 * The last turn never folds as a whole by itself: what the person is reading stays where it is. `isOpen` tells what the person
 * has opened or closed by hand, `undefined` for neither.
 */
export function transcriptItems(rows: readonly FoldableRow[], isOpen: (id: string) => boolean | undefined): readonly TranscriptItem[] {
  const items: TranscriptItem[] = []
  for (let start = 0; start < rows.length; ) {
    let end = start + 1
    while (end < rows.length && rows[end]!.turn === rows[start]!.turn) end += 1
    foldTurn(rows.slice(start, end), end === rows.length, isOpen, items)
    start = end
  }
  return items
}

function foldTurn(rows: readonly FoldableRow[], isLastTurn: boolean, isOpen: (id: string) => boolean | undefined, items: TranscriptItem[]): void {
  const lines = linesOf(rows, isOpen)
  const byId = new Map(rows.map((row) => [row.id, row]))
  const lastText = rows.findLast(({ kind }) => kind === 'text')
  const folds = (item: TranscriptItem) => item.kind === 'group' || (byId.get(item.id)?.foldClass !== 'keep' && item.id !== lastText?.id)
  const hiddenCount = lines.filter(folds).length
  // What a person does with commands after the end belongs to the turn before.
  const hasEnded = rows.findLast(({ kind }) => kind !== 'command')?.kind === 'turn-end'
  if (!hasEnded || hiddenCount < MIN_FOLDED_LINES) {
    items.push(...lines)
    return
  }
  const turn = rows[0]!.turn
  const id = `turn:${turn}`
  const isTurnOpen = isOpen(id) ?? isLastTurn
  let isFoldListed = false
  for (const line of lines) {
    if (!folds(line)) {
      items.push(line)
      continue
    }
    if (!isFoldListed) {
      // An untouched last turn is plain: the line would only push the text about when the turn ends.
      if (!isLastTurn || isOpen(id) !== undefined) items.push({ kind: 'turn-fold', id, turn, hiddenCount, isOpen: isTurnOpen })
      isFoldListed = true
    }
    if (isTurnOpen) items.push(line)
  }
}

/** Changes and the like of a program that stand under it while it is folded. */
const MAX_KEPT_INSIDE = 20

/** Lines of a turn: what a program called stands under it, all of it while it is open, else what never folds away. */
function linesOf(rows: readonly FoldableRow[], isOpen: (id: string) => boolean | undefined): readonly TranscriptItem[] {
  const there = new Set(rows.map(({ id }) => id))
  const inside = Map.groupBy(rows, ({ parent }) => (parent !== undefined && there.has(parent) ? parent : undefined))
  if (inside.size <= 1) return foldNeighbours(rows)
  return foldNeighbours(inside.get(undefined) ?? []).flatMap((line) => {
    const calls = line.kind === 'row' ? inside.get(line.id) : undefined
    if (calls === undefined) return [line]
    const shown = isOpen(line.id) === true ? calls : calls.filter(({ foldClass }) => foldClass === 'keep').slice(0, MAX_KEPT_INSIDE)
    return [line, ...foldNeighbours(shown).map((item) => ({ ...item, isInside: true as const }))]
  })
}

/** A run from the first exploration to the last one with only thoughts between; two or more explorations make a group. */
function foldNeighbours(rows: readonly FoldableRow[]): readonly TranscriptItem[] {
  const items: TranscriptItem[] = []
  for (let index = 0; index < rows.length; ) {
    const last = lastOfRun(rows, index)
    if (last === index) {
      items.push({ kind: 'row', id: rows[index]!.id })
    } else {
      const run = rows.slice(index, last + 1)
      items.push({ kind: 'group', id: `group:${run[0]!.id}`, rowIds: run.map(({ id }) => id) })
    }
    index = last + 1
  }
  return items
}

function lastOfRun(rows: readonly FoldableRow[], start: number): number {
  if (rows[start]!.foldClass !== 'explore') return start
  let last = start
  for (let index = start + 1; index < rows.length; index += 1) {
    const { foldClass } = rows[index]!
    if (foldClass === 'explore') last = index
    else if (foldClass !== 'thought') break
  }
  return last
}
