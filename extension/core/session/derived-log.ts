import type { SessionEvent } from '../log/event.ts'
import { EventList } from '../log/event-list.ts'
import type { EventTypes } from '../log/event-types.ts'
import { Invariants, type InvariantOptions } from '../log/invariants.ts'
import { isRow, unpackOne, type ChunkRow } from '../log/chunk-rows.ts'
import { isSurfaceEvent, SurfaceState } from './surface.ts'

/** Events with all that the log itself derives from them, kept in step. Nothing here touches a disk or tells anybody. */
export class DerivedLog {
  readonly list = new EventList()
  readonly surface = new SurfaceState()
  readonly invariants: Invariants
  #lastTime = 0
  #lastType: string | null = null

  constructor(types: EventTypes, options?: InvariantOptions) {
    this.invariants = new Invariants(types, options)
  }

  get length(): number {
    return this.list.length
  }

  /** As they are held in memory. */
  get items(): readonly (SessionEvent | ChunkRow)[] {
    return this.list.items
  }

  /** Of the newest event; 0 for an empty log. */
  get lastTime(): number {
    return this.#lastTime
  }

  get lastType(): string | null {
    return this.#lastType
  }

  /** The rule that `event` would break, with the problem, or null. Changes nothing. */
  violation(event: SessionEvent): { readonly rule: string; readonly problem: string } | null {
    const problem = isSurfaceEvent(event) ? this.surface.problem(event) : null
    return problem === null ? this.invariants.violation(event) : { rule: 'surface', problem }
  }

  /** Take over an event that was checked. */
  add(event: SessionEvent): void {
    this.list.push(event)
    this.invariants.advance(event)
    if (isSurfaceEvent(event)) this.surface.apply(event)
    this.#lastTime = event.time
    this.#lastType = event.type
  }

  /** The rule that the events of `row` would break. They share turn, step and type, so one stands for all. */
  rowViolation(row: ChunkRow): { readonly rule: string; readonly problem: string } | null {
    return this.violation(unpackOne(row, 0))
  }

  addRow(row: ChunkRow): void {
    this.list.push(row)
    this.#lastTime = row.time + row.after.at(-1)!
    this.#lastType = 'assistant/chunk'
  }

  addItem(item: SessionEvent | ChunkRow): void {
    if (isRow(item)) this.addRow(item)
    else this.add(item)
  }
}
