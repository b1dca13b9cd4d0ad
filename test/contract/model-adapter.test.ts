import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import type { FinishReason, Message, StreamChunk } from '../../extension/core/model/contract.ts'
import type { WireApi } from '../../extension/core/model/provider-config.ts'
import type { ProviderSetting } from '../../extension/core/settings/specs.ts'
import { adapterFor, ask, assembled, type AdapterSetUp, type Asked } from '../support/adapter-rig.ts'
import type { Answer, StreamAnswer } from '../support/model-script.ts'
import { serverWires, startModelServer, type ModelServer } from '../support/model-server.ts'
import type { ServerWire } from '../support/wires/server-wire.ts'

/*
 * What every adapter does, whatever protocol it speaks: one script, spoken in each protocol over real HTTP.
 */

/** The model asked for. */
const models: Readonly<Record<WireApi, string>> = {
  'openai-compatible': 'scripted',
  anthropic: 'claude-opus-4-8',
  'openai-responses': 'gpt-5.4',
  google: 'gemini-3-flash-preview',
}

let closers: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(closers.map((close) => close()))
  closers = []
})

describe.each(Object.values(serverWires) as readonly ServerWire[])('an adapter for $api', ({ api, failures, ...wire }) => {
  const model = models[api]
  const withApi = (entry: AdapterSetUp['entry'] = {}): Partial<ProviderSetting> => ({ api, ...entry })

  async function start(script: Parameters<typeof startModelServer>[0]): Promise<ModelServer> {
    const server = await startModelServer(script, { api })
    closers.push(server.close)
    return server
  }
  /** A server that is none of ours. */
  async function odd(answer: (...exchange: Parameters<RequestListener>) => unknown): Promise<string> {
    const server = createServer((request, response) => void answer(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(
      () =>
        new Promise((resolve) => {
          server.close(() => resolve())
          server.closeAllConnections()
        }),
    )
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}${wire.root}`
  }
  const asking = (url: string, setUp: AdapterSetUp = {}, { config, ...asked }: Asked = {}) =>
    ask(adapterFor(url, { ...setUp, entry: withApi(setUp.entry) }), { ...asked, config: { model, ...config } })
  async function play(answer: Answer, setUp: AdapterSetUp = {}, asked: Asked = {}): Promise<readonly StreamChunk[]> {
    return asking((await start({ steps: [{ answer }] })).url, setUp, asked)
  }

  const stop: FinishReason = { kind: 'stop' }
  const calls: FinishReason = { kind: 'tool-calls' }
  const text = (text: string) => ({ block: 'text', text, isClosed: true })
  const reasoning = (text: string) => ({ block: 'reasoning', text, isClosed: true })
  const call = (id: string, name: string, text: string) => ({ block: 'tool-call', id, name, text, isClosed: true })
  const read = { id: 'c1', name: 'read', arguments: { file_path: 'src/ä.ts', limit: 3 } }
  const grep = { id: 'c2', name: 'grep', arguments: { pattern: '"' } }
  const readText = '{"file_path":"src/ä.ts","limit":3}'
  const half = { text: 'half' }

  describe('an answer', () => {
    const rows: readonly [name: string, answer: StreamAnswer, blocks: readonly unknown[], end: FinishReason][] = [
      ['of text, cut anywhere', { parts: [{ text: 'Hello, 世界 and 👩‍💻.' }], chunkLength: 1 }, [text('Hello, 世界 and 👩‍💻.')], stop],
      ['of thought and text', { parts: [{ reasoning: 'Think hard.', signature: 'sig' }, { text: 'Said.' }] }, [reasoning('Think hard.'), text('Said.')], stop],
      ['of a call in odd pieces', { parts: [{ toolCalls: [read] }], chunkLength: 1 }, [call('c1', 'read', readText)], calls],
      [
        'of parallel calls after text',
        { parts: [{ text: 'Both.' }, { toolCalls: [read, grep], interleaved: true }], chunkLength: 3 },
        [text('Both.'), call('c1', 'read', readText), call('c2', 'grep', '{"pattern":"\\""}')],
        calls,
      ],
      ['cut by its cap', { parts: [{ text: 'Half' }], finish: 'length' }, [text('Half')], { kind: 'max-tokens' }],
      ['among comments that keep it alive', { parts: [{ raw: ': alive\n\n' }, { text: 'x' }, { raw: ': alive\n\n' }] }, [text('x')], stop],
    ]
    it.each(rows)('%s', async (_name, answer, blocks, end) => expect(assembled(await play(answer))).toMatchObject({ blocks, end }))

    /** The whole body that the script makes, written by a server of the row's own. */
    const bodyOf = (answer: StreamAnswer): Buffer => {
      const request = { index: 0, length: 0, model, messages: [], json: {} }
      return Buffer.from([...wire.frames(request, answer)].filter((frame) => typeof frame === 'string').join(''))
    }
    const written: readonly [name: string, write: (body: Buffer) => readonly (Buffer | string)[]][] = [
      ['byte by byte', (body) => [...body].map((byte) => Buffer.from([byte]))],
      ['with the line ends of another system', (body) => [body.toString().replaceAll('\n', '\r\n')]],
      ['without the empty line at the end', (body) => [body.subarray(0, -2)]],
      ['with a mark of its encoding', (body) => [`\ufeff${body.toString()}`]],
    ]
    it.each(written)('is read when it comes %s', async (_name, write) => {
      const body = bodyOf({ parts: [{ text: 'Ünï 世界.' }, { toolCalls: [read] }] })
      const url = await odd(async (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (const piece of write(body)) if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve))
        response.end()
      })
      expect(assembled(await asking(url))).toMatchObject({ blocks: [text('Ünï 世界.'), call('c1', 'read', readText)], end: calls })
    })

    it('leaves its connection for the next request', async () => {
      let connections = 0
      const body = bodyOf({ parts: [{ text: 'x' }] })
      const url = await odd((request, response) => {
        if (!known.has(request.socket)) connections += 1
        known.add(request.socket)
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(body)
        // A server ends its answer a little after the last event.
        setTimeout(() => response.end(), 2)
      })
      const known = new Set<unknown>()
      for (let count = 0; count < 6; count++) {
        await asking(url)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      expect(connections).toBeLessThan(6)
    })

    it('counts tokens apart, as the server told them', async () => {
      const usage = { promptTokens: 100, completionTokens: 20, cachedTokens: 70, reasoningTokens: 15, ...(api === 'anthropic' && { cacheWriteTokens: 20 }) }
      const cacheWrite = api === 'anthropic' ? 20 : 0
      const expected = { inputTokens: 30 - cacheWrite, outputTokens: 5, cacheRead: 70, cacheWrite, reasoning: 15 }
      expect(assembled(await play({ parts: [{ text: 'x' }], usage }))).toMatchObject({ usage: expected })
    })

    it('gives the same record each time', async () => {
      const answer: Answer = { parts: [{ reasoning: 'r', signature: 's' }, { toolCalls: [{ name: 'a', arguments: {} }, { name: 'b', arguments: {} }] }] }
      expect(await play(answer)).toEqual(await play(answer))
    })
  })

  describe('a failure', () => {
    const kept = (code: string, words = '', more: object = {}) => ({ kind: 'error', failure: expect.objectContaining({ code, message: expect.stringContaining(words), ...more }) })
    const requestId = 'scripted-failure'

    const rows: readonly [name: string, answer: Answer, end: unknown][] = [
      ['of a wrong key', failures.wrongKey, kept('AUTH', 'Set API Key', { status: failures.wrongKey.status })],
      ['of an empty account', failures.noMoney, kept('QUOTA', 'Top it up')],
      ['of too many requests, with the wait', failures.rateLimit(7), kept('RATE_LIMIT', 'Wait 7 s,', { status: 429, providerRetryAfterMs: 7_000, ...(api !== 'google' && { requestId }) })],
      ['with milliseconds to wait', { ...failures.rateLimit(7), headers: { 'retry-after-ms': '250', 'retry-after': '1' } }, kept('RATE_LIMIT', '', { providerRetryAfterMs: 250 })],
      ['with a wait beyond belief', failures.rateLimit(1e17), kept('RATE_LIMIT', 'longer than 24 h, which is not waited for. Retry', { providerRetryAfterMs: 24 * 3_600_000 })],
      ['of a window too small', failures.contextLength, kept('CONTEXT_WINDOW_EXCEEDED', 'larger window')],
      ['of an unknown model', failures.unknownModel(model), kept('UNKNOWN_MODEL', `no model "${model}"`)],
      ['of an overloaded server', failures.overloaded, kept('SERVER', 'Retry in a while')],
      ['of a server that breaks', { status: 502, body: '<html>502</html>' }, kept('SERVER', '(502)')],
      ['told in the middle', { parts: [half, { raw: failures.midStream }] }, kept('SERVER', 'verloaded')],
      ['in the middle', { parts: [half, { cut: true }] }, kept('TRANSPORT', 'broke')],
      ['of a stream without finish', { parts: [half], finish: null, usage: null, done: false }, kept('STREAM_CLOSED')],
      ['of a stream that ends in the middle of an event', { parts: [half, { raw: 'data: {"type": ' }], finish: null, usage: null, done: false }, kept('STREAM_CLOSED')],
      ['of a stream without anything', { parts: [], finish: null, usage: null, done: false }, kept('STREAM_CLOSED')],
      ['of an answer without content', { parts: [] }, kept('EMPTY_RESPONSE')],
      ['of an answer of thought alone', { parts: [{ reasoning: 'Hm.' }] }, kept('EMPTY_RESPONSE')],
      ['of broken JSON', { parts: [half, { raw: 'data: {"type": [\n\n' }, half] }, kept('MALFORMED_RESPONSE', 'no part of an answer')],
      ['of JSON that is no object', { parts: [half, { raw: 'data: 17\n\n' }] }, kept('MALFORMED_RESPONSE', 'no part of an answer')],
      ['of the filter', { parts: [half], finish: 'content_filter' }, kept('INVALID_REQUEST', 'filter')],
      ['of a page instead of a stream', { status: 200, body: '<html>Sign in</html>' }, kept('MALFORMED_RESPONSE', 'web page', { status: 200 })],
      ['of JSON instead of a stream', { status: 200, body: { id: 'x', message: 'Streaming is switched off here.' } }, kept('MALFORMED_RESPONSE', 'Streaming is switched off here.')],
      ['told under a status of success', { ...failures.rateLimit(7), status: 200 }, kept('RATE_LIMIT', 'Wait 7 s')],
    ]
    it.each(rows)('%s', async (_name, answer, end) => expect((await play(answer)).at(-1)).toEqual({ type: 'finish', reason: end }))

    const silent: readonly [name: string, answer: Answer][] = [
      ['before the headers', { hang: 'before-headers' }],
      ['after the headers', { hang: 'after-headers' }],
      ['in the middle', { parts: [half, { waitMs: 5_000 }] }],
    ]
    it.each(silent)('of a server that falls silent %s', async (_name, answer) => {
      const server = await start({ steps: [{ answer }] })
      const chunks = await asking(server.url, { idleTimeoutMs: 60 })
      expect(chunks.at(-1)).toEqual({ type: 'finish', reason: kept('TIMEOUT', 'said nothing for 0.1 s') })
      await expect.poll(() => server.requests[0]?.wasAborted).toBe(true)
    })

    it('is none when the caller gives up: that is an abort, at once', async () => {
      const server = await start({ steps: [{ answer: { parts: [half, { waitMs: 5_000 }] } }] })
      const cancel = new AbortController()
      const asked = asking(server.url, {}, { signal: cancel.signal })
      await expect.poll(() => server.requests.length).toBe(1)
      cancel.abort()
      expect((await asked).at(-1)).toMatchObject({ type: 'finish', reason: { kind: 'aborted', failure: { code: 'ABORTED' } } })
      await expect.poll(() => server.requests[0]?.wasAborted).toBe(true)
    })

    const stream = { 'content-type': 'text/event-stream' }
    const odds: readonly [name: string, answer: RequestListener, end: unknown][] = [
      ['of an answer without a body', (_request, response) => response.writeHead(204).end(), kept('MALFORMED_RESPONSE', '(204)')],
      ['of redirects in a circle', ({ url }, response) => response.writeHead(307, { location: url }).end(), kept('TRANSPORT', 'redirect')],
      ['of a body that is not packed as it says', (_request, response) => response.writeHead(200, { ...stream, 'content-encoding': 'gzip' }).end('data: {}\n\n'), kept('MALFORMED_RESPONSE', 'unpacked')],
      ['of a packed body that is cut', (_request, response) => response.writeHead(200, { ...stream, 'content-encoding': 'gzip' }).end(gzipSync('data: {}\n\n').subarray(0, 15)), kept('STREAM_CLOSED')],
      ['of JSON instead of a stream that calls itself one', (_request, response) => response.writeHead(200, stream).end('{"error":{"message":"Rate limit exceeded"}}'), kept('RATE_LIMIT', 'Rate limit exceeded')],
    ]
    it.each(odds)('%s', async (_name, answer, end) => {
      const url = await odd((request, response) => void request.resume().on('end', () => answer(request, response)))
      expect((await asking(url)).at(-1)).toEqual({ type: 'finish', reason: end })
    })

    const network: readonly [code: string, result: string][] = [
      ['ECONNREFUSED', 'TRANSPORT'],
      ['UND_ERR_CONNECT_TIMEOUT', 'TIMEOUT'],
      ['CERT_HAS_EXPIRED', 'CERTIFICATE'],
    ]
    it.each(network)('of the network: %s', async (code, result) => {
      const http = { fetch: () => Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })) }
      expect(await asking('https://example.test:99/v1', { http })).toEqual([{ type: 'finish', reason: kept(result) }])
    })

    const keys: readonly [name: string, secrets: Readonly<Record<string, string>>, code: string][] = [
      ['is missing', {}, 'MISSING_CREDENTIAL'],
      ['is blank', { MY_KEY: '  ' }, 'MISSING_CREDENTIAL'],
      ['holds a line end', { MY_KEY: 'abc\ndef' }, 'INVALID_CREDENTIAL'],
      ['holds an umlaut', { MY_KEY: 'schlüssel' }, 'INVALID_CREDENTIAL'],
    ]
    it.each(keys)('when the key %s, before anything is sent', async (_name, secrets, code) => {
      const server = await start({ steps: [] })
      expect([await asking(server.url, { entry: { keyName: 'MY_KEY' }, secrets }), server.requests]).toEqual([[{ type: 'finish', reason: kept(code) }], []])
    })

    it('does not repeat a key that the server sent back', async () => {
      const answer = { status: 401, body: { error: { message: 'Incorrect API key provided: sk-secret-1' } } }
      const chunks = await play(answer, { entry: { keyName: 'MY_KEY' }, secrets: { MY_KEY: 'sk-secret-1' } })
      expect(JSON.stringify(chunks)).toContain('Incorrect API key provided: …')
      expect(JSON.stringify(chunks)).not.toContain('sk-secret-1')
    })

    it('of an effort the model does not know comes before anything is sent; an effort is refused, not bent', async () => {
      const server = await start({ steps: [] })
      const chunks = await asking(server.url, { entry: { reasoningEfforts: ['low', 'high'] } }, { config: { reasoningEffort: 'huge' } })
      expect([chunks, server.requests]).toEqual([[{ type: 'finish', reason: kept('UNSUPPORTED_REASONING_EFFORT', 'It knows low, high') }], []])
    })

    it('of an image for a model that reads text only comes before anything is sent', async () => {
      const server = await start({ steps: [] })
      const image: Message = { id: 'u', role: 'user', source: { kind: 'user' }, content: [{ type: 'image', attachment: { attachmentId: 'sha256:one', mediaType: 'image/png', bytes: 1 } }] }
      const chunks = await asking(server.url, { entry: { images: false } }, { messages: [image] })
      expect([chunks, server.requests]).toEqual([[{ type: 'finish', reason: kept('UNSUPPORTED_CONTENT') }], []])
    })
  })

  describe('a server that sends requests on', () => {
    it('to another one is not followed, so that neither key nor talk leaves it', async () => {
      const got: string[] = []
      const other = await odd((request, response) => {
        got.push(request.url ?? '')
        response.writeHead(400).end('{}')
      })
      const url = await odd((_, response) => response.writeHead(307, { location: `${other}/x` }).end())
      const adapter = adapterFor(url, { entry: { api, keyName: 'KEY' }, secrets: { KEY: 'secret' } })
      expect((await ask(adapter)).at(-1)).toMatchObject({ reason: { kind: 'error', failure: { code: 'INVALID_REQUEST', message: expect.stringContaining('another server') } } })
      await expect(adapter.listModels(new AbortController().signal)).rejects.toMatchObject({ failure: { message: expect.stringContaining('another server') } })
      expect(got).toEqual([])
    })
    it('to itself is followed with all that was said', async () => {
      const bodies: string[] = []
      const url = await odd((request, response) => {
        if (request.url?.startsWith('/moved') !== true) return response.writeHead(308, { location: `/moved${request.url ?? ''}` }).end()
        return request.on('data', (chunk) => bodies.push(String(chunk))).on('end', () => response.writeHead(401).end('{}'))
      })
      await ask(adapterFor(url, { entry: { api } }))
      expect(bodies.join('')).toContain('hi')
    })
  })

  describe('the list of models', () => {
    it('is what the server offers, with the key it wants, trimmed', async () => {
      const server = await start({ steps: [], models: ['a', 'b'], apiKey: 'right' })
      const adapter = adapterFor(server.url, { entry: withApi({ keyName: 'MY_KEY', models: ['mine'] }), secrets: { MY_KEY: ' right\n' } })
      const listed = await adapter.listModels(new AbortController().signal)
      expect(listed.map(({ id }) => id)).toEqual(['mine', 'a', 'b'])
      // What the list tells of a model holds for the requests after it.
      expect(await adapter.resolveModel('a')).toEqual(listed[1])
    })

    it('does without the server when there is no key', async () => {
      const adapter = adapterFor('http://127.0.0.1:1/v1', { entry: withApi({ keyName: 'MY_KEY', models: ['mine'] }) })
      expect((await adapter.listModels(new AbortController().signal)).map(({ id }) => id)).toEqual(['mine'])
    })

    it('answers the check of the connection', async () => {
      const server = await start({ steps: [], models: ['a'], apiKey: 'right' })
      const check = (key: string, model?: string) =>
        adapterFor(server.url, { entry: withApi({ keyName: 'MY_KEY' }), secrets: { MY_KEY: key } }).check(new AbortController().signal, model)
      expect(await check('right', 'a')).toMatchObject({ isOk: true, message: expect.stringContaining('1 model') })
      expect(await check('right', 'c')).toMatchObject({ isOk: false, code: 'UNKNOWN_MODEL' })
      expect(await check('wrong')).toMatchObject({ isOk: false, code: 'AUTH' })
      expect(await check('')).toMatchObject({ isOk: false, code: 'MISSING_CREDENTIAL' })
    })
  })

  it('facts about a model that nothing is known of are the provider’s', async () => {
    const adapter = adapterFor('http://127.0.0.1:1/v1', { entry: withApi({ contextWindow: 5, maxOutputTokens: 4, reasoningEfforts: ['low'], images: true }) })
    expect(await adapter.resolveModel('nobody-knows')).toEqual({ id: 'nobody-knows', name: 'nobody-knows', contextWindow: 5, maxOutputTokens: 4, input: ['text', 'image'], reasoningEfforts: ['low'] })
  })
})
