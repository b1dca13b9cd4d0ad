import * as z from 'zod'
import type { ListedModel } from '../wire/wire.ts'

const positive = z.number().int().positive().optional().catch(undefined)
const modelList = z.object({ models: z.array(z.unknown()) })
const listedModel = z.object({
  name: z.string().min(1),
  displayName: z.string().min(1).optional().catch(undefined),
  inputTokenLimit: positive,
  outputTokenLimit: positive,
  supportedGenerationMethods: z.array(z.string()).optional().catch(undefined),
})

/** The models of a list that can answer, with the facts it tells about them; null when it is none. */
export function readModelList(list: unknown): readonly ListedModel[] | null {
  const parsed = modelList.safeParse(list)
  if (!parsed.success) return null
  return parsed.data.models.flatMap((entry) => {
    const model = listedModel.safeParse(entry)
    if (!model.success || model.data.supportedGenerationMethods?.includes('generateContent') === false) return []
    const { name, displayName, inputTokenLimit, outputTokenLimit } = model.data
    return [{ id: name.replace(/^models\//, ''), facts: { name: displayName, contextWindow: inputTokenLimit, maxOutputTokens: outputTokenLimit } }]
  })
}
