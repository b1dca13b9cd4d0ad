import type { ModelRequest } from '../../core/model/contract.ts'
import { effortOf } from '../wire/efforts.ts'
import type { Wire, WriteContext } from '../wire/wire.ts'
import { readModelList } from './model-list.ts'
import { createChatReader } from './stream-reader.ts'
import { wireMessages } from './wire-messages.ts'

/** Chat completions as OpenAI began them and most servers speak them. Source: runtime specification 16.2 and 16.3. */
export const openAiCompatibleWire: Wire = {
  headers: (key) => (key === null ? {} : { authorization: `Bearer ${key}` }),
  async write(request, context) {
    const { tools, config } = request
    const fields = {
      model: config.model,
      ...(config.maxTokens !== undefined && { max_tokens: config.maxTokens }),
      ...(config.temperature !== undefined && { temperature: config.temperature }),
      ...(config.stop !== undefined && config.stop.length > 0 && { stop: config.stop }),
      ...effortFields(request, context),
      ...(tools.length > 0 && { tools: tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } })) }),
      stream: true,
      stream_options: { include_usage: true },
    }
    const messages = await wireMessages(request, context)
    return { path: '/chat/completions', body: `${JSON.stringify(fields).slice(0, -1)},"messages":[${messages.join(',')}]}` }
  },
  createReader: createChatReader,
  models: { path: '/models', read: readModelList },
}

/** The effort in the server's own words. */
function effortFields(request: ModelRequest, { config, info }: WriteContext): Record<string, unknown> {
  const style = config.effortStyle
  if (request.purpose === 'title' && style === 'deepseek') return { thinking: { type: 'disabled' } }
  const effort = effortOf(request, info)
  if (effort === undefined) return {}
  switch (style) {
    case 'deepseek':
      return effort === 'off' ? { thinking: { type: 'disabled' } } : { thinking: { type: 'enabled' }, reasoning_effort: effort }
    case 'openrouter':
      return { reasoning: { effort } }
    case 'reasoning_effort':
      return { reasoning_effort: effort }
  }
}
