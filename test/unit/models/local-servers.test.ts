import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { listChoices } from '../../../extension/core/model/model-choices.ts'
import { wholeApplication } from '../../support/whole-application.ts'
import { memorySecrets } from '../../support/memory-secrets.ts'
import { realClock } from '../../support/real-clock.ts'

const servers: Server[] = []
const disposals: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const dispose of disposals.splice(0)) await dispose()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A server on this machine, at the end of `/v1`, and what it was asked. */
async function serve(answer: RequestListener): Promise<{ readonly baseUrl: string; readonly asked: readonly string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    answer(request, response)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked }
}

/** The list of the protocol, and what the server says in its own interface by path. */
const list = (data: readonly object[], native: Readonly<Record<string, unknown>> = {}): RequestListener => (request, response) => {
  const answers: Readonly<Record<string, unknown>> = { '/v1/models': { object: 'list', data }, ...native }
  const answer = answers[request.url ?? '']
  if (answer === undefined) return void response.writeHead(404).end()
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

/** Where nothing listens: a server that was there and is gone. */
async function goneUrl(): Promise<string> {
  const { baseUrl } = await serve(() => undefined)
  await new Promise((resolve) => servers.pop()?.close(resolve))
  return baseUrl
}

/**
 * The composed application with the four local providers at these addresses, and what a person could choose of them. Each server has so
 * many times as long to answer as it has for a person, since a busy machine is none of it.
 */
async function choices(urls: Readonly<Record<'ollama' | 'lm-studio' | 'llama-cpp' | 'vllm', string>>, patience = 100) {
  const providers = Object.fromEntries(Object.entries(urls).map(([id, baseUrl]) => [id, { baseUrl }]))
  const application = await wholeApplication({ settings: { providers } })
  disposals.push(() => application.dispose())
  const { models } = application.ctx
  const parts = { models, secrets: memorySecrets(), clock: { schedule: (ms: number, fire: () => void) => realClock.schedule(ms * patience, fire) } }
  const found = await listChoices(parts, ({ provider }) => provider.isLocal === true && provider.isScripted !== true)
  return found.map(({ adapter, models: offered, problem }) => [adapter.provider.id, problem, offered.map(({ id, contextWindow }) => [id, contextWindow])])
}

describe('the servers on this machine', () => {
  it('are offered with what their lists say, in the shapes they have', async () => {
    const ollama = await serve(list([{ id: 'qwen3:8b', object: 'model', created: 1, owned_by: 'library' }]))
    const studio = await serve(list([{ id: 'qwen/qwen3-4b', object: 'model', owned_by: 'organization_owner', max_context_length: 32_768 }]))
    const llama = await serve(list([{ id: 'model.gguf', object: 'model', owned_by: 'llamacpp', meta: { vocab_type: 2, n_ctx_train: 40_960 } }]))
    const vllm = await serve(list([{ id: 'org/big', object: 'model', owned_by: 'vllm', root: 'org/big', max_model_len: 16_384 }]))
    expect(await choices({ ollama: ollama.baseUrl, 'lm-studio': studio.baseUrl, 'llama-cpp': llama.baseUrl, vllm: vllm.baseUrl })).toEqual([
      ['ollama', null, [['qwen3:8b', 32_768]]],
      ['lm-studio', null, [['qwen/qwen3-4b', 32_768]]],
      ['llama-cpp', null, [['model.gguf', 40_960]]],
      ['vllm', null, [['org/big', 16_384]]],
    ])
  })

  it('are believed in what they say of their own windows', async () => {
    const ollama = await serve(list([{ id: 'qwen3:8b' }, { id: 'idle:1b' }], { '/api/ps': { models: [{ name: 'qwen3:8b', model: 'qwen3:8b', context_length: 8_192 }, 5] } }))
    const studio = await serve(list([{ id: 'seen' }, { id: 'idle' }], { '/api/v0/models': { data: [{ id: 'seen', type: 'vlm', state: 'loaded', loaded_context_length: 4_096, max_context_length: 131_072 }, { id: 'idle', type: 'llm', max_context_length: 65_536 }] } }))
    const llama = await serve(list([{ id: 'model.gguf', meta: { n_ctx_train: 131_072 } }], { '/props': { default_generation_settings: { n_ctx: 16_384 }, modalities: { vision: true } } }))
    const vllm = await serve(list([{ id: 'org/big', max_model_len: 16_384 }]))
    expect(await choices({ ollama: ollama.baseUrl, 'lm-studio': studio.baseUrl, 'llama-cpp': llama.baseUrl, vllm: vllm.baseUrl })).toEqual([
      ['ollama', null, [['qwen3:8b', 8_192], ['idle:1b', 32_768]]],
      ['lm-studio', null, [['seen', 4_096], ['idle', 65_536]]],
      ['llama-cpp', null, [['model.gguf', 16_384]]],
      ['vllm', null, [['org/big', 16_384]]],
    ])
  })

  it('are offered also when their own interface does not answer', async () => {
    const models = list([{ id: 'm' }])
    const half = await serve((request, response) => (request.url === '/v1/models' ? models(request, response) : undefined))
    expect(await choices({ ollama: half.baseUrl, 'lm-studio': await goneUrl(), 'llama-cpp': await goneUrl(), vllm: await goneUrl() })).toEqual([['ollama', null, [['m', 32_768]]]])
  })

  it('are left out when they are not there, do not answer in time, or are something else', async () => {
    const mute = await serve(() => undefined)
    const page = await serve((_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello</html>'))
    const real = await serve(list([{ id: 'm' }]))
    expect(await choices({ ollama: await goneUrl(), 'lm-studio': mute.baseUrl, 'llama-cpp': page.baseUrl, vllm: real.baseUrl }, 5)).toEqual([['vllm', null, [['m', 32_768]]]])
  })

  it('are not asked when the application starts, nor when a session does', async () => {
    const server = await serve(list([{ id: 'm' }]))
    const application = await wholeApplication({ settings: { providers: { ollama: { baseUrl: server.baseUrl } } } })
    disposals.push(() => application.dispose())
    await application.ctx.agents.create({ cwd: application.folder })
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(server.asked).toEqual([])
  })
})
