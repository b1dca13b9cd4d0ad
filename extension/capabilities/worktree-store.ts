/** Folders for worktrees of children, apart from every work tree of the person, and what is known of each. */
export interface WorktreeStore {
  /** Absolute, links followed as far as it exists; each worktree lies in a folder of its own below it. */
  readonly folder: string
  /** In no order; what cannot be read is left out and stays. */
  list(): Promise<readonly WorktreeRecord[]>
  /** Durable once it resolves. */
  put(record: WorktreeRecord): Promise<void>
  /** A copy of a file for git to work with, gone with the record. Null where there is none. */
  copyIn(id: string, path: string): Promise<string | null>
  /** A path for such a file that is not there yet. */
  scratch(id: string): string
  /** Takes away the folder, the record and the copies. What is not there is no failure. */
  remove(id: string): Promise<void>
}

/** Written before git is asked to make anything, so that nothing is ever left that nobody knows of. */
export interface WorktreeRecord {
  readonly version: 1
  readonly id: string
  /** Of the parent. */
  readonly sessionId: string
  /** Top of the person's work tree. */
  readonly repository: string
  /** The worktree. */
  readonly root: string
  readonly branch: string
}
