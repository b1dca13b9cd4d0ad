import { thrownText } from '../../base/thrown-text.ts'
import { isErrorOf, isHarnessError } from '../../base/harness-error.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { EventStore, StoredSession } from '../../capabilities/event-store.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Logger } from '../../capabilities/logger.ts'
import { hitOf } from '../../capabilities/search-hit.ts'
import { compareHits, SearchIndexError, type IndexHit, type IndexQuery } from '../../capabilities/search-index.ts'
import type { SessionEvent, SessionHeader } from '../../core/log/event.ts'
import type { EventTypes } from '../../core/log/event-types.ts'
import { redacted } from '../../core/policy/redact-secrets.ts'
import { sessionListMetadataProjection, type SessionListMetadata } from '../../core/projections/session-list-metadata.ts'
import type { Session, Sessions } from '../../core/session/session.ts'
import { queryError, SessionQueryError, type SessionQueryErrorCode } from './error.ts'
import { EventLinks } from './event-links.ts'
import { checkList, eventFilters, phraseFrom, timeRange, type EventFilters } from './filters.ts'
import type { ReadyIndex, SessionIndexer } from './indexer.ts'
import { EventReader, searchableText, SurfaceNumbers } from './searchable.ts'
import { readingFailed, type SessionLogs } from './session-logs.ts'
import { SessionTree } from './session-tree.ts'
import { historyLimits } from './limits.ts'
import type {
  AskedPlace,
  Availability,
  Caller,
  EventPlace,
  EventsFound,
  EventSearch,
  EventTrace,
  EventWindow,
  Findings,
  History,
  Lineage,
  LineageBranch,
  LineageNode,
  Neighbour,
  Parent,
  SessionSearch,
  SessionsFound,
  Title,
} from './service.ts'
import { WorkspaceIdentity } from './workspace-identity.ts'

export interface HistoryParts {
  readonly indexer: SessionIndexer
  readonly logs: SessionLogs
  readonly events: Pick<EventStore, 'list'>
  readonly sessions: Pick<Sessions, 'valueOf'>
  /** Sessions that are open here. */
  readonly live: () => Iterable<Session>
  readonly types: Pick<EventTypes, 'get'>
  readonly files: Pick<FileSystem, 'resolve' | 'stat' | 'readText'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Who may see which sessions. */
interface Reach {
  may(header: SessionHeader): Promise<boolean>
}
const everything: Reach = { may: async () => true }

/** Hits of one page of the index. */
const PAGE = 100

export class SessionHistory implements History {
  readonly limits = historyLimits
  readonly #parts: HistoryParts
  readonly #identity: WorkspaceIdentity
  readonly #known = new Map<string, { readonly stamp: string; readonly metadata: SessionListMetadata | undefined }>()

  constructor(parts: HistoryParts) {
    this.#parts = parts
    this.#identity = new WorkspaceIdentity({ files: parts.files, now: () => parts.clock.now() })
  }

  searchSessions(asking: Caller, search: SessionSearch, signal: AbortSignal): Promise<SessionsFound> {
    return this.#query(signal, async () => {
      const caller = known(asking)
      const filters = eventFilters(search)
      const created = timeRange(search.createdFrom, search.createdTo)
      for (const list of [search.sessionIds, search.parentSessionIds, search.availability]) checkList(list)
      if (caller.header.cwd === undefined) throw queryError('SESSION_QUERY_TOOL_UNAUTHORIZED')
      const reach = this.#reachOf(caller)
      const parents = search.parentSessionIds === undefined ? undefined : await this.#seen(search.parentSessionIds, reach)
      const nothing: SessionsFound = { sessions: [], isCapped: false }
      if (parents !== undefined && parents.size === 0 && search.includeRootSessions !== true) return nothing
      const ready = await this.#parts.indexer.ready(signal, { waits: true })
      const tree = this.#tree(ready.stored.values())
      const asked: string[] = []
      for (const header of tree.all()) {
        const { id, parentSession, createdAt } = header
        if (id === caller.id || search.sessionIds?.includes(id) === false) continue
        if (search.availability?.includes(this.#availability(id)) === false) continue
        if (created !== undefined && (createdAt < (created.from ?? -Infinity) || createdAt > (created.to ?? Infinity))) continue
        if (!isOfParents(parentSession, parents, search.includeRootSessions === true)) continue
        if (await reach.may(header)) asked.push(id)
      }
      if (asked.length === 0) return nothing
      const found = await this.#collect(ready, { ...filters, sessions: asked, per: 'session' }, signal, async (hit) => {
        // The session may have changed hands since it was listed.
        const header = await this.#headerOrNull(hit.sessionId)
        return header !== null && (await reach.may(header)) ? header : null
      })
      const sessions = await Promise.all(
        found.slice(0, historyLimits.results).map(async ({ hit, passed: header }) => ({
          id: header.id,
          title: await this.#titleOf(header.id, ready.stored.get(header.id)),
          createdAt: header.createdAt,
          parent: await this.#parentOf(header, tree, reach),
          availability: this.#availability(header.id),
          best: hit,
        })),
      )
      return { sessions, isCapped: found.length > historyLimits.results }
    })
  }

  searchEvents(asking: Caller, search: EventSearch, signal: AbortSignal): Promise<EventsFound> {
    return this.#query(signal, async () => {
      const caller = known(asking)
      const filters = eventFilters(search)
      const { sessionId = caller.id } = search
      const isOwn = sessionId === caller.id
      if (!isOwn) await this.#authorised(sessionId, this.#reachOf(caller))
      const end = isOwn ? currentStep(caller) : Infinity
      const title = await this.#titleOf(sessionId)
      // What the call itself says is in the step that makes it.
      const to = Math.min(filters.seq?.to ?? Infinity, end - 1)
      if ((filters.seq?.from ?? 0) > to) return { title, hits: [], isCapped: false }
      const ready = await this.#parts.indexer.ready(signal, { waits: true })
      const seq = Number.isFinite(to) ? { ...filters.seq, to } : filters.seq
      const found = await this.#collect(ready, { ...filters, ...(seq && { seq }), sessions: [sessionId], per: 'event' }, signal, async () => true as const)
      if (!isOwn) await this.#authorised(sessionId, this.#reachOf(caller))
      return { title, hits: found.slice(0, historyLimits.results).map(({ hit }) => hit), isCapped: found.length > historyLimits.results }
    })
  }

  trace(asking: Caller, sessionId: string | undefined, signal: AbortSignal): Promise<Lineage> {
    return this.#query(signal, () => {
      const caller = known(asking)
      const id = sessionId ?? caller.id
      return this.#lineage(id, caller.id === id ? caller.header : null, this.#reachOf(caller))
    })
  }

  traceEvent(asking: Caller, { sessionId: named, seq }: AskedPlace, signal: AbortSignal): Promise<EventTrace> {
    return this.#query(signal, async () => {
      const caller = known(asking)
      const sessionId = named ?? caller.id
      checkWindow(seq, 0, 0)
      await this.#authorised(sessionId, this.#reachOf(caller))
      const links = new EventLinks(seq)
      for await (const { events } of this.#parts.logs.read(sessionId, { hasChunks: true, signal })) for (const event of events) links.take(event)
      const trace = links.trace()
      if (trace === null) throw queryError('SESSION_QUERY_EVENT_NOT_FOUND')
      return trace
    })
  }

  readEvent(asking: Caller, { sessionId: named, seq, before, after }: Parameters<History['readEvent']>[1], signal: AbortSignal): Promise<EventWindow> {
    return this.#query(signal, async () => {
      const caller = known(asking)
      const sessionId = named ?? caller.id
      checkWindow(seq, before, after)
      await this.#authorised(sessionId, this.#reachOf(caller))
      const window = await this.#window({ sessionId, seq, before, after }, signal)
      return { ...window, event: withoutSecrets(window.event) }
    })
  }

  find(typed: string, { per, limit }: { readonly per: 'event' | 'session'; readonly limit: number }, signal: AbortSignal): Promise<Findings> {
    return this.#query(signal, async () => {
      const phrase = phraseFrom(typed)
      const ready = await this.#parts.indexer.ready(signal, { waits: false })
      const tree = this.#tree(ready.stored.values())
      const found = await this.#collect(ready, { phrase, mode: 'prefix', sessions: tree.all().map(({ id }) => id), per }, signal, (hit) => this.#headerOrNull(hit.sessionId), limit)
      const hits = await Promise.all(
        found.slice(0, limit).map(async ({ hit }) => {
          const stored = ready.stored.get(hit.sessionId)
          const title = await this.#titleOf(hit.sessionId, stored)
          const metadata = await this.#metadata(hit.sessionId, stored).catch(() => undefined)
          const header = tree.header(hit.sessionId)
          return { ...hit, title: 'title' in title ? title.title : '', cwd: header?.cwd ?? null, updatedAt: metadata?.updatedAt ?? header?.createdAt ?? hit.time }
        }),
      )
      return { hits, remaining: ready.remaining }
    })
  }

  lineageOf(sessionId: string, signal: AbortSignal): Promise<Lineage> {
    return this.#query(signal, () => this.#lineage(sessionId, null, everything))
  }

  eventAt(place: EventPlace, signal: AbortSignal): ReturnType<History['eventAt']> {
    return this.#query(signal, async () => {
      const { event } = await this.#window({ ...place, before: 0, after: 0 }, signal)
      return { event, json: withoutSecrets(event), text: searchableText(event, this.#parts.types) }
    })
  }

  // Who may see what

  #reachOf({ id, header: { cwd } }: Session): Reach {
    return {
      may: async (other) => {
        if (other.id === id) return true
        if (cwd === undefined || other.cwd === undefined) return false
        return cwd === other.cwd || (await this.#identity.of(cwd)) === (await this.#identity.of(other.cwd))
      },
    }
  }

  /** Errors: `SESSION_QUERY_TOOL_UNAUTHORIZED`, the same for a session of another workspace and for one that is not there. */
  async #authorised(id: string, reach: Reach): Promise<SessionHeader> {
    const header = await this.#parts.logs.header(id).catch((error: unknown) => {
      if (isErrorOf(SessionQueryError, error, 'SESSION_QUERY_PERSISTENCE_FAILED')) throw error
      throw queryError('SESSION_QUERY_TOOL_UNAUTHORIZED', error)
    })
    if (!(await reach.may(header))) throw queryError('SESSION_QUERY_TOOL_UNAUTHORIZED')
    return header
  }

  async #seen(ids: readonly string[], reach: Reach): Promise<ReadonlySet<string>> {
    const seen = new Set<string>()
    for (const id of ids) {
      const header = await this.#headerOrNull(id)
      if (header !== null && (await reach.may(header))) seen.add(id)
    }
    return seen
  }

  /** Null for one that is gone, or cannot be read. */
  async #headerOrNull(id: string): Promise<SessionHeader | null> {
    try {
      return await this.#parts.logs.header(id)
    } catch (error) {
      if (isErrorOf(SessionQueryError, error, 'SESSION_QUERY_SESSION_NOT_FOUND') || isErrorOf(SessionQueryError, error, 'SESSION_QUERY_CORRUPT_SESSION')) return null
      throw error
    }
  }

  // Searching

  /** Hits that pass, best first, one more than `max` where there are so many. */
  async #collect<T>(ready: ReadyIndex, question: Omit<IndexQuery, 'limit' | 'cursor'>, signal: AbortSignal, pass: (hit: IndexHit) => Promise<T | null>, max = historyLimits.results): Promise<readonly { readonly hit: IndexHit; readonly passed: T }[]> {
    const behind = question.sessions.filter((id) => ready.stale.has(id))
    const sessions = behind.length === 0 ? question.sessions : question.sessions.filter((id) => !ready.stale.has(id))
    const found: { readonly hit: IndexHit; readonly passed: T }[] = []
    const take = async (hits: readonly IndexHit[]) => {
      const passed = await Promise.all(hits.map(async (hit) => ({ hit, passed: await pass(hit) })))
      // What the filter says was just tested.
      found.push(...(passed.filter(({ passed: one }) => one !== null) as { readonly hit: IndexHit; readonly passed: T }[]))
    }
    for (let cursor: string | null | undefined; cursor !== null && found.length <= max; ) {
      signal.throwIfAborted()
      const page = await ready.index.search({ ...question, sessions, limit: Math.min(PAGE, max) + 1, ...(cursor !== undefined && { cursor }) })
      signal.throwIfAborted()
      await take(page.hits)
      cursor = page.cursor
    }
    if (behind.length === 0) return found
    await take(await this.#scan(behind, question, signal))
    return found.sort((a, b) => compareHits(a.hit, b.hit))
  }

  /** The same question put to the logs themselves. */
  async #scan(ids: readonly string[], question: EventFilters & Pick<IndexQuery, 'per'>, signal: AbortSignal): Promise<readonly IndexHit[]> {
    const { surfaces, per, ...filters } = question
    const hits: IndexHit[] = []
    for (const id of ids) {
      const reader = new EventReader(this.#parts.types)
      const surface = new SurfaceNumbers()
      const gone = new Set<number>()
      const found: IndexHit[] = []
      for await (const { events } of this.#parts.logs.read(id, { signal })) {
        for (const event of events) {
          for (const seq of surface.take(event) ?? []) gone.add(seq)
          const indexed = reader.read(event)
          const hit = indexed === null ? null : hitOf(id, indexed, filters)
          if (hit !== null) found.push(hit)
        }
      }
      const told = found.map((hit) => (gone.has(hit.seq) ? { ...hit, surface: 'shadowed' as const } : hit)).filter((hit) => surfaces?.includes(hit.surface) !== false)
      hits.push(...(per === 'event' ? told : told.toSorted(compareHits).slice(0, 1)))
    }
    return hits
  }

  // Reading

  async #window({ sessionId, seq, before, after }: EventPlace & { readonly before: number; readonly after: number }, signal: AbortSignal): Promise<Omit<EventWindow, 'event'> & { readonly event: SessionEvent }> {
    const from = Math.max(0, seq - before)
    const near: SessionEvent[] = []
    for await (const { events, total } of this.#parts.logs.read(sessionId, { from, hasChunks: true, signal })) {
      near.push(...events.filter((event) => event.seq <= seq + after))
      if (total > seq + after) break
    }
    const event = near.find((one) => one.seq === seq)
    if (event === undefined) throw queryError('SESSION_QUERY_EVENT_NOT_FOUND')
    const neighbour = (one: SessionEvent): Neighbour => ({ seq: one.seq, type: one.type, time: one.time, text: searchableText(one, this.#parts.types) })
    return { event, before: near.filter((one) => one.seq < seq).map(neighbour), after: near.filter((one) => one.seq > seq).map(neighbour) }
  }

  async #lineage(id: string, known: SessionHeader | null, reach: Reach): Promise<Lineage> {
    const header = known ?? (await this.#authorised(id, reach))
    const stored = await this.#parts.events.list().catch((error: unknown) => {
      throw readingFailed(error)
    })
    const tree = this.#tree(stored)
    const node = async (one: SessionHeader): Promise<LineageNode> => ({ id: one.id, title: await this.#titleOf(one.id), createdAt: one.createdAt })
    const ancestors: (LineageNode | 'outside')[] = []
    for (const ancestor of tree.ancestors(id)) {
      const at = tree.header(ancestor)
      const mayBeSeen = at !== undefined && (await reach.may(at))
      ancestors.push(mayBeSeen ? await node(at) : 'outside')
      if (!mayBeSeen) break
    }
    let told = 0
    const branches = async (parent: string, path: readonly string[]): Promise<{ readonly children: readonly LineageBranch[]; readonly outsideChildren: number }> => {
      const children: LineageBranch[] = []
      let outsideChildren = 0
      for (const child of tree.children(parent)) {
        if (path.includes(child)) throw queryError('SESSION_QUERY_INVALID_LINEAGE')
        const at = tree.header(child)
        if (at === undefined || !(await reach.may(at))) outsideChildren += 1
        else if (told < historyLimits.lineage) {
          told += 1
          children.push({ ...(await node(at)), ...(await branches(child, [...path, child])) })
        } else told += 1
      }
      return { children, outsideChildren }
    }
    const { children: descendants, outsideChildren } = await branches(id, [id])
    return { ...(await node(header)), availability: this.#availability(id), ancestors, descendants, outsideChildren, isCapped: told > historyLimits.lineage }
  }

  async #parentOf({ parentSession }: SessionHeader, tree: SessionTree, reach: Reach): Promise<Parent> {
    if (parentSession === undefined) return { kind: 'root' }
    const header = tree.header(parentSession)
    return header !== undefined && (await reach.may(header)) ? { kind: 'session', id: parentSession } : { kind: 'outside' }
  }

  #tree(stored: Iterable<StoredSession>): SessionTree {
    return new SessionTree(stored, [...this.#parts.live()].map(({ header }) => header))
  }

  #availability(id: string): Availability {
    return this.#parts.logs.live(id) === undefined ? 'persisted' : 'live'
  }

  /** One title that cannot be read does not take the answer with it. */
  async #titleOf(id: string, stored?: StoredSession): Promise<Title> {
    try {
      const title = (await this.#metadata(id, stored))?.title ?? null
      return title === null ? { title: 'New session' } : { title }
    } catch (error) {
      const failure = readingFailed(error)
      return { problem: failure instanceof SessionQueryError ? failure.code : 'SESSION_QUERY_TOOL_FAILED' }
    }
  }

  /** Of a stored session that did not change since, it is read once. */
  async #metadata(id: string, stored?: StoredSession): Promise<SessionListMetadata | undefined> {
    const stamp = stored === undefined || this.#parts.logs.live(id) !== undefined ? null : `${stored.size}@${stored.modifiedAt}`
    const known = this.#known.get(id)
    if (known !== undefined && stamp !== null && known.stamp === stamp) return known.metadata
    // What the projection of this key says.
    const metadata = (await this.#parts.sessions.valueOf(id, sessionListMetadataProjection.key)) as unknown as SessionListMetadata | undefined
    if (stamp !== null) this.#known.set(id, { stamp, metadata })
    return metadata
  }

  /** What is told of a failure is fixed for its kind; what it was goes to the log. */
  async #query<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    try {
      const answer = await work()
      signal.throwIfAborted()
      return answer
    } catch (error) {
      if (signal.aborted) throw signal.reason
      const failure = error instanceof SessionQueryError ? error : queryError(codeOf(error), error)
      if (failure.cause !== undefined) this.#parts.logger.warn('A query of sessions failed.', { code: failure.code, cause: thrownText(failure.cause) })
      throw failure
    }
  }
}

const indexCodes: Readonly<Record<SearchIndexError['code'], SessionQueryErrorCode>> = {
  STALE_CURSOR: 'SESSION_QUERY_STALE_CURSOR',
  INVALID_CURSOR: 'SESSION_QUERY_INVALID_CURSOR',
  INDEX_FAILED: 'SESSION_QUERY_INDEX_FAILED',
  FOREIGN_DATABASE: 'SESSION_QUERY_INDEX_FAILED',
  NOT_OWNER: 'SESSION_QUERY_INDEX_FAILED',
}

function codeOf(error: unknown): SessionQueryErrorCode {
  if (error instanceof SearchIndexError) return indexCodes[error.code]
  return isHarnessError(error) || (error instanceof Error && 'syscall' in error) ? 'SESSION_QUERY_PERSISTENCE_FAILED' : 'SESSION_QUERY_TOOL_FAILED'
}

function isOfParents(parent: string | undefined, parents: ReadonlySet<string> | undefined, withRoots: boolean): boolean {
  if (parents === undefined) return !withRoots || parent === undefined
  return parent === undefined ? withRoots : parents.has(parent)
}

/** Errors: `SESSION_QUERY_TOOL_MISSING_AGENT`. */
function known(caller: Caller): Session {
  if (caller === undefined) throw queryError('SESSION_QUERY_TOOL_MISSING_AGENT')
  return caller
}

// Committed events are lossless JSON, which their interfaces cannot say, and stay objects.
const withoutSecrets = (event: SessionEvent): JsonObject => redacted(event as unknown as Json) as JsonObject

/** Number of the event that began the open step. Errors: `SESSION_QUERY_TOOL_NO_CURRENT_STEP`. */
function currentStep(session: Session): number {
  const last = session.milestones().findLast(({ type }) => type === 'step/start' || type === 'step/end' || type === 'turn/end')
  if (last?.type !== 'step/start') throw queryError('SESSION_QUERY_TOOL_NO_CURRENT_STEP')
  return last.seq
}

/** Errors: `SESSION_QUERY_INVALID_WINDOW`. */
function checkWindow(seq: number, before: number, after: number): void {
  const isRight = Number.isSafeInteger(seq) && seq >= 0 && [before, after].every((count) => Number.isSafeInteger(count) && count >= 0 && count <= historyLimits.neighbours)
  if (!isRight) throw queryError('SESSION_QUERY_INVALID_WINDOW')
}
