import { isErrorOf } from '../../base/harness-error.ts'
import { orAbort } from '../../base/or-abort.ts'
import type { Undo } from '../../base/undo.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { EventStore, StoredSession } from '../../capabilities/event-store.ts'
import type { Logger } from '../../capabilities/logger.ts'
import { SearchIndexError, type IndexedSession, type SearchIndex, type SearchIndexHost } from '../../capabilities/search-index.ts'
import type { EventTypes } from '../../core/log/event-types.ts'
import type { Session } from '../../core/session/session.ts'
import { queryError } from './error.ts'
import { IndexBatch } from './index-batch.ts'
import { EventReader, SurfaceNumbers } from './searchable.ts'
import type { SessionLogs } from './session-logs.ts'

export interface IndexerParts {
  readonly host: SearchIndexHost
  readonly logs: SessionLogs
  readonly events: Pick<EventStore, 'list'>
  readonly types: Pick<EventTypes, 'get'>
  readonly clock: Pick<Clock, 'schedule' | 'monotonicMs'>
  readonly logger: Logger
  readonly isEnabled: () => boolean
}

/** What a search stands on. */
export interface ReadyIndex {
  readonly index: SearchIndex
  /** Stored sessions as last listed. */
  readonly stored: ReadonlyMap<string, StoredSession>
  /** Their logs say more than the index, which this window may not write, or cannot. */
  readonly stale: ReadonlySet<string>
  /** Sessions that are still to be read; 0 when it is whole. */
  readonly remaining: number
}

/** Nobody waits for it: the first look comes once the application has long been up. */
const FIRST_LOOK_MS = 15_000
const NEXT_LOOK_MS = 60_000
/** What happens in open sessions is gathered for so long. */
const GATHER_MS = 3_000
/** Sessions of other windows are looked for again when the last look is so old. */
const FRESH_MS = 2_000
/** Between two pieces of a log while nobody waits, so that the host is busy with it a small part of the time. */
const IDLE_PAUSE_MS = 10
/** Somebody who types waits so long for the index to be brought up to date. */
const PATIENCE_MS = 250
/**
 * Keeps the index up with the logs, behind them and in batches: with stored sessions, with open ones, and with those that were removed.
 * The log is the truth: what the index says otherwise is read again.
 */
export class SessionIndexer {
  readonly #parts: IndexerParts
  readonly #life = new AbortController()
  /** Open sessions with events that the index may not have. */
  readonly #dirty = new Set<string>()
  #opening: Promise<SearchIndex> | null = null
  /** One thing after the other is written. */
  #work: Promise<unknown> = Promise.resolve()
  #looking: Promise<void> | null = null
  #lookedAt = -Infinity
  #stored: ReadonlyMap<string, StoredSession> = new Map()
  #stale = new Set<string>()
  /** Sessions that an index in memory had no room for, as they were then. */
  readonly #letGo = new Map<string, string>()
  #remaining = 0
  #waiters = 0
  #cancelLook: Undo = () => {}
  #cancelGather: Undo | null = null
  #isFollowing = false

  constructor(parts: IndexerParts) {
    this.#parts = parts
  }

  /** Follow what happens by itself, where the host wants that. */
  start(): void {
    if (this.#parts.host.isKeptUp) this.#lookIn(FIRST_LOOK_MS)
  }

  note(session: Session): void {
    this.#dirty.add(session.id)
    if (!this.#isFollowing || this.#life.signal.aborted) return
    this.#cancelGather ??= this.#parts.clock.schedule(GATHER_MS, () => {
      this.#cancelGather = null
      this.#quietly(() => this.#takeDirty())
    })
  }

  /** Sessions came or went without this window writing them: the next search looks again. */
  invalidate(): void {
    this.#lookedAt = -Infinity
  }

  /**
   * The index as new as it gets. `waits` false: as far as it is by now, while it is being made.
   *
   * Errors: `SESSION_QUERY_SEARCH_DISABLED`; `SearchIndexError`; what the store says; the signal's reason.
   */
  async ready(signal: AbortSignal, { waits }: { readonly waits: boolean }): Promise<ReadyIndex> {
    if (!this.#parts.isEnabled()) throw queryError('SESSION_QUERY_SEARCH_DISABLED')
    signal.throwIfAborted()
    this.#waiters += 1
    try {
      const fresh = this.#freshened()
      const isFresh = waits ? await orAbort(fresh.then(() => true), signal) : await orAbort(Promise.race([this.#toldFailures(fresh), this.#moment()]), signal)
      return { index: await this.#index(), stored: this.#stored, stale: this.#stale, remaining: isFresh ? 0 : Math.max(1, this.#remaining) }
    } finally {
      this.#waiters -= 1
    }
  }

  async dispose(): Promise<void> {
    this.#life.abort(new Error('The application ends.'))
    this.#cancelLook()
    this.#cancelGather?.()
    await this.#work.catch(() => {})
    await this.#looking?.catch(() => {})
    const index = await this.#opening?.catch(() => null)
    await index?.close()
  }

  /** What fails is told, and tried again with the next search. */
  async #toldFailures(fresh: Promise<void>): Promise<true> {
    await fresh.catch((error: unknown) => this.#parts.logger.warn('The index of sessions could not be brought up to date.', { error: String(error) }))
    return true
  }

  #moment(): Promise<false> {
    return new Promise((resolve) => void this.#parts.clock.schedule(PATIENCE_MS, () => resolve(false)))
  }

  async #freshened(): Promise<void> {
    try {
      await this.#brought()
    } catch (error) {
      if (!(error instanceof SearchIndexError) || error.code === 'FOREIGN_DATABASE') throw error
      // One that turned out to be broken is gone by now, and made anew.
      this.#lookedAt = -Infinity
      await this.#brought().catch((again: unknown) => this.#readOnly(again))
    }
  }

  /** An index that cannot be written, on a full disk say, is still searched; what it lacks is searched in the logs. Errors: those of an index that cannot be read either. */
  async #readOnly(error: unknown): Promise<void> {
    if (!isErrorOf(SearchIndexError, error, 'INDEX_FAILED')) throw error
    const held = new Map((await (await this.#index()).sessions()).map((session) => [session.id, session.stamp]))
    const lacking = [...this.#stored.values()].filter((session) => session.header !== null && this.#parts.logs.live(session.id) === undefined && held.get(session.id) !== stampOf(session))
    this.#stale = new Set([...lacking.map(({ id }) => id), ...this.#dirty])
    this.#remaining = 0
    this.#lookedAt = this.#parts.clock.monotonicMs()
    this.#parts.logger.warn('The index of sessions could not be written; what it lacks is searched in the logs.', { error: String(error) })
  }

  async #brought(): Promise<void> {
    if (this.#parts.clock.monotonicMs() - this.#lookedAt > FRESH_MS || this.#looking !== null) await this.#look()
    await this.#takeDirty()
  }

  #index(): Promise<SearchIndex> {
    if (this.#opening === null) {
      const opening = this.#parts.host.open()
      this.#opening = opening
      opening.catch(() => (this.#opening = null))
    }
    return this.#opening
  }

  #lookIn(delayMs: number): void {
    this.#cancelLook = this.#parts.clock.schedule(delayMs, () => {
      this.#isFollowing = true
      this.#quietly(async () => {
        await this.#look()
        await this.#takeDirty()
      })
      this.#lookIn(NEXT_LOOK_MS)
    })
  }

  #quietly(work: () => Promise<void>): void {
    if (!this.#parts.isEnabled()) return
    work().catch((error: unknown) => {
      if (!this.#life.signal.aborted) this.#parts.logger.warn('The index of sessions could not be brought up to date.', { error: String(error) })
    })
  }

  /** Look at all stored sessions once, whoever asks for it at the same time. */
  #look(): Promise<void> {
    this.#looking ??= this.#inTurn(() => this.#lookNow()).finally(() => (this.#looking = null))
    return this.#looking
  }

  async #lookNow(): Promise<void> {
    const startedAt = this.#parts.clock.monotonicMs()
    const index = await this.#index()
    const role = await index.claim()
    const [held, listed] = await Promise.all([index.sessions(), this.#parts.events.list()])
    const byId = new Map(held.map((session) => [session.id, session]))
    this.#stored = new Map(listed.map((session) => [session.id, session]))
    const behind = listed.filter((session) => session.header !== null && this.#parts.logs.live(session.id) === undefined && byId.get(session.id)?.stamp !== stampOf(session))
    // What did not fit is not read again and again: it is searched in its log.
    const changed = behind.filter((session) => this.#letGo.get(session.id) !== stampOf(session))
    // One that is open here and not in it, because it was made anew, is read with what happens next.
    for (const { id } of listed) if (!byId.has(id) && this.#parts.logs.live(id) !== undefined) this.#dirty.add(id)
    if (role === 'reader') {
      this.#stale = new Set(behind.map(({ id }) => id))
      this.#remaining = 0
    } else {
      const gone = held.filter(({ id }) => !this.#stored.has(id) && this.#parts.logs.live(id) === undefined)
      if (gone.length > 0) await index.write(gone.map(({ id }) => ({ kind: 'forget', id })))
      // The newest first; where not all fit, those that come last stay.
      const direction = index.engine === 'memory' ? 1 : -1
      await this.#takeAll(index, changed.sort((a, b) => direction * (a.modifiedAt - b.modifiedAt)), byId)
      await this.#noteMissing(index, behind)
    }
    this.#lookedAt = startedAt
  }

  async #takeAll(index: SearchIndex, changed: readonly StoredSession[], held: ReadonlyMap<string, IndexedSession>): Promise<void> {
    const left = new Set(changed.map(({ id }) => id))
    const batch = new IndexBatch(index)
    this.#stale = new Set()
    for (const session of changed) {
      this.#remaining = left.size
      if (!(await this.#takeSession(batch, session.id, held.get(session.id), stampOf(session)))) this.#stale.add(session.id)
      left.delete(session.id)
    }
    await batch.finish()
    this.#remaining = 0
  }

  async #noteMissing(index: SearchIndex, behind: readonly StoredSession[]): Promise<void> {
    const held = new Set((await index.sessions()).map(({ id }) => id))
    for (const session of behind) {
      if (held.has(session.id)) continue
      this.#stale.add(session.id)
      this.#letGo.set(session.id, stampOf(session))
    }
  }

  #takeDirty(): Promise<void> {
    if (this.#dirty.size === 0) return this.#work.then(() => {})
    return this.#inTurn(async () => {
      const index = await this.#index()
      if ((await index.claim()) === 'reader') {
        for (const id of this.#dirty) this.#stale.add(id)
        return
      }
      const held = new Map((await index.sessions()).map((session) => [session.id, session]))
      const taken = [...this.#dirty]
      this.#dirty.clear()
      try {
        const batch = new IndexBatch(index)
        for (const id of taken) {
          // One that was closed meanwhile is read from its log by the next look.
          if (this.#parts.logs.live(id) === undefined) this.invalidate()
          else if (await this.#takeSession(batch, id, held.get(id), '')) this.#stale.delete(id)
          else this.#stale.add(id)
        }
        await batch.finish()
      } catch (error) {
        for (const id of taken) this.#dirty.add(id)
        throw error
      }
    })
  }

  /** False when its log cannot be read now. Errors: those of the index. */
  async #takeSession(batch: IndexBatch, id: string, held: IndexedSession | undefined, stamp: string): Promise<boolean> {
    try {
      const live = this.#parts.logs.live(id)
      // What could still be lost with a crash is not said to be there.
      await live?.flush()
      if (await this.#readOn(batch, id, { from: held?.nextSeq ?? 0, stamp: live === undefined ? stamp : '', live })) return true
      batch.forget(id)
      return await this.#readOn(batch, id, { from: 0, stamp: live === undefined ? stamp : '', live })
    } catch (error) {
      batch.drop()
      if (error instanceof SearchIndexError || this.#life.signal.aborted) throw error
      this.#parts.logger.warn('A session could not be read for the index.', { session: id, error: String(error) })
      return false
    }
  }

  /** False when the session has to be read from its beginning, because what is there is not the beginning of its log, or would have to be known. */
  async #readOn(batch: IndexBatch, id: string, { from, stamp, live }: { readonly from: number; readonly stamp: string; readonly live: Session | undefined }): Promise<boolean> {
    const reader = new EventReader(this.#parts.types)
    const surface = from === 0 ? new SurfaceNumbers() : null
    let end = from === 0 ? 0 : -1
    for await (const { events, total } of this.#parts.logs.read(id, { from, pauseMs: this.#waiters > 0 ? 0 : IDLE_PAUSE_MS, signal: this.#life.signal })) {
      for (const event of events) {
        const isReplacing = event.surfaceOp !== undefined && event.surfaceOp !== 'append'
        if (isReplacing && surface === null && live === undefined) {
          batch.drop()
          return false
        }
        const indexed = reader.read(event)
        if (indexed !== null) batch.add(indexed)
        const gone = surface === null ? (isReplacing ? offSurface(live, event.sourceEventSeqs) : []) : surface.take(event)
        if (gone !== null && gone.length > 0) batch.shadow(id, gone, event.seq + 1)
      }
      end = total
      if (batch.isFull) {
        batch.end(id, total, '')
        await batch.send()
      }
    }
    if (end < from) {
      batch.drop()
      return false
    }
    batch.end(id, end, stamp)
    return true
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#work.catch(() => {}).then(() => {
      this.#life.signal.throwIfAborted()
      return work()
    })
    this.#work = next.catch(() => {})
    return next
  }
}

/** Of those that a replacement names, the ones that the model no longer sees: it names all that it replaces, and may name others. */
function offSurface(live: Session | undefined, named: readonly number[] = []): readonly number[] {
  const current = new Set(live?.surface().nodes.map(({ seq }) => seq))
  return named.filter((seq) => !current.has(seq))
}

const stampOf = ({ modifiedAt, size }: Pick<StoredSession, 'modifiedAt' | 'size'>): string => `${size}@${modifiedAt}`

