import { HarnessError } from '../base/harness-error.ts'
import type { JsonObject } from '../base/json.ts'
import type { Undo } from '../base/undo.ts'

/**
 * Durable home of sessions: one folder a session with `events.jsonl`, `attachments/`, `spill/`, `before/`.
 *
 * Knows lines, not meanings: the header line and event lines are JSON objects that the log room understands.
 * Source: design 6.3, runtime specification 12.1.
 */
export interface EventStore {
  /**
   * Nothing touches the disk until the first flush after an append, so a session nobody used leaves no folder.
   * Errors: `SESSION_ALREADY_EXISTS`; `INVALID_ID`.
   */
  create(header: JsonObject & { readonly id: string }): Promise<EventFile>
  /**
   * Open an existing session.
   *
   * Errors: `SESSION_NOT_FOUND`; `UNREADABLE` with the reason when the header cannot be understood (the bytes stay untouched).
   * A lease held by a live writer does not fail: the file opens with `access: 'read-only'` and says who writes. Nor does a disk that
   * is full or cannot be written: the file opens with `access: 'read-only'` and an `obstacle`.
   */
  open(id: string, access: 'write' | 'read-only'): Promise<EventFile>
  /** Every session, in no order, without reading logs: header, facts of the file, note. */
  list(): Promise<readonly StoredSession[]>
  /** The same for one. Errors: `SESSION_NOT_FOUND`. */
  describe(id: string): Promise<StoredSession>
  /** Whole lines from both ends of a log, at most `maxBytes` of it read at each; `head` without the header. Errors: `SESSION_NOT_FOUND`. */
  peek(id: string, maxBytes: number): Promise<{ readonly head: readonly JsonObject[]; readonly tail: readonly JsonObject[] }>
  /** The stored log as it is, torn tail and all, piece by piece. Errors: `SESSION_NOT_FOUND`, when it is read. */
  bytes(id: string): AsyncIterable<Uint8Array>
  /** Remove a session with all its files. Errors: `SESSION_NOT_FOUND`; `SESSION_BUSY` while a live writer holds it. */
  remove(id: string): Promise<void>
}

export interface StoredSession {
  readonly id: string
  /** Of the log file: epoch ms and bytes. */
  readonly modifiedAt: number
  readonly size: number
  /** The header as stored, or why it cannot be read. A broken session is listed, never hidden. */
  readonly header: JsonObject | null
  readonly problem?: string
  /** What `putNote` kept; null when there is none or it cannot be read. */
  readonly note: JsonObject | null
  /** When the note was kept, epoch ms; null without one. A log that is newer may hold more. */
  readonly notedAt: number | null
}

export interface EventFile {
  readonly id: string
  readonly folder: string
  readonly access: 'write' | 'read-only'
  /** Who holds the lease when it is not us. */
  readonly writer?: LogWriter
  /** In words for the person: why it was opened for reading only though it was to be written and nobody else writes it. */
  readonly obstacle?: string
  /** The last tail that was cut off, once `read` has met it or `cut` was called: its bytes stand in the file `keptAs`. */
  readonly repair?: LogRepair
  header(): JsonObject
  /**
   * Every stored line after the header in batches, oldest first; to be read through before the first append.
   * Errors: `SESSION_NOT_FOUND` when it was removed since it was opened.
   * A line that is no JSON object ends the log. With write access that tail is cut off, its bytes kept beside the log.
   */
  read(): AsyncIterable<readonly JsonObject[]>
  /** The newest `count` lines, oldest first, without reading the rest of the file. */
  readTail(count: number): Promise<readonly JsonObject[]>
  /**
   * The whole lines that another window has written since they were last read, at most about `maxBytes` of them; the rest comes with
   * the next call. Only behind a `read` that came to its end. Errors: `SESSION_NOT_FOUND` when it was removed; `UNREADABLE` when what
   * was read is not there any more, as after a repair, or is no log.
   */
  readMore(maxBytes: number): Promise<readonly JsonObject[]>
  /** Keep the first `lines` lines after the header and move what follows into a file beside the log, durably. Before the first append. */
  cut(lines: number, reason: string): Promise<void>
  /** Queue one line, which must not change any more; it reaches the file in order. Never throws: a failure shows in `flush`. */
  append(line: JsonObject): void
  /** Resolves when every line appended so far is on the disk (fsync, group commit). Errors: `WRITE_FAILED`, for good: later calls fail too. */
  flush(): Promise<void>
  /** Keep a small derived object beside the log for `list`. Whole or not at all, not durable, may be deleted any time; a failure costs nothing. */
  putNote(note: JsonObject): Promise<void>
  /** Flush, give the lease back, close. Errors: as `flush`; the lease is given back all the same. */
  close(): Promise<void>
  /** Another window took the lease over; no line is written any more. */
  onLeaseLost(listener: () => void): Undo
}

export interface LogWriter {
  readonly pid: number
  readonly host: string
  /** Epoch ms. */
  readonly since: number
}

export interface LogRepair {
  readonly cutBytes: number
  readonly keptAs: string
  readonly reason: string
}

export type EventStoreErrorCode =
  | 'SESSION_NOT_FOUND'
  | 'SESSION_ALREADY_EXISTS'
  | 'SESSION_BUSY'
  | 'INVALID_ID'
  | 'UNREADABLE'
  | 'WRITE_FAILED'

export class EventStoreError extends HarnessError<EventStoreErrorCode> {}

export const sessionNotFound = (id: string) =>
  new EventStoreError('SESSION_NOT_FOUND', `There is no session ${JSON.stringify(id)}. List the sessions to see which there are.`)

export const sessionAlreadyExists = (id: string) =>
  new EventStoreError('SESSION_ALREADY_EXISTS', `A session ${JSON.stringify(id)} is there already. Open it, or create one under another id.`)

export const sessionBusy = (id: string, writer: LogWriter) =>
  new EventStoreError(
    'SESSION_BUSY',
    `Session ${id} is open for writing in another window (process ${writer.pid} on ${writer.host}). Close it there, then try again.`,
  )

/** An id names a folder: letters, digits, dot, dash and underscore, at most 128, starting with a letter or digit. */
export function checkSessionId(id: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id)) return
  throw new EventStoreError(
    'INVALID_ID',
    `${JSON.stringify(id)} cannot be a session id. Use 1 to 128 letters, digits, dots, dashes and underscores, starting with a letter or digit.`,
  )
}
