import * as z from 'zod'
import type { ListedModel } from '../wire/wire.ts'

const modelList = z.object({ data: z.array(z.unknown()) })
const listedModel = z.object({ id: z.string().min(1) })

/** The maker lists all it has; these speak, draw, embed or judge, and cannot answer here. */
const otherKinds = /embedding|whisper|tts|dall-e|image|audio|realtime|moderation|transcribe|translate|sora|davinci|babbage|search|computer-use|instruct/

/** The models of a list that can answer; null when it is none. */
export function readModelList(list: unknown): readonly ListedModel[] | null {
  const parsed = modelList.safeParse(list)
  if (!parsed.success) return null
  return parsed.data.data.flatMap((entry) => {
    const model = listedModel.safeParse(entry)
    return model.success && !otherKinds.test(model.data.id) ? [{ id: model.data.id, facts: {} }] : []
  })
}
