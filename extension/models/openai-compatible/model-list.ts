import * as z from 'zod'
import type { ModelFacts } from '../../core/model/provider-config.ts'
import { listedModels } from '../wire/listed-models.ts'
import type { ListedModel } from '../wire/wire.ts'

const positive = z.coerce.number().int().positive().optional().catch(undefined)
const price = z.coerce.number().min(0).optional().catch(undefined)

/** The fields that servers add to the protocol: OpenRouter's, vLLM's, llama.cpp's and LM Studio's. What is odd is left out, never an error. */
const listedModel = z.object({
  id: z.string().min(1),
  name: z.string().min(1).optional().catch(undefined),
  context_length: positive,
  max_model_len: positive,
  max_context_length: positive,
  meta: z.object({ n_ctx_train: positive }).optional().catch(undefined),
  top_provider: z.object({ max_completion_tokens: positive }).nullish().catch(undefined),
  architecture: z.object({ input_modalities: z.array(z.string()).optional() }).nullish().catch(undefined),
  pricing: z.object({ prompt: price, completion: price, input_cache_read: price, input_cache_write: price }).nullish().catch(undefined),
})

/** The models of a list, with the facts it tells about them; null when it is none. */
export const readModelList = (list: unknown): readonly ListedModel[] | null => listedModels(list, listedModel, factsFrom)

function factsFrom(model: z.infer<typeof listedModel>): ModelFacts {
  const { prompt, completion, input_cache_read, input_cache_write } = model.pricing ?? {}
  const inputs = model.architecture?.input_modalities
  return {
    name: model.name,
    contextWindow: model.max_model_len ?? model.context_length ?? model.max_context_length ?? model.meta?.n_ctx_train,
    maxOutputTokens: model.top_provider?.max_completion_tokens,
    images: inputs?.includes('image'),
    ...(prompt !== undefined &&
      completion !== undefined && {
        price: {
          currency: 'USD',
          input: perMillion(prompt),
          cacheRead: perMillion(input_cache_read ?? prompt),
          cacheWrite: perMillion(input_cache_write ?? prompt),
          output: perMillion(completion),
        },
      }),
  }
}

/** Listed in dollars a token. */
const perMillion = (dollars: number) => Math.round(dollars * 1e12) / 1e6
