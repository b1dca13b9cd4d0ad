import { isJsonArray, type Json, type JsonObject } from '../../base/json.ts'
import type { SessionEvent } from './event.ts'

/**
 * A run of streamed deltas of one block as one line on the disk and one object in memory. Unpacks to the very events it was made of.
 *
 * Units:  `time` epoch ms of the first; `after` the ms from it to each.
 * Source: runtime specification 12.1.
 */
export interface ChunkRow {
  readonly type: 'text-chunks' | 'reasoning-chunks' | 'tool-call-chunks'
  /** Of the first event; the others follow without a gap. */
  readonly seq: number
  readonly time: number
  readonly turn: number
  readonly step: number
  readonly index: number
  readonly deltas: readonly string[]
  readonly after: readonly number[]
}

/** Shorter runs are stored event by event. */
const minRun = 3
/** Longer runs are split, so that no line grows without bound and a crash loses little of a long answer. */
const maxRun = 1_024

const rowTypes = { 'text-delta': 'text-chunks', 'reasoning-delta': 'reasoning-chunks', 'tool-call-delta': 'tool-call-chunks' } as const
const deltaTypes = { 'text-chunks': 'text-delta', 'reasoning-chunks': 'reasoning-delta', 'tool-call-chunks': 'tool-call-delta' } as const

/** Gathers runs of deltas from a stream of events and gives lines to store, in order. */
export class ChunkPacker {
  #run: ChunkEvent[] = []

  /** Lines that are complete now that `event` has come. */
  add(event: SessionEvent): readonly (SessionEvent | ChunkRow)[] {
    const delta = deltaOf(event)
    if (delta !== null && (this.#run.length === 0 || this.#continues(delta))) {
      this.#run.push(delta)
      return this.#run.length < maxRun ? [] : this.takeRest()
    }
    const complete = this.takeRest()
    if (delta === null) return complete.length === 0 ? [event] : [...complete, event]
    this.#run.push(delta)
    return complete
  }

  /** What is held back; to be stored before a flush. */
  takeRest(): readonly (SessionEvent | ChunkRow)[] {
    const run = this.#run
    if (run.length === 0) return []
    this.#run = []
    return run.length < minRun ? run.map(({ event }) => event) : [rowFrom(run)]
  }

  #continues(delta: ChunkEvent): boolean {
    const last = this.#run.at(-1)!
    const [a, b] = [last.event.data, delta.event.data]
    return last.rowType === delta.rowType && last.index === delta.index && a.turn === b.turn && a.step === b.step
  }
}

export const isChunkRow = (line: { readonly type?: unknown }): boolean => typeof line.type === 'string' && Object.hasOwn(deltaTypes, line.type)

/** Number of events in a stored line. */
export const eventCount = (line: SessionEvent | ChunkRow): number => (isRow(line) ? line.deltas.length : 1)

export const isRow = (line: SessionEvent | ChunkRow): line is ChunkRow => Object.hasOwn(deltaTypes, line.type)

/** The events of a row, frozen. */
export function unpackRow(row: ChunkRow): readonly SessionEvent<'assistant/chunk'>[] {
  return row.deltas.map((_, position) => unpackOne(row, position))
}

/** The event at `position` of a row. */
export function unpackOne(row: ChunkRow, position: number): SessionEvent<'assistant/chunk'> {
  const type = deltaTypes[row.type]
  const delta = row.deltas[position]!
  const { turn, step, index } = row
  const chunk = Object.freeze(type === 'tool-call-delta' ? { type, index, argumentsDelta: delta } : { type, index, delta })
  const data = Object.freeze({ turn, step, chunk })
  return Object.freeze({ type: 'assistant/chunk', seq: row.seq + position, time: row.time + row.after[position]!, data })
}

/** Words of the answer itself, not its frame. */
export const isDelta = ({ data }: SessionEvent<'assistant/chunk'>): boolean =>
  data.chunk.type === 'text-delta' || data.chunk.type === 'reasoning-delta' || data.chunk.type === 'tool-call-delta'

/** A stored line as a row, or null when it is none that can be unpacked whole. */
export function rowFromLine(line: JsonObject): ChunkRow | null {
  const { seq, time, turn, step, index, deltas, after } = line
  const areNumbers = [seq, time, turn, step, index].every((value) => typeof value === 'number')
  if (!areNumbers || !isList(deltas, 'string') || !isList(after, 'number')) return null
  // Checked just above.
  return deltas.length > 0 && deltas.length === after.length ? (line as unknown as ChunkRow) : null
}

interface ChunkEvent {
  readonly event: SessionEvent<'assistant/chunk'>
  readonly rowType: ChunkRow['type']
  readonly index: number
  readonly delta: string
}

/** A delta that a row can hold without loss: these keys and no others. */
function deltaOf(event: SessionEvent): ChunkEvent | null {
  if (event.type !== 'assistant/chunk' || event.ignorable !== undefined || event.sourceEventSeqs !== undefined) return null
  const { chunk } = event.data
  if (chunk.type !== 'text-delta' && chunk.type !== 'reasoning-delta' && chunk.type !== 'tool-call-delta') return null
  const delta = chunk.type === 'tool-call-delta' ? chunk.argumentsDelta : chunk.delta
  const hasOnlyThese = Object.keys(chunk).length === 3 && Object.keys(event.data).length === 3
  const isPlain = hasOnlyThese && typeof delta === 'string' && typeof chunk.index === 'number' && Number.isSafeInteger(event.time)
  return isPlain ? { event, rowType: rowTypes[chunk.type], index: chunk.index, delta } : null
}

function rowFrom(run: readonly ChunkEvent[]): ChunkRow {
  const { event, rowType, index } = run[0]!
  const { turn, step } = event.data
  const deltas = Object.freeze(run.map(({ delta }) => delta))
  const after = Object.freeze(run.map((chunk) => chunk.event.time - event.time))
  return Object.freeze({ type: rowType, seq: event.seq, time: event.time, turn, step, index, deltas, after })
}

const isList = (value: Json | undefined, of: 'string' | 'number'): value is readonly string[] =>
  value !== undefined && isJsonArray(value) && value.every((element) => typeof element === of)
