import type { Http } from '../../extension/capabilities/http.ts'
import type { ProviderSetting } from '../../extension/core/settings/specs.ts'
import { configuredProviders } from '../../extension/core/model/configured-providers.ts'
import type { Message, ModelAdapter, ModelRequest, StreamChunk, ToolDeclaration } from '../../extension/core/model/contract.ts'
import { normaliseStream } from '../../extension/core/model/normalise-stream.ts'
import { createProviderAdapter } from '../../extension/models/provider-adapter.ts'
import { memorySecrets } from './memory-secrets.ts'
import { createRecordingLogger } from './quiet-logger.ts'
import { realClock } from './real-clock.ts'

export const retryPolicy = { mode: 'normal', maxRetries: 5, initialDelayMs: 500, maxDelayMs: 10_000, jitter: 0.1 } as const

export interface AdapterSetUp {
  /** The provider `mine` unless the table's is meant. */
  readonly id?: string
  readonly entry?: Partial<ProviderSetting>
  readonly secrets?: Readonly<Record<string, string>>
  readonly http?: Http
  readonly idleTimeoutMs?: number
}

export function adapterFor(url: string, { id = 'mine', entry = {}, secrets = {}, http, idleTimeoutMs = 5_000 }: AdapterSetUp = {}): ModelAdapter {
  const { configs, problems } = configuredProviders({ [id]: { api: 'openai-compatible', baseUrl: url, ...entry } }, retryPolicy)
  const config = configs.find((config) => config.id === id)
  if (config === undefined) throw new Error(problems.join(' '))
  return createProviderAdapter({
    config,
    http: http ?? { fetch },
    secrets: memorySecrets(secrets),
    clock: realClock,
    logger: createRecordingLogger(),
    idleTimeoutMs: () => idleTimeoutMs,
  })
}

export interface Asked {
  readonly system?: string
  readonly messages?: readonly Message[]
  readonly tools?: readonly ToolDeclaration[]
  readonly config?: Partial<ModelRequest['config']>
  readonly purpose?: ModelRequest['purpose']
  readonly sessionId?: string
  readonly signal?: AbortSignal
}

/** Ask as the registry does and collect the answer. */
export async function ask(adapter: ModelAdapter, { messages = [prompt('hi')], tools = [], config = {}, signal, ...rest }: Asked = {}): Promise<readonly StreamChunk[]> {
  const request: ModelRequest = {
    tools,
    messages,
    config: { provider: adapter.provider.id, model: 'scripted', ...config },
    signal: signal ?? new AbortController().signal,
    loadAttachment: (id) => Promise.resolve(new TextEncoder().encode(id)),
    ...(rest.system !== undefined && { system: rest.system }),
    ...(rest.purpose !== undefined && { purpose: rest.purpose }),
    ...(rest.sessionId !== undefined && { sessionId: rest.sessionId }),
  }
  const chunks: StreamChunk[] = []
  for await (const chunk of normaliseStream(() => adapter.stream(request), request.signal)) chunks.push(chunk)
  return chunks
}

export const prompt = (text: string): Message => ({ id: `u-${text}`, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } })

export const assistant = (content: Extract<Message, { role: 'assistant' }>['content'], provider = 'mine'): Message => ({
  id: 'a',
  role: 'assistant',
  content,
  source: { kind: 'model', provider, model: 'scripted' },
})

export const toolResult = (callId: string, text: string): Message => ({
  id: `t-${callId}`,
  role: 'tool',
  content: [{ type: 'tool-result', callId, isError: false, content: text === '' ? [] : [{ type: 'text', text }] }],
  source: { kind: 'tool', callId },
})

/** The blocks that the chunks of an answer make, and how it ended. */
export function assembled(chunks: readonly StreamChunk[]): unknown {
  const blocks: Record<number, { block: string; text: string; id?: string; name?: string; isClosed?: true }> = {}
  let end: unknown
  let usage: unknown
  for (const chunk of chunks) {
    if (chunk.type === 'block-start') blocks[chunk.index] = { block: chunk.block, text: '' }
    if (chunk.type === 'finish') end = chunk.reason
    if (chunk.type === 'usage') usage = chunk.usage
    const block = 'index' in chunk ? blocks[chunk.index] : undefined
    if (block === undefined) continue
    if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') block.text += chunk.delta
    if (chunk.type === 'block-end') block.isClosed = true
    if (chunk.type !== 'tool-call-delta') continue
    block.text += chunk.argumentsDelta
    if (chunk.id !== undefined) block.id = chunk.id
    if (chunk.name !== undefined) block.name = chunk.name
  }
  return { blocks: Object.values(blocks), end, ...(usage !== undefined && { usage }) }
}
