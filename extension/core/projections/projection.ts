import type * as z from 'zod'
import type { Json } from '../../base/json.ts'
import type { Undo } from '../../base/undo.ts'
import type { SessionEvent, SessionHeader } from '../log/event.ts'

/**
 * A pure fold of the log. `step` returns the same state object for events that are not its own and takes time from the event.
 * `view` gives whole JSON values as `schema` describes them. `stateVersion` changes when stored states of older code must not be used.
 */
export interface Projection<State = unknown, View extends Json = Json> {
  readonly key: string
  readonly stateVersion: number
  /**
   * What a view may be, made when somebody asks: a running application never does, so that neither start nor step pays for it.
   * The compiler holds it to `View`; the tests hold every registered unit to it after each event of whole talks.
   */
  readonly schema: () => z.ZodType<View>
  /** Which streamed parts (`assistant/chunk`) it is given: all unless it says `none`, or `first` for the first delta of each step. */
  readonly parts?: 'first' | 'none'
  /** Its state is lossless JSON and is kept beside the log, so that a session need not be read to know its value. */
  readonly isKept?: true
  /** `header`: of the session, where it is known. */
  start(header?: SessionHeader): State
  step(state: State, event: SessionEvent): State
  view(state: State): View
}

/** `asOfSeq` is -1 for an empty log. */
export interface ProjectionSnapshot {
  readonly asOfSeq: number
  readonly values: Readonly<Record<string, Json>>
}

/** Drives every unit on each committed event, once. */
export interface Projections {
  /** Errors: `Error` for a key that is taken, a bad version, a missing schema. */
  register(projection: Projection): Undo
  get(key: string): Projection | undefined
  snapshot(sessionId: string): ProjectionSnapshot
  /** Called with each value that changed, after the event was committed. */
  onDidChange(listener: (change: { readonly sessionId: string; readonly key: string; readonly value: Json; readonly asOfSeq: number }) => void): Undo
}

declare module '../kernel/plugin.ts' {
  interface Services {
    projections: Projections
  }
}
