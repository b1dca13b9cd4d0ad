import * as z from 'zod'
import { projectedTokens, startContext, stepContext, type ContextState } from './context-fold.ts'
import type { Projection } from './projection.ts'

/**
 * How full the model's window is.
 *
 * Units:  tokens. `pressureTokens` is what the provider counted for the newest request and its answer, null before it counted any;
 *         `projectedTokens` what the next request would fill as the talk stands; `contextWindow` null while it is not known.
 * Source: runtime specification 16.5.
 */
export type ContextPressure = {
  readonly pressureTokens: number | null
  readonly projectedTokens: number
  readonly contextWindow: number | null
}

export const contextPressureProjection: Projection<ContextState, ContextPressure> = {
  key: 'contextPressure',
  stateVersion: 1,
  schema: () => z.strictObject({ pressureTokens: z.int().nullable(), projectedTokens: z.number(), contextWindow: z.int().nullable() }),
  parts: 'none',
  start: startContext,
  step: stepContext,
  view: (state) => ({ pressureTokens: state.counted, projectedTokens: projectedTokens(state), contextWindow: state.contextWindow }),
}
