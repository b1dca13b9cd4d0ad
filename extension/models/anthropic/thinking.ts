import { ModelError, type ModelInfo, type ModelRequest } from '../../core/model/contract.ts'
import { effortOf, unknownEffort } from '../wire/efforts.ts'

/** The fields of a request that say how hard the model thinks. */
export interface ThinkingFields {
  readonly thinking?: { readonly type: 'disabled' } | { readonly type: 'enabled'; readonly budget_tokens: number } | { readonly type: 'adaptive'; readonly display: 'summarized' }
  readonly output_config?: { readonly effort: string }
}

/** Claude 3 and 4 up to 4.5 think up to a number of tokens; all after them take an effort and find the number themselves. */
const budgetModels = /claude-(3|(opus|sonnet|haiku)-(3|4(-[0-5])?(?![-.]?\d)))/

const budgets: Readonly<Record<string, number>> = { low: 4_096, medium: 16_384, high: 31_999 }
const LEAST_BUDGET = 1_024
/** Of the answer's cap, thinking may take so much; the rest is for the answer itself. */
const SHARE = 0.8

/**
 * How hard the model is to think, in the protocol's words.
 *
 * Errors: `ModelError` `UNSUPPORTED_REASONING_EFFORT` for an effort that the model does not know, or for which the answer's cap
 *         leaves no room.
 * Source: the provider's pages on extended and adaptive thinking. `display` asks for the summary, which later models leave out.
 */
export function thinkingFields(request: ModelRequest, info: ModelInfo, maxTokens: number): ThinkingFields {
  const effort = thinkingEffort(request, info)
  if (effort === undefined) return {}
  if (effort === 'off') return { thinking: { type: 'disabled' } }
  if (!usesBudget(info.id)) return { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort } }
  if (isAmongCalls(request)) return {}
  const budget = budgets[effort]
  if (budget === undefined) throw unknownEffort(info.id, effort, ['off', ...Object.keys(budgets)])
  const room = Math.floor(maxTokens * SHARE)
  if (room < LEAST_BUDGET) {
    const message = `An answer of ${maxTokens} tokens leaves ${info.id} no room to think. Raise bosun.model.maxTokens, or choose the effort "off".`
    throw new ModelError({ code: 'UNSUPPORTED_REASONING_EFFORT', message })
  }
  return { thinking: { type: 'enabled', budget_tokens: Math.min(budget, room) } }
}

/**
 * Calls are under way that were made without thought of this model's, by another model or without thinking. A model with a budget
 * refuses to begin thinking then; it thinks again from the next turn on.
 */
function isAmongCalls({ messages, config }: ModelRequest): boolean {
  const answer = messages.findLast((message) => message.role === 'assistant')
  const isOpen = messages.slice(answer === undefined ? 0 : messages.lastIndexOf(answer) + 1).some(({ role }) => role === 'tool')
  if (answer === undefined || !isOpen) return false
  const { provider, model, replayState } = answer.source
  return provider !== config.provider || model !== config.model || (replayState?.blocks ?? []).every((state) => state === null)
}

/** Models with a budget need no thought for a title, whether they know the word for none or not. */
export function thinkingEffort(request: ModelRequest, info: ModelInfo): string | undefined {
  return request.purpose === 'title' && usesBudget(info.id) ? undefined : effortOf(request, info)
}

/** Dates are no versions: `claude-sonnet-4-20250514` is a 4. */
export const usesBudget = (model: string): boolean => budgetModels.test(model.replace(/[-@]20\d{6}.*$/, '').replaceAll('.', '-'))
