import type { FileTarget, FileVersion, TextReplacement } from './file-system.ts'

/** Notebooks that the person has open in the editor: their cells are the truth then, saved or not. */
export interface Notebooks {
  /** Null when the file is not open as a notebook. */
  find(target: FileTarget): Promise<OpenNotebook | null>
}

export interface OpenNotebook {
  readonly cells: readonly NotebookCell[]
  /** Of the file as it is stored, with the sources of its cells as they are where they hold unsaved changes. */
  readonly version: FileVersion
  readonly isDirty: boolean
  /**
   * Change sources of cells, outputs and metadata staying as they are, as an undo step of each cell; saved when it was saved before.
   *
   * Errors: `FileError` `FS_STALE_VERSION` when a cell changed meanwhile, `FS_READONLY`, `FS_IO_ERROR` when it cannot be saved: nothing is changed then.
   */
  editCells(change: { readonly cells: readonly CellEdit[]; readonly label: string; readonly signal?: AbortSignal }): Promise<NotebookOutcome>
}

export interface CellEdit {
  /** From 0. */
  readonly index: number
  /** The source that the replacements were made for. */
  readonly source: string
  readonly replacements: readonly TextReplacement[]
}

export interface NotebookOutcome {
  readonly cells: readonly NotebookCell[]
  readonly version: FileVersion
  /** Not saved, because it had unsaved changes of the person. */
  readonly isUnsaved: boolean
}

export interface NotebookCell {
  readonly id: string | null
  readonly kind: 'code' | 'markdown' | 'raw'
  readonly language: string | null
  readonly source: string
  readonly outputs: readonly NotebookOutput[]
}

export interface NotebookOutput {
  /** `stdout`, `stderr`, `error`, or the media type of what is shown. */
  readonly name: string
  /** Null for what is no text, such as a picture. */
  readonly text: string | null
  /** UTF-16 units of the output as it is stored. */
  readonly chars: number
}

/** Media types whose text says the most, in this order. */
const READABLE: readonly string[] = ['text/plain', 'text/markdown', 'text/html', 'application/json', 'text/latex']

/** What is shown of the forms in which one output is given: the one that reads best, and pictures by name; all by name where none can be read. */
export function readableForms<T extends { readonly mediaType: string }>(forms: readonly T[]): readonly { readonly form: T; readonly isText: boolean }[] {
  const shown = READABLE.find((type) => forms.some(({ mediaType }) => mediaType === type))
  return forms
    .filter(({ mediaType }) => mediaType === shown || mediaType.startsWith('image/') || shown === undefined)
    .map((form) => ({ form, isText: form.mediaType === shown }))
}
