import * as z from 'zod'
import { contextParts, projectedTokens, startContext, stepContext, type ContextPart, type ContextState } from './context-fold.ts'
import type { Projection } from './projection.ts'

/**
 * What fills the window, part by part.
 *
 * Shape:  `parts` add up to `usedTokens`, but for rounding; `toolResultsByTool` is `parts.toolResults` by tool; `free` is what is left
 *         of `contextWindow`. Both are null while the window is not known.
 * Units:  tokens, estimated, and scaled to what the provider counted where it has.
 * Source: runtime specification 16.5.
 */
export type ContextBreakdown = {
  readonly parts: { readonly [Part in ContextPart]: number }
  readonly toolResultsByTool: { readonly [tool: string]: number }
  readonly usedTokens: number
  readonly free: number | null
  readonly contextWindow: number | null
}

export const contextBreakdownProjection: Projection<ContextState, ContextBreakdown> = {
  key: 'contextBreakdown',
  stateVersion: 1,
  schema: () =>
    z.strictObject({
      parts: z.record(z.enum(contextParts), z.number()),
      toolResultsByTool: z.record(z.string(), z.number()),
      usedTokens: z.number(),
      free: z.number().nullable(),
      contextWindow: z.int().nullable(),
    }),
  parts: 'none',
  start: startContext,
  step: stepContext,
  view: (state) => {
    const { tokens, byTool, total, contextWindow } = state
    const usedTokens = projectedTokens(state)
    const scaled = (estimate: number) => (total === 0 ? 0 : Math.round((estimate * usedTokens) / total))
    const parts = Object.fromEntries(contextParts.map((part) => [part, scaled(tokens[part])])) as Record<ContextPart, number>
    const toolResultsByTool = Object.fromEntries([...byTool].flatMap(([tool, sum]) => (sum > 0 ? [[tool, scaled(sum)] as const] : [])))
    const free = contextWindow === null ? null : Math.max(0, contextWindow - usedTokens)
    return { parts, toolResultsByTool, usedTokens, free, contextWindow }
  },
}
