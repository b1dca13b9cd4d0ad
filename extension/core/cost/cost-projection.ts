import * as z from 'zod'
import type { SessionEvent } from '../log/event.ts'
import type { Projection } from '../projections/projection.ts'
import type { CacheMiss } from './events.ts'
import { tokenCounts } from '../projections/token-usage.ts'
import { dollars } from './rates.ts'

/**
 * What requests used and cost.
 *
 * Shape:  `amount` is what the priced ones cost, in dollars; with `unpriced` above 0 it is "at least" that. Counts of tokens are
 *         disjoint. `estimated` requests were not counted by their provider.
 */
export type CostSum = {
  readonly requests: number
  readonly unpriced: number
  readonly estimated: number
  readonly amount: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
}

/**
 * What one session used itself, without those it started. What a fork took over from its parent was paid there and does not count.
 *
 * Shape:  `days` by local date, `2026-11-30`, the newest 35; `turn` is the newest turn's.
 */
export type SessionCost = {
  readonly total: CostSum
  readonly turn: CostSum
  readonly days: { readonly [day: string]: CostSum }
  /** How often the provider's cache was missed, and why it was the last time. */
  readonly misses: number
  readonly lastMiss: CacheMiss | null
}

type State = SessionCost & { readonly seedLength: number }

export const noCost: CostSum = { requests: 0, unpriced: 0, estimated: 0, amount: 0, inputTokens: 0, outputTokens: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

const MAX_DAYS = 35

export const costProjection: Projection<State, SessionCost> = {
  key: 'cost',
  stateVersion: 2,
  schema: () => {
    const sum = z.strictObject({ requests: z.int(), unpriced: z.int(), estimated: z.int(), amount: z.number(), ...tokenCounts() })
    return z.strictObject({ total: sum, turn: sum, days: z.record(z.string().regex(/^\d{4}-\d\d-\d\d$/), sum), misses: z.int(), lastMiss: cacheMissSchema().nullable() })
  },
  parts: 'none',
  isKept: true,
  start: (header) => ({ total: noCost, turn: noCost, days: {}, misses: 0, lastMiss: null, seedLength: header?.seedLength ?? 0 }),
  step: (state, event) => {
    if (event.seq < state.seedLength) return state
    if (event.type === 'turn/start') return state.turn === noCost ? state : { ...state, turn: noCost }
    if (event.type !== 'cost/estimated') return state
    const cost = costOf(event)
    const day = dayOf(event.time)
    const days = { ...state.days, [day]: addCosts(state.days[day] ?? noCost, cost) }
    const { cacheMiss } = event.data
    const missed = cacheMiss === undefined ? {} : { misses: state.misses + 1, lastMiss: cacheMiss }
    return { ...state, ...missed, total: addCosts(state.total, cost), turn: addCosts(state.turn, cost), days: newestOf(days) }
  },
  view: ({ total, turn, days, misses, lastMiss }) => ({ total, turn, days, misses, lastMiss }),
}

export function addCosts(a: CostSum, b: CostSum): CostSum {
  return {
    requests: a.requests + b.requests,
    unpriced: a.unpriced + b.unpriced,
    estimated: a.estimated + b.estimated,
    amount: dollars(a.amount + b.amount),
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    reasoning: a.reasoning + b.reasoning,
  }
}

/** What came to `total` after it was `before`. */
export function costSince(total: CostSum, before: CostSum): CostSum {
  const negative = Object.fromEntries(Object.entries(before).map(([key, value]) => [key, -value])) as CostSum
  return addCosts(total, negative)
}

/** The date where the person is. */
export function dayOf(time: number): string {
  const date = new Date(time)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

export function costOf({ data: { usage, amount, isEstimate } }: SessionEvent<'cost/estimated'>): CostSum {
  const { inputTokens, outputTokens, cacheRead, cacheWrite, reasoning } = usage
  return { requests: 1, unpriced: amount === undefined ? 1 : 0, estimated: isEstimate === true ? 1 : 0, amount: amount ?? 0, inputTokens, outputTokens, cacheRead, cacheWrite, reasoning }
}

function newestOf(days: Readonly<Record<string, CostSum>>): Readonly<Record<string, CostSum>> {
  const keys = Object.keys(days)
  if (keys.length <= MAX_DAYS) return days
  return Object.fromEntries(keys.sort().slice(-MAX_DAYS).map((key) => [key, days[key]!]))
}

const cacheMissSchema = (): z.ZodType<CacheMiss> =>
  z.strictObject({
    lostTokens: z.number(),
    sinceMs: z.number(),
    reason: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('model'), from: z.string(), to: z.string() }),
      z.strictObject({ kind: z.literal('system') }),
      z.strictObject({ kind: z.literal('tools'), change: z.enum(['added', 'removed', 'changed', 'moved']), tools: z.array(z.string()), total: z.int() }),
      z.strictObject({ kind: z.literal('config'), fields: z.array(z.string()) }),
      z.strictObject({ kind: z.literal('messages'), position: z.int(), what: z.enum(['summary', 'result', 'message', 'removed']) }),
      z.strictObject({ kind: z.literal('dropped') }),
    ]),
  })
