import { ModelError, type ModelInfo, type ModelRequest } from '../../core/model/contract.ts'
import { listed } from '../wire/body.ts'
import { answerCap, effortOf } from '../wire/efforts.ts'
import type { Wire } from '../wire/wire.ts'
import { inputItems } from './input.ts'
import { readModelList } from './model-list.ts'
import { createResponseReader } from './stream-reader.ts'

/**
 * OpenAI's Responses. The server is asked to store nothing: the log has the talk, and every request carries all of it, the model's
 * thought under a cipher. The session's name as cache key brings the requests of one talk to the machine that knows its beginning.
 */
export const openAiResponsesWire: Wire = {
  headers: (key) => (key === null ? {} : { authorization: `Bearer ${key}` }),
  async write(request, context) {
    const { config, tools, system, sessionId } = request
    if (config.stop !== undefined && config.stop.length > 0) {
      const message = `${context.config.name} takes no words to stop at. Leave them out, or choose a model of another provider.`
      throw new ModelError({ code: 'INVALID_REQUEST', message })
    }
    const effort = effortOf(request, context.info)
    const cap = answerCap(request, effort)
    const fields = {
      model: config.model,
      ...(cap !== undefined && { max_output_tokens: cap }),
      ...reasoningFields(request, context.info, effort),
      store: false,
      stream: true,
      ...(sessionId !== undefined && { prompt_cache_key: sessionId }),
      ...(tools.length > 0 && { tools: tools.map(({ name, description, parameters }) => ({ type: 'function', name, description, parameters, strict: false })) }),
      ...(system !== undefined && { instructions: system }),
    }
    const items = await inputItems(request, context)
    return { path: '/responses', body: [`${JSON.stringify(fields).slice(0, -1)},"input":[`, ...listed(items), ']}'] }
  },
  createReader: createResponseReader,
  models: { path: '/models', read: readModelList },
}

/** Only models that reason take an effort and give their thought, and those take no temperature. */
function reasoningFields(request: ModelRequest, info: ModelInfo, effort: string | undefined): Record<string, unknown> {
  const { temperature } = request.config
  const warmth = temperature === undefined ? {} : { temperature }
  if (info.reasoningEfforts.length === 0) return warmth
  return {
    reasoning: { ...(effort !== undefined && { effort }), ...(request.purpose !== 'title' && effort !== 'none' && { summary: 'auto' }) },
    include: ['reasoning.encrypted_content'],
    ...(effort === 'none' && warmth),
  }
}
