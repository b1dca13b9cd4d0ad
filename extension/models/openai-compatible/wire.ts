import type { ModelRequest } from '../../core/model/contract.ts'
import type { EffortStyle } from '../../core/model/provider-config.ts'
import { listed } from '../wire/body.ts'
import { answerCap, effortOf } from '../wire/efforts.ts'
import type { Wire } from '../wire/wire.ts'
import { readModelList } from './model-list.ts'
import { createChatReader } from './stream-reader.ts'
import { wireMessages } from './wire-messages.ts'

/** Chat completions as OpenAI began them and most servers speak them. Source: runtime specification 16.2 and 16.3. */
export const openAiCompatibleWire: Wire = {
  headers: (key) => (key === null ? {} : { authorization: `Bearer ${key}` }),
  async write(request, context) {
    const { tools, config } = request
    const isDeepSeek = context.config.effortStyle === 'deepseek'
    const effort = isDeepSeek && request.purpose === 'title' ? 'off' : effortOf(request, context.info)
    const cap = answerCap(request, effort)
    const fields = {
      model: config.model,
      ...(cap !== undefined && { max_tokens: cap }),
      ...(config.temperature !== undefined && { temperature: config.temperature }),
      ...(config.stop !== undefined && config.stop.length > 0 && { stop: config.stop }),
      ...effortFields(effort, context.config.effortStyle),
      ...(tools.length > 0 && { tools: tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } })) }),
      stream: true,
      stream_options: { include_usage: true },
    }
    const messages = await wireMessages(request, context)
    return {
      path: '/chat/completions',
      ...(isDeepSeek && { headers: sessionHeaders(request) }),
      body: [`${JSON.stringify(fields).slice(0, -1)},"messages":[`, ...listed(messages), ']}'],
    }
  },
  createReader: createChatReader,
  models: { path: '/models', read: readModelList },
}

/** The effort in the server's own words. */
function effortFields(effort: string | undefined, style: EffortStyle): Record<string, unknown> {
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

/** DeepSeek is told which requests belong together and which one makes room; who asks it is not told: there is no telemetry. */
function sessionHeaders({ sessionId, purpose }: ModelRequest): Readonly<Record<string, string>> {
  return { ...(sessionId !== undefined && { 'x-session-id': sessionId }), ...(purpose === 'compaction' && { 'x-compaction': 'true' }) }
}
