/** Which files below a folder change, for a caller that looks from time to time. Nothing is watched before somebody asks. */
export interface ChangeWatch {
  /** Watch below `folder` from now on. Resolves once every change is noticed. Whoever begins looks for themselves: what one takes is there for the others too. */
  begin(folder: string, options: { readonly isIgnored: IsIgnored; readonly signal: AbortSignal }): Promise<WatchedFolder | WatchRefusal>
  /** Stop watching everything. */
  dispose(): void
}

/** Which of these paths are of no interest, such as those that git ignores. Asked for what was not there before. */
export type IsIgnored = (paths: readonly string[]) => Promise<ReadonlySet<string>>

export interface WatchedFolder {
  readonly kind: 'watched'
  /** Files that were there when it began, or came since and were taken. Absolute. */
  files(): Iterable<string>
  /** What came, changed or went since the last call, folders left out. `isWhole` false: there was more than is told. */
  take(): Promise<{ readonly changes: readonly WatchedChange[]; readonly isWhole: boolean }>
  /** Nothing is noticed from then on. */
  close(): void
}

export interface WatchedChange {
  readonly path: string
  /** It was there at the last call. */
  readonly wasThere: boolean
}

/** It is too large to watch, or the system does not let. */
export interface WatchRefusal {
  readonly kind: 'refused'
  readonly reason: 'too-many-folders' | 'too-many-files' | 'unavailable'
  readonly detail: string
}
