import type { Undo } from '../base/undo.ts'

/** Where a plan under review stands in the editor: a document that the person changes in place and writes comments to, and the sign of plan mode. */
export interface PlanSurface {
  /**
   * Show the document of that name; what it holds is asked for and given back through the content of the name, as of a file.
   * `isQuiet`: beside what is open, and the focus stays where it is. Else the person asked: with its preview beside it.
   */
  open(document: { readonly name: string; readonly comments: readonly ShownComment[]; readonly isQuiet: boolean }): Promise<void>
  /** What the person typed in it and did not save is saved. Nothing when it is not open. Errors: the failure of saving. */
  settle(name: string): Promise<void>
  /** Close its editors; the person is done with it. */
  close(name: string): Promise<void>
  /** The documents that wait for a decision, which their editors offer. */
  setWaiting(names: readonly string[]): void
  /** The sign of plan mode; null takes it away. */
  showMode(mode: { readonly text: string; readonly tooltip: string } | null): void
  /** The person wrote or deleted comments: all of the document. */
  onDidComment(listener: (name: string, comments: readonly ShownComment[]) => void): Undo
}

/** `line` is 1-based; `quote` is how it reads. */
export interface ShownComment {
  readonly id: string
  readonly line: number
  readonly quote: string
  readonly text: string
}
