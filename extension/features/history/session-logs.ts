import { isErrorOf, isHarnessError } from '../../base/harness-error.ts'
import { freezeJson, type JsonObject } from '../../base/json.ts'
import type { Clock } from '../../capabilities/clock.ts'
import { EventStoreError, type EventStore } from '../../capabilities/event-store.ts'
import { isChunkRow, rowFromLine, unpackRow } from '../../core/log/chunk-rows.ts'
import type { SessionEvent, SessionHeader } from '../../core/log/event.ts'
import type { EventTypes } from '../../core/log/event-types.ts'
import { parseEvent } from '../../core/log/parse-event.ts'
import { headerFrom } from '../../core/session/load-log.ts'
import { SessionError, type Session, type Sessions } from '../../core/session/session.ts'
import { queryError, SessionQueryError } from './error.ts'

export interface SessionLogsParts {
  readonly events: Pick<EventStore, 'open' | 'describe' | 'list'>
  readonly sessions: Pick<Sessions, 'live' | 'hold'>
  readonly types: Pick<EventTypes, 'get'>
  readonly clock: Pick<Clock, 'schedule'>
}

export interface ReadOptions {
  /** Number of the first event that is wanted. */
  readonly from?: number
  /** Parts of streams are left out without it. */
  readonly hasChunks?: boolean
  /** The host gets its turn for so long between two pieces; 0 by default. */
  readonly pauseMs?: number
  readonly signal?: AbortSignal
}

/** Events of a live session that are made at one go. */
const SLICE = 1_000

/** Sessions read from beginning to end, live or stored, piece by piece, so that the host never waits long. Nothing is written. */
export class SessionLogs {
  readonly #parts: SessionLogsParts

  constructor(parts: SessionLogsParts) {
    this.#parts = parts
  }

  /** The session when this window writes it; what it says is newer than what is stored. */
  live(id: string): Session | undefined {
    const live = this.#parts.sessions.live(id)
    return live?.access === 'write' ? live : undefined
  }

  /** Errors: `SESSION_QUERY_SESSION_NOT_FOUND`, `SESSION_QUERY_CORRUPT_SESSION`, `SESSION_QUERY_PERSISTENCE_FAILED`. */
  async header(id: string): Promise<SessionHeader> {
    const live = this.live(id)
    if (live !== undefined) return live.header
    try {
      const { header } = await this.#parts.events.describe(id)
      if (header === null) throw queryError('SESSION_QUERY_CORRUPT_SESSION')
      return headerFrom(id, header)
    } catch (error) {
      throw readingFailed(error)
    }
  }

  /** The events in order, in pieces; `total` is one more than the number of the last event that was passed, also of those that are left out. Errors: as `header`. */
  async *read(id: string, { from = 0, hasChunks = false, pauseMs = 0, signal }: ReadOptions = {}): AsyncGenerator<{ readonly events: readonly SessionEvent[]; readonly total: number }> {
    const live = this.live(id)
    const pieces = live === undefined ? this.#stored(id) : this.#lived(live, from, hasChunks)
    for await (const { events, total } of pieces) {
      signal?.throwIfAborted()
      yield { events: events.filter((event) => event.seq >= from && (hasChunks || event.type !== 'assistant/chunk')), total }
      await new Promise<void>((resolve) => void this.#parts.clock.schedule(pauseMs, resolve))
    }
    signal?.throwIfAborted()
  }

  async *#lived(session: Session, from: number, hasChunks: boolean): AsyncGenerator<{ readonly events: readonly SessionEvent[]; readonly total: number }> {
    const { length } = session
    if (!hasChunks) {
      const events = session.milestones().filter(({ seq }) => seq >= from && seq < length)
      for (let at = 0; at < events.length; at += SLICE) yield { events: events.slice(at, at + SLICE), total: at + SLICE >= events.length ? length : (events[at + SLICE - 1]?.seq ?? 0) + 1 }
      if (events.length === 0) yield { events: [], total: length }
      return
    }
    for (let at = from; at < length; at += SLICE) yield { events: session.events(at, Math.min(length, at + SLICE)), total: Math.min(length, at + SLICE) }
  }

  async *#stored(id: string): AsyncGenerator<{ readonly events: readonly SessionEvent[]; readonly total: number }> {
    const release = await this.#parts.sessions.hold([id])
    try {
      const file = await this.#parts.events.open(id, 'read-only')
      try {
        headerFrom(id, file.header())
        let total = 0
        for await (const batch of file.read()) {
          const events: SessionEvent[] = []
          for (const line of batch) {
            const found = this.#eventsFrom(line, total)
            // What follows a bad line is no part of the log.
            if (found === null) return yield { events, total }
            events.push(...found.events)
            total = found.total
          }
          yield { events, total }
        }
      } finally {
        await file.close()
      }
    } catch (error) {
      throw readingFailed(error)
    } finally {
      release()
    }
  }

  #eventsFrom(line: JsonObject, seq: number): { readonly events: readonly SessionEvent[]; readonly total: number } | null {
    freezeJson(line)
    if (isChunkRow(line)) {
      const row = rowFromLine(line)
      return row === null || row.seq !== seq ? null : { events: unpackRow(row), total: seq + row.deltas.length }
    }
    const parsed = parseEvent(line, seq, this.#parts.types)
    if (parsed.kind === 'corrupt') return null
    // One that nobody here knows is passed over: it has a number, and nothing that could be found.
    return { events: parsed.kind === 'event' ? [parsed.event] : [], total: seq + 1 }
  }
}

/** What keeps a session from being read, in the words of a query. */
export function readingFailed(error: unknown): unknown {
  if (error instanceof SessionQueryError) return error
  if (isErrorOf(EventStoreError, error, 'SESSION_NOT_FOUND') || isErrorOf(EventStoreError, error, 'INVALID_ID')) return queryError('SESSION_QUERY_SESSION_NOT_FOUND', error)
  if (isErrorOf(EventStoreError, error, 'UNREADABLE') || error instanceof SessionError) return queryError('SESSION_QUERY_CORRUPT_SESSION', error)
  if (isHarnessError(error) || (error instanceof Error && 'syscall' in error)) return queryError('SESSION_QUERY_PERSISTENCE_FAILED', error)
  return error
}
