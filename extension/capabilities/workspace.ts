import type { Undo } from '../base/undo.ts'

/** The folders a session works in, and whether the person trusts them. */
export interface Workspace {
  folders(): readonly WorkspaceFolder[]
  isTrusted(): boolean
  onDidChangeTrust(listener: () => void): Undo
  onDidChangeFolders(listener: () => void): Undo
  /** A file of one of these names came, changed or went below a folder, whoever did it. Absent where nobody watches. */
  onDidChangeFiles?(names: readonly string[], listener: (path: string) => void): Undo
  /** Facts for the runtime context that the editor knows; empty without an editor. */
  snapshot(): Promise<WorkspaceSnapshot>
}

export interface WorkspaceFolder {
  readonly name: string
  /** Absolute path, or URI text for other schemes than `file`. */
  readonly path: string
}

export interface WorkspaceSnapshot {
  readonly activeEditor?: { readonly path: string; readonly languageId: string }
  /** At most 20. */
  readonly openEditors: readonly string[]
  readonly unsavedFiles: readonly string[]
  readonly problems?: { readonly errors: number; readonly warnings: number }
  /** By folder of the window; `detached at …` without a branch. */
  readonly gitBranches?: readonly { readonly folder: string; readonly branch: string }[]
}
