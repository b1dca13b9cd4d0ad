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

export function unknownEffort(model: string, effort: string, known: readonly string[]): ModelError {
  const words = known.length > 0 ? `It knows ${known.join(', ')}` : 'It knows none'
  const message = `${model} knows no effort "${effort}". ${words}; choose one in the model picker or in bosun.model.reasoningEffort.`
  return new ModelError({ code: 'UNSUPPORTED_REASONING_EFFORT', message })
}
