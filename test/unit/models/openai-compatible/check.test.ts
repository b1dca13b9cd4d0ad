import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { startModelServer, type ModelServer } from '../../../support/model-server.ts'
import { adapterFor, type AdapterSetUp } from '../../../support/adapter-rig.ts'

const open: (() => Promise<void>)[] = []
afterEach(() => Promise.all(open.splice(0).map((close) => close())))

const start = async (script: Parameters<typeof startModelServer>[0]): Promise<ModelServer> => {
  const server = await startModelServer(script)
  open.push(server.close)
  return server
}
/** A server that gives one body to every request. */
const answer = async (body: string, contentType = 'application/json'): Promise<string> => {
  const server = createServer((_request, response) => void response.setHeader('content-type', contentType).end(body))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(() => new Promise((resolve) => void server.close(() => resolve())))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}
const check = (url: string, setUp: AdapterSetUp = {}, model?: string) => adapterFor(url, setUp).check(new AbortController().signal, model)
const report = (code: string, words: string) => ({ isOk: false, code, message: expect.stringContaining(words) })

describe('the check of a connection', () => {
  it('says that it works and what it offers', async () => {
    const { url, port } = await start({ steps: [], models: ['a', 'b'] })
    expect(await check(url, {}, 'a')).toEqual({ isOk: true, message: `mine answers at 127.0.0.1:${port} and offers 2 models.` })
  })

  it('says that the model is not there and which are', async () => {
    const { url } = await start({ steps: [], models: ['a', 'b'] })
    expect(await check(url, {}, 'c')).toEqual(report('UNKNOWN_MODEL', 'no model "c". It offers a, b.'))
  })

  it('trusts the person about a model that is not listed', async () => {
    const { url } = await start({ steps: [], models: ['a'] })
    expect(await check(url, { entry: { models: ['hidden'] } }, 'hidden')).toMatchObject({ isOk: true })
  })

  it('says that the key is wrong, missing or malformed', async () => {
    const { url } = await start({ steps: [], apiKey: 'right' })
    const entry = { keyName: 'MY_KEY' }
    expect(await check(url, { entry, secrets: { MY_KEY: 'right' } })).toMatchObject({ isOk: true })
    expect(await check(url, { entry, secrets: { MY_KEY: 'wrong' } })).toEqual(report('AUTH', 'does not accept the key'))
    expect(await check(url, { entry })).toEqual(report('MISSING_CREDENTIAL', 'as MY_KEY'))
    expect(await check(url, { entry, secrets: { MY_KEY: 'a b' } })).toEqual(report('INVALID_CREDENTIAL', 'Copy it again'))
  })

  it('says that the key is wrong where the list is open to everybody', async () => {
    const server = createServer((request, response) => {
      const isOpen = request.url === '/v1/models'
      response.writeHead(isOpen || request.headers.authorization === 'Bearer right' ? 200 : 401, { 'content-type': 'application/json' })
      response.end(isOpen ? '{"data":[{"id":"a"}]}' : '{}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    open.push(() => new Promise((resolve) => void server.close(() => resolve())))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
    expect(await check(url, { id: 'openrouter', secrets: { OPENROUTER_API_KEY: 'wrong' } })).toEqual(report('AUTH', 'OpenRouter does not accept the key'))
    expect(await check(url, { id: 'openrouter', secrets: { OPENROUTER_API_KEY: 'right' } })).toMatchObject({ isOk: true })
  })

  it('says that nobody listens', async () => {
    const server = await startModelServer({ steps: [] })
    await server.close()
    expect(await check(server.url)).toEqual(report('TRANSPORT', `Nothing answers at 127.0.0.1:${server.port}`))
  })

  it('says that the path is wrong', async () => {
    const { port } = await start({ steps: [] })
    expect(await check(`http://127.0.0.1:${port}`)).toEqual(report('HTTP_404', 'most end with "/v1"'))
  })

  const odd: readonly [name: string, body: string, type: string, code: string, words: string][] = [
    ['a page', '<html>hi</html>', 'text/html', 'MALFORMED_RESPONSE', 'web page'],
    ['JSON of another kind', '{"ok":true}', 'application/json', 'MALFORMED_RESPONSE', 'list of models'],
    ['no JSON at all', 'hello', 'text/plain', 'MALFORMED_RESPONSE', 'list of models'],
    ['a list without an end', `{"data":[${'0,'.repeat(9_000_000)}0]}`, 'application/json', 'MALFORMED_RESPONSE', 'over 16 MB'],
    ['an empty list', '{"data":[]}', 'application/json', 'UNKNOWN_MODEL', 'offers no model'],
  ]
  it.each(odd)('says that %s was answered', async (_name, body, type, code, words) => expect(await check(await answer(body, type))).toEqual(report(code, words)))

  it('ends when it is cancelled', async () => {
    const { url } = await start({ steps: [] })
    expect(await adapterFor(url).check(AbortSignal.abort())).toEqual(report('ABORTED', 'cancelled'))
  })
})

describe('the list of models', () => {
  it('takes the facts that servers tell, over the defaults and under the person’s own', async () => {
    const url = await answer(
      JSON.stringify({
        data: [
          { id: 'router', name: 'Router', context_length: 1000, architecture: { input_modalities: ['text', 'image'] }, top_provider: { max_completion_tokens: 50 }, pricing: { prompt: '0.000001', completion: '0.000002' } },
          { id: 'vllm', max_model_len: 2000 },
          { id: 'llama', meta: { n_ctx_train: 3000 } },
          { id: 'odd', context_length: 'many', pricing: 5, name: 7 },
          { name: 'without id' },
          'no object',
        ],
      }),
    )
    const adapter = adapterFor(url, { entry: { contextWindow: 9000, models: { vllm: { maxOutputTokens: 7, reasoningEfforts: ['low'] }, mine: {} } } })
    const base = { input: ['text'], reasoningEfforts: [], maxOutputTokens: 32_768 }
    expect(await adapter.listModels(new AbortController().signal)).toEqual([
      { ...base, id: 'mine', name: 'mine', contextWindow: 9000 },
      { id: 'router', name: 'Router', contextWindow: 1000, maxOutputTokens: 50, input: ['text', 'image'], reasoningEfforts: [], price: { currency: 'USD', input: 1, cacheRead: 1, cacheWrite: 1, output: 2 } },
      { ...base, id: 'vllm', name: 'vllm', contextWindow: 2000, maxOutputTokens: 7, reasoningEfforts: ['low'] },
      { ...base, id: 'llama', name: 'llama', contextWindow: 3000 },
      { ...base, id: 'odd', name: 'odd', contextWindow: 9000 },
    ])
    expect(await adapter.resolveModel('router')).toMatchObject({ contextWindow: 1000 })
  })

  it('holds what is known beforehand while the key is missing', async () => {
    const { url, requests } = await start({ steps: [] })
    const models = await adapterFor(url, { entry: { keyName: 'MY_KEY', models: ['a', 'b'] } }).listModels(new AbortController().signal)
    expect([models.map(({ id }) => id), requests]).toEqual([['a', 'b'], []])
  })

  it('fails with the reason', async () => {
    const { url } = await start({ steps: [], apiKey: 'right' })
    await expect(adapterFor(url).listModels(new AbortController().signal)).rejects.toThrow(expect.objectContaining({ code: 'AUTH' }))
  })
})
