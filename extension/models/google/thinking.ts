import type { ModelInfo, ModelRequest } from '../../core/model/contract.ts'
import { effortOf, unknownEffort } from '../wire/efforts.ts'

export interface ThinkingConfig {
  readonly includeThoughts?: true
  readonly thinkingLevel?: string
  readonly thinkingBudget?: number
}

/** The models before 3 think up to a number of tokens, the ones since then at a level. */
const budgets: Readonly<Record<string, number>> = { off: 0, low: 1_024, medium: 8_192, high: 24_576 }
const levels = ['minimal', 'low', 'medium', 'high', 'xhigh']

/**
 * How hard the model is to think, in the protocol's words; null for a model that does not think.
 *
 * Errors: `ModelError` `UNSUPPORTED_REASONING_EFFORT`.
 */
export function thinkingConfig(request: ModelRequest, info: ModelInfo): ThinkingConfig | null {
  const effort = effortOf(request, info)
  if (info.reasoningEfforts.length === 0) return null
  const shown = request.purpose !== 'title' && effort !== 'off' ? ({ includeThoughts: true } as const) : {}
  if (effort === undefined) return shown
  if (usesBudget(info.id)) {
    const thinkingBudget = budgets[effort]
    if (thinkingBudget === undefined) throw unknownEffort(info.id, effort, Object.keys(budgets))
    return { ...shown, thinkingBudget }
  }
  if (!levels.includes(effort)) throw unknownEffort(info.id, effort, levels)
  return { ...shown, thinkingLevel: effort }
}

export const usesBudget = (model: string): boolean => /gemini-[12](?!\d)/.test(model)
