import { isJsonObject, JsonError, snapshotJson, type Json, type JsonObject } from '../../base/json.ts'
import { messageOf } from '../../base/message-of.ts'
import type { Undo } from '../../base/undo.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { EventFile, LogRepair, LogWriter } from '../../capabilities/event-store.ts'
import type { Logger } from '../../capabilities/logger.ts'
import { ChunkPacker, isRow, type ChunkRow } from '../log/chunk-rows.ts'
import type { EventDraft, EventType, SessionEvent, SessionHeader } from '../log/event.ts'
import type { EventTypes } from '../log/event-types.ts'
import { linkProblem, payloadProblem } from '../log/parse-event.ts'
import type { OpenTurn } from '../log/invariants.ts'
import type { Message, UserMessage } from '../log/message.ts'
import { summaryProblem } from '../log/notice.ts'
import type { ProjectionSnapshot } from '../projections/projection.ts'
import type { Changes, SessionFold } from '../projections/registry.ts'
import type { DerivedLog } from './derived-log.ts'
import type { Session, Surface } from './session.ts'
import { addLines } from './load-log.ts'
import { brokenRule, notJson, reentrantAppend, sessionClosed, sessionReadOnly, unknownDraft } from './session-error.ts'

export interface LiveSessionParts {
  readonly header: SessionHeader
  readonly file: EventFile
  readonly log: DerivedLog
  readonly types: EventTypes
  readonly clock: Clock
  readonly logger: Logger
  readonly fold: SessionFold
  /** Nothing is stored of it yet, nor will be before something more than its set-up happens. */
  readonly isUnused: boolean
  /** Why it can only be read, where the file does not know: it could be opened for writing and not be mended. */
  readonly obstacle?: string
  /** Called with each committed event and the projected values it changed. Contains its own failures. */
  readonly onEvent: (session: Session, event: SessionEvent, changes: Changes) => void
  /** Called with each event that another window wrote. Contains its own failures. */
  readonly onMirrored: (session: Session, event: SessionEvent, changes: Changes) => void
  /** Durable work of others that a flush waits for. */
  readonly onFlush: (session: Session) => Promise<void>
  /** What to keep beside the log, the same object while nothing is to be written. `isLast`: nothing will be appended any more. */
  readonly note: (session: LiveSession, isLast: boolean) => JsonObject | null
  readonly onAccessLost: (session: Session) => void
  readonly onClosed: (session: LiveSession) => void
}

/** What was appended reaches the disk after this long, also when nobody asks for a flush. Source: runtime specification 12.1. */
const writeBehindMs = 200

/** Between two looks at a log that another window writes, and how much of it one look takes in. */
const lookMs = 500
const maxLookBytes = 1_000_000

/** A session of this host. An append costs the same however long the log is. Source: runtime specification 11.3. */
export class LiveSession implements Session {
  readonly id: string
  readonly header: SessionHeader
  readonly #parts: LiveSessionParts
  readonly #packer = new ChunkPacker()
  readonly #undoLeaseWatch: Undo
  /** What waits for the first event that is more than set-up; null once that came. */
  #setUp: (SessionEvent | ChunkRow)[] | null
  #isAppending = false
  #hasLostAccess = false
  #closing: Promise<void> | null = null
  #cancelWriteBehind: Undo | null = null
  #followers = 0
  #cancelLook: Undo | null = null
  #keptNote: JsonObject | null = null

  constructor(parts: LiveSessionParts) {
    this.#parts = parts
    this.id = parts.header.id
    this.header = parts.header
    this.#setUp = parts.isUnused ? [] : null
    this.#undoLeaseWatch = parts.file.onLeaseLost(() => this.#loseAccess())
  }

  get access(): 'write' | 'read-only' {
    return this.#hasLostAccess ? 'read-only' : this.#parts.file.access
  }

  get writer(): LogWriter | undefined {
    return this.#parts.file.writer
  }

  get obstacle(): string | undefined {
    return this.#parts.obstacle ?? this.#parts.file.obstacle
  }

  get repair(): LogRepair | undefined {
    return this.#parts.file.repair
  }

  get length(): number {
    return this.#parts.log.length
  }

  get fold(): SessionFold {
    return this.#parts.fold
  }

  append<T extends EventType>(draft: EventDraft<T>): SessionEvent<T> {
    // One of the drafts of the union, which the compiler cannot see through T; the event has the draft's type.
    const anyDraft = draft as unknown as EventDraft
    return this.#commit(anyDraft, this.#parts.clock.now(), (event, changes) => this.#parts.onEvent(this, event, changes)) as SessionEvent<T>
  }

  /** Append without telling anybody, before the session is published: what mends it, or marks the end of its seed. */
  appendQuietly(draft: EventDraft, time = this.#parts.clock.now()): void {
    this.#commit(draft, time, () => {})
  }

  /** Store what a new log begins with. The derived state holds it already. */
  storeSeed(items: readonly (SessionEvent | ChunkRow)[]): void {
    for (const item of items) this.#store(item)
  }

  async flush(): Promise<void> {
    const { file, onFlush } = this.#parts
    if (this.#hasLostAccess) throw sessionReadOnly(this.id)
    if (file.access === 'read-only') return
    this.#cancelWriteBehind?.()
    this.#cancelWriteBehind = null
    this.#keep(this.#packer.takeRest())
    await Promise.all([file.flush(), onFlush(this)])
  }

  events(from = 0, to = this.length): readonly SessionEvent[] {
    return this.#parts.log.list.slice(from, to)
  }

  milestones(): readonly SessionEvent[] {
    return this.#parts.log.list.milestones()
  }

  messages(): readonly Message[] {
    return this.#parts.log.surface.messages
  }

  surface(): Surface {
    return this.#parts.log.surface.surface
  }

  openTurn(): OpenTurn | null {
    return this.#parts.log.invariants.openTurn
  }

  projections(): ProjectionSnapshot {
    return this.#parts.fold.snapshot()
  }

  follow(): Undo {
    if (this.access === 'write' || this.#parts.file.writer === undefined) return () => {}
    this.#followers += 1
    if (this.#followers === 1) this.#lookAgain()
    let isFollowing = true
    return () => {
      if (!isFollowing) return
      isFollowing = false
      this.#followers -= 1
      if (this.#followers === 0) this.#cancelLook?.()
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  #lookAgain(): void {
    this.#cancelLook = this.#parts.clock.schedule(lookMs, () => void this.#look())
  }

  /** What was written since the last look. A log that cannot be followed stays as it is here until the session is opened anew. */
  async #look(): Promise<void> {
    const { file, fold, log, logger, onMirrored, types } = this.#parts
    try {
      const lines = await file.readMore(maxLookBytes)
      if (this.#closing !== null) return
      addLines(lines, { types, log, id: this.id, take: (event) => onMirrored(this, event, fold.step(event)) })
    } catch (error) {
      logger.warn('A session that another window writes cannot be followed any more.', { session: this.id, error: messageOf(error) })
      return
    }
    if (this.#followers > 0 && this.#closing === null) this.#lookAgain()
  }

  #commit(draft: EventDraft, time: number, tell: (event: SessionEvent, changes: Changes) => void): SessionEvent {
    if (this.#closing !== null) throw sessionClosed(this.id)
    if (this.access === 'read-only') throw sessionReadOnly(this.id, this.obstacle)
    if (this.#isAppending) throw reentrantAppend(draft.type)
    this.#isAppending = true
    try {
      const event = this.#eventFrom(draft, time)
      this.#parts.log.add(event)
      const changes = this.#parts.fold.step(event)
      this.#keep(this.#packer.add(event))
      this.#cancelWriteBehind ??= this.#parts.clock.schedule(writeBehindMs, () => void this.#writeBehind())
      tell(event, changes)
      return event
    } finally {
      this.#isAppending = false
    }
  }

  /** The frozen event that `draft` becomes, checked against everything. */
  #eventFrom(draft: EventDraft, time: number): SessionEvent {
    const { types, log } = this.#parts
    const { type, data, ignorable, surfaceOp, sourceEventSeqs } = draft
    const rules = types.get(type)
    if (rules === undefined && ignorable !== true) throw unknownDraft(type)
    const seq = log.length
    const fields: Record<string, Json> = { type, seq, time, data: snapshot(data, 'data') }
    if (ignorable === true || rules?.isIgnorable === true) fields['ignorable'] = true
    if (surfaceOp !== undefined) fields['surfaceOp'] = snapshot(surfaceOp, 'surfaceOp')
    if (sourceEventSeqs !== undefined) fields['sourceEventSeqs'] = snapshot(sourceEventSeqs, 'sourceEventSeqs')
    const problem = isJsonObject(fields['data'])
      ? (linkProblem(fields['surfaceOp'], fields['sourceEventSeqs'], seq) ?? (rules === undefined ? null : payloadProblem(fields, rules)))
      : 'its data is no object'
    if (problem !== null) throw brokenRule('envelope', type, problem)
    // The parts were copied from a draft of this type and checked.
    const event = Object.freeze(fields) as unknown as SessionEvent
    const tooLong = messagesIn(event).map(summaryProblem).find((found) => found !== null)
    if (tooLong !== undefined) throw brokenRule('envelope', type, tooLong)
    const violation = log.violation(event)
    if (violation !== null) throw brokenRule(violation.rule, type, violation.problem)
    return event
  }

  /** Hand complete lines to the store, and hold packed runs packed. */
  #keep(lines: readonly (SessionEvent | ChunkRow)[]): void {
    for (const line of lines) {
      this.#store(line)
      if (isRow(line)) this.#parts.log.list.pack(line)
    }
  }

  #store(line: SessionEvent | ChunkRow): void {
    if (this.#setUp !== null) {
      this.#setUp.push(line)
      if (this.#parts.types.get(line.type)?.isSetUp === true) return
      const waiting = this.#setUp
      this.#setUp = null
      for (const kept of waiting) this.#store(kept)
      return
    }
    // Events and rows are lossless JSON, which their interfaces cannot say.
    this.#parts.file.append(line as unknown as JsonObject)
  }

  async #writeBehind(): Promise<void> {
    this.#cancelWriteBehind = null
    try {
      await this.flush()
    } catch (error) {
      // The next flush that somebody waits for fails with the same error.
      this.#parts.logger.error('A session could not be written.', { session: this.id, error: messageOf(error) })
      return
    }
    if (this.#parts.note(this, false) !== this.#keptNote) await this.#keepNote(false)
  }

  async #keepNote(isLast: boolean): Promise<void> {
    const note = this.#parts.note(this, isLast)
    if (note === null || this.access === 'read-only' || this.length === 0) return
    this.#keptNote = note
    await this.#parts.file.putNote(note)
  }

  async #close(): Promise<void> {
    // Appends are refused from here on, by `#closing`.
    await Promise.resolve()
    const { file, onClosed } = this.#parts
    try {
      if (this.access === 'write') await this.flush()
      // Also when nothing changed: a note that is newer than the log spares the list a look into it.
      await this.#keepNote(true)
    } finally {
      this.#cancelWriteBehind?.()
      this.#cancelLook?.()
      this.#undoLeaseWatch()
      try {
        await file.close()
      } finally {
        onClosed(this)
      }
    }
  }

  #loseAccess(): void {
    if (this.#hasLostAccess) return
    this.#hasLostAccess = true
    this.#cancelWriteBehind?.()
    this.#cancelWriteBehind = null
    this.#parts.onAccessLost(this)
  }
}

/** What a writer puts in for a model, now or later. */
function messagesIn(event: SessionEvent): readonly UserMessage[] {
  if (event.type === 'user/message') return [event.data]
  return event.type === 'agent/inbox/spliced' ? event.data.inserted : []
}

function snapshot(value: unknown, root: string): Json {
  try {
    return snapshotJson(value, root)
  } catch (error) {
    if (error instanceof JsonError) throw notJson(error)
    throw error
  }
}
