import type { EventTypeRules } from '../log/event-types.ts'
import type { ModelRates, ModelRequest, Usage } from '../model/contract.ts'

/** What a limit is about, and what it is counted over. */
export type BudgetCap = 'cost' | 'tokens'
export type BudgetSpan = 'turn' | 'session' | 'day'

/** One limit and how far it is used. Dollars for `cost`, tokens (cached ones too) for `tokens`. */
export type BudgetUse = {
  readonly cap: BudgetCap
  readonly per: BudgetSpan
  readonly limit: number
  readonly used: number
}

/** Which part of the prefix was the first that differed from the request before, or that none did. */
export type CacheMissReason =
  | { readonly kind: 'model'; readonly from: string; readonly to: string }
  | { readonly kind: 'system' }
  /** `tools`: names, at most eight; `total`: how many there are. */
  | { readonly kind: 'tools'; readonly change: 'added' | 'removed' | 'changed' | 'moved'; readonly tools: readonly string[]; readonly total: number }
  | { readonly kind: 'config'; readonly fields: readonly string[] }
  /** Position of the first message that differs; `what` says what stands there now. */
  | { readonly kind: 'messages'; readonly position: number; readonly what: 'summary' | 'result' | 'message' | 'removed' }
  /** Nothing differed: the provider let go of it. */
  | { readonly kind: 'dropped' }

/** A request found much less in the provider's cache than the one before had put there. */
export type CacheMiss = {
  readonly lostTokens: number
  readonly sinceMs: number
  readonly reason: CacheMissReason
}

declare module '../log/event.ts' {
  interface EventMap {
    /** Ours, `ignorable`: what one request used and, where its price was known, what it cost by the rates of that moment. */
    'cost/estimated': {
      readonly purpose: NonNullable<ModelRequest['purpose']>
      readonly provider: string
      readonly model: string
      readonly usage: Usage
      /** The provider counted nothing; the figures are an estimate. */
      readonly isEstimate?: true
      /** Dollars per million tokens, those that held. Absent: unknown. */
      readonly rates?: ModelRates
      /** Dollars. Absent where the rates are. */
      readonly amount?: number
      readonly cacheMiss?: CacheMiss
    }
    /** Ours, `ignorable`: four fifths of a limit are used; said once for each limit. */
    'budget/warned': BudgetUse
    /** Ours, `ignorable`: a limit of money is set, but what the model costs is unknown, so it cannot hold. */
    'budget/unpriced': { readonly provider: string; readonly model: string }
    /** Ours, `ignorable`: the person let it go on past a limit, to `limit`. `base` is what the settings said then, `day` the day it holds for. */
    'budget/raised': { readonly cap: BudgetCap; readonly per: BudgetSpan; readonly limit: number; readonly base: number; readonly day?: string }
  }
}

/** What the log holds the events to. */
export const costEventTypes = {
  'cost/estimated': { isIgnorable: true, fields: { provider: 'text', model: 'text', usage: 'object', purpose: 'text' } },
  'budget/warned': { isIgnorable: true, fields: { cap: 'text', per: 'text', limit: 'number', used: 'number' } },
  'budget/unpriced': { isIgnorable: true, fields: { provider: 'text', model: 'text' } },
  'budget/raised': { isIgnorable: true, fields: { cap: 'text', per: 'text', limit: 'number', base: 'number', day: 'text?' } },
} satisfies Readonly<Record<string, EventTypeRules>>
