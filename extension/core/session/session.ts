import type { Emit, Parallel } from '../kernel/plugin.ts'
import type { EventDraft, EventType, SessionEvent, SessionHeader } from '../log/event.ts'
import type { Message } from '../log/message.ts'
import type { ProjectionSnapshot } from '../projections/projection.ts'
import { HarnessError } from '../../base/harness-error.ts'

/** One append-only log with what is derived from it. The only truth about a conversation. */
export interface Session {
  readonly id: string
  readonly header: SessionHeader
  readonly access: 'write' | 'read-only'
  /** Number of events; the next event's `seq`. */
  readonly length: number
  /**
   * Snapshot losslessly, freeze, validate, commit, notify. Synchronous; durable only after `flush`.
   * Errors: `SessionError` `INVARIANT` (named rule), `NOT_JSON`, `REENTRANT`, `READ_ONLY`, `CLOSED`. Nothing is appended then.
   */
  append<T extends EventType>(draft: EventDraft<T>): SessionEvent<T>
  /** A durable barrier. Errors: the failure of the store, for good; the caller must not go on with its effect. */
  flush(): Promise<void>
  /** Events in memory by `seq`; the whole log unless it was opened by its tail. */
  events(from?: number, to?: number): readonly SessionEvent[]
  /** Messages the model sees, cached by node. */
  messages(): readonly Message[]
  surface(): Surface
  projections(): ProjectionSnapshot
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
  | 'SESSION_ALREADY_EXISTS'
  | 'OPEN_TURN'
  | 'INVALID_BOUNDARY'

export class SessionError extends HarnessError<SessionErrorCode> {}

/** The sessions of this host. */
export interface Sessions {
  create(options: { readonly cwd: string; readonly agentPreset?: string; readonly id?: string }): Promise<Session>
  /**
   * Load, mend (torn tail, open turn) and open. The mending is itself durable.
   * Errors: `SESSION_NOT_FOUND`, `UNSUPPORTED_VERSION`, `UNKNOWN_EVENT`; the store's `UNREADABLE`. The file stays as it was then.
   */
  open(id: string): Promise<Session>
  live(id: string): Session | undefined
  list(): Promise<readonly SessionSummary[]>
  rename(id: string, title: string): Promise<void>
  remove(id: string): Promise<void>
}

export interface SessionSummary {
  readonly id: string
  readonly title: string
  readonly cwd?: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly isLive: boolean
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
    /** Flush rejects with the first failure. */
    'session/flush': Parallel<[session: Session]>
  }
}
