import { ModelError, type ModelAdapter, type ModelInfo, type ModelRequest, type StreamChunk } from '../../core/model/contract.ts'
import { modelInfoFrom, type ModelFacts } from '../../core/model/provider-config.ts'
import { bodyOf } from './body.ts'
import { checkConnection } from './check.ts'
import { keyFor } from './credentials.ts'
import { eventsOf, headersOf, readRest } from './event-stream.ts'
import { failureFromError, failureFromStream, requestIdOf, type FailureContext } from './failures.ts'
import { fetchAtHome } from './fetch-at-home.ts'
import { createIdleGuard } from './idle-guard.ts'
import { checkKey, fetchModels, type Inquiry } from './model-inquiry.ts'
import { MalformedEvent, type AdapterParts, type ListedModel, type Wire, type WireReader, type Written } from './wire.ts'

/**
 * A provider that is asked over HTTP and answers with a stream of events, in whichever protocol.
 *
 * The protocol is loaded with the first use. What is sent is written message by message and once each, so that two requests of one
 * talk share their beginning byte for byte. Once a request is on its way a failure is the last part of the stream.
 */
export function createWireAdapter(parts: AdapterParts, load: () => Promise<Wire>): ModelAdapter {
  const { config, http, secrets, clock } = parts
  const written = new WrittenMessages()
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
    const [wire, key] = await Promise.all([load(), keyFor(config, secrets)])
    return { wire, config, http, clock, key, signal, context: { ...contextFor(''), key } }
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
      ...(config.isPreset && { isPreset: true }),
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
    stream: (request) => {
      const { model } = request.config
      return stream(request, { ...parts, load, info: infoOf(model), context: contextFor(model), written: written.of(model) })
    },
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
  readonly load: () => Promise<Wire>
  readonly info: ModelInfo
  readonly context: FailureContext
  readonly written: Written
}

async function* stream(request: ModelRequest, parts: StreamParts): AsyncGenerator<StreamChunk> {
  const { config, clock, idleTimeoutMs } = parts
  const [wire, key] = await Promise.all([parts.load(), keyFor(config, parts.secrets)])
  const { path, headers, body } = await wire.write(request, parts)
  const context = { ...parts.context, key }
  const idle = createIdleGuard(request.signal, clock, idleTimeoutMs)
  let reader: WireReader | undefined
  try {
    const response = await fetchAtHome(parts.http, `${config.baseUrl}${path}`, {
      name: config.name,
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...wire.headers(key), ...headers, ...config.headers },
      body: bodyOf(body),
      signal: idle.signal,
    })
    idle.touch()
    const requestId = requestIdOf(headersOf(response))
    reader = wire.createReader({ failureFrom: (error) => failureFromStream(error, context, requestId) })
    let isAnswered = false
    const onLeave = (body: ReadableStreamDefaultReader<Uint8Array>) => {
      if (isAnswered) void readRest(body, clock)
      // A body that broke says so again.
      else body.cancel().catch(() => undefined)
    }
    for await (const data of eventsOf(response, { context, onSign: idle.touch, onLeave })) {
      isAnswered = data.trim() === '[DONE]'
      if (isAnswered) break
      for (const chunk of reader.take(parsed(data))) {
        isAnswered = chunk.type === 'finish'
        yield chunk
        if (isAnswered) return
      }
    }
    yield* reader.end()
  } catch (error) {
    const failure = idle.hasFired ? silence(parts) : failureFromError(error, context)
    // A cancelled request and a defect stay what they are.
    if (failure === null) throw error
    // What breaks after the finish takes nothing from the answer.
    const rest = reader?.end() ?? []
    if (rest.length > 0) return yield* rest
    yield { type: 'finish', reason: { kind: 'error', failure } }
  } finally {
    idle.end()
  }
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch (error) {
    throw new MalformedEvent('An event is not JSON.', { cause: error })
  }
}

function silence({ config, idleTimeoutMs }: StreamParts) {
  const message = `${config.name} said nothing for ${Math.round(idleTimeoutMs() / 100) / 10} s. Retry, choose another model, or raise bosun.llm.idleTimeoutMs.`
  return { code: 'TIMEOUT', message } as const
}

/** What was written for one model; another model may not get the same. */
class WrittenMessages {
  #model = ''
  #written: Written = new WeakMap()

  of(model: string): Written {
    if (model !== this.#model) this.#written = new WeakMap()
    this.#model = model
    return this.#written
  }
}
