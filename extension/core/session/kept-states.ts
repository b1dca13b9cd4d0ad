import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { Projection } from '../projections/projection.ts'
import type { SessionFold } from '../projections/registry.ts'

/** Events, and time, after which what is kept beside a log is written anew. Source: runtime specification 12.3. */
const everyEvents = 200
const everyMs = 5_000

/**
 * What is kept beside a log: for each unit that wants it a row with its key, the version of its state, the number of the last event
 * in it and the state. Derived; it may be deleted any time.
 */
export interface KeptRow {
  readonly key: string
  readonly version: number
  /** -1 for an empty log. */
  readonly seq: number
  readonly value: Json
}

/** Decides when the rows are written: at once for the units named, else after a number of events or a time. The same object while nothing is to be written. */
export class KeptStates {
  readonly #urgent: string
  #states = new Map<string, unknown>()
  #length = 0
  #at = 0
  #note: JsonObject | null = null

  /** `urgent`: the key of the unit that other windows look at. */
  constructor(urgent: string) {
    this.#urgent = urgent
  }

  next(fold: SessionFold, { length, now, isLast }: { readonly length: number; readonly now: number; readonly isLast: boolean }): JsonObject | null {
    const kept = fold.kept()
    const changed = kept.filter(({ unit, state }) => this.#states.get(unit.key) !== state)
    if (changed.length === 0) return this.#note
    const isDue = isLast || length - this.#length >= everyEvents || now - this.#at >= everyMs
    if (!isDue && !changed.some(({ unit }) => unit.key === this.#urgent)) return this.#note
    this.#states = new Map(kept.map(({ unit, state }) => [unit.key, state]))
    this.#length = length
    this.#at = now
    // States of kept units are lossless JSON, as their units promise.
    const rows = kept.map(({ unit, state }) => ({ key: unit.key, version: unit.stateVersion, seq: length - 1, value: state as Json }))
    this.#note = { rows }
    return this.#note
  }
}

/** The row of a unit in a note. Null without one, or with one of another version: it comes back with the next write. */
export function keptRow(note: JsonObject | null, unit: Pick<Projection, 'key' | 'stateVersion'>): KeptRow | null {
  const rows = note?.['rows']
  if (!Array.isArray(rows)) return null
  for (const row of rows as readonly Json[]) {
    if (!isJsonObject(row) || row['key'] !== unit.key) continue
    const { version, seq, value } = row
    if (version !== unit.stateVersion || !Number.isSafeInteger(seq) || value === undefined) return null
    return { key: unit.key, version, seq: seq as number, value }
  }
  return null
}
