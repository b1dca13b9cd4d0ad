import { ModelError, type ModelInfo, type ModelRequest } from '../../core/model/contract.ts'

/** From the least to the most, in the words of all providers. */
const ladder = ['off', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/**
 * The effort a request is to be made with, in the provider's own words; undefined leaves it to the provider. A title gets the least
 * there is: it needs no thinking.
 *
 * Errors: `ModelError` `UNSUPPORTED_REASONING_EFFORT`; an effort is refused, never bent.
 */
export function effortOf({ config: { reasoningEffort, model }, purpose }: ModelRequest, info: ModelInfo): string | undefined {
  if (purpose === 'title') return ladder.find((effort) => info.reasoningEfforts.includes(effort))
  if (reasoningEffort === undefined) return undefined
  if (!info.reasoningEfforts.includes(reasoningEffort)) throw unknownEffort(model, reasoningEffort, info.reasoningEfforts)
  return reasoningEffort
}

/** Tokens that a model which cannot stop thinking may think for a title. */
const TITLE_THOUGHT = 2_048

/** The cap of an answer, thought included. That of a title is for its few words alone, so a model that thinks all the same gets room for both. */
export function answerCap({ config: { maxTokens }, purpose }: ModelRequest, effort: string | undefined): number | undefined {
  const thinks = effort !== undefined && effort !== 'off' && effort !== 'none'
  return maxTokens !== undefined && purpose === 'title' && thinks ? maxTokens + TITLE_THOUGHT : maxTokens
}

export function unknownEffort(model: string, effort: string, known: readonly string[]): ModelError {
  const words = known.length > 0 ? `It knows ${known.join(', ')}` : 'It knows none'
  const message = `${model} knows no effort "${effort}". ${words}; choose one in the model picker or in bosun.model.reasoningEffort.`
  return new ModelError({ code: 'UNSUPPORTED_REASONING_EFFORT', message })
}
