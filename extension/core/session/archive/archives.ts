import { HarnessError } from '../../../base/harness-error.ts'

/**
 * `EMPTY`: nothing was said in it yet. `EXPORT_RUNNING`: one export of a session at a time. `TOO_LARGE`: with the size and the cap.
 * `NOT_AN_ARCHIVE`, `UNSUPPORTED_VERSION`, `HOSTILE`, `INVALID_LOG`: why an import was refused; nothing of it is kept then.
 */
export class ArchiveError extends HarnessError<'EMPTY' | 'EXPORT_RUNNING' | 'TOO_LARGE' | 'NOT_AN_ARCHIVE' | 'UNSUPPORTED_VERSION' | 'HOSTILE' | 'INVALID_LOG'> {}

/** What an export will hold. */
export interface ExportPlan {
  /** The session asked for, then what descends from it. */
  readonly sessionIds: readonly string[]
  /** A file name without its ending. */
  readonly name: string
}

export interface ExportOptions {
  /** Known shapes of keys and tokens are masked, and streamed parts left empty. Images stay as they are. */
  readonly isRedacted: boolean
}

/** Sessions as files: out for keeping and sharing, in again from such a file. Source: runtime specification 12.5, 30.16. */
export interface SessionArchives {
  /** Errors: `ArchiveError` `EMPTY`; the store's `SESSION_NOT_FOUND`. */
  plan(sessionId: string): Promise<ExportPlan>
  /**
   * A ZIP of the logs and attachments, flushed first where they are live. Begins when it is read, and ends when the reader stops.
   * Errors, while it is read: `ArchiveError` `EXPORT_RUNNING`, `TOO_LARGE`.
   */
  export(plan: ExportPlan, options: ExportOptions): AsyncIterable<Uint8Array>
  /** The talk of one session for people: what was said and done, without what only programs need. Errors: as `plan`. */
  markdown(sessionId: string, options: ExportOptions): Promise<string>
  /**
   * Store what a ZIP of `export`, or one `events.jsonl`, holds. Nothing of it runs, nothing it was allowed is allowed here, and it works
   * in `cwd`. A session whose id is taken gets a new one. Gives the ids, the session that was asked for first.
   *
   * Errors: `ArchiveError`; nothing is stored then.
   */
  import(bytes: Uint8Array, options: { readonly cwd: string }): Promise<readonly string[]>
}

declare module '../../kernel/plugin.ts' {
  interface Services {
    sessionArchives: SessionArchives
  }
}
