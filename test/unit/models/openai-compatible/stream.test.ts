import { afterEach, describe, expect, it } from 'vitest'
import type { FinishReason, StreamChunk } from '../../../../extension/core/model/contract.ts'
import type { Answer, StreamAnswer } from '../../../support/model-script.ts'
import { failures } from '../../../support/model-script.ts'
import { startModelServer, type ModelServer } from '../../../support/model-server.ts'
import { adapterFor, ask, assembled, type AdapterSetUp, type Asked } from '../../../support/adapter-rig.ts'

let server: ModelServer | undefined
afterEach(() => server?.close())

const play = async (answer: Answer, setUp: AdapterSetUp = {}, asked: Asked = {}): Promise<readonly StreamChunk[]> => {
  server = await startModelServer({ steps: [{ answer }] })
  return ask(adapterFor(server.url, setUp), asked)
}

const stop: FinishReason = { kind: 'stop' }
const calls: FinishReason = { kind: 'tool-calls' }
const text = (text: string) => ({ block: 'text', text, isClosed: true })
const reasoning = (text: string) => ({ block: 'reasoning', text, isClosed: true })
const call = (id: string | undefined, name: string, text: string) => ({ block: 'tool-call', ...(id !== undefined && { id }), name, text, isClosed: true })
const read = { name: 'read', arguments: { file_path: 'src/ä.ts', limit: 3 } }
const readText = '{"file_path":"src/ä.ts","limit":3}'

describe('an answer', () => {
  const rows: readonly [name: string, answer: StreamAnswer, blocks: readonly unknown[], end: FinishReason][] = [
    ['of text', { parts: [{ text: 'Hello, 世界 and 👩‍💻.' }], chunkLength: 1 }, [text('Hello, 世界 and 👩‍💻.')], stop],
    ['of thought and text', { parts: [{ reasoning: 'Think hard.' }, { text: 'Said.' }] }, [reasoning('Think hard.'), text('Said.')], stop],
    ['with the other name for thought', { parts: [{ reasoning: 'Hm.', key: 'reasoning' }, { text: 'Said.' }] }, [reasoning('Hm.'), text('Said.')], stop],
    ['that thinks twice', { parts: [{ reasoning: 'A' }, { text: 'B' }, { reasoning: 'C' }, { text: 'D' }] }, [reasoning('A'), text('B'), reasoning('C'), text('D')], stop],
    ['of one call in odd pieces', { parts: [{ toolCalls: [read] }], chunkLength: 1 }, [call('call_0_0', 'read', readText)], calls],
    [
      'of parallel calls whose pieces are mixed',
      { parts: [{ text: 'Both.' }, { toolCalls: [read, { name: 'grep', arguments: { pattern: '"' } }], interleaved: true }], chunkLength: 3 },
      [text('Both.'), call('call_0_0', 'read', readText), call('call_0_1', 'grep', '{"pattern":"\\""}')],
      calls,
    ],
    ['of a call without an id', { parts: [{ toolCalls: [{ ...read, id: null }] }] }, [call(undefined, 'read', readText)], calls],
    ['of a call that says it stopped', { parts: [{ toolCalls: [read] }], finish: 'stop' }, [call('call_0_0', 'read', readText)], calls],
    ['of a call with broken arguments', { parts: [{ toolCalls: [{ name: 'read', arguments: '{"file_path": oops' }] }] }, [call('call_0_0', 'read', '{"file_path": oops')], calls],
    ['of a call without arguments', { parts: [{ toolCalls: [{ name: 'list', arguments: '' }] }] }, [call('call_0_0', 'list', '')], calls],
    ['cut by its cap', { parts: [{ text: 'Half' }], finish: 'length' }, [text('Half')], { kind: 'max-tokens' }],
    ['with a reason nobody knows', { parts: [{ text: 'Done' }], finish: 'eos' }, [text('Done')], stop],
    ['without usage', { parts: [{ text: 'x' }], usage: null }, [text('x')], stop],
    ['without the end mark', { parts: [{ text: 'x' }], done: false }, [text('x')], stop],
    ['among comments that keep it alive', { parts: [{ raw: ': alive\n\n' }, { text: 'x' }, { raw: ': alive\n\n' }] }, [text('x')], stop],
  ]
  it.each(rows)('%s', async (_name, answer, blocks, end) => expect(assembled(await play(answer))).toMatchObject({ blocks, end }))

  it('comes as it is sent, not at its end', async () => {
    server = await startModelServer({ steps: [{ answer: { parts: [{ text: 'first' }, { waitMs: 5_000 }, { text: 'late' }] } }] })
    const cancel = new AbortController()
    const adapter = adapterFor(server.url)
    const seen: string[] = []
    const request = { tools: [], messages: [], config: { provider: 'mine', model: 'm' }, signal: cancel.signal, loadAttachment: () => Promise.reject(new Error('none')) }
    const watch = async () => {
      for await (const chunk of adapter.stream(request)) {
        if (chunk.type === 'text-delta') seen.push(chunk.delta)
        if (seen.length > 0) cancel.abort()
      }
    }
    await expect(watch()).rejects.toThrow('abort')
    expect(seen).toEqual(['first'])
    await expect.poll(() => server?.requests[0]?.wasAborted).toBe(true)
  })

  it('gives the same record each time', async () => {
    const answer = { parts: [{ reasoning: 'r' }, { toolCalls: [{ ...read, id: null }, { ...read, id: null }] }] }
    const first = await play(answer)
    await server?.close()
    expect(await play(answer)).toEqual(first)
  })

  const usageRows: readonly [name: string, usage: StreamAnswer['usage'], expected: unknown][] = [
    ['plain', { promptTokens: 100, completionTokens: 20 }, { inputTokens: 100, outputTokens: 20, cacheRead: 0, cacheWrite: 0, reasoning: 0 }],
    [
      'cached and thinking',
      { promptTokens: 100, completionTokens: 20, cachedTokens: 90, reasoningTokens: 15 },
      { inputTokens: 10, outputTokens: 5, cacheRead: 90, cacheWrite: 0, reasoning: 15 },
    ],
    ['odd', { promptTokens: 5, completionTokens: 1, reasoningTokens: 4 }, { inputTokens: 5, outputTokens: 0, cacheRead: 0, cacheWrite: 0, reasoning: 4 }],
  ]
  it.each(usageRows)('counts tokens apart: %s', async (_name, usage, expected) =>
    expect(assembled(await play({ parts: [{ text: 'x' }], usage: usage ?? null }))).toMatchObject({ usage: expected }),
  )
})

describe('a failure', () => {
  const kept = (message: string, code: string, more: object = {}) => ({ kind: 'error', failure: expect.objectContaining({ code, message: expect.stringContaining(message), ...more }) })
  const half = { text: 'half' }
  const soon = () => new Date(Date.now() + 60_000).toUTCString()

  const rows: readonly [name: string, answer: Answer, end: unknown][] = [
    ['of a wrong key', failures.wrongKey, kept('Set API Key', 'AUTH', { status: 401, requestId: 'scripted-failure' })],
    ['of missing rights', { ...failures.wrongKey, status: 403 }, kept('rights', 'AUTH', { status: 403 })],
    ['of an empty account', failures.noMoney, kept('Top it up', 'QUOTA', { status: 402 })],
    ['of a spent quota', { status: 429, body: { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } } }, kept('quota', 'QUOTA')],
    ['of too many requests', failures.rateLimit('7'), kept('Wait 7 s,', 'RATE_LIMIT', { status: 429, providerRetryAfterMs: 7000 })],
    ['with milliseconds to wait', { ...failures.rateLimit('7'), headers: { 'retry-after-ms': '250', 'retry-after': '1' } }, kept('', 'RATE_LIMIT', { providerRetryAfterMs: 250 })],
    ['of an unknown model', failures.unknownModel('scripted'), kept('no model "scripted"', 'UNKNOWN_MODEL', { status: 404 })],
    ['of an unknown model said with 400', { status: 400, body: { error: { message: 'Model Not Exist' } } }, kept('Choose another one', 'UNKNOWN_MODEL', { status: 400 })],
    ['of a window too small', failures.contextLength, kept('Start a new session', 'CONTEXT_WINDOW_EXCEEDED', { status: 400 })],
    ['of a window too small in other words', { status: 400, body: { error: 'the request exceeds the available context size' } }, kept('larger window', 'CONTEXT_WINDOW_EXCEEDED')],
    ['of a body too large', { status: 413, body: 'Payload Too Large' }, kept('Start a new session', 'CONTEXT_WINDOW_EXCEEDED', { status: 413 })],
    ['of a refused request', { status: 400, body: { error: { message: 'tools: bad schema' } } }, kept('It said: tools: bad schema', 'INVALID_REQUEST')],
    ['of a wrong path', { status: 404, body: '<html>Not Found</html>' }, kept('/v1', 'HTTP_404', { status: 404 })],
    ['of the server', failures.server, kept('Retry in a while', 'SERVER', { status: 500 })],
    ['of the server, told by a page', failures.serverHtml, kept('(502)', 'SERVER', { status: 502 })],
    ['of an odd status', { status: 418, body: {} }, kept('418', 'HTTP_418', { status: 418 })],
    ['in the middle', { parts: [half, { cut: true }] }, kept('broke', 'TRANSPORT')],
    ['of a stream without finish', { parts: [half], finish: null, usage: null }, kept('stopped before its end', 'STREAM_CLOSED')],
    ['of a stream without finish or end mark', { parts: [half], finish: null, usage: null, done: false }, kept('stopped before its end', 'STREAM_CLOSED')],
    ['of broken JSON', { parts: [half, { raw: 'data: {"choices": [\n\n' }, { text: 'more' }] }, kept('no part of an answer', 'MALFORMED_RESPONSE')],
    ['of JSON that is no answer', { parts: [half, { raw: 'data: {"choices": "none"}\n\n' }] }, kept('no part of an answer', 'MALFORMED_RESPONSE')],
    ['said inside the stream', { parts: [half, { raw: 'data: {"error": {"message": "Overloaded", "code": 503}}\n\n' }] }, kept('Overloaded', 'SERVER')],
    ['of limits said inside the stream', { parts: [{ raw: 'data: {"error": {"message": "Rate limit exceeded"}}\n\n' }] }, kept('Rate limit', 'RATE_LIMIT')],
    ['of an empty answer', { parts: [] }, kept('without saying', 'EMPTY_RESPONSE')],
    ['of the filter', { parts: [half], finish: 'content_filter' }, kept('filter', 'INVALID_REQUEST')],
    ['of a provider short of machines', { parts: [half], finish: 'insufficient_system_resource' }, kept('insufficient_system_resource', 'SERVER')],
    ['of a page instead of a stream', { status: 200, body: '<html>Sign in</html>' }, kept('web page', 'MALFORMED_RESPONSE', { status: 200 })],
  ]
  it.each(rows)('%s', async (_name, answer, end) => expect((await play(answer)).at(-1)).toEqual({ type: 'finish', reason: end }))

  it('with a date to wait for', async () => {
    const chunks = await play(failures.rateLimit(soon()))
    const last = chunks.at(-1)
    const waitMs = last?.type === 'finish' && last.reason.kind === 'error' ? (last.reason.failure.providerRetryAfterMs ?? 0) : 0
    expect(waitMs).toBeGreaterThan(50_000)
    expect(waitMs).toBeLessThanOrEqual(60_000)
  })

  const silent: readonly [name: string, answer: Answer][] = [
    ['before the headers', { hang: 'before-headers' }],
    ['after the headers', { hang: 'after-headers' }],
    ['in the middle', { parts: [half, { waitMs: 5_000 }] }],
  ]
  it.each(silent)('of a server that falls silent %s', async (_name, answer) => {
    const chunks = await play(answer, { idleTimeoutMs: 60 })
    expect(chunks.at(-1)).toEqual({ type: 'finish', reason: kept('said nothing for 0.1 s', 'TIMEOUT') })
    await expect.poll(() => server?.requests[0]?.wasAborted).toBe(true)
  })

  it('does not come while the server is slow but not silent', async () => {
    const chunks = await play({ parts: [{ text: 'slow but sure' }], chunkLength: 1, chunkDelayMs: 15 }, { idleTimeoutMs: 150 })
    expect(assembled(chunks)).toMatchObject({ blocks: [text('slow but sure')], end: stop })
  })

  const network: readonly [code: string, result: string, words: string][] = [
    ['ECONNREFUSED', 'TRANSPORT', 'Nothing answers at example.test:99'],
    ['ENOTFOUND', 'TRANSPORT', 'is not known'],
    ['ECONNRESET', 'TRANSPORT', 'broke'],
    ['UND_ERR_CONNECT_TIMEOUT', 'TIMEOUT', 'in time'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'CERTIFICATE', 'certificate'],
    ['CERT_HAS_EXPIRED', 'CERTIFICATE', 'certificate'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'CERTIFICATE', 'root certificate'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'CERTIFICATE', 'certificate'],
  ]
  it.each(network)('of the network: %s', async (code, result, words) => {
    const http = { fetch: () => Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })) }
    const chunks = await ask(adapterFor('https://example.test:99/v1', { http }))
    expect(chunks).toEqual([{ type: 'finish', reason: kept(words, result) }])
  })

  it('of a port where nobody listens', async () => {
    server = await startModelServer({ steps: [] })
    const { url } = server
    await server.close()
    expect(await ask(adapterFor(url))).toEqual([{ type: 'finish', reason: kept('Start the server', 'TRANSPORT') }])
  })

  it('does not repeat a key that the server sent back', async () => {
    const answer = { status: 401, body: { error: { message: 'Incorrect API key provided: sk-secret-1' } } }
    const chunks = await play(answer, { entry: { keyName: 'MY_KEY' }, secrets: { MY_KEY: 'sk-secret-1' } })
    expect(JSON.stringify(chunks)).toContain('Incorrect API key provided: …')
    expect(JSON.stringify(chunks)).not.toContain('sk-secret-1')
  })

  const keys: readonly [name: string, secrets: Readonly<Record<string, string>>, code: string][] = [
    ['is missing', {}, 'MISSING_CREDENTIAL'],
    ['is blank', { MY_KEY: '  ' }, 'MISSING_CREDENTIAL'],
    ['holds a line end', { MY_KEY: 'abc\ndef' }, 'INVALID_CREDENTIAL'],
    ['holds an umlaut', { MY_KEY: 'schlüssel' }, 'INVALID_CREDENTIAL'],
  ]
  it.each(keys)('when the key %s, before anything is sent', async (_name, secrets, code) => {
    const chunks = await play({ parts: [] }, { entry: { keyName: 'MY_KEY' }, secrets })
    expect([chunks, server?.requests]).toEqual([[{ type: 'finish', reason: kept('', code) }], []])
    for (const key of Object.values(secrets)) if (key.trim() !== '') expect(JSON.stringify(chunks)).not.toContain(key.trim().split('\n')[0])
  })
})
