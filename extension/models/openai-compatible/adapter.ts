import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Clock } from '../../capabilities/clock.ts'
import type { Http } from '../../capabilities/http.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Secrets } from '../../capabilities/secrets.ts'
import { ModelError, type Message, type ModelAdapter, type ModelInfo, type ModelRequest, type StreamChunk } from '../../core/model/contract.ts'
import { modelInfoFrom, type ModelFacts, type ProviderConfig } from '../../core/model/provider-config.ts'
import { checkConnection } from './check.ts'
import { keyFor } from './credentials.ts'
import { failureFromError, failureFromPage, failureFromStream, type FailureContext } from './failures.ts'
import { checkKey, fetchModels, type Inquiry, type ListedModel } from './model-list.ts'
import { chunksFrom } from './stream-parts.ts'
import { wireMessages } from './wire-messages.ts'

export interface AdapterParts {
  readonly config: ProviderConfig
  readonly http: Http
  readonly secrets: Secrets
  readonly clock: Clock
  readonly logger: Logger
  /** Milliseconds a stream may be silent. Source: setting `llm.idleTimeoutMs`. */
  readonly idleTimeoutMs: () => number
}

/**
 * Any server that speaks the OpenAI-compatible chat protocol.
 *
 * Source: runtime specification 16.2 and 16.3. The library reads the stream; what is sent is written here, message by
 *         message and once each, so that two requests of one talk share their beginning byte for byte.
 */
export function createOpenAiCompatibleAdapter(parts: AdapterParts): ModelAdapter {
  const { config, http, secrets, clock } = parts
  const written = new WeakMap<Message, string>()
  let listed: ReadonlyMap<string, ModelFacts> = new Map()

  const contextFor = (model: string): FailureContext => ({
    name: config.name,
    baseUrl: config.baseUrl,
    model,
    isLocal: config.isLocal,
    now: clock.now(),
    key: null,
  })
  const infoOf = (model: string): ModelInfo => modelInfoFrom(config, model, listed.get(model), config.models[model])

  async function inquiry(signal: AbortSignal): Promise<Inquiry> {
    const key = await keyFor(config, secrets)
    return { config, http, clock, key, signal, context: { ...contextFor(''), key } }
  }
  async function list(signal: AbortSignal): Promise<readonly ListedModel[]> {
    const models = await fetchModels(await inquiry(signal))
    listed = new Map(models.map(({ id, facts }) => [id, facts]))
    return models
  }

  return {
    provider: {
      id: config.id,
      name: config.name,
      ...(config.keyName !== null && !config.isKeyOptional && { keyName: config.keyName }),
      ...(config.isLocal && { isLocal: true }),
    },
    retryPolicy: config.retryPolicy,
    async listModels(signal) {
      const models = await list(signal).catch((error: unknown) => {
        // Without a key the server cannot be asked; what is known beforehand can be shown.
        if (error instanceof ModelError && error.code === 'MISSING_CREDENTIAL') return []
        throw error
      })
      const known = Object.keys(config.models).filter((id) => !models.some((model) => model.id === id))
      return [...known, ...models.map(({ id }) => id)].map(infoOf)
    },
    resolveModel: (model) => Promise.resolve(infoOf(model)),
    stream: (request) => stream(request, { ...parts, info: infoOf(request.config.model), context: contextFor(request.config.model), written }),
    check: (signal, model) =>
      checkConnection({
        config,
        model,
        list: async () => {
          await checkKey(await inquiry(signal))
          return list(signal)
        },
      }),
  }
}

interface StreamParts extends AdapterParts {
  readonly info: ModelInfo
  readonly context: FailureContext
  readonly written: WeakMap<Message, string>
}

async function* stream(request: ModelRequest, parts: StreamParts): AsyncGenerator<StreamChunk> {
  const { config } = parts
  const effort = effortFields(request, parts)
  const [key, messages, { createOpenAICompatible }] = await Promise.all([
    keyFor(config, parts.secrets),
    wireMessages(
      request,
      {
        provider: config.id,
        reasoningPassback: config.reasoningPassback,
        canReadImages: parts.info.input.includes('image'),
        loadAttachment: request.loadAttachment,
      },
      parts.written,
    ),
    // Loaded with the first request: the library costs more to load than all of Bosun's start.
    import('@ai-sdk/openai-compatible'),
  ])
  const context = { ...parts.context, key }
  const idle = createIdleGuard(request.signal, parts)
  try {
    const model = createOpenAICompatible({
      name: 'bosun',
      baseURL: config.baseUrl,
      ...(key !== null && { apiKey: key }),
      headers: { ...config.headers },
      includeUsage: true,
      fetch: fetchWith(parts, messages),
      // The messages come last, so that everything before them is the same in each request.
      transformRequestBody: ({ messages: _, ...body }) => ({ ...body, messages: [] }),
    }).chatModel(request.config.model)
    const answer = await model.doStream({ ...callOptions(request, effort), abortSignal: idle.signal })
    const alive = idle.watch(answer.stream as AsyncIterable<LanguageModelV4StreamPart>)
    yield* chunksFrom(alive, { failureFrom: (error) => failureFromError(error, context) ?? failureFromStream(error, context) })
  } catch (error) {
    if (idle.hasFired) throw timeoutError(parts)
    const failure = failureFromError(error, context)
    throw failure === null ? error : new ModelError(failure, { cause: error })
  } finally {
    idle.end()
  }
}

function callOptions({ tools, config: { maxTokens, temperature, stop } }: ModelRequest, effort: Record<string, unknown>): LanguageModelV4CallOptions {
  return {
    // Written by `fetchWith`.
    prompt: [],
    includeRawChunks: true,
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stop !== undefined && stop.length > 0 && { stopSequences: [...stop] }),
    // The library's types want a mutable schema; it only serialises it.
    tools: tools.map(({ name, description, parameters }) => ({ type: 'function' as const, name, description, inputSchema: parameters as object })),
    providerOptions: { bosun: effort as Record<string, never> },
  }
}

/** Put the written messages into the body, and tell a page from an answer before the library reads it. */
function fetchWith({ http, context }: StreamParts, messages: readonly string[]): typeof fetch {
  return async (input, init) => {
    const body = typeof init?.body === 'string' ? init.body : ''
    const gap = '"messages":[]}'
    if (!body.endsWith(gap)) throw new TypeError('The request to the model could not be written: its messages are not at its end.')
    const response = await http.fetch(input, { ...init, body: `${body.slice(0, -2)}${messages.join(',')}]}` })
    const contentType = response.headers.get('content-type') ?? ''
    if (response.ok && /html/i.test(contentType)) {
      await response.body?.cancel()
      throw failureFromPage(contentType, response.status, context)
    }
    return response
  }
}

/** The effort in the server's own words. Errors: `ModelError` `UNSUPPORTED_REASONING_EFFORT`; an effort is refused, never bent. */
function effortFields({ config: { reasoningEffort, model }, purpose }: ModelRequest, { config, info }: StreamParts): Record<string, unknown> {
  const style = config.effortStyle
  // A title needs no thinking.
  if (purpose === 'title' && style === 'deepseek') return { thinking: { type: 'disabled' } }
  if (reasoningEffort === undefined) return {}
  if (!info.reasoningEfforts.includes(reasoningEffort)) {
    const known = info.reasoningEfforts.length > 0 ? `It knows ${info.reasoningEfforts.join(', ')}` : 'It knows none'
    const message = `${model} knows no effort "${reasoningEffort}". ${known}; choose one in the model picker or in bosun.model.reasoningEffort.`
    throw new ModelError({ code: 'UNSUPPORTED_REASONING_EFFORT', message })
  }
  switch (style) {
    case 'deepseek':
      return reasoningEffort === 'off'
        ? { thinking: { type: 'disabled' } }
        : { thinking: { type: 'enabled' }, reasoningEffort }
    case 'openrouter':
      return { reasoning: { effort: reasoningEffort } }
    case 'reasoning_effort':
      return { reasoningEffort }
  }
}

/** Ends a request whose server has been silent too long. */
function createIdleGuard(caller: AbortSignal, { clock, idleTimeoutMs }: StreamParts) {
  const ending = new AbortController()
  const follow = () => ending.abort(caller.reason)
  if (caller.aborted) follow()
  // Taken off again at the end: the caller's signal lives as long as a turn.
  else caller.addEventListener('abort', follow, { once: true })
  let lastSign = clock.monotonicMs()
  let hasFired = false
  let cancel = (): void => undefined
  const arm = (delayMs: number) => {
    cancel = clock.schedule(delayMs, () => {
      // One timer for the whole stream: it looks back when it fires instead of being set anew for each part.
      const leftMs = lastSign + idleTimeoutMs() - clock.monotonicMs()
      if (leftMs > 0) return arm(leftMs)
      hasFired = true
      ending.abort()
    })
  }
  arm(idleTimeoutMs())
  return {
    signal: ending.signal,
    get hasFired() {
      return hasFired
    },
    async *watch<T>(parts: AsyncIterable<T>): AsyncGenerator<T> {
      for await (const part of parts) {
        lastSign = clock.monotonicMs()
        yield part
      }
    },
    end() {
      cancel()
      caller.removeEventListener('abort', follow)
    },
  }
}

function timeoutError({ config, idleTimeoutMs }: StreamParts): ModelError {
  const message = `${config.name} said nothing for ${Math.round(idleTimeoutMs() / 100) / 10} s. Retry, choose another model, or raise bosun.llm.idleTimeoutMs.`
  return new ModelError({ code: 'TIMEOUT', message })
}
