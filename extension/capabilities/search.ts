import { HarnessError } from '../base/harness-error.ts'

/** Bytes of what is found that one search holds before it is refused as too wide. */
export const MAX_SEARCH_BYTES = 20_000_000

/** Find files and lines. Providers: ripgrep under Node, with unsaved buffers laid over it in the editor, where files of virtual folders are read for it. */
export interface Search {
  /** Regular files below `root` whose path matches `glob`. Never follows links, never enters version-control folders. */
  files(query: FileQuery): Promise<FileHits>
  text(query: TextQuery): Promise<TextHits>
  /** Tell every file below a folder while it is found, in no order. Resolves at the end. Errors: `SearchError`. */
  list(query: ListQuery): Promise<void>
}

export interface ListQuery {
  /** Absolute folder. Hidden files are told, what ignore files hide is not; links and version-control folders are not entered. */
  readonly root: string
  /** Globs of files and folders to leave out, as the editor's settings spell them. One that cannot be understood leaves nothing out. */
  readonly excludes: readonly string[]
  /** Paths below the root with forward slashes. */
  readonly onPaths: (paths: readonly string[]) => void
  readonly signal: AbortSignal
}

export interface FileQuery {
  /** Absolute folder. */
  readonly root: string
  readonly glob: string
  /** Also what ignore files hide. */
  readonly includeIgnored: boolean
  readonly sort: 'newest' | 'path'
  readonly signal: AbortSignal
}

export interface FileHits {
  /** Absolute paths in the order asked for, complete. */
  readonly paths: readonly string[]
  /** Names that are not valid UTF-8 and cannot be named to a model. */
  readonly skippedNames: number
  /** With `sort: 'newest'`: when each path was changed last, so that the hits of several roots can be put in one order. Epoch ms. */
  readonly modifiedAt?: readonly number[]
  /** Why the list is not complete, for instance a folder that is no disk's and larger than what is looked at. */
  readonly notes?: readonly string[]
}

export interface TextQuery {
  /** Absolute file or folder. */
  readonly root: string
  /** Rust regular expression. */
  readonly pattern: string
  /** One positive glob for file names. */
  readonly include?: string
  readonly ignoreCase: boolean
  readonly multiline: boolean
  readonly includeIgnored: boolean
  /** Lines of context on each side. */
  readonly contextLines: number
  /** ripgrep's file type name, such as `ts`. */
  readonly type?: string
  readonly signal: AbortSignal
}

export interface TextHits {
  /** Sorted by path, then line. Complete. `line` has no line end; `isContext` marks lines around a match. */
  readonly matches: readonly TextMatch[]
  readonly skippedNames: number
  /** Paths whose unsaved buffer was searched in the place of the disk. */
  readonly overlaidPaths: readonly string[]
  /** Why the result is not ripgrep's own, for instance a pattern that only the disk search understood. */
  readonly notes: readonly string[]
}

export interface TextMatch {
  readonly path: string
  /** 1-based. */
  readonly lineNumber: number
  /** Null when the line is not valid UTF-8. */
  readonly line: string | null
  readonly isContext: boolean
  /** Where the first match begins in the line: 1-based, UTF-16 units. Absent for context, and lines that a match only goes on in. */
  readonly column?: number
}

export type SearchErrorCode = 'SEARCH_INVALID_PATTERN' | 'SEARCH_FAILED' | 'SEARCH_RAW_OUTPUT_OVERFLOW' | 'SEARCH_ABORTED'

export class SearchError extends HarnessError<SearchErrorCode> {}
