import { textOf, type ChatMessage, type ScriptUsage } from '../model-script.ts'
import { argumentsOf, frameOf, fullAnswer, jsonOf, listIn, pieces, plainFrame, type Frame, type ServerWire } from './server-wire.ts'

interface Block {
  readonly type: string
  readonly text?: string
  readonly content?: unknown
  readonly tool_use_id?: string
  readonly id?: string
  readonly name?: string
  readonly input?: unknown
}

const failure = (status: number, type: string, message: string, headers: Readonly<Record<string, string>> = {}) => ({
  status,
  headers: { 'request-id': 'scripted-failure', ...headers },
  body: { type: 'error', error: { type, message }, request_id: 'scripted-failure' },
})

/** Messages. Shapes from the provider's pages on streaming, extended thinking, errors and the list of models. */
export const anthropicServer: ServerWire = {
  api: 'anthropic',
  root: '/v1',
  isChat: (path) => path === '/messages',
  modelsPath: '/models',
  keyOf: ({ 'x-api-key': key }) => (typeof key === 'string' ? key : undefined),
  read(body, _path, index) {
    const json = jsonOf(body)
    const messages = listIn<{ readonly role: string; readonly content: readonly Block[] }>(json, 'messages').flatMap(({ role, content }) => chatMessages(role, content))
    return { index, length: body.length, json, messages: [...systemOf(json), ...messages], model: String(json['model']) }
  },
  *frames(request, answer): Generator<Frame> {
    const { parts, finish, usage, length, hasCalls } = fullAnswer(request, answer)
    const event = (data: { readonly type: string }) => frameOf(data, data.type)
    let index = -1
    const block = function* (content_block: object, deltas: readonly object[]): Generator<Frame> {
      index += 1
      yield event({ type: 'content_block_start', index, content_block } as { type: string })
      for (const delta of deltas) yield event({ type: 'content_block_delta', index, delta } as { type: string })
      yield event({ type: 'content_block_stop', index } as { type: string })
    }
    yield event({
      type: 'message_start',
      message: { id: `msg_${request.index}`, type: 'message', role: 'assistant', model: request.model, content: [], stop_reason: null, stop_sequence: null, usage: usage === null ? null : { ...inputUsage(usage), output_tokens: 1 } },
    } as { type: string })
    yield event({ type: 'ping' })
    for (const part of parts) {
      const plain = plainFrame(part)
      if (plain !== null) yield plain
      else if ('text' in part) yield* block({ type: 'text', text: '' }, pieces(part.text, length).map((text) => ({ type: 'text_delta', text })))
      else if ('redacted' in part) yield* block({ type: 'redacted_thinking', data: part.redacted }, [])
      else if ('reasoning' in part)
        yield* block({ type: 'thinking', thinking: '', signature: '' }, [
          ...pieces(part.reasoning, length).map((thinking) => ({ type: 'thinking_delta', thinking })),
          ...(part.signature === undefined ? [] : [{ type: 'signature_delta', signature: part.signature }]),
        ])
      else if ('toolCalls' in part)
        for (const call of part.toolCalls) {
          const id = call.id ?? `toolu_${request.index}_${index + 1}`
          yield* block({ type: 'tool_use', id, name: call.name, input: {} }, ['', ...pieces(argumentsOf(call, request, textOf), length)].map((partial_json) => ({ type: 'input_json_delta', partial_json })))
        }
    }
    if (finish === null) return
    const delta = { stop_reason: stopReason(finish, hasCalls), stop_sequence: null }
    yield event({ type: 'message_delta', delta, ...(usage !== null && { usage: { ...inputUsage(usage), output_tokens: usage.completionTokens, ...(usage.reasoningTokens !== undefined && { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }) } }) } as { type: string })
    yield event({ type: 'message_stop' })
  },
  modelList: (ids) => ({
    data: ids.map((id) => ({ type: 'model', id, display_name: `Model ${id}`, created_at: '2026-01-01T00:00:00Z', max_input_tokens: 300_000, max_tokens: 50_000, capabilities: { image_input: { supported: true }, effort: { supported: true, low: { supported: true }, high: { supported: true }, max: { supported: false } } } })),
    has_more: false,
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
  }),
  failures: {
    wrongKey: failure(401, 'authentication_error', 'invalid x-api-key'),
    noMoney: failure(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.'),
    contextLength: failure(400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
    overloaded: failure(529, 'overloaded_error', 'Overloaded'),
    unknownModel: (model) => failure(404, 'not_found_error', `model: ${model}`),
    rateLimit: (seconds) => failure(429, 'rate_limit_error', 'This request would exceed your organization’s rate limit.', { 'retry-after': String(seconds) }),
    midStream: 'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n',
  },
  requestIdHeader: 'request-id',
}

const inputUsage = ({ promptTokens, cachedTokens = 0, cacheWriteTokens = 0 }: ScriptUsage) => ({
  input_tokens: promptTokens - cachedTokens - cacheWriteTokens,
  cache_creation_input_tokens: cacheWriteTokens,
  cache_read_input_tokens: cachedTokens,
})

function stopReason(finish: string, hasCalls: boolean): string {
  if (finish === 'length') return 'max_tokens'
  if (finish === 'content_filter') return 'refusal'
  if (finish === 'stop') return hasCalls ? 'tool_use' : 'end_turn'
  return finish === 'tool_calls' ? 'tool_use' : finish
}

function systemOf(json: Readonly<Record<string, unknown>>): readonly ChatMessage[] {
  const blocks = listIn<Block>(json, 'system')
  return blocks.length === 0 ? [] : [{ role: 'system', content: textIn(blocks) }]
}

function chatMessages(role: string, content: readonly Block[]): readonly ChatMessage[] {
  const results = content.filter(({ type }) => type === 'tool_result').map(({ tool_use_id, content }): ChatMessage => ({ role: 'tool', tool_call_id: tool_use_id ?? '', content: textIn(content) }))
  const calls = content.filter(({ type }) => type === 'tool_use').map(({ id, name, input }) => ({ id: id ?? '', function: { name: name ?? '', arguments: JSON.stringify(input) } }))
  const rest = content.filter(({ type }) => type !== 'tool_result')
  return [...results, ...(rest.length === 0 ? [] : [{ role, content: textIn(rest), ...(calls.length > 0 && { tool_calls: calls }) }])]
}

const textIn = (content: unknown): string => (Array.isArray(content) ? content.map((block: Block) => (block.type === 'text' ? block.text : '')).join('') : String(content))
