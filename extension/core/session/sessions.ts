import { isErrorOf } from '../../base/harness-error.ts'
import { snapshotJson, type Json, type JsonObject } from '../../base/json.ts'
import { messageOf } from '../../base/message-of.ts'
import type { Undo } from '../../base/undo.ts'
import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { Clock } from '../../capabilities/clock.ts'
import { EventStoreError, sessionAlreadyExists, sessionBusy, type EventFile, type EventStore, type StoredSession } from '../../capabilities/event-store.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import { everyLayer, type Dispatcher, type Plugin, type ScopeKey } from '../kernel/plugin.ts'
import { commandRepair, repairs } from '../log/crash-repair.ts'
import type { EventDraft, SessionEvent, SessionHeader } from '../log/event.ts'
import { createEventTypes, type EventTypes } from '../log/event-types.ts'
import type { InvariantOptions } from '../log/invariants.ts'
import { builtInProjections } from '../projections/built-in.ts'
import type { Projection } from '../projections/projection.ts'
import { ProjectionRegistry, type SessionFold } from '../projections/registry.ts'
import { sessionListMetadataProjection, type SessionListState } from '../projections/session-list-metadata.ts'
import { canceledInbox } from './inbox.ts'
import { DerivedLog } from './derived-log.ts'
import { keptRow, KeptStates } from './kept-states.ts'
import { LiveSession } from './live-session.ts'
import { eventsFromLines, headerFrom, loadLog } from './load-log.ts'
import { SessionError, type Session, type Sessions, type SessionSummary } from './session.ts'
import { sessionNotLive } from './session-error.ts'
import { acceptedTitle } from './titles.ts'

export interface SessionsParts {
  readonly events: EventStore
  readonly blobs: Pick<BlobStore, 'share'>
  readonly clock: Clock
  readonly machine: Pick<Machine, 'randomId'>
  readonly logger: Logger
  readonly dispatch: Dispatcher
  readonly invariants?: InvariantOptions
  /**
   * How long opening waits for a writer that may just be closing, as the old host of a reloaded window is. Then the session opens
   * for reading. None by default.
   */
  readonly patienceMs?: number
}

/** Offers `eventTypes`, `projections` and `sessions`; closes every session when it goes. */
export function sessionsPlugin(parts: SessionsParts): Plugin {
  return {
    name: 'sessions',
    apply(ctx) {
      const types = createEventTypes()
      const projections = new ProjectionRegistry(parts.logger)
      for (const unit of builtInProjections) ctx.effect(projections.register(unit))
      const sessions = new SessionHost(parts, types, projections)
      ctx.provide('eventTypes', types)
      ctx.provide('projections', projections)
      ctx.provide('sessions', sessions)
      return () => sessions.closeAll()
    },
  }
}

/** Bytes read at each end of a log whose note is missing or old. */
const peekBytes = 65_536
const untitled = 'New session'
/** Forks of forks that are followed back. */
const maxAncestors = 32
/** Between two looks at a writer that may be closing. */
const retryMs = 100

class SessionHost implements Sessions {
  readonly #parts: SessionsParts
  readonly #types: EventTypes
  readonly #projections: ProjectionRegistry
  readonly #live = new Map<string, LiveSession>()
  readonly #opening = new Map<string, Promise<Session>>()
  /** Sessions that are being taken away; none of these rejects. */
  readonly #removing = new Map<string, Promise<void>>()
  /** How many read it just now. */
  readonly #holds = new Map<string, number>()
  readonly #scopes = new Map<string, ScopeKey>()
  /** Of the live forks. */
  readonly #ancestors = new Map<string, readonly string[]>()

  constructor(parts: SessionsParts, types: EventTypes, projections: ProjectionRegistry) {
    this.#parts = parts
    this.#types = types
    this.#projections = projections
  }

  async create(options: Parameters<Sessions['create']>[0]): Promise<Session> {
    const { cwd, id = this.#parts.machine.randomId(), ...facts } = options
    if (!isAbsolute(cwd)) throw new SessionError('INVALID_CWD', `The folder of a session must be an absolute path, not ${JSON.stringify(cwd)}.`)
    return this.#createWith({ version: 0, id, createdAt: this.#parts.clock.now(), cwd, ...facts }, [])
  }

  open(id: string): Promise<Session> {
    const live = this.#live.get(id)
    if (live?.access === 'write') return Promise.resolve(live)
    const opening = this.#opening.get(id) ?? this.#openAnew(id, live, this.#removing.get(id)).finally(() => this.#opening.delete(id))
    this.#opening.set(id, opening)
    return opening
  }

  async readTail(id: string, count: number): Promise<{ readonly header: SessionHeader; readonly events: readonly SessionEvent[] }> {
    const live = this.#live.get(id)
    if (live !== undefined) return { header: live.header, events: live.events(Math.max(0, live.length - count)) }
    const file = await this.#parts.events.open(id, 'read-only')
    try {
      const header = headerFrom(id, file.header())
      return { header, events: eventsFromLines(await file.readTail(count), this.#types, count) }
    } finally {
      await file.close()
    }
  }

  async fork(sourceId: string, options: NonNullable<Parameters<Sessions['fork']>[1]> = {}): Promise<Session> {
    const source = this.#live.get(sourceId)
    if (source === undefined) {
      await this.#parts.events.describe(sourceId)
      throw sessionNotLive(sourceId)
    }
    const { boundary = source.length - 1, childId = this.#parts.machine.randomId(), ending = [], child } = options
    if (!Number.isSafeInteger(boundary) || boundary < 0 || boundary >= source.length)
      throw new SessionError('INVALID_BOUNDARY', `Session ${sourceId} has no event ${boundary} to fork at; its events go from 0 to ${source.length - 1}.`)
    const seed = source.events(0, boundary + 1)
    const lastMark = seed.findLast(({ type }) => type === 'turn/start' || type === 'turn/end')
    if (lastMark?.type === 'turn/start') throw new SessionError('OPEN_TURN', `Event ${boundary} lies inside a turn. Fork at the end of a turn.`)
    const { cwd } = source.header
    const agentPreset = child?.agentPreset ?? source.header.agentPreset
    const header: SessionHeader = {
      version: 0,
      id: childId,
      createdAt: this.#parts.clock.now(),
      ...(cwd === undefined ? {} : { cwd }),
      parentSession: sourceId,
      seedLength: seed.length,
      ...(child && { origin: 'subagent' as const, delegationDepth: child.delegationDepth }),
      ...(agentPreset === undefined ? {} : { agentPreset }),
    }
    const fork = await this.#createWith(header, seed, { ending, afterwards: () => this.#shareBlobs(sourceId, childId) })
    this.#ancestors.set(childId, [sourceId, ...this.ancestors(sourceId)])
    return fork
  }

  /** What its talk refers to. A fork without its images is better than none. */
  async #shareBlobs(from: string, to: string): Promise<void> {
    try {
      await this.#parts.blobs.share(from, to)
    } catch (error) {
      this.#parts.logger.warn('The attachments of a session could not be given to its fork.', { session: to, error: messageOf(error) })
    }
  }

  live(id: string): Session | undefined {
    return this.#live.get(id)
  }

  async adopt(header: SessionHeader, lines: readonly JsonObject[], ending: readonly EventDraft[]): Promise<void> {
    const { id } = header
    if (this.#live.has(id)) throw sessionAlreadyExists(id)
    const file = await this.#parts.events.create(snapshotJson(header, 'header') as JsonObject & { readonly id: string })
    try {
      for (const line of lines) file.append(line)
      await file.close()
      const session = await this.#load(await this.#parts.events.open(id, 'write'))
      await this.#orClose(session, async () => {
        if (session.repair !== undefined) throw new SessionError('INVALID_LOG', `The log is damaged: ${session.repair.reason}.`)
        for (const draft of ending) session.appendQuietly(draft)
      })
      await session.close()
    } catch (error) {
      await this.#discard(id)
      throw error
    }
  }

  ancestors(id: string): readonly string[] {
    return this.#ancestors.get(id) ?? []
  }

  async list(): Promise<readonly SessionSummary[]> {
    const stored = await this.#parts.events.list()
    const closed = await Promise.all(stored.filter(({ id }) => !this.#live.has(id)).map((session) => this.#summaryOf(session)))
    const live = [...this.#live.values()].map((session) => this.#liveSummary(session))
    return [...live, ...closed.filter((summary) => summary !== null)].sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1))
  }

  async rename(id: string, title: string): Promise<void> {
    await this.#note(id, { type: 'session/title', data: { title: acceptedTitle(title), messageSeqs: [], source: { kind: 'user' } } })
  }

  async archive(id: string, isArchived: boolean): Promise<void> {
    await this.#note(id, { type: 'session/archived', data: { isArchived } })
  }

  /** Append one event about the session as a whole, durably. */
  async #note(id: string, draft: EventDraft): Promise<void> {
    const live = this.#live.get(id)
    if (live === undefined) return this.#noteStored(id, draft)
    if (live.writer !== undefined) throw sessionBusy(id, live.writer)
    live.append(draft)
    await live.flush()
  }

  /** Without publishing it: nobody works with a session that only gets a name. */
  async #noteStored(id: string, draft: EventDraft): Promise<void> {
    const release = await this.hold([id])
    try {
      const session = await this.#load(await this.#parts.events.open(id, 'write'))
      await this.#orClose(session, async () => {
        if (session.writer !== undefined) throw sessionBusy(id, session.writer)
        // One that can only be read says why.
        session.appendQuietly(draft)
      })
      await session.close()
    } finally {
      release()
    }
  }

  remove(id: string): Promise<void> {
    return this.#taking(id, async () => {
      // Opened half way it would come up again as a session without files.
      await this.#opening.get(id)?.catch(() => {})
      const live = this.#live.get(id)
      await live?.close()
      try {
        await this.#parts.events.remove(id)
      } catch (error) {
        // A live session that nobody used has left nothing to remove.
        if (live === undefined || !isErrorOf(EventStoreError, error, 'SESSION_NOT_FOUND')) throw error
      }
      this.#parts.dispatch.emit('session/removed', everyLayer, [id])
    })
  }

  async expire(id: string, touchedSince: number): Promise<boolean> {
    const isInUse = () => this.#live.has(id) || this.#opening.has(id) || this.#holds.has(id)
    if (isInUse() || this.#removing.has(id)) return false
    return await this.#taking(id, async () => {
      const summary = await this.#summaryOf(await this.#parts.events.describe(id))
      if (summary === null || summary.isNamed || summary.problem !== undefined || summary.updatedAt >= touchedSince || isInUse()) return false
      await this.#parts.events.remove(id)
      this.#parts.dispatch.emit('session/removed', everyLayer, [id])
      return true
    })
  }

  async hold(ids: readonly string[]): Promise<Undo> {
    for (const id of ids) this.#holds.set(id, (this.#holds.get(id) ?? 0) + 1)
    for (const id of ids) await this.#removing.get(id)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      for (const id of ids) {
        const left = (this.#holds.get(id) ?? 1) - 1
        if (left === 0) this.#holds.delete(id)
        else this.#holds.set(id, left)
      }
    }
  }

  /** Whoever opens the session meanwhile waits for the end of `work`. */
  async #taking<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#removing.get(id) ?? Promise.resolve()
    const result = before.then(work)
    const over = result.then(() => {}, () => {})
    this.#removing.set(id, over)
    try {
      return await result
    } finally {
      if (this.#removing.get(id) === over) this.#removing.delete(id)
    }
  }

  bindScope(id: string, scope: ScopeKey | null): void {
    if (scope === null) this.#scopes.delete(id)
    else this.#scopes.set(id, scope)
  }

  async closeAll(): Promise<void> {
    const outcomes = await Promise.allSettled([...this.#live.values()].map((session) => session.close()))
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected')
    if (failures.length > 0) throw new AggregateError(failures.map(({ reason }) => reason as unknown), 'Some sessions could not be written to the end.')
  }

  async #createWith(header: SessionHeader, seed: readonly SessionEvent[], { ending = [], afterwards }: { readonly ending?: readonly EventDraft[]; readonly afterwards?: () => Promise<void> } = {}): Promise<Session> {
    if (this.#live.has(header.id)) throw sessionAlreadyExists(header.id)
    const frozen = snapshotJson(header, 'header') as unknown as SessionHeader & JsonObject
    const file = await this.#parts.events.create(frozen)
    const { log, fold } = this.#emptyLog(frozen)
    const session = this.#sessionOver({ header: frozen, file, log, fold }, seed.length === 0)
    let isStored = false
    try {
      return await this.#orClose(session, async () => {
        for (const event of seed) {
          log.add(event)
          fold.take(event)
        }
        session.storeSeed(seed)
        // A command that ran in the source when it was forked ends there, not here.
        for (const draft of commandRepair(log.invariants)) session.appendQuietly(draft, log.lastTime)
        // What waits in the source is done there.
        for (const data of canceledInbox(seed)) session.appendQuietly({ type: 'agent/inbox/spliced', data }, log.lastTime)
        for (const draft of ending) session.appendQuietly(draft, log.lastTime)
        endSeed(session, log)
        if (seed.length > 0) await session.flush()
        // From here on the files under this id are this session's own.
        isStored = seed.length > 0
        await afterwards?.()
        this.#publish(session)
      })
    } catch (error) {
      if (isStored) await this.#discard(header.id)
      throw error
    }
  }

  /** Nobody ever saw this session, so nothing of it may come up in the list. */
  async #discard(id: string): Promise<void> {
    try {
      await this.#parts.events.remove(id)
    } catch (error) {
      this.#parts.logger.warn('A session that could not be made left its files.', { session: id, error: messageOf(error) })
    }
  }

  /** `removal`: what was under way when it was asked for; one that comes later waits for the opening. */
  async #openAnew(id: string, stale: LiveSession | undefined, removal: Promise<void> | undefined): Promise<Session> {
    await stale?.close()
    await removal
    const session = await this.#load(await this.#openFile(id))
    return this.#orClose(session, async () => {
      const ancestors = await this.#ancestorsOf(session.header)
      this.#publish(session)
      if (ancestors.length > 0) this.#ancestors.set(id, ancestors)
    })
  }

  async #ancestorsOf(header: SessionHeader): Promise<readonly string[]> {
    const ids: string[] = []
    let parent = seedParent(header)
    while (parent !== undefined && ids.length < maxAncestors && !ids.includes(parent)) {
      const stored = await this.#parts.events.describe(parent).catch(() => null)
      // One that was removed, or cannot be read, ends the line: what it kept is out of reach.
      if (stored?.header == null) break
      ids.push(parent)
      parent = seedParent(headerFrom(parent, stored.header))
    }
    return ids
  }

  async #openFile(id: string): Promise<EventFile> {
    const { clock, events, patienceMs = 0 } = this.#parts
    const deadline = clock.monotonicMs() + patienceMs
    for (;;) {
      const file = await events.open(id, 'write')
      if (file.writer === undefined || clock.monotonicMs() >= deadline) return file
      await file.close()
      await new Promise<void>((resolve) => clock.schedule(retryMs, resolve))
    }
  }

  /** Read, mend and mark; not yet known to anybody. What cannot be mended, because the disk is full say, is given for reading. */
  async #load(file: EventFile): Promise<LiveSession> {
    try {
      return await this.#loadFrom(file)
    } catch (error) {
      if (file.access === 'read-only' || !isErrorOf(EventStoreError, error, 'WRITE_FAILED')) throw error
      return await this.#loadFrom(await this.#parts.events.open(file.id, 'read-only'), error.message)
    }
  }

  async #loadFrom(file: EventFile, obstacle?: string): Promise<LiveSession> {
    const parts = await this.#read(file)
    const { log } = parts
    const session = this.#sessionOver({ ...parts, ...(obstacle !== undefined && { obstacle }) })
    if (file.access === 'read-only') return session
    return this.#orClose(session, async () => {
      const { lastTime } = log
      const drafts = repairs(log.invariants, () => this.#parts.machine.randomId())
      for (const draft of drafts) session.appendQuietly(draft, lastTime)
      if (file.repair !== undefined) session.appendQuietly({ type: 'log/repaired', data: file.repair })
      endSeed(session, log)
      await session.flush()
    })
  }

  async #read(file: EventFile): Promise<StoredParts> {
    try {
      const header = headerFrom(file.id, file.header())
      const { log, fold } = this.#emptyLog(header)
      await loadLog(file, this.#types, log, (item) => fold.take(item))
      return { header, file, log, fold }
    } catch (error) {
      await file.close()
      throw error
    }
  }

  #emptyLog(header: SessionHeader): Pick<StoredParts, 'log' | 'fold'> {
    const log = new DerivedLog(this.#types, this.#parts.invariants)
    return { log, fold: this.#projections.createFold(log, header) }
  }

  /** Do what comes before a session can be given out; when that fails the session is closed. */
  async #orClose(session: LiveSession, prepare: () => Promise<void>): Promise<LiveSession> {
    try {
      await prepare()
      return session
    } catch (error) {
      // What failed first is what the caller has to know; a close that fails too says the same again.
      await session.close().catch(() => {})
      throw error
    }
  }

  #sessionOver(parts: StoredParts, isUnused = false): LiveSession {
    const { clock, logger, dispatch } = this.#parts
    const kept = new KeptStates(sessionListMetadataProjection.key)
    return new LiveSession({
      ...parts,
      isUnused,
      clock,
      logger,
      types: this.#types,
      onEvent: (session, event, changes) => {
        this.#projections.feed(session.id, event.seq, changes)
        dispatch.emit('session/event', this.#scopeOf(session.id), [session, event])
      },
      onMirrored: (session, event, changes) => {
        this.#projections.feed(session.id, event.seq, changes)
        dispatch.emit('session/mirrored', this.#scopeOf(session.id), [session, event])
      },
      onFlush: (session) => dispatch.parallel('session/flush', this.#scopeOf(session.id), [session]),
      note: ({ fold, length }, isLast) => kept.next(fold, { length, now: clock.now(), isLast }),
      onAccessLost: (session) => {
        logger.warn('Another window took a session over.', { session: session.id })
        dispatch.emit('session/access', this.#scopeOf(session.id), [session])
      },
      onClosed: (session) => this.#retract(session),
    })
  }

  /** Make a session known. Errors: what a listener of `session/created` throws. */
  #publish(session: LiveSession): void {
    if (this.#live.has(session.id)) throw sessionAlreadyExists(session.id)
    this.#live.set(session.id, session)
    this.#projections.attach(session.id, session.fold)
    this.#parts.dispatch.emitStrict('session/created', this.#scopeOf(session.id), [session])
  }

  #retract(session: LiveSession): void {
    if (this.#live.get(session.id) !== session) return
    this.#live.delete(session.id)
    this.#parts.dispatch.emit('session/disposed', this.#scopeOf(session.id), [session])
    this.#projections.detach(session.id, session.fold)
    this.#scopes.delete(session.id)
    this.#ancestors.delete(session.id)
  }

  #liveSummary(session: LiveSession): SessionSummary {
    const { id, header } = session
    return { id, ...summaryFacts(header, session.fold.stateOf(sessionListMetadataProjection) ?? sessionListMetadataProjection.start(header)), isLive: true }
  }

  /** Null for one that went meanwhile. */
  async #summaryOf(stored: StoredSession): Promise<SessionSummary | null> {
    const { id, modifiedAt } = stored
    if (stored.header === null) return { id, title: untitled, createdAt: modifiedAt, updatedAt: modifiedAt, isLive: false, isNamed: false, isArchived: false, problem: stored.problem ?? 'Its log cannot be read.' }
    try {
      const header = headerFrom(id, stored.header)
      return { id, ...summaryFacts(header, await this.#storedListState(stored, header)), isLive: false }
    } catch (error) {
      if (isErrorOf(EventStoreError, error, 'SESSION_NOT_FOUND')) return null
      const problem = messageOf(error)
      return { id, title: untitled, createdAt: modifiedAt, updatedAt: modifiedAt, isLive: false, isNamed: false, isArchived: false, problem }
    }
  }

  /** From the note where that is as new as the log, else from the note and both ends of the log. */
  async #storedListState({ id, note, notedAt, modifiedAt }: StoredSession, header: SessionHeader): Promise<SessionListState> {
    const unit = sessionListMetadataProjection
    const row = keptRow(note, unit)
    // Written by this unit under this version.
    const noted = row === null ? unit.start(header) : (row.value as unknown as SessionListState)
    if (row !== null && notedAt !== null && notedAt >= modifiedAt) return noted
    const { head, tail } = await this.#parts.events.peek(id, peekBytes)
    const seen = new Map<number, SessionEvent>()
    for (const event of eventsFromLines([...head, ...tail], this.#types)) seen.set(event.seq, event)
    const fresh = [...seen.values()].filter(({ seq }) => seq > (row?.seq ?? -1)).sort((a, b) => a.seq - b.seq)
    return fresh.reduce((state, event) => unit.step(state, event), noted)
  }

  async valueOf(id: string, key: string): Promise<Json | undefined> {
    const unit = this.#projections.get(key)
    if (unit === undefined) return undefined
    const live = this.#live.get(id)
    if (live !== undefined) return live.projections().values[key]
    const stored = await this.#parts.events.describe(id)
    return (await this.#keptValue(stored, unit)) ?? (await this.#readValue(id, key))
  }

  async keptValueOf(id: string, key: string): Promise<Json | undefined> {
    const unit = this.#projections.get(key)
    if (unit?.isKept !== true) return undefined
    const live = this.#live.get(id)
    if (live !== undefined) return live.projections().values[key]
    const stored = await this.#parts.events.describe(id)
    return keptRow(stored.note, unit) === null ? undefined : ((await this.#keptValue(stored, unit)) ?? (await this.#readValue(id, key)))
  }

  /** From what is kept beside the log and the end of the log behind it; undefined when that leaves a gap. */
  async #keptValue({ id, note, notedAt, modifiedAt }: StoredSession, unit: Projection): Promise<Json | undefined> {
    const row = unit.isKept === true ? keptRow(note, unit) : null
    if (row === null) return undefined
    // At the same moment either may have been first.
    if (notedAt !== null && notedAt > modifiedAt) return unit.view(row.value)
    const { tail } = await this.#parts.events.peek(id, peekBytes)
    const fresh = eventsFromLines(tail, this.#types)
    const first = fresh[0]
    if (first === undefined || first.seq > row.seq + 1) return undefined
    let state: unknown = row.value
    for (const event of fresh) if (event.seq > row.seq && (unit.parts === undefined || event.type !== 'assistant/chunk')) state = unit.step(state, event)
    return unit.view(state)
  }

  async #readValue(id: string, key: string): Promise<Json | undefined> {
    const { fold, file } = await this.#read(await this.#parts.events.open(id, 'read-only'))
    await file.close()
    return fold.snapshot().values[key]
  }

  #scopeOf(id: string): ScopeKey | null {
    return this.#scopes.get(id) ?? null
  }
}

interface StoredParts {
  readonly header: SessionHeader
  readonly file: EventFile
  readonly log: DerivedLog
  readonly fold: SessionFold
}

/** A seed ends with its mark, once. */
function endSeed(session: LiveSession, log: DerivedLog): void {
  if (log.length > 0 && log.lastType !== 'session/end-seed') session.appendQuietly({ type: 'session/end-seed', data: {} })
}

function summaryFacts(header: SessionHeader, state: SessionListState): Omit<SessionSummary, 'id' | 'isLive' | 'problem'> {
  const { createdAt, cwd, parentSession } = header
  const forkedFrom = forkParent(header)
  return {
    title: state.title?.title ?? untitled,
    createdAt,
    updatedAt: state.updatedAt ?? createdAt,
    ...(cwd === undefined ? {} : { cwd }),
    ...(forkedFrom === undefined ? {} : { forkedFrom }),
    ...(header.origin === 'subagent' && parentSession !== undefined ? { startedBy: parentSession } : {}),
    isNamed: state.title?.source.kind === 'user',
    isArchived: state.isArchived,
    ...(state.isTurnOpen && { isTurnOpen: true }),
  }
}

/** The session whose talk this one began with. */
const seedParent = ({ parentSession, seedLength }: SessionHeader): string | undefined => (seedLength === undefined ? undefined : parentSession)

/** The same, of a session that a person forked. */
const forkParent = (header: SessionHeader): string | undefined => (header.origin === 'subagent' ? undefined : seedParent(header))

const isAbsolute = (path: string): boolean => /^(\/|[A-Za-z]:[\\/]|\\\\|[a-z][a-z0-9+.-]*:\/\/)/.test(path)
