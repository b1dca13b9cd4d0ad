import { diffLines } from 'diff'
import type { FileDiff } from '../protocol/cards.ts'
import type { ChangedFileView } from '../protocol/view-state.ts'

/** Above this many differing lines the exact count costs more than it tells; the regions are counted whole then. */
const MAX_EDIT_LENGTH = 2_000

/** Lines added and removed by one region. */
function countLines(diff: FileDiff): { readonly added: number; readonly removed: number } {
  if (diff.oldText === null) return { added: linesOf(diff.newText), removed: 0 }
  const parts = diffLines(diff.oldText, diff.newText, { maxEditLength: MAX_EDIT_LENGTH })
  if (parts === undefined) return { added: linesOf(diff.newText), removed: linesOf(diff.oldText) }
  let added = 0
  let removed = 0
  for (const part of parts) {
    if (part.added) added += part.count
    if (part.removed) removed += part.count
  }
  return { added, removed }
}

/** Sums per file over the diffs of one turn, in the order in which the files were first touched. */
export class ChangedFiles {
  readonly #files = new Map<string, ChangedFileView>()

  add(diffs: readonly FileDiff[]): void {
    for (const diff of diffs) {
      const { added, removed } = countLines(diff)
      const before = this.#files.get(diff.path)
      this.#files.set(diff.path, { path: diff.path, added: (before?.added ?? 0) + added, removed: (before?.removed ?? 0) + removed })
    }
  }

  /** A change that no card shows. A file that cards tell of has its lines counted there. */
  addFound(path: string, lines: { readonly added: number; readonly removed: number }): void {
    const isKnown = [...this.#files.keys()].some((known) => known === path || path.replaceAll('\\', '/').endsWith(`/${known.replaceAll('\\', '/').replace(/^\.\//, '')}`))
    const before = this.#files.get(path)
    if (!isKnown || before !== undefined) this.#files.set(path, { path, added: (before?.added ?? 0) + lines.added, removed: (before?.removed ?? 0) + lines.removed })
  }

  list(): readonly ChangedFileView[] {
    return [...this.#files.values()]
  }
}

function linesOf(text: string): number {
  if (text === '') return 0
  const ends = text.split('\n').length
  return text.endsWith('\n') ? ends - 1 : ends
}
