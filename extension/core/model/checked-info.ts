import { ModelError, type FailureCode, type ModelAdapter, type ModelInfo } from './contract.ts'

/**
 * The facts that an adapter gives about a model, looked at before anybody counts with them.
 *
 * Errors: `ModelError` `UNKNOWN_MODEL` from the adapter; `INVALID_MODEL_ID`, `INVALID_MODEL_WINDOW`, `INVALID_MODEL_OUTPUT`,
 *         `INVALID_MODEL_INPUT` or `INVALID_MODEL_EFFORTS` for facts that cannot be.
 */
export async function resolveChecked(adapter: ModelAdapter, model: string): Promise<ModelInfo> {
  return checkedInfo(adapter, await adapter.resolveModel(model))
}

export function checkedInfo({ provider }: Pick<ModelAdapter, 'provider'>, info: ModelInfo): ModelInfo {
  const problem = problemOf(info)
  if (problem === null) return info
  const message = `${provider.name} describes ${JSON.stringify(info?.id ?? null)} with ${problem.words}. Correct its facts in bosun.model.facts or bosun.providers, or choose another model.`
  throw new ModelError({ code: problem.code, message })
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0
const isText = (value: unknown) => typeof value === 'string' && value.trim() !== ''

/** Adapters are others' code too: nothing is taken for granted. */
function problemOf(info: ModelInfo | undefined): { readonly code: FailureCode; readonly words: string } | null {
  if (!isText(info?.id)) return { code: 'INVALID_MODEL_ID', words: 'no name' }
  if (!isCount(info?.contextWindow)) return { code: 'INVALID_MODEL_WINDOW', words: `a window of ${String(info?.contextWindow)} tokens` }
  if (!isCount(info?.maxOutputTokens)) return { code: 'INVALID_MODEL_OUTPUT', words: `an answer of at most ${String(info?.maxOutputTokens)} tokens` }
  const input: unknown = info?.input
  if (!Array.isArray(input) || !input.includes('text')) return { code: 'INVALID_MODEL_INPUT', words: 'no text among what it reads' }
  const efforts: unknown = info?.reasoningEfforts
  if (!Array.isArray(efforts) || !efforts.every(isText)) return { code: 'INVALID_MODEL_EFFORTS', words: 'efforts that are no list of words' }
  return null
}
