import { failures, textOf, type ChatMessage, type ChatRequest, type ScriptPart, type ScriptUsage } from '../model-script.ts'
import { argumentsOf, frameOf, fullAnswer, jsonOf, listIn, pieces, plainFrame, type Frame, type ServerWire } from './server-wire.ts'

/** Chat completions. */
export const openAiCompatibleServer: ServerWire = {
  api: 'openai-compatible',
  root: '/v1',
  isChat: (path) => path === '/chat/completions',
  modelsPath: '/models',
  keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ''),
  read(body, _path, index) {
    const json = jsonOf(body)
    return { index, length: body.length, json, messages: listIn<ChatMessage>(json, 'messages'), model: typeof json['model'] === 'string' ? json['model'] : '' }
  },
  *frames(request, answer): Generator<Frame> {
    const { parts, finish, usage, length } = fullAnswer(request, answer)
    const head = { id: `chatcmpl-${request.index}`, object: 'chat.completion.chunk', created: 1_700_000_000, model: request.model }
    const delta = (delta: unknown, finish: string | null = null) => frameOf({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })
    let callCount = 0
    yield delta({ role: 'assistant', content: '' })
    for (const part of parts) {
      const plain = plainFrame(part)
      if (plain !== null) yield plain
      else if ('text' in part) for (const piece of pieces(part.text, length)) yield delta({ content: piece })
      else if ('reasoning' in part) for (const piece of pieces(part.reasoning, length)) yield delta({ [part.key ?? 'reasoning_content']: piece })
      else if ('toolCalls' in part) {
        for (const piece of callDeltas(part, request, callCount, length)) yield delta({ tool_calls: [piece] })
        callCount += part.toolCalls.length
      }
    }
    if (finish !== null) yield delta({}, finish)
    if (usage !== null) yield frameOf({ ...head, choices: [], usage: wireUsage(usage) })
    if (answer.done !== false) yield 'data: [DONE]\n\n'
  },
  modelList: (ids) => ({ object: 'list', data: ids.map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'script' })) }),
  failures: {
    wrongKey: failures.wrongKey,
    noMoney: failures.noMoney,
    contextLength: failures.contextLength,
    overloaded: { status: 503, body: { error: { message: 'The engine is currently overloaded, please try again later', type: 'server_error' } } },
    unknownModel: failures.unknownModel,
    rateLimit: (seconds) => failures.rateLimit(String(seconds)),
    midStream: 'data: {"error": {"message": "Overloaded", "code": 503}}\n\n',
  },
  requestIdHeader: 'x-request-id',
}

/** Deltas of the calls of one part: id and name with the first, the arguments in pieces after it. */
function callDeltas(part: Extract<ScriptPart, { toolCalls: unknown }>, request: ChatRequest, firstIndex: number, length: number): readonly unknown[] {
  const perCall = part.toolCalls.map((call, offset) => {
    const index = firstIndex + offset
    const id = call.id === undefined ? `call_${request.index}_${index}` : call.id
    const first = { index, ...(id === null ? {} : { id }), type: 'function', function: { name: call.name, arguments: '' } }
    return [first, ...pieces(argumentsOf(call, request, textOf), length).map((piece) => ({ index, function: { arguments: piece } }))]
  })
  if (part.interleaved !== true) return perCall.flat()
  const longest = Math.max(...perCall.map(({ length }) => length))
  return Array.from({ length: longest }, (_, at) => perCall.flatMap((deltas) => (at < deltas.length ? [deltas[at]] : []))).flat()
}

function wireUsage({ promptTokens, completionTokens, cachedTokens, reasoningTokens }: ScriptUsage): unknown {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...(cachedTokens === undefined ? {} : { prompt_tokens_details: { cached_tokens: cachedTokens } }),
    ...(reasoningTokens === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  }
}
