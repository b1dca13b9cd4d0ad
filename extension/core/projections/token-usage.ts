import * as z from 'zod'
import type { Usage } from '../model/contract.ts'
import type { Projection } from './projection.ts'

/** Tokens of the whole session, disjoint counts, and those of the newest answer. */
export type TokenUsage = { readonly [Key in keyof Usage]: number } & { readonly last: { readonly [Key in keyof Usage]: number } | null }

/** Adds up what providers reported with their answers. */
export const tokenUsageProjection: Projection<TokenUsage, TokenUsage> = {
  key: 'tokenUsage',
  stateVersion: 1,
  schema: () => {
    const counts = tokenCounts()
    return z.strictObject({ ...counts, last: z.strictObject(counts).nullable() })
  },
  parts: 'none',
  isKept: true,
  start: () => ({ inputTokens: 0, outputTokens: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, last: null }),
  step: (state, event) => {
    if (event.type !== 'assistant/message' || event.data.usage === undefined) return state
    const { inputTokens, outputTokens, cacheRead, cacheWrite, reasoning } = event.data.usage
    return {
      inputTokens: state.inputTokens + inputTokens,
      outputTokens: state.outputTokens + outputTokens,
      cacheRead: state.cacheRead + cacheRead,
      cacheWrite: state.cacheWrite + cacheWrite,
      reasoning: state.reasoning + reasoning,
      last: { inputTokens, outputTokens, cacheRead, cacheWrite, reasoning },
    }
  },
  view: (state) => state,
}

/** Of a schema: the disjoint counts of `Usage`. */
export const tokenCounts = () => ({ inputTokens: z.int(), outputTokens: z.int(), cacheRead: z.int(), cacheWrite: z.int(), reasoning: z.int() })
