import { freezeJson, type JsonObject } from '../../base/json.ts'
import { EventStoreError, type EventFile } from '../../capabilities/event-store.ts'
import { isChunkRow, isRow, rowFromLine, unpackRow, type ChunkRow } from '../log/chunk-rows.ts'
import type { DerivedLog } from './derived-log.ts'
import type { SessionEvent, SessionHeader } from '../log/event.ts'
import type { EventTypes } from '../log/event-types.ts'
import { unknownEvent, unsupportedVersion } from './session-error.ts'
import { parseEvent } from '../log/parse-event.ts'

/**
 * The header of a stored log.
 *
 * Errors: `SessionError` `UNSUPPORTED_VERSION`; `EventStoreError` `UNREADABLE` when it is no header.
 */
export function headerFrom(id: string, line: JsonObject): SessionHeader {
  if (line['version'] !== 0) throw unsupportedVersion(id, line['version'])
  if (typeof line['createdAt'] !== 'number') throw new EventStoreError('UNREADABLE', `The header of session ${id} has no createdAt. Its file was left as it is.`)
  // The fields that are relied on were checked; the others are read where they are used.
  return freezeJson(line) as unknown as SessionHeader
}

/**
 * Read a log from its first event to its last good one into `log`, and hand each item to `take`. With write access whatever
 * follows a bad line is cut off, its bytes kept.
 *
 * Errors: `SessionError` `UNKNOWN_EVENT`; the file stays as it is then.
 */
export async function loadLog(file: EventFile, types: EventTypes, log: DerivedLog, take?: (item: SessionEvent | ChunkRow) => void): Promise<void> {
  let lines = 0
  for await (const batch of file.read()) {
    for (const line of batch) {
      const item = readItem(line, log, types, file.id)
      if (typeof item === 'string') {
        if (file.access === 'write') await file.cut(lines, `line ${lines + 2}: ${item}`)
        return
      }
      log.addItem(item)
      take?.(item)
      lines++
    }
  }
}

/**
 * Take lines that another window has written into `log`, and hand each event to `take`.
 *
 * Errors: `SessionError` `UNKNOWN_EVENT`; `EventStoreError` `UNREADABLE` for a line that cannot follow what is there.
 */
export function addLines(lines: readonly JsonObject[], { types, log, id, take }: { readonly types: EventTypes; readonly log: DerivedLog; readonly id: string; readonly take: (event: SessionEvent) => void }): void {
  for (const line of lines) {
    const item = readItem(line, log, types, id)
    if (typeof item === 'string') throw new EventStoreError('UNREADABLE', `What another window wrote of session ${id} does not follow: ${item}.`)
    for (const event of isRow(item) ? unpackRow(item) : [item]) {
      log.add(event)
      take(event)
    }
  }
}

/** The events of stored lines that stand anywhere in a log, at most the newest `count`; what cannot be understood is left out. */
export function eventsFromLines(lines: readonly JsonObject[], types: EventTypes, count = Number.POSITIVE_INFINITY): readonly SessionEvent[] {
  const newestFirst: SessionEvent[] = []
  for (const line of lines.toReversed()) {
    if (newestFirst.length >= count) break
    newestFirst.push(...eventsFromLine(line, types).toReversed())
  }
  return newestFirst.slice(0, Math.min(count, newestFirst.length)).toReversed()
}

function eventsFromLine(line: JsonObject, types: EventTypes): readonly SessionEvent[] {
  freezeJson(line)
  if (isChunkRow(line)) {
    const row = rowFromLine(line)
    return row === null ? [] : unpackRow(row)
  }
  const seq = line['seq']
  const parsed = typeof seq === 'number' ? parseEvent(line, seq, types) : null
  return parsed?.kind === 'event' ? [parsed.event] : []
}

/** A stored line as what it holds, or why it cannot follow what is there. */
function readItem(line: JsonObject, log: DerivedLog, types: EventTypes, id: string): SessionEvent | ChunkRow | string {
  freezeJson(line)
  if (isChunkRow(line)) {
    const row = rowFromLine(line)
    if (row === null || row.seq !== log.length) return `it should hold packed chunks from number ${log.length} on`
    return log.rowViolation(row)?.problem ?? row
  }
  const parsed = parseEvent(line, log.length, types)
  if (parsed.kind === 'unknown') throw unknownEvent(id, parsed.type, log.length)
  if (parsed.kind === 'corrupt') return parsed.problem
  return log.violation(parsed.event)?.problem ?? parsed.event
}
