/** Small signs of ours at files and folders, in the explorer and on tabs. */
export interface FileMarks {
  /** All there are now; they take the place of those before. None costs the editor nothing. */
  set(marks: readonly FileMark[]): void
}

export interface FileMark {
  /** Absolute; a folder's mark stands at all that lies in it. */
  readonly path: string
  /** One or two characters. */
  readonly badge: string
  readonly tooltip: string
}
