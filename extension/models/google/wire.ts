import type { ModelRequest } from '../../core/model/contract.ts'
import { answerCap, effortOf } from '../wire/efforts.ts'
import type { Wire } from '../wire/wire.ts'
import { contentList } from './contents.ts'
import { readModelList } from './model-list.ts'
import { createContentReader } from './stream-reader.ts'
import { thinkingConfig } from './thinking.ts'

/** Google's generated content. Its cache needs no marks: requests that begin alike share it. */
export const googleWire: Wire = {
  headers: (key) => (key === null ? {} : { 'x-goog-api-key': key }),
  async write(request, context) {
    const { config, tools, system } = request
    const thinking = thinkingConfig(request, context.info)
    const cap = answerCap(request, effortOf(request, context.info))
    const fields = {
      generationConfig: {
        ...(cap !== undefined && { maxOutputTokens: cap }),
        ...(config.temperature !== undefined && { temperature: config.temperature }),
        ...(config.stop !== undefined && config.stop.length > 0 && { stopSequences: config.stop }),
        ...(thinking !== null && { thinkingConfig: thinking }),
      },
      ...(tools.length > 0 && { tools: [{ functionDeclarations: tools.map(declaration) }] }),
      ...(system !== undefined && system.trim() !== '' && { systemInstruction: { parts: [{ text: system }] } }),
    }
    const contents = await contentList(request, context)
    return { path: `/${pathOf(config.model)}:streamGenerateContent?alt=sse`, body: [`${JSON.stringify(fields).slice(0, -1)},"contents":`, ...contents, '}'] }
  },
  createReader: createContentReader,
  models: { path: '/models?pageSize=1000', read: readModelList },
}

const declaration = ({ name, description, parameters }: ModelRequest['tools'][number]) => ({ name, description, parametersJsonSchema: parameters })

/** A tuned model has a path of its own. */
const pathOf = (model: string) => (model.includes('/') ? model.split('/').map(encodeURIComponent).join('/') : `models/${encodeURIComponent(model)}`)
