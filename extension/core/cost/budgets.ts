import * as z from 'zod'
import type { Undo } from '../../base/undo.ts'
import type { SessionEvent } from '../log/event.ts'
import { estimateMessageTokens } from '../model/token-estimate.ts'
import type { ContextBreakdown } from '../projections/context-breakdown.ts'
import type { ContextPressure } from '../projections/context-pressure.ts'
import type { Projection } from '../projections/projection.ts'
import { tokenCounts } from '../projections/token-usage.ts'
import type { Agent } from '../session/agent.ts'
import type { Session } from '../session/session.ts'
import type { ModelPrice, ModelRates, Usage } from '../model/contract.ts'
import { costSince, dayOf, noCost, type CostSum } from './cost-projection.ts'
import type { BudgetCap, BudgetSpan, BudgetUse } from './events.ts'
import type { CostLedger } from './ledger.ts'
import { dollars, inputOf, ratesAt } from './rates.ts'

/** What a turn stops at. `next`: what the next request alone would add, when that is what passes the limit. */
export type BudgetStop = BudgetUse & { readonly next?: number }

/** Spending and its limits. */
export interface Budgets {
  /** Before each step: why it must not be taken, or null. Warns once in the log at four fifths of a limit. */
  check(place: BudgetPlace): Promise<BudgetStop | null>
  /** The person wants to go on after a stop: raise the limit that stopped the session by as much again. Null when none did. */
  goOn(session: Session): BudgetUse | null
  /** Every limit that is set, as far as it is known to be used. */
  uses(session: Session): readonly BudgetUse[]
  onDidChange(listener: () => void): Undo
}

export interface BudgetPlace {
  readonly agent: Pick<Agent, 'session' | 'inbox'>
  readonly turn: number
  /** Steps the turn has taken. */
  readonly step: number
  readonly provider: string
  readonly model: string
  /** Tokens of the tools that are declared, asked for before the first request has told. */
  readonly toolTokens: () => number
}

/** As the settings say; 0: none. */
export type BudgetLimits = Readonly<Record<BudgetCap, Readonly<Record<BudgetSpan, number>>>>

const WARN_SHARE = 0.8
const spans = ['turn', 'session', 'day'] as const

/** What the log says about limits: what the person raised, what was warned of, where it stopped last. */
type BudgetState = {
  readonly raised: Readonly<Record<string, SessionEvent<'budget/raised'>['data']>>
  readonly warned: readonly string[]
  readonly unpriced: readonly string[]
  readonly stop: BudgetStop | null
  /** What a fork took over from its parent holds there. */
  readonly seedLength: number
}

export const budgetsProjection: Projection<BudgetState, BudgetState> = {
  key: 'budgets',
  stateVersion: 1,
  schema: () => {
    const limit = { cap: z.enum(['cost', 'tokens']), per: z.enum(spans), limit: z.number() }
    return z.strictObject({
      raised: z.record(z.string(), z.strictObject({ ...limit, base: z.number(), day: z.string().exactOptional() })),
      warned: z.array(z.string()),
      unpriced: z.array(z.string()),
      stop: z.strictObject({ ...limit, used: z.number(), next: z.number().exactOptional() }).nullable(),
      seedLength: z.int(),
    })
  },
  parts: 'none',
  start: (header) => ({ raised: {}, warned: [], unpriced: [], stop: null, seedLength: header?.seedLength ?? 0 }),
  step: (state, event) => {
    if (event.seq < state.seedLength) return state
    switch (event.type) {
      case 'budget/raised':
        return { ...state, raised: { ...state.raised, [keyOf(event.data)]: event.data }, stop: null }
      case 'budget/warned':
        return { ...state, warned: [...state.warned.slice(-20), warningKey(event.data, event.time)] }
      case 'budget/unpriced':
        return { ...state, unpriced: [...state.unpriced.slice(-20), `${event.data.provider}/${event.data.model}`] }
      case 'turn/paused': {
        const { cap, limit, per, used, next } = event.data
        return cap === 'steps' || cap === 'minutes' ? state : { ...state, stop: { cap, limit, per: per ?? 'session', used: used ?? 0, ...(next !== undefined && { next }) } }
      }
      case 'turn/start':
        return startedTurn(state)
      case 'turn/end':
        return endedTurn(state)
      default:
        return state
    }
  },
  view: (state) => state,
}

/** A turn's limit begins anew with it, and whoever took a turn has been let on. */
function startedTurn(state: BudgetState): BudgetState {
  const warned = state.warned.filter((key) => !key.includes(':turn:'))
  return state.stop === null && warned.length === state.warned.length ? state : { ...state, warned, stop: null }
}

/** What was raised for one turn went with it. */
function endedTurn(state: BudgetState): BudgetState {
  const entries = Object.entries(state.raised)
  const left = entries.filter(([, { per }]) => per !== 'turn')
  return left.length === entries.length ? state : { ...state, raised: Object.fromEntries(left) }
}

export function createBudgets({ ledger, limits, priceOf, now }: {
  readonly ledger: CostLedger
  readonly limits: () => BudgetLimits
  readonly priceOf: (provider: string, model: string) => Promise<ModelPrice | undefined>
  readonly now: () => number
}): Budgets {
  /** What the tree of a session had cost when its turn began. */
  const turnStarts = new Map<string, { readonly turn: number; readonly cost: CostSum }>()
  const lastDays = new Map<string, CostSum>()

  async function sumsOf({ agent: { session }, turn, step }: BudgetPlace, wanted: readonly Limit[]): Promise<Readonly<Record<BudgetSpan, CostSum>>> {
    const root = await ledger.rootOf(session.id)
    const tree = root === session.id ? await ledger.treeCost(session.id) : noCost
    const own = root === session.id ? tree : await ledger.treeCost(session.id)
    if (step === 0 || turnStarts.get(session.id)?.turn !== turn) {
      const spent = step === 0 ? noCost : (ledger.ownCost(session.id)?.turn ?? noCost)
      turnStarts.set(session.id, { turn, cost: costSince(own, spent) })
    }
    const day = wanted.some(({ per }) => per === 'day') ? await ledger.dayCost(now()) : noCost
    if (day !== noCost) lastDays.set(dayOf(now()), day)
    return { turn: costSince(own, turnStarts.get(session.id)?.cost ?? noCost), session: root === session.id ? tree : await ledger.treeCost(root), day }
  }

  return {
    async check(place) {
      const { session } = place.agent
      const wanted = limitsOf(limits(), stateOf(session), now())
      if (wanted.length === 0) return null
      const price = wanted.some(({ cap }) => cap === 'cost') ? await priceOf(place.provider, place.model) : undefined
      const sums = await sumsOf(place, wanted)
      const next = nextOf(place, price, { last: ledger.ownCost(session.id)?.turn ?? noCost, time: now() })
      if (price === undefined && wanted.some(({ cap }) => cap === 'cost')) sayUnpriced(place)
      for (const limit of wanted) {
        const used = usedOf(limit.cap, sums[limit.per])
        const { cap, per, limit: most } = limit
        if (used >= most) return { cap, per, limit: most, used }
        if (used + next[cap] > most) return { cap, per, limit: most, used, next: next[cap] }
        if (used >= most * WARN_SHARE) warn(session, { cap, per, limit: most, used }, now())
      }
      return null
    },

    goOn(session) {
      const { stop } = stateOf(session)
      if (stop === null) return null
      const { cap, per, next = 0 } = stop
      const base = limits()[cap][per]
      const tranche = base > 0 ? base : stop.limit
      // The next turn begins at nothing; only a request that is too large by itself would stop it again.
      if (per === 'turn' && next <= tranche) return null
      const used = per === 'turn' ? 0 : stop.used
      // Twice the request: until it is sent it may have grown.
      const limit = rounded(cap, Math.max(stop.limit + tranche, used + 2 * next))
      session.append({ type: 'budget/raised', ignorable: true, data: { cap, per, limit, base, ...(per === 'day' && { day: dayOf(now()) }) } })
      return { cap, per, limit, used }
    },

    uses(session) {
      const day = dayOf(now())
      const root = ledger.knownTreeCost(session.id)
      const own = ledger.ownCost(session.id)
      const sums = { turn: own?.turn ?? noCost, session: root, day: lastDays.get(day) ?? own?.days[day] ?? noCost }
      return limitsOf(limits(), stateOf(session), now()).map(({ cap, per, limit }) => ({ cap, per, limit, used: usedOf(cap, sums[per]) }))
    },

    onDidChange: (listener) => ledger.onDidChange(listener),
  }
}

interface Limit {
  readonly cap: BudgetCap
  readonly per: BudgetSpan
  readonly limit: number
}

/** Those that are set, raised as the person raised them since they were set so. */
function limitsOf(set: BudgetLimits, { raised }: BudgetState, time: number): readonly Limit[] {
  return (['cost', 'tokens'] as const).flatMap((cap) =>
    spans.flatMap((per) => {
      const base = set[cap][per]
      if (base <= 0) return []
      const more = raised[keyOf({ cap, per })]
      const holds = more !== undefined && more.base === base && (more.day === undefined || more.day === dayOf(time))
      return [{ cap, per, limit: holds ? Math.max(base, more.limit) : base }]
    }),
  )
}

/**
 * What the next request adds at least: its input, by the projection of the window and what waits in the inbox.
 * What the last request left in the provider's cache is taken to be found there again where that was so before.
 */
function nextOf({ agent, provider, model, toolTokens }: BudgetPlace, price: ModelPrice | undefined, { last, time }: { readonly last: CostSum; readonly time: number }): Readonly<Record<BudgetCap, number>> {
  const { session, inbox } = agent
  // The units of these keys make these values.
  const { contextPressure, contextBreakdown } = session.projections().values as { readonly contextPressure?: ContextPressure; readonly contextBreakdown?: ContextBreakdown }
  const untold = (contextBreakdown?.parts.tools ?? 0) === 0 ? toolTokens() : 0
  const waiting = [...inbox.nextStep, ...inbox.nextTurn.slice(0, 1)].reduce((sum, message) => sum + estimateMessageTokens(message), 0)
  const tokens = (contextPressure?.projectedTokens ?? 0) + untold + waiting
  if (price === undefined) return { cost: 0, tokens }
  const rates: ModelRates = ratesAt(price, { inputTokens: tokens, time })
  const before = lastCostOf(session, provider, model)
  const kept = before && (before.cacheRead > 0 || before.cacheWrite > 0 || last.cacheRead > 0) ? Math.min(tokens, inputOf(before)) : 0
  return { cost: dollars((kept * rates.cacheRead + (tokens - kept) * rates.input) / 1e6), tokens }
}

function lastCostOf(session: Session, provider: string, model: string): Usage | undefined {
  const last = (session.projections().values[lastRequestProjection.key] ?? null) as LastRequest | null
  return last !== null && last.provider === provider && last.model === model ? last.usage : undefined
}

type LastRequest = { readonly provider: string; readonly model: string; readonly usage: { readonly [Key in keyof Usage]: Usage[Key] } }

/** What the newest request of a turn used. */
export const lastRequestProjection: Projection<LastRequest | null, LastRequest | null> = {
  key: 'lastRequest',
  stateVersion: 1,
  schema: () => z.strictObject({ provider: z.string(), model: z.string(), usage: z.strictObject({ ...tokenCounts(), isEstimate: z.literal(true).exactOptional() }) }).nullable(),
  parts: 'none',
  start: () => null,
  step: (state, event) => {
    if (event.type !== 'cost/estimated' || event.data.purpose !== 'turn') return state
    const { provider, model, usage } = event.data
    return { provider, model, usage: { ...usage } }
  },
  view: (state) => state,
}

function warn(session: Session, use: BudgetUse, time: number): void {
  if (stateOf(session).warned.includes(warningKey(use, time))) return
  session.append({ type: 'budget/warned', ignorable: true, data: use })
}

function sayUnpriced({ agent: { session }, provider, model }: BudgetPlace): void {
  if (stateOf(session).unpriced.includes(`${provider}/${model}`)) return
  session.append({ type: 'budget/unpriced', ignorable: true, data: { provider, model } })
}

function stateOf(session: Session): BudgetState {
  // Only this unit has this key; a session without it says nothing of limits.
  return (session.projections().values[budgetsProjection.key] as BudgetState | undefined) ?? budgetsProjection.start()
}

const keyOf = ({ cap, per }: { readonly cap: BudgetCap; readonly per: BudgetSpan }) => `${cap}:${per}`
const warningKey = ({ cap, per, limit }: BudgetUse, time: number) => `${cap}:${per}:${limit}${per === 'day' ? `:${dayOf(time)}` : ''}`
const usedOf = (cap: BudgetCap, sum: CostSum) => (cap === 'cost' ? sum.amount : sum.inputTokens + sum.cacheRead + sum.cacheWrite + sum.outputTokens + sum.reasoning)
const rounded = (cap: BudgetCap, value: number) => (cap === 'cost' ? dollars(value) : Math.ceil(value))
