import { textOf, type ChatMessage, type ScriptUsage } from '../model-script.ts'
import { argumentsOf, frameOf, fullAnswer, jsonOf, listIn, pieces, plainFrame, type Frame, type ServerWire } from './server-wire.ts'

interface Part {
  readonly text?: string
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args: unknown }
  readonly functionResponse?: { readonly id?: string; readonly name: string; readonly response: { readonly output?: string; readonly error?: string } }
}

const failure = (status: number, word: string, message: string, details: readonly object[] = []) => ({ status, body: { error: { code: status, message, status: word, ...(details.length > 0 && { details }) } } })
const kind = 'type.googleapis.com/google.rpc.'

/** Generated content. Shapes from the provider's reference, its pages on thought signatures and on quotas. */
export const googleServer: ServerWire = {
  api: 'google',
  root: '/v1beta',
  isChat: (path) => path.startsWith('/models/') && path.endsWith(':streamGenerateContent'),
  modelsPath: '/models',
  keyOf: ({ 'x-goog-api-key': key }) => (typeof key === 'string' ? key : undefined),
  read(body, path, index) {
    const json = jsonOf(body)
    const system = json['systemInstruction'] as { readonly parts: readonly Part[] } | undefined
    const messages = listIn<{ readonly role: string; readonly parts: readonly Part[] }>(json, 'contents').flatMap(({ role, parts }) => chatMessages(role, parts))
    return {
      index,
      length: body.length,
      json,
      messages: [...(system === undefined ? [] : [{ role: 'system', content: textIn(system.parts) }]), ...messages],
      model: decodeURIComponent(/^\/models\/(.*):streamGenerateContent$/.exec(path)?.[1] ?? ''),
    }
  },
  *frames(request, answer): Generator<Frame> {
    const { parts, finish, usage, length } = fullAnswer(request, answer)
    const usageMetadata = usage === null ? {} : { usageMetadata: wireUsage(usage) }
    const chunk = (parts: readonly object[], more: object = {}) => frameOf({ candidates: [{ content: { parts, role: 'model' }, ...more, index: 0 }], ...usageMetadata, modelVersion: request.model, responseId: `response-${request.index}` })
    // The signature of a thought comes with the part after it; where none comes, with an empty one at the end.
    let signature: string | undefined
    const signed = () => {
      const field = signature === undefined ? {} : { thoughtSignature: signature }
      signature = undefined
      return field
    }
    for (const part of parts) {
      const plain = plainFrame(part)
      if (plain !== null) yield plain
      else if ('text' in part) for (const text of pieces(part.text, length)) yield chunk([{ text }])
      else if ('reasoning' in part) {
        for (const text of pieces(part.reasoning, length)) yield chunk([{ text, thought: true }])
        signature = part.signature
      } else if ('toolCalls' in part)
        yield chunk(
          part.toolCalls.map((call) => ({
            functionCall: { ...(typeof call.id === 'string' && { id: call.id }), name: call.name, args: JSON.parse(argumentsOf(call, request, textOf)) as unknown },
            ...signed(),
          })),
        )
    }
    if (finish === null) return
    const finishReason = finish === 'length' ? 'MAX_TOKENS' : finish === 'content_filter' ? 'SAFETY' : finish === 'stop' || finish === 'tool_calls' ? 'STOP' : finish
    yield chunk([{ text: '', ...signed() }], { finishReason })
  },
  modelList: (ids) => ({
    models: [
      ...ids.map((id) => ({ name: `models/${id}`, version: '001', displayName: `Model ${id}`, inputTokenLimit: 300_000, outputTokenLimit: 50_000, supportedGenerationMethods: ['generateContent', 'countTokens'], thinking: true })),
      { name: 'models/embedding-001', displayName: 'Embedding', inputTokenLimit: 2_048, outputTokenLimit: 1, supportedGenerationMethods: ['embedContent'] },
    ],
  }),
  failures: {
    wrongKey: failure(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [{ '@type': `${kind}ErrorInfo`, reason: 'API_KEY_INVALID', domain: 'googleapis.com' }]),
    noMoney: failure(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.', [
      { '@type': `${kind}QuotaFailure`, violations: [{ quotaMetric: 'generativelanguage.googleapis.com/generate_content_requests', quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }] },
      { '@type': `${kind}RetryInfo`, retryDelay: '41s' },
    ]),
    contextLength: failure(400, 'INVALID_ARGUMENT', 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'),
    overloaded: failure(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
    unknownModel: (model) => failure(404, 'NOT_FOUND', `models/${model} is not found for API version v1beta, or is not supported for generateContent.`),
    rateLimit: (seconds) =>
      failure(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.', [
        { '@type': `${kind}QuotaFailure`, violations: [{ quotaMetric: 'generativelanguage.googleapis.com/generate_content_requests', quotaId: 'GenerateRequestsPerMinutePerProjectPerModel' }] },
        { '@type': `${kind}RetryInfo`, retryDelay: `${seconds}s` },
      ]),
    midStream: 'data: {"error": {"code": 503, "message": "The model is overloaded. Please try again later.", "status": "UNAVAILABLE"}}\n\n',
  },
  requestIdHeader: 'x-request-id',
}

const wireUsage = ({ promptTokens, completionTokens, cachedTokens, reasoningTokens = 0 }: ScriptUsage) => ({
  promptTokenCount: promptTokens,
  candidatesTokenCount: completionTokens - reasoningTokens,
  totalTokenCount: promptTokens + completionTokens,
  ...(cachedTokens !== undefined && { cachedContentTokenCount: cachedTokens }),
  ...(reasoningTokens > 0 && { thoughtsTokenCount: reasoningTokens }),
})

function chatMessages(role: string, parts: readonly Part[]): readonly ChatMessage[] {
  const results = parts.flatMap(({ functionResponse: result }): readonly ChatMessage[] =>
    result === undefined ? [] : [{ role: 'tool', tool_call_id: result.id ?? result.name, content: result.response.output ?? result.response.error ?? '' }],
  )
  const calls = parts.flatMap(({ functionCall: call }) => (call === undefined ? [] : [{ id: call.id ?? call.name, function: { name: call.name, arguments: JSON.stringify(call.args) } }]))
  const text = textIn(parts)
  const words = text === '' && calls.length === 0 ? [] : [{ role: role === 'model' ? 'assistant' : 'user', content: text, ...(calls.length > 0 && { tool_calls: calls }) }]
  return [...results, ...words]
}

const textIn = (parts: readonly Part[]): string => parts.map(({ text }) => text ?? '').join('')
