import { freezeJson, type Json } from '../../base/json.ts'
import { Emitter } from '../../base/emitter.ts'
import { messageOf } from '../../base/message-of.ts'
import type { Undo } from '../../base/undo.ts'
import type { Logger } from '../../capabilities/logger.ts'
import { isDelta, isRow, unpackOne, unpackRow, type ChunkRow } from '../log/chunk-rows.ts'
import type { SessionEvent, SessionHeader } from '../log/event.ts'
import type { Projection, Projections, ProjectionSnapshot } from './projection.ts'

type Change = Parameters<Parameters<Projections['onDidChange']>[0]>[0]

/** The values of one session that an event changed. */
export type Changes = readonly { readonly key: string; readonly value: Json }[]

/** Folds sessions with every unit. A unit that throws keeps its last value in that session and is reported once. */
export class ProjectionRegistry implements Projections {
  readonly #logger: Logger
  readonly #units = new Map<string, Projection>()
  /** Of the live sessions. */
  readonly #folds = new Map<string, SessionFold>()
  readonly #listeners: Emitter<Change>

  constructor(logger: Logger) {
    this.#logger = logger
    this.#listeners = new Emitter((error) => logger.error('A listener of projections failed.', { error: String(error) }))
  }

  register(projection: Projection): Undo {
    const { key, schema, stateVersion } = projection
    if (this.#units.has(key)) throw new Error(`A projection ${key} is registered already; each key has one owner.`)
    if (!Number.isSafeInteger(stateVersion) || stateVersion < 1) throw new Error(`The stateVersion of projection ${key} must be a whole number from 1.`)
    if (typeof schema !== 'function') throw new Error(`The projection ${key} must say with "schema" what its views are.`)
    this.#units.set(key, projection)
    for (const fold of this.#folds.values()) fold.setUnits([...this.#units.values()])
    return () => {
      if (this.#units.get(key) !== projection) return
      this.#units.delete(key)
      for (const fold of this.#folds.values()) fold.setUnits([...this.#units.values()])
    }
  }

  snapshot(sessionId: string): ProjectionSnapshot {
    return this.#folds.get(sessionId)?.snapshot() ?? { asOfSeq: -1, values: {} }
  }

  onDidChange(listener: (change: Change) => void): Undo {
    return this.#listeners.listen(listener)
  }

  /** The unit of a key. */
  get(key: string): Projection | undefined {
    return this.#units.get(key)
  }

  /** A fold over a log that is about to be filled. */
  createFold(log: ProjectedLog, header: SessionHeader): SessionFold {
    const fold = new SessionFold(log, header, this.#logger)
    fold.setUnits([...this.#units.values()])
    return fold
  }

  /** The session is live: its fold follows what is registered, and is found under its id. */
  attach(sessionId: string, fold: SessionFold): void {
    fold.setUnits([...this.#units.values()])
    this.#folds.set(sessionId, fold)
  }

  /** Nothing when another fold of the same session was attached meanwhile. */
  detach(sessionId: string, fold: SessionFold): void {
    if (this.#folds.get(sessionId) === fold) this.#folds.delete(sessionId)
  }

  /** Tell what a committed event changed. */
  feed(sessionId: string, asOfSeq: number, changes: Changes): void {
    for (const { key, value } of changes) this.#listeners.emit({ sessionId, key, value, asOfSeq })
  }
}

/** The events of a session as they are held in memory. */
export interface ProjectedLog {
  readonly length: number
  readonly items: readonly (SessionEvent | ChunkRow)[]
}

interface UnitFold {
  readonly unit: Projection
  state: unknown
  /** The value of `viewed`, the state it was made from. */
  value: Json
  viewed: unknown
  /** The first delta of the open step was given. */
  hasPart: boolean
  hasFailed: boolean
}

/** All units over one session. Whoever fills the log hands each item to `take`, or each event to `step`, once. */
export class SessionFold {
  readonly #log: ProjectedLog
  readonly #header: SessionHeader
  readonly #logger: Logger
  readonly #folds = new Map<string, UnitFold>()

  constructor(log: ProjectedLog, header: SessionHeader, logger: Logger) {
    this.#log = log
    this.#header = header
    this.#logger = logger
  }

  /** From now on these units; one that is new catches up on the whole log. */
  setUnits(units: readonly Projection[]): void {
    const wanted = new Set(units)
    for (const [key, { unit }] of this.#folds) if (!wanted.has(unit)) this.#folds.delete(key)
    for (const unit of units) if (!this.#folds.has(unit.key)) this.#add(unit)
  }

  /** Take an item that was just added to the log. Values are made when somebody looks. */
  take(item: SessionEvent | ChunkRow): void {
    for (const fold of this.#folds.values()) this.#takeOne(fold, item)
  }

  /** Take an event that was just added to the log. Gives the values that changed. */
  step(event: SessionEvent): Changes {
    const changes: { key: string; value: Json }[] = []
    for (const fold of this.#folds.values()) {
      const before = this.#valueOf(fold)
      this.#stepOne(fold, event)
      const value = this.#valueOf(fold)
      if (value !== before) changes.push({ key: fold.unit.key, value })
    }
    return changes
  }

  snapshot(): ProjectionSnapshot {
    const values = [...this.#folds].map(([key, fold]) => [key, this.#valueOf(fold)] as const)
    return { asOfSeq: this.#log.length - 1, values: Object.fromEntries(values) }
  }

  /** Undefined when the unit is not registered. */
  stateOf<State>(unit: Projection<State>): State | undefined {
    const fold = this.#folds.get(unit.key)
    // Only this unit made the state.
    return fold?.unit === unit ? (fold.state as State) : undefined
  }

  /** The states that are kept beside the log, as they are now. A unit that failed has none. */
  kept(): readonly { readonly unit: Projection; readonly state: unknown }[] {
    return [...this.#folds.values()].flatMap(({ unit, state, hasFailed }) => (unit.isKept === true && !hasFailed ? [{ unit, state }] : []))
  }

  #add(unit: Projection): void {
    const fold: UnitFold = { unit, state: unit.start(this.#header), value: null, viewed: unseen, hasPart: false, hasFailed: false }
    for (const item of this.#log.items) this.#takeOne(fold, item)
    this.#folds.set(unit.key, fold)
  }

  /** A row is unpacked only as far as the unit wants it. */
  #takeOne(fold: UnitFold, item: SessionEvent | ChunkRow): void {
    if (!isRow(item)) this.#stepOne(fold, item)
    else if (fold.unit.parts === 'first') this.#stepOne(fold, unpackOne(item, 0))
    else if (fold.unit.parts === undefined) for (const event of unpackRow(item)) this.#stepOne(fold, event)
  }

  #stepOne(fold: UnitFold, event: SessionEvent): void {
    if (fold.hasFailed || !isWanted(fold, event)) return
    try {
      fold.state = fold.unit.step(fold.state, event)
    } catch (error) {
      this.#report(fold, error)
    }
  }

  /** The same value as long as the state is the same. */
  #valueOf(fold: UnitFold): Json {
    if (fold.state === fold.viewed) return fold.value
    fold.viewed = fold.state
    try {
      fold.value = freezeJson(fold.unit.view(fold.state))
    } catch (error) {
      this.#report(fold, error)
    }
    return fold.value
  }

  #report(fold: UnitFold, error: unknown): void {
    if (fold.hasFailed) return
    fold.hasFailed = true
    this.#logger.error('A projection failed; its value stands still in this session.', {
      key: fold.unit.key,
      error: messageOf(error),
    })
  }
}

/** No state: nobody has looked yet. */
const unseen = Symbol('unseen')

function isWanted(fold: UnitFold, event: SessionEvent): boolean {
  if (event.type === 'step/start') fold.hasPart = false
  if (event.type !== 'assistant/chunk' || fold.unit.parts === undefined) return true
  if (fold.unit.parts === 'none' || fold.hasPart || !isDelta(event)) return false
  fold.hasPart = true
  return true
}
