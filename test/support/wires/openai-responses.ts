import { failures, textOf, type ChatMessage, type ScriptUsage } from '../model-script.ts'
import { argumentsOf, frameOf, fullAnswer, jsonOf, listIn, pieces, plainFrame, type Frame, type ServerWire } from './server-wire.ts'

interface Item {
  readonly type?: string
  readonly role?: string
  readonly content?: unknown
  readonly call_id?: string
  readonly name?: string
  readonly arguments?: string
  readonly output?: unknown
}

/** Responses. Shapes from the provider's reference of streaming events. */
export const openAiResponsesServer: ServerWire = {
  api: 'openai-responses',
  root: '/v1',
  isChat: (path) => path === '/responses',
  modelsPath: '/models',
  keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ''),
  read(body, _path, index) {
    const json = jsonOf(body)
    const system: readonly ChatMessage[] = typeof json['instructions'] === 'string' ? [{ role: 'system', content: json['instructions'] }] : []
    return { index, length: body.length, json, messages: [...system, ...listIn<Item>(json, 'input').flatMap(chatMessage)], model: String(json['model']) }
  },
  *frames(request, answer): Generator<Frame> {
    const { parts, finish, usage, length } = fullAnswer(request, answer)
    let sequence_number = 0
    const event = (type: string, fields: object) => frameOf({ type, sequence_number: sequence_number++, ...fields }, type)
    const response = { id: `resp_${request.index}`, object: 'response', created_at: 1_700_000_000, model: request.model, store: false }
    const output: object[] = []
    const added = (item: object) => event('response.output_item.added', { output_index: output.length, item })
    const done = (item: object) => {
      output.push(item)
      return event('response.output_item.done', { output_index: output.length - 1, item })
    }
    yield event('response.created', { response: { ...response, status: 'in_progress', error: null, incomplete_details: null, output: [], usage: null } })
    yield event('response.in_progress', { response: { ...response, status: 'in_progress', output: [] } })
    for (const part of parts) {
      const plain = plainFrame(part)
      const at = { output_index: output.length }
      if (plain !== null) yield plain
      else if ('text' in part) {
        const item_id = `msg_${request.index}_${output.length}`
        const item = { id: item_id, type: 'message', role: 'assistant', ...(request.model.startsWith('gpt-5.4') && { phase: 'commentary' }) }
        const whole = { type: 'output_text', annotations: [], logprobs: [], text: part.text }
        yield added({ ...item, status: 'in_progress', content: [] })
        yield event('response.content_part.added', { item_id, ...at, content_index: 0, part: { ...whole, text: '' } })
        for (const delta of pieces(part.text, length)) yield event('response.output_text.delta', { item_id, ...at, content_index: 0, delta, logprobs: [] })
        yield event('response.output_text.done', { item_id, ...at, content_index: 0, text: part.text, logprobs: [] })
        yield event('response.content_part.done', { item_id, ...at, content_index: 0, part: whole })
        yield done({ ...item, status: 'completed', content: [whole] })
      } else if ('reasoning' in part) {
        const item_id = `rs_${request.index}_${output.length}`
        const item = { id: item_id, type: 'reasoning' }
        const summary = part.reasoning === '' ? [] : [{ type: 'summary_text', text: part.reasoning }]
        yield added({ ...item, summary: [], encrypted_content: '' })
        if (summary.length > 0) {
          const where = { item_id, ...at, summary_index: 0 }
          yield event('response.reasoning_summary_part.added', { ...where, part: { type: 'summary_text', text: '' } })
          for (const delta of pieces(part.reasoning, length)) yield event('response.reasoning_summary_text.delta', { ...where, delta })
          yield event('response.reasoning_summary_text.done', { ...where, text: part.reasoning })
          yield event('response.reasoning_summary_part.done', { ...where, part: summary[0] })
        }
        yield done({ ...item, summary, ...(part.signature !== undefined && { encrypted_content: part.signature }) })
      } else if ('toolCalls' in part)
        for (const call of part.toolCalls) {
          const where = { output_index: output.length }
          const item_id = `fc_${request.index}_${output.length}`
          const item = { id: item_id, type: 'function_call', call_id: call.id ?? `call_${request.index}_${output.length}`, name: call.name }
          const words = argumentsOf(call, request, textOf)
          yield added({ ...item, status: 'in_progress', arguments: '' })
          for (const delta of pieces(words, length)) yield event('response.function_call_arguments.delta', { item_id, ...where, delta })
          yield event('response.function_call_arguments.done', { item_id, ...where, arguments: words })
          yield done({ ...item, status: 'completed', arguments: words })
        }
    }
    if (finish === null) return
    const reason = finish === 'length' ? 'max_output_tokens' : finish === 'content_filter' ? 'content_filter' : null
    const status = reason === null ? 'completed' : 'incomplete'
    yield event(`response.${status}`, { response: { ...response, status, error: null, incomplete_details: reason === null ? null : { reason }, output, usage: usage === null ? null : wireUsage(usage) } })
  },
  modelList: (ids) => ({ object: 'list', data: [...ids, 'text-embedding-3-small'].map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'openai' })) }),
  failures: {
    wrongKey: failures.wrongKey,
    noMoney: {
      status: 429,
      body: { error: { message: 'You exceeded your current quota, please check your plan and billing details.', type: 'insufficient_quota', param: null, code: 'insufficient_quota' } },
    },
    contextLength: {
      status: 400,
      body: { error: { message: 'Your input exceeds the context window of this model. Please adjust your input and try again.', type: 'invalid_request_error', param: 'input', code: 'context_length_exceeded' } },
    },
    overloaded: { status: 503, body: { error: { message: 'The server is currently overloaded. Please try again later.', type: 'server_error', param: null, code: 'server_is_overloaded' } } },
    unknownModel: failures.unknownModel,
    rateLimit: (seconds) => failures.rateLimit(String(seconds)),
    midStream: `event: response.failed\ndata: {"type":"response.failed","sequence_number":9,"response":{"id":"resp_0","object":"response","status":"failed","error":{"code":"server_is_overloaded","message":"Our servers are currently overloaded. Please try again later."},"usage":null}}\n\n`,
  },
  requestIdHeader: 'x-request-id',
}

function wireUsage({ promptTokens, completionTokens, cachedTokens = 0, reasoningTokens = 0 }: ScriptUsage): unknown {
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: promptTokens + completionTokens,
  }
}

function chatMessage(item: Item): readonly ChatMessage[] {
  if (item.type === 'function_call_output') return [{ role: 'tool', tool_call_id: item.call_id ?? '', content: textIn(item.output) }]
  if (item.type === 'function_call') return [{ role: 'assistant', content: '', tool_calls: [{ id: item.call_id ?? '', function: { name: item.name ?? '', arguments: item.arguments ?? '' } }] }]
  return item.role === undefined ? [] : [{ role: item.role, content: textIn(item.content) }]
}

const textIn = (content: unknown): string => (Array.isArray(content) ? content.map((part: { readonly text?: string }) => part.text ?? '').join('') : String(content))
