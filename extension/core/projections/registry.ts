import { freezeJson, type Json } from '../../base/json.ts'
import { Emitter } from '../../base/emitter.ts'
import type { Undo } from '../../base/undo.ts'
import type { Logger } from '../../capabilities/logger.ts'
import { isDelta, isRow, unpackOne, unpackRow, type ChunkRow } from '../log/chunk-rows.ts'
import type { SessionEvent } from '../log/event.ts'
import type { Projection, Projections, ProjectionSnapshot } from './projection.ts'

type Change = Parameters<Parameters<Projections['onDidChange']>[0]>[0]

/** Where a registry reads the events of a session from, as they are held in memory. */
export interface ProjectedLog {
  readonly id: string
  readonly length: number
  readonly items: readonly (SessionEvent | ChunkRow)[]
}

/** Folds every live session with every unit. A unit that throws keeps its last value in that session and is reported once. */
export class ProjectionRegistry implements Projections {
  readonly #logger: Logger
  readonly #units = new Map<string, Projection>()
  readonly #folds = new Map<string, SessionFold>()
  readonly #changes: Emitter<Change>

  constructor(logger: Logger) {
    this.#logger = logger
    this.#changes = new Emitter((error) => logger.error('A listener of projections failed.', { error: String(error) }))
  }

  register(projection: Projection): Undo {
    const { key, stateVersion } = projection
    if (this.#units.has(key)) throw new Error(`A projection ${key} is registered already; each key has one owner.`)
    if (!Number.isSafeInteger(stateVersion) || stateVersion < 1) throw new Error(`The stateVersion of projection ${key} must be a whole number from 1.`)
    this.#units.set(key, projection)
    for (const fold of this.#folds.values()) fold.add(projection)
    return () => {
      if (this.#units.get(key) !== projection) return
      this.#units.delete(key)
      for (const fold of this.#folds.values()) fold.remove(key)
    }
  }

  snapshot(sessionId: string): ProjectionSnapshot {
    return this.#folds.get(sessionId)?.snapshot() ?? { asOfSeq: -1, values: {} }
  }

  /** The state of one unit in a live session; undefined when the session is not live or the unit not registered. */
  stateOf<State>(sessionId: string, unit: Projection<State>): State | undefined {
    return this.#folds.get(sessionId)?.stateOf(unit) as State | undefined
  }

  onDidChange(listener: (change: Change) => void): Undo {
    return this.#changes.listen(listener)
  }

  /** Begin to fold a session, over what it holds already; its changes are not fed. */
  attach(log: ProjectedLog): void {
    const fold = new SessionFold(log, this.#logger)
    this.#folds.set(log.id, fold)
    for (const unit of this.#units.values()) fold.add(unit)
  }

  /** Take a committed event into account, then feed what changed. */
  step(sessionId: string, event: SessionEvent): void {
    const changed = this.#folds.get(sessionId)?.step(event) ?? []
    for (const { key, value } of changed) this.#changes.emit({ sessionId, key, value, asOfSeq: event.seq })
  }

  /** Nothing when another log of the same session was attached meanwhile. */
  detach(log: ProjectedLog): void {
    if (this.#folds.get(log.id)?.log === log) this.#folds.delete(log.id)
  }
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

class SessionFold {
  readonly log: ProjectedLog
  readonly #logger: Logger
  readonly #folds = new Map<string, UnitFold>()
  #asOfSeq: number

  constructor(log: ProjectedLog, logger: Logger) {
    this.log = log
    this.#logger = logger
    this.#asOfSeq = log.length - 1
  }

  add(unit: Projection): void {
    const fold: UnitFold = { unit, state: unit.start(), value: null, viewed: undefined, hasPart: false, hasFailed: false }
    for (const item of this.log.items) this.#catchUp(fold, item)
    this.#view(fold)
    this.#folds.set(unit.key, fold)
  }

  remove(key: string): void {
    this.#folds.delete(key)
  }

  stateOf(unit: Projection): unknown {
    const fold = this.#folds.get(unit.key)
    return fold?.unit === unit ? fold.state : undefined
  }

  /** The values that changed. */
  step(event: SessionEvent): readonly { readonly key: string; readonly value: Json }[] {
    this.#asOfSeq = event.seq
    const changed: { key: string; value: Json }[] = []
    for (const fold of this.#folds.values()) {
      this.#stepOne(fold, event)
      if (fold.state === fold.viewed) continue
      const before = fold.value
      this.#view(fold)
      if (fold.value !== before) changed.push({ key: fold.unit.key, value: fold.value })
    }
    return changed
  }

  snapshot(): ProjectionSnapshot {
    return { asOfSeq: this.#asOfSeq, values: Object.fromEntries([...this.#folds].map(([key, { value }]) => [key, value])) }
  }

  /** A row is unpacked only as far as the unit wants it. */
  #catchUp(fold: UnitFold, item: SessionEvent | ChunkRow): void {
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

  #view(fold: UnitFold): void {
    fold.viewed = fold.state
    if (fold.hasFailed) return
    try {
      fold.value = freezeJson(fold.unit.view(fold.state))
    } catch (error) {
      this.#report(fold, error)
    }
  }

  #report(fold: UnitFold, error: unknown): void {
    fold.hasFailed = true
    this.#logger.error('A projection failed; its value stands still in this session.', {
      key: fold.unit.key,
      session: this.log.id,
      error: error instanceof Error ? error.message : String(error),
    })
  }
}

function isWanted(fold: UnitFold, event: SessionEvent): boolean {
  if (event.type === 'step/start') fold.hasPart = false
  if (event.type !== 'assistant/chunk' || fold.unit.parts === undefined) return true
  if (fold.unit.parts === 'none' || fold.hasPart || !isDelta(event)) return false
  fold.hasPart = true
  return true
}
