import { afterEach, describe, expect, it } from 'vitest'
import { createKernel } from '../../../extension/core/kernel/kernel.ts'
import { AnswerAssembly } from '../../../extension/core/loop/answer.ts'
import type { ImageBlock, Message, ModelRequest, StreamChunk } from '../../../extension/core/model/contract.ts'
import { modelsPlugin } from '../../../extension/core/model/registry.ts'
import { adapterFor, ask, assistant, prompt, toolResult, type AdapterSetUp, type Asked } from '../../support/adapter-rig.ts'
import { failures } from '../../support/model-script.ts'
import { startModelServer, type ModelServer } from '../../support/model-server.ts'
import { createRecordingLogger } from '../../support/quiet-logger.ts'
import { callParts, createScriptedAdapter, sayText, textParts } from '../../support/scripted-adapter.ts'

/*
 * Chapter 16.1 to 16.3: the contract of adapters, DeepSeek's, and providers of the settings.
 */

let server: ModelServer | undefined
afterEach(() => server?.close())

describe('16.1 the contract', () => {
  const setUp = async () => {
    const kernel = createKernel({ logger: createRecordingLogger() })
    await kernel.root.plugin(modelsPlugin({ dispatch: kernel.dispatch })).ready
    return kernel.root
  }
  const request: ModelRequest = { tools: [], messages: [], config: { provider: 'scripted', model: 'm1' }, signal: new AbortController().signal, loadAttachment: () => Promise.reject(new Error('none')) }
  const collect = async (stream: AsyncIterable<StreamChunk>) => {
    const chunks: StreamChunk[] = []
    for await (const chunk of stream) chunks.push(chunk)
    return chunks
  }
  const failure = (code: string) => ({ type: 'finish', reason: { kind: 'error', failure: expect.objectContaining({ code }) } })

  it('a route has one adapter', async () => {
    const { models } = await setUp()
    models.register(createScriptedAdapter())
    expect(() => models.register(createScriptedAdapter())).toThrow(expect.objectContaining({ code: 'DUPLICATE_ADAPTER' }))
  })

  it('a prepared call streams once', async () => {
    const { models } = await setUp()
    models.register(createScriptedAdapter([sayText('a')]))
    const call = models.prepareCall('scripted')
    expect(await collect(call.stream(request))).toEqual(sayText('a'))
    expect(() => call.stream(request)).toThrow(expect.objectContaining({ code: 'INVALID_PREPARED_CALL' }))
  })

  it('a route without an adapter ends with NO_ADAPTER', async () => {
    const { models } = await setUp()
    expect(await collect(models.prepareCall('nobody').stream(request))).toEqual([failure('NO_ADAPTER')])
  })

  it('whatever an adapter throws becomes the finish', async () => {
    const { models } = await setUp()
    models.register({ ...createScriptedAdapter(), stream: () => { throw new Error('broken') } })
    expect(await collect(models.prepareCall('scripted').stream(request))).toEqual([failure('UNKNOWN')])
  })

  it('a defect of a listener stays a throw', async () => {
    const root = await setUp()
    root.models.register(createScriptedAdapter([sayText('a')]))
    root.on('llm/stream', () => { throw new Error('defect') })
    await expect(collect(root.models.prepareCall('scripted').stream(request))).rejects.toThrow('defect')
  })

  const stop: StreamChunk = { type: 'finish', reason: { kind: 'stop' } }
  const whole = (...chunks: readonly StreamChunk[]) => {
    const assembly = new AnswerAssembly()
    for (const chunk of chunks) assembly.add(chunk)
    return assembly.whole()
  }
  const blocks: readonly [name: string, chunks: readonly StreamChunk[], answer: object][] = [
    ['the first close of a block wins', [{ type: 'block-start', index: 0, block: 'text' }, { type: 'text-delta', index: 0, delta: 'a' }, { type: 'block-end', index: 0 }, { type: 'text-delta', index: 0, delta: 'b' }, stop], { content: [{ type: 'text', text: 'a' }] }],
    ['a second start is nothing', [{ type: 'block-start', index: 0, block: 'text' }, { type: 'block-start', index: 0, block: 'reasoning' }, { type: 'text-delta', index: 0, delta: 'a' }, stop], { content: [{ type: 'text', text: 'a' }] }],
    ['a call without an id is named by its place', [{ type: 'block-start', index: 3, block: 'tool-call' }, { type: 'tool-call-delta', index: 3, name: 'read', argumentsDelta: '{}' }, { type: 'block-end', index: 3 }, stop], { content: [{ type: 'tool-call', id: 'call-3', name: 'read', arguments: '{}' }] }],
    [
      'an answer cut by its cap loses its calls and their replay entries together',
      [
        { type: 'block-start', index: 0, block: 'reasoning' }, { type: 'reasoning-delta', index: 0, delta: 'r' }, { type: 'block-end', index: 0, replayState: 'signed' },
        { type: 'block-start', index: 1, block: 'tool-call' }, { type: 'tool-call-delta', index: 1, id: 'c', name: 'read', argumentsDelta: '{' }, { type: 'block-end', index: 1, replayState: 'call' },
        { type: 'finish', reason: { kind: 'max-tokens' } },
      ],
      { content: [{ type: 'reasoning', text: 'r' }], replayState: { blocks: ['signed'] } },
    ],
  ]
  it.each(blocks)('%s', (_name, chunks, answer) => expect(whole(...chunks)).toEqual(answer))

  it('a stream without a finish is STREAM_CLOSED, one without content EMPTY_RESPONSE; a call is content', async () => {
    const { models } = await setUp()
    models.register(createScriptedAdapter([textParts('half'), [stop], [...callParts({ id: 'c', name: 'read', args: {} }), { type: 'finish', reason: { kind: 'tool-calls' } }]]))
    const ends = []
    for (let count = 0; count < 3; count++) ends.push((await collect(models.prepareCall('scripted').stream(request))).at(-1))
    expect(ends).toEqual([failure('STREAM_CLOSED'), failure('EMPTY_RESPONSE'), { type: 'finish', reason: { kind: 'tool-calls' } }])
  })
})

describe('16.2 DeepSeek', () => {
  const deepseek = (url: string, setUp: AdapterSetUp = {}) => adapterFor(url, { id: 'deepseek-official', secrets: { DEEPSEEK_API_KEY: 'key' }, ...setUp })
  const start = async () => (server = await startModelServer({ steps: [{ repeat: true, answer: { parts: [{ text: 'ok' }] } }] }))
  const sent = async (asked: Asked, setUp: AdapterSetUp = {}) => {
    const { url } = await start()
    const chunks = await ask(deepseek(url, setUp), { ...asked, config: { model: 'deepseek-v4-pro', ...asked.config } })
    const request = server?.chats()[0]
    if (request === undefined) throw new Error(JSON.stringify(chunks))
    return { headers: request.headers, body: JSON.parse(request.body) as Record<string, unknown> }
  }

  it('has a window of 1 000 000, answers up to 256 000, and four efforts', async () => {
    const { url } = await start()
    expect(await deepseek(url).resolveModel('deepseek-v4-pro')).toMatchObject({ contextWindow: 1_000_000, maxOutputTokens: 256_000, reasoningEfforts: ['off', 'low', 'high', 'max'] })
  })

  it('streams chat completions with the usage in them', async () => expect((await sent({})).body).toMatchObject({ stream: true, stream_options: { include_usage: true } }))

  it('gets its reasoning back; what another model thought is an empty field', async () => {
    const thought = [{ type: 'reasoning', text: 'Hm.' }, { type: 'text', text: 'Yes.' }] as const
    const { body } = await sent({ messages: [prompt('hi'), assistant(thought, 'deepseek-official'), prompt('and?'), assistant(thought, 'other'), prompt('so?')] })
    expect((body['messages'] as readonly Record<string, unknown>[]).filter(({ role }) => role === 'assistant').map((message) => message['reasoning_content'])).toEqual(['Hm.', ''])
  })

  it('is sent an empty text and never null, words for no output, and the images of a result in a message after it', async () => {
    const image: ImageBlock = { type: 'image', attachment: { attachmentId: 'sha256:one', mediaType: 'image/png', bytes: 1 } }
    const shown: Message = { id: 't', role: 'tool', source: { kind: 'tool', callId: 'c2' }, content: [{ type: 'tool-result', callId: 'c2', isError: false, content: [image] }] }
    const calls = assistant([{ type: 'tool-call', id: 'c1', name: 'a', arguments: '{}' }, { type: 'tool-call', id: 'c2', name: 'b', arguments: '{}' }])
    const { body } = await sent({ messages: [calls, toolResult('c1', ''), shown] }, { entry: { images: true } })
    expect(body['messages']).toEqual([
      expect.objectContaining({ role: 'assistant', content: '' }),
      { role: 'tool', tool_call_id: 'c1', content: 'The tool gave no output.' },
      { role: 'tool', tool_call_id: 'c2', content: 'The images follow.' },
      { role: 'user', content: [expect.objectContaining({ type: 'text' }), expect.objectContaining({ type: 'image_url' })] },
    ])
  })

  it('is sent images up to 20 MiB, words for the oldest beyond', async () => {
    const image = (id: string): Message => ({ id, role: 'user', source: { kind: 'user' }, content: [{ type: 'image', attachment: { attachmentId: `sha256:${id}`, mediaType: 'image/png', bytes: 11 * 1024 * 1024 } }] })
    const { body } = await sent({ messages: [image('old'), image('new')] }, { entry: { images: true } })
    expect((body['messages'] as readonly { content: readonly { type: string }[] }[]).map(({ content }) => content[0]?.type)).toEqual(['text', 'image_url'])
  })

  it('does not think for a title', async () => expect((await sent({ purpose: 'title', config: { reasoningEffort: 'high' } })).body).toMatchObject({ thinking: { type: 'disabled' } }))

  it('is told the session and a compaction, and nothing of who asks', async () => {
    const { headers } = await sent({ purpose: 'compaction', sessionId: 's1' })
    expect(headers).toMatchObject({ 'x-session-id': 's1', 'x-compaction': 'true', authorization: 'Bearer key' })
    expect(Object.keys(headers).filter((name) => /user|anonym/.test(name) && name !== 'user-agent')).toEqual([])
    await server?.close()
    const plain = await sent({ sessionId: 's1' })
    expect([plain.headers['x-session-id'], plain.headers['x-compaction']]).toEqual(['s1', undefined])
  })

  it('says its wait in seconds or as a date', async () => {
    for (const wait of ['7', new Date(Date.now() + 7_500).toUTCString()]) {
      server = await startModelServer({ steps: [{ answer: failures.rateLimit(wait) }] })
      const last = (await ask(deepseek(server.url))).at(-1)
      const waitMs = last?.type === 'finish' && last.reason.kind === 'error' ? (last.reason.failure.providerRetryAfterMs ?? 0) : 0
      expect(waitMs).toBeGreaterThan(0)
      expect(waitMs).toBeLessThanOrEqual(7_500)
      await server.close()
    }
  })

  it.each([
    ['  key \n', undefined],
    ['', 'MISSING_CREDENTIAL'],
    ['schlüssel', 'INVALID_CREDENTIAL'],
  ])('takes a key trimmed and in printable ASCII: %j', async (key, code) => {
    const { url } = await start()
    const last = (await ask(deepseek(url, { secrets: { DEEPSEEK_API_KEY: key } }))).at(-1)
    expect(last?.type === 'finish' && last.reason.kind === 'error' ? last.reason.failure.code : undefined).toBe(code)
  })
})

describe('16.3 providers of the settings', () => {
  it('have a window of 262 144, answers up to 32 768, and read text alone, unless they say otherwise', async () => {
    const info = await adapterFor('http://127.0.0.1:1/v1').resolveModel('nobody-knows')
    expect(info).toMatchObject({ contextWindow: 262_144, maxOutputTokens: 32_768, input: ['text'], reasoningEfforts: [] })
  })

  it('ask nobody before they are used, and list the models of their server', async () => {
    server = await startModelServer({ steps: [], models: ['a'] })
    const adapter = adapterFor(server.url, { entry: { models: { mine: { contextWindow: 5 } } } })
    expect(server.requests).toEqual([])
    expect((await adapter.listModels(new AbortController().signal)).map(({ id, contextWindow }) => [id, contextWindow])).toEqual([['mine', 5], ['a', 262_144]])
  })
})
