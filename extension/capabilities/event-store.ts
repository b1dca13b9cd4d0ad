import { HarnessError } from '../base/harness-error.ts'
import type { JsonObject } from '../base/json.ts'

/**
 * Durable home of sessions: one folder a session with `events.jsonl`, `attachments/`, `spill/`, `before/`.
 *
 * Knows lines, not meanings: the header line and event lines are JSON objects that the log room understands.
 * Source: design 6.3, runtime specification 12.1.
 */
export interface EventStore {
  /** Nothing touches the disk until the first append, so a session nobody used leaves no folder. */
  create(header: JsonObject & { readonly id: string }): Promise<EventFile>
  /**
   * Open an existing session.
   *
   * Errors: `SESSION_NOT_FOUND`; `UNREADABLE` with the reason when the header cannot be understood (the bytes stay untouched).
   * A lease held by a live writer does not fail: the file opens with `access: 'read-only'` and says who writes.
   */
  open(id: string, access: 'write' | 'read-only'): Promise<EventFile>
  list(): Promise<readonly StoredSession[]>
  /** Remove a session with all its files. Errors: `SESSION_BUSY` while a live writer holds it. */
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
}

export interface EventFile {
  readonly id: string
  readonly folder: string
  readonly access: 'write' | 'read-only'
  /** Who holds the lease when it is not us. */
  readonly writer?: { readonly pid: number; readonly host: string; readonly since: number }
  /** The tail that was cut on opening: kept bytes stand in `keptAs`. */
  readonly repair?: { readonly cutBytes: number; readonly keptAs: string; readonly reason: string }
  header(): JsonObject
  /** Every stored line after the header, oldest first. */
  read(): AsyncIterable<JsonObject>
  /** The newest `count` lines, oldest first, without reading the rest of the file. */
  readTail(count: number): Promise<readonly JsonObject[]>
  /** Queue one line; it reaches the file in order. Never throws: a failure shows in `flush`. */
  append(line: JsonObject): void
  /** Resolves when every line appended so far is on the disk (fsync, group commit). Errors: `WRITE_FAILED`, for good: later calls fail too. */
  flush(): Promise<void>
  /** Flush, give the lease back, close. */
  close(): Promise<void>
  /** Another window took the lease over; no line is written any more. */
  onLeaseLost(listener: () => void): () => void
}

export type EventStoreErrorCode = 'SESSION_NOT_FOUND' | 'SESSION_ALREADY_EXISTS' | 'SESSION_BUSY' | 'UNREADABLE' | 'WRITE_FAILED'

export class EventStoreError extends HarnessError<EventStoreErrorCode> {}
