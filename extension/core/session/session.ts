import type { Undo } from '../../base/undo.ts'
import type { Json } from '../../base/json.ts'
import type { LogRepair, LogWriter } from '../../capabilities/event-store.ts'
import type { Emit, Parallel, ScopeKey } from '../kernel/plugin.ts'
import type { EventDraft, EventType, SessionEvent, SessionHeader } from '../log/event.ts'
import type { OpenTurn } from '../log/invariants.ts'
import type { Message } from '../log/message.ts'
import type { ProjectionSnapshot } from '../projections/projection.ts'
import { HarnessError } from '../../base/harness-error.ts'
import type { JsonObject } from '../../base/json.ts'

/** One append-only log with what is derived from it. The only truth about a conversation. */
export interface Session {
  readonly id: string
  readonly header: SessionHeader
  /** Turns to `read-only` for good when another window took the log over; `session/access` tells. */
  readonly access: 'write' | 'read-only'
  /** Who writes when another window does. */
  readonly writer?: LogWriter | undefined
  /** In words for the person: what stands in the way of writing, when it is no other window. */
  readonly obstacle?: string | undefined
  /** What was cut off a damaged log when it was opened. */
  readonly repair?: LogRepair | undefined
  /** Number of events; the next event's `seq`. */
  readonly length: number
  /**
   * Snapshot losslessly, freeze, validate, commit, notify. Synchronous; durable only after `flush`.
   * An event type is registered with `eventTypes` first, or the event is `ignorable`.
   * Errors: `SessionError` `INVARIANT` (named rule), `NOT_JSON`, `UNKNOWN_EVENT`, `REENTRANT`, `READ_ONLY`, `CLOSED`. Nothing is appended then.
   */
  append<T extends EventType>(draft: EventDraft<T>): SessionEvent<T>
  /** A durable barrier. Errors: the failure of the store, for good; the caller must not go on with its effect. */
  flush(): Promise<void>
  /** Events with `from <= seq < to`, by default all. Streamed deltas are held packed and made anew at each call. */
  events(from?: number, to?: number): readonly SessionEvent[]
  /** All events but the parts of streams (`assistant/chunk`), at a cost that does not grow with those. */
  milestones(): readonly SessionEvent[]
  /** Messages the model sees, cached by node. */
  messages(): readonly Message[]
  surface(): Surface
  /** Of its turns, the one that is open, with its calls that have no result; null between turns. */
  openTurn(): OpenTurn | null
  projections(): ProjectionSnapshot
  /**
   * Of a session that another window writes: take over what that writes, as it comes, until the undo; `session/mirrored` tells of each
   * event. Nothing for one that is written here.
   */
  follow(): Undo
  close(): Promise<void>
}

/** The nodes the model sees, in order. */
export interface Surface {
  readonly nodes: readonly { readonly seq: number; readonly event: SessionEvent<'user/message' | 'assistant/message' | 'tool/result'> }[]
  /** Grows with each replacement. */
  readonly generation: number
}

export type SessionErrorCode =
  | 'INVARIANT'
  | 'NOT_JSON'
  | 'REENTRANT'
  | 'READ_ONLY'
  | 'CLOSED'
  | 'UNSUPPORTED_VERSION'
  | 'UNKNOWN_EVENT'
  | 'SESSION_NOT_FOUND'
  | 'SESSION_NOT_LIVE'
  | 'OPEN_TURN'
  | 'INVALID_BOUNDARY'
  | 'INVALID_LOG'
  | 'INVALID_TITLE'
  | 'INVALID_CWD'

export class SessionError extends HarnessError<SessionErrorCode> {}

/** The sessions of this host. */
export interface Sessions {
  /** Errors: `INVALID_CWD`; the store's `SESSION_ALREADY_EXISTS`, `INVALID_ID`; what a listener of `session/created` throws. */
  create(options: {
    /** Absolute. */
    readonly cwd: string
    readonly agentPreset?: string
    readonly id?: string
    /** Of a session that an agent started. */
    readonly origin?: 'subagent'
    readonly parentSession?: string
    readonly delegationDepth?: number
  }): Promise<Session>
  /**
   * Load, mend (torn tail, open turn) and open. A turn that waits for the person stays open; the agent of the session goes on with it. The mending is itself durable; where the disk takes none, the session is read-only,
   * as it stands. A live session is given as it is, but one that is
   * read-only is opened anew, since its writer may be gone.
   * Errors: `UNSUPPORTED_VERSION`, `UNKNOWN_EVENT`; the store's `SESSION_NOT_FOUND`, `UNREADABLE`. The file stays as it was then.
   */
  open(id: string): Promise<Session>
  /** The header and the newest `count` events, without reading the rest of the log: for the first screen. Errors: as `open`. */
  readTail(id: string, count: number): Promise<{ readonly header: SessionHeader; readonly events: readonly SessionEvent[] }>
  /**
   * Copy a live session up to and with event `boundary`, by default its newest; `ending` is appended to the copy.
   * With `child` the copy is the session of an agent that the source's agent starts.
   * Errors: `SESSION_NOT_LIVE`, `INVALID_BOUNDARY`, `OPEN_TURN`; the store's `SESSION_NOT_FOUND`, `SESSION_ALREADY_EXISTS`.
   */
  fork(
    sourceId: string,
    options?: {
      readonly boundary?: number
      readonly childId?: string
      readonly ending?: readonly EventDraft[]
      readonly child?: { readonly delegationDepth: number; readonly agentPreset: string }
    },
  ): Promise<Session>
  /**
   * Store a log that came from elsewhere, checked as an opening does, with `ending` appended. Nobody hears of it.
   * Errors: `INVALID_LOG` with the place, `UNSUPPORTED_VERSION`, `UNKNOWN_EVENT`; the store's `SESSION_ALREADY_EXISTS`, `INVALID_ID`. Nothing is stored then.
   */
  adopt(header: SessionHeader, lines: readonly JsonObject[], ending: readonly EventDraft[]): Promise<void>
  live(id: string): Session | undefined
  /** Of a live fork: the sessions its talk comes from, nearest first, as far as they are still there. Empty for any other. */
  ancestors(id: string): readonly string[]
  /** Newest first. Reads headers, notes and at most both ends of a log. */
  list(): Promise<readonly SessionSummary[]>
  /**
   * The value of a projection in a session that need not be live. A unit that keeps its state is read from beside the log, any other
   * from the whole of it. Undefined for a key nobody registered. Errors: as `open`.
   */
  valueOf(id: string, key: string): Promise<Json | undefined>
  /**
   * The same of a unit that keeps its state, where it is kept; undefined where nothing is, as for sessions that were written before
   * the unit was there. Cheap: at most the end of the log is read, unless the log went far ahead of what is kept.
   */
  keptValueOf(id: string, key: string): Promise<Json | undefined>
  /** Errors: `INVALID_TITLE`; the store's `SESSION_BUSY`, and those of `open`. */
  rename(id: string, title: string): Promise<void>
  /** Put it out of the way in the list, or back. A new message of a person brings it back too. Errors: as `rename`. */
  archive(id: string, isArchived: boolean): Promise<void>
  /** Closes it first when it is live. Errors: the store's `SESSION_NOT_FOUND`, `SESSION_BUSY`. */
  remove(id: string): Promise<void>
  /**
   * Remove it unless somebody has to do with it: it is open or being opened, held, named by a person, unreadable, or was touched since.
   * Who opens it meanwhile waits and finds it gone. False when it stays. Errors: as `remove`.
   */
  expire(id: string, touchedSince: number): Promise<boolean>
  /** Keep stored sessions from expiring while they are read. Resolves once none of them is being taken away. */
  hold(ids: readonly string[]): Promise<Undo>
  /** From now on the events of this session are heard in `scope` and above; before, and after null, by global listeners only. */
  bindScope(id: string, scope: ScopeKey | null): void
}

export interface SessionSummary {
  readonly id: string
  readonly title: string
  readonly cwd?: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly isLive: boolean
  /** The session it was forked from, which may be gone. */
  readonly forkedFrom?: string
  /** The session whose agent started it. */
  readonly startedBy?: string
  /** A person named it. */
  readonly isNamed: boolean
  readonly isArchived: boolean
  /** Its last turn stands open: it runs, waits for the person, or was cut off. */
  readonly isTurnOpen?: true
  /** Why it cannot be opened. */
  readonly problem?: string
}

declare module '../kernel/plugin.ts' {
  interface Services {
    sessions: Sessions
  }
  interface ExtensionPoints {
    /** Already committed: a throw is contained. */
    'session/event': Emit<[session: Session, event: SessionEvent]>
    /** A throw vetoes publication. */
    'session/created': Emit<[session: Session]>
    'session/disposed': Emit<[session: Session]>
    /** It is gone for good, from the disk too. */
    'session/removed': Emit<[sessionId: string]>
    /** Another window wrote it, and this one follows. For views alone: whatever acts on events acts where they were written. */
    'session/mirrored': Emit<[session: Session, event: SessionEvent]>
    /** Another window took the log over: the session is read-only now. */
    'session/access': Emit<[session: Session]>
    /** Flush rejects with the first failure. */
    'session/flush': Parallel<[session: Session]>
  }
}
