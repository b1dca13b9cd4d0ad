import type { Json } from '../../base/json.ts'
import { messageOf } from '../../base/message-of.ts'
import { orAbort } from '../../base/or-abort.ts'
import type { Clock } from '../../capabilities/clock.ts'
import { EditorModelError, type EditorModel, type EditorModelPart, type EditorModels } from '../../capabilities/editor-models.ts'
import { ModelError, type ConnectionReport, type Failure, type ModelAdapter, type ModelInfo, type ModelRequest, type StreamChunk } from '../../core/model/contract.ts'
import { fallbackFacts } from '../../core/model/provider-table.ts'
import { createRequestEstimate } from '../../core/model/token-estimate.ts'
import { createIdleGuard } from '../wire/idle-guard.ts'
import { createEditorMessages } from './messages.ts'

const EDITOR_MODELS_ROUTE = 'vscode-lm'

export interface EditorAdapterParts {
  readonly models: EditorModels
  readonly clock: Clock
  /** Milliseconds an answer may be silent. Source: setting `llm.idleTimeoutMs`. */
  readonly idleTimeoutMs: () => number
}

/**
 * The models that the editor offers.
 *
 * The editor tells neither efforts nor the numbers of tokens, and takes no reasoning back: efforts are refused, usage is an
 * estimate that says so, and earlier reasoning stays out of the request.
 * Source: runtime specification 16, VS Code mapping.
 */
export function createEditorAdapter(parts: EditorAdapterParts): ModelAdapter {
  const { models } = parts
  /** A request asks for no list: one that is gone is told by the editor. */
  const known = new Map<string, EditorModel>()
  const talk: Talk = { messagesFor: createEditorMessages(), estimate: createRequestEstimate() }
  const list = async () => {
    const listed = await models.list()
    for (const model of listed) known.set(model.id, model)
    return listed
  }
  const find = async (id: string): Promise<EditorModel> => {
    const found = known.get(id) ?? (await list()).find((model) => model.id === id)
    if (found !== undefined) return found
    throw new ModelError({ code: 'UNKNOWN_MODEL', message: `The editor offers no model "${id}" (any more). Choose another one.` })
  }
  return {
    provider: { id: EDITOR_MODELS_ROUTE, name: 'The editor’s models' },
    listModels: async () => (await list()).filter(({ canCallTools }) => canCallTools !== false).map(infoFrom),
    resolveModel: async (model) => infoFrom(await find(model)),
    stream: (request) => stream(request, { ...parts, find, talk }),
    check: (_signal, model) => check(models, model),
  }
}

function infoFrom({ id, name, vendor, maxInputTokens, canReadImages }: EditorModel): ModelInfo {
  return {
    id,
    name: `${name} (${vendor})`,
    contextWindow: maxInputTokens,
    // The editor does not say; no more than the model can read.
    maxOutputTokens: Math.min(fallbackFacts.maxOutputTokens, maxInputTokens),
    input: canReadImages ? ['text', 'image'] : ['text'],
    reasoningEfforts: [],
  }
}

async function check(models: EditorModels, model: string | undefined): Promise<ConnectionReport> {
  try {
    const listed = await models.list()
    if (listed.length === 0) return { isOk: false, code: 'UNKNOWN_MODEL', message: 'The editor offers no models. Install an extension that brings some, or sign in to the one you have.' }
    if (model !== undefined && !listed.some(({ id }) => id === model)) {
      return { isOk: false, code: 'UNKNOWN_MODEL', message: `The editor offers no model "${model}" (any more). Choose another one.` }
    }
    return { isOk: true, message: `The editor offers ${listed.length === 1 ? '1 model' : `${listed.length} models`}. It may ask whether Bosun may use one with the first message.` }
  } catch (error) {
    return { isOk: false, code: 'UNKNOWN', message: `The editor could not be asked for its models: ${messageOf(error)}` }
  }
}

/** What a request costs is what was added since the one before. */
interface Talk {
  readonly messagesFor: ReturnType<typeof createEditorMessages>
  readonly estimate: ReturnType<typeof createRequestEstimate>
}

interface StreamParts extends EditorAdapterParts {
  readonly find: (id: string) => Promise<EditorModel>
  readonly talk: Talk
}

async function* stream(request: ModelRequest, parts: StreamParts): AsyncGenerator<StreamChunk> {
  const { config, tools, signal } = request
  if (config.reasoningEffort !== undefined) {
    const message = `The editor does not say how hard its models can think, so the effort "${config.reasoningEffort}" cannot be asked for. Leave the effort to the model in the model picker.`
    throw new ModelError({ code: 'UNSUPPORTED_REASONING_EFFORT', message })
  }
  const model = await parts.find(config.model)
  const messages = await parts.talk.messagesFor(request, model)
  const silence = createSilenceGuard(signal, parts)
  /** UTF-16 units of each block. */
  const lengths: number[] = []
  let hasCalls = false
  try {
    const answer = parts.models.ask({ modelId: model.id, messages, tools, options: optionsFrom(request), signal: silence.signal })
    for await (const chunk of chunksFrom(silence.watch(answer))) {
      if (chunk.type === 'block-start') lengths.push(0)
      if (chunk.type === 'text-delta') lengths[chunk.index] = (lengths[chunk.index] ?? 0) + chunk.delta.length
      if (chunk.type === 'tool-call-delta') {
        hasCalls = true
        lengths[chunk.index] = (chunk.name ?? '').length + chunk.argumentsDelta.length
      }
      yield chunk
    }
  } catch (error) {
    if (silence.hasFired) {
      const message = `${model.name} said nothing for ${Math.round(parts.idleTimeoutMs() / 1000)} s. Retry, choose another model, or raise bosun.llm.idleTimeoutMs.`
      throw new ModelError({ code: 'TIMEOUT', message }, { cause: error })
    }
    throw error instanceof EditorModelError ? new ModelError(failureFrom(error, model), { cause: error }) : error
  } finally {
    silence.end()
  }
  const outputTokens = lengths.reduce((sum, length) => sum + 4 + Math.ceil(length / 4), 4)
  yield { type: 'usage', usage: { inputTokens: parts.talk.estimate(request), outputTokens, cacheRead: 0, cacheWrite: 0, reasoning: 0, isEstimate: true } }
  yield { type: 'finish', reason: { kind: hasCalls ? 'tool-calls' : 'stop' } }
}

/** Text in a row is one block, each call one of its own. Kinds of parts that the contract has no place for are left out. */
async function* chunksFrom(parts: AsyncIterable<EditorModelPart>): AsyncGenerator<StreamChunk> {
  let index = -1
  let isTextOpen = false
  for await (const part of parts) {
    if (part.type === 'other' || (part.type === 'text' && part.text === '')) continue
    if (part.type === 'text') {
      if (!isTextOpen) yield { type: 'block-start', index: ++index, block: 'text' }
      isTextOpen = true
      yield { type: 'text-delta', index, delta: part.text }
      continue
    }
    if (isTextOpen) yield { type: 'block-end', index }
    isTextOpen = false
    yield { type: 'block-start', index: ++index, block: 'tool-call' }
    const argumentsDelta = typeof part.input === 'string' ? part.input : (JSON.stringify(part.input) ?? '')
    yield { type: 'tool-call-delta', index, ...(part.callId !== '' && { id: part.callId }), name: part.name, argumentsDelta }
    yield { type: 'block-end', index }
  }
  if (isTextOpen) yield { type: 'block-end', index }
}

/** Under the names that vendors share. */
function optionsFrom({ config: { temperature, maxTokens, stop } }: ModelRequest): Readonly<Record<string, Json>> {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(stop !== undefined && stop.length > 0 && { stop }),
  }
}

function failureFrom({ code, message: said }: EditorModelError, { name }: EditorModel): Failure {
  const reason = said.trim() === '' ? '' : ` It said: ${said}`
  switch (code) {
    case 'NO_PERMISSION':
      return { code: 'AUTH', message: `The editor does not let Bosun use ${name}. Allow it when the editor asks, or under "Manage Language Model Access"; or choose another model.${reason}` }
    case 'BLOCKED':
      return { code: 'QUOTA', message: `The quota for ${name} is used up, or its owner has blocked it. Wait, or choose another model.${reason}` }
    case 'NOT_FOUND':
      return { code: 'UNKNOWN_MODEL', message: `The editor has no ${name} any more. Choose another model.${reason}` }
    case 'UNKNOWN':
      return failureFromWords(said, name)
  }
}

/** The editor passes on what the vendor threw; its words are all there is to tell a passing failure from a lasting one. */
function failureFromWords(said: string, name: string): Failure {
  const reason = said.trim() === '' ? '' : ` It said: ${said.slice(0, 500)}`
  if (/rate.?limit|too many requests|\b429\b/i.test(said)) return { code: 'RATE_LIMIT', message: `${name} limits how often it may be asked. Wait, or choose another model.${reason}` }
  if (/context.{0,20}(length|window)|too many tokens|prompt.{0,20}too (long|large)|token limit/i.test(said)) {
    return { code: 'CONTEXT_WINDOW_EXCEEDED', message: `The conversation is longer than ${name} can take. Start a new session, or choose a model with a larger window.${reason}` }
  }
  return { code: 'SERVER', message: `${name} failed in the editor. Retry, or choose another model.${reason}` }
}

/** Ends an answer that has been silent too long, and the vendor's work when nobody listens any more. */
function createSilenceGuard(caller: AbortSignal, { clock, idleTimeoutMs }: EditorAdapterParts) {
  const idle = createIdleGuard(caller, clock, idleTimeoutMs)
  const ending = new AbortController()
  return {
    signal: AbortSignal.any([idle.signal, ending.signal]),
    get hasFired() {
      return idle.hasFired
    },
    async *watch<T>(parts: AsyncIterable<T>): AsyncGenerator<T> {
      const iterator = parts[Symbol.asyncIterator]()
      for (;;) {
        // A vendor that does not listen must not hold up the turn.
        const next = await orAbort(iterator.next(), idle.signal)
        if (next.done === true) return
        idle.touch()
        yield next.value
      }
    },
    end() {
      idle.end()
      ending.abort()
    },
  }
}
