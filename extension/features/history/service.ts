import type { JsonObject } from '../../base/json.ts'
import type { MatchMode } from '../../base/search-words.ts'
import type { EventSurface, IndexHit } from '../../capabilities/search-index.ts'
import type { SessionEvent } from '../../core/log/event.ts'
import type { Session } from '../../core/session/session.ts'

/** Sessions searched and read, within what the asking session may see. Nothing is written. Source: agent specification 9 and 12.15. */
export interface History {
  /**
   * The best event of each other session of the workspace.
   *
   * Errors: `SessionQueryError`, without a caller too; the signal's reason, once started work has ended. So with all of these.
   */
  searchSessions(caller: Caller, search: SessionSearch, signal: AbortSignal): Promise<SessionsFound>
  searchEvents(caller: Caller, search: EventSearch, signal: AbortSignal): Promise<EventsFound>
  trace(caller: Caller, sessionId: string | undefined, signal: AbortSignal): Promise<Lineage>
  traceEvent(caller: Caller, place: AskedPlace, signal: AbortSignal): Promise<EventTrace>
  /** Errors: also `SESSION_QUERY_INVALID_WINDOW`. */
  readEvent(caller: Caller, place: AskedPlace & { readonly before: number; readonly after: number }, signal: AbortSignal): Promise<EventWindow>
  readonly limits: HistoryLimits

  /** For the person, who may see all of it: the best hits for what was typed so far, as far as the index goes by now. */
  find(typed: string, options: { readonly per: 'event' | 'session'; readonly limit: number }, signal: AbortSignal): Promise<Findings>
  /** For the person. */
  lineageOf(sessionId: string, signal: AbortSignal): Promise<Lineage>
  /** For the person: the event as it is stored, with the text it is found by. */
  eventAt(place: EventPlace, signal: AbortSignal): Promise<{ readonly event: SessionEvent; readonly json: JsonObject; readonly text: string }>
}

/** The session that asks; none outside a session, which is refused. */
export type Caller = Session | undefined

/** Without an id the session that asks. */
export interface AskedPlace {
  readonly sessionId?: string | undefined
  readonly seq: number
}

export interface HistoryLimits {
  /** Sessions, or events of one, that a search gives. */
  readonly results: number
  /** Events on either side of one that is read. */
  readonly neighbours: number
  readonly queryChars: number
  /** Sessions of a lineage that are told. */
  readonly lineage: number
}

export interface EventPlace {
  readonly sessionId: string
  readonly seq: number
}

interface SharedFilters {
  readonly query: string
  readonly mode?: MatchMode | undefined
  readonly eventTypes?: readonly string[] | undefined
  readonly surfaces?: readonly EventSurface[] | undefined
  readonly seqFrom?: number | undefined
  readonly seqTo?: number | undefined
  /** ISO 8601 with a zone. */
  readonly timeFrom?: string | undefined
  readonly timeTo?: string | undefined
  readonly files?: readonly string[] | undefined
  readonly symbols?: readonly string[] | undefined
}

export interface SessionSearch extends SharedFilters {
  readonly sessionIds?: readonly string[] | undefined
  readonly parentSessionIds?: readonly string[] | undefined
  readonly includeRootSessions?: boolean | undefined
  readonly availability?: readonly Availability[] | undefined
  readonly createdFrom?: string | undefined
  readonly createdTo?: string | undefined
}

export interface EventSearch extends SharedFilters {
  /** Without one the session that asks. */
  readonly sessionId?: string | undefined
}

/** `live`: open in this window. */
export type Availability = 'live' | 'persisted'

/** A title, or why there is none. */
export type Title = { readonly title: string } | { readonly problem: string }

/** The session a session came out of; `outside` says nothing of it. */
export type Parent = { readonly kind: 'root' } | { readonly kind: 'session'; readonly id: string } | { readonly kind: 'outside' }

export interface SessionsFound {
  readonly sessions: readonly { readonly id: string; readonly title: Title; readonly createdAt: number; readonly parent: Parent; readonly availability: Availability; readonly best: IndexHit }[]
  /** There were more than `MAX_SEARCH_RESULTS`. */
  readonly isCapped: boolean
}

export interface EventsFound {
  readonly title: Title
  readonly hits: readonly IndexHit[]
  readonly isCapped: boolean
}

export interface Lineage {
  readonly id: string
  readonly title: Title
  readonly createdAt: number
  readonly availability: Availability
  /** Nearest first; the last may be outside. */
  readonly ancestors: readonly (LineageNode | 'outside')[]
  readonly descendants: readonly LineageBranch[]
  /** Direct children that may not be seen. */
  readonly outsideChildren: number
  readonly isCapped: boolean
}
export interface LineageNode {
  readonly id: string
  readonly title: Title
  readonly createdAt: number
}
export interface LineageBranch extends LineageNode {
  readonly children: readonly LineageBranch[]
  readonly outsideChildren: number
}

export interface EventTrace {
  readonly seq: number
  readonly type: string
  readonly time: number
  readonly surface: EventSurface
  readonly replacedBy: number | null
  /** From the event that took its place to the one that stands there now. */
  readonly chain: readonly number[]
  readonly replaces: readonly number[]
  readonly sources: readonly number[]
  /** Events that name it as a source. */
  readonly derived: readonly number[]
}

export interface EventWindow {
  /** As it is stored, with known shapes of secrets left out. */
  readonly event: JsonObject
  readonly before: readonly Neighbour[]
  readonly after: readonly Neighbour[]
}
export interface Neighbour {
  readonly seq: number
  readonly type: string
  readonly time: number
  /** Empty for one that is not searched. */
  readonly text: string
}

export interface Findings {
  readonly hits: readonly (IndexHit & { readonly title: string; readonly cwd: string | null; readonly updatedAt: number })[]
  /** Sessions that the index does not hold yet. */
  readonly remaining: number
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    history: History
  }
}
