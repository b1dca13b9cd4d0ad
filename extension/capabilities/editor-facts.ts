import type { Undo } from '../base/undo.ts'
import { HarnessError } from '../base/harness-error.ts'

/**
 * What the editor knows and a person may point at. Paths are absolute, or URI text for other schemes than `file`.
 *
 * Errors: `EditorFactsError` `NO_EDITOR` of everything but `openFiles`, `excludes` and `onDidChangeFiles` where there is no editor.
 */
export interface EditorFacts {
  /** Null when nothing is selected. */
  selection(): Promise<SelectionFacts | null>
  /** Worst first, then by path and line. */
  problems(): Promise<readonly ProblemFacts[]>
  /** As the language services find them, best first. */
  symbols(query: string, signal: AbortSignal): Promise<readonly SymbolFacts[]>
  /** What is selected in the terminal in front; empty when nothing is. */
  terminalSelection(): Promise<string>
  /** The one in front first, then those seen last. Empty where nobody knows. */
  openFiles(): readonly string[]
  /** Globs of what the editor hides from a search below this folder. */
  excludes(folder: string): readonly string[]
  /** A file came or went. Absent where nobody tells. */
  onDidChangeFiles?(listener: (path: string) => void): Undo
}

export interface SelectionFacts {
  readonly path: string
  readonly languageId: string
  /** 1-based, both ends inclusive. */
  readonly startLine: number
  readonly endLine: number
  readonly text: string
}

export interface ProblemFacts {
  readonly path: string
  /** 1-based. */
  readonly line: number
  readonly severity: 'error' | 'warning' | 'information' | 'hint'
  readonly message: string
  /** Who found it, such as `ts`, and its code. */
  readonly source?: string
}

export interface SymbolFacts {
  readonly name: string
  /** Word of the editor for its kind, such as `function`. */
  readonly kind: string
  readonly path: string
  /** 1-based lines of the whole symbol where that is known, else of its name; both ends inclusive. */
  readonly startLine: number
  readonly endLine: number
}

export class EditorFactsError extends HarnessError<'NO_EDITOR'> {}

const noEditor = (what: string) => Promise.reject(new EditorFactsError('NO_EDITOR', `There is no editor here, so ${what} cannot be known. Name a file instead.`))

/** For a host without an editor. */
export const noEditorFacts: EditorFacts = {
  selection: () => noEditor('a selection'),
  problems: () => noEditor('its problems'),
  symbols: () => noEditor('its symbols'),
  terminalSelection: () => noEditor('the selection of its terminal'),
  openFiles: () => [],
  excludes: () => [],
}
