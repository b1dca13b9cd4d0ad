import * as z from 'zod'
import { listedModels } from '../wire/listed-models.ts'
import type { ListedModel } from '../wire/wire.ts'

const positive = z.number().int().positive().optional().catch(undefined)
const support = z.object({ supported: z.boolean() })
const efforts = ['low', 'medium', 'high', 'xhigh', 'max']

const listedModel = z.object({
  id: z.string().min(1),
  display_name: z.string().min(1).optional().catch(undefined),
  max_input_tokens: positive,
  max_tokens: positive,
  capabilities: z.object({ image_input: support.optional().catch(undefined), effort: z.record(z.string(), z.unknown()).optional().catch(undefined) }).nullish().catch(undefined),
})

/** The models of a list, with the facts it tells about them; null when it is none. */
export const readModelList = (list: unknown): readonly ListedModel[] | null => listedModels(list, listedModel, factsFrom)

function factsFrom({ display_name, max_input_tokens, max_tokens, capabilities }: z.infer<typeof listedModel>): ListedModel['facts'] {
  const told = efforts.filter((effort) => support.safeParse(capabilities?.effort?.[effort]).data?.supported === true)
  return {
    name: display_name,
    contextWindow: max_input_tokens,
    maxOutputTokens: max_tokens,
    images: capabilities?.image_input?.supported,
    ...(told.length > 0 && { reasoningEfforts: told }),
  }
}
