import * as z from 'zod'
import type { ListedModel } from './wire.ts'

const modelList = z.object({ data: z.array(z.unknown()) })

/** The models of a list `{ data: [...] }`; null when it is none. An entry that `entry` does not know is left out. */
export function listedModels<Entry extends { readonly id: string }>(list: unknown, entry: z.ZodType<Entry>, factsFrom: (model: Entry) => ListedModel['facts']): readonly ListedModel[] | null {
  const parsed = modelList.safeParse(list)
  if (!parsed.success) return null
  return parsed.data.data.flatMap((each) => {
    const model = entry.safeParse(each)
    return model.success ? [{ id: model.data.id, facts: factsFrom(model.data) }] : []
  })
}
