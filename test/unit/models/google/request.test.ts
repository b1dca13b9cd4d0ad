import { afterEach, describe, expect, it } from 'vitest'
import type { AttachmentRef, Message } from '../../../../extension/core/log/message.ts'
import { adapterFor, ask, assembled, prompt, toolResult, type AdapterSetUp, type Asked } from '../../../support/adapter-rig.ts'
import { sharedPrefixLength, startModelServer, type ModelServer } from '../../../support/model-server.ts'

let server: ModelServer | undefined
afterEach(() => server?.close())

const model = 'gemini-3-flash-preview'
const start = async () => (server = await startModelServer({ steps: [{ repeat: true, answer: { parts: [{ text: 'ok' }] } }] }, { api: 'google' }))
const adapter = (url: string, entry: AdapterSetUp['entry'] = {}) => adapterFor(url, { entry: { api: 'google', ...entry } })

const sent = async ({ config, ...asked }: Asked, entry: AdapterSetUp['entry'] = {}): Promise<Record<string, unknown>> => {
  const { url } = await start()
  const chunks = await ask(adapter(url, entry), { ...asked, config: { model, ...config } })
  const body = server?.chats()[0]?.body
  if (body === undefined) throw new Error(JSON.stringify(chunks))
  return JSON.parse(body) as Record<string, unknown>
}

const image: AttachmentRef = { attachmentId: 'sha256:one', mediaType: 'image/png', bytes: 10 }
const imagePart = { inlineData: { mimeType: 'image/png', data: Buffer.from('sha256:one').toString('base64') } }
const tools = [{ name: 'read', description: 'Read a file.', parameters: { type: 'object', properties: { a: { type: 'string' } } } }]
const call = (id: string, name = 'read') => ({ type: 'tool-call', id, name, arguments: '{"a":"x"}' }) as const
type AssistantMessage = Extract<Message, { role: 'assistant' }>
const thought: AssistantMessage = {
  id: 'a',
  role: 'assistant',
  content: [{ type: 'reasoning', text: 'Hm.' }, { type: 'text', text: 'I read.' }, call('c1'), call('c2', 'grep')],
  source: { kind: 'model', provider: 'mine', model, replayState: { blocks: [null, null, { thoughtSignature: 'sig+/=' }, { id: 'own-2' }] } },
}

describe('a request to Google', () => {
  it('names the model in its path, and says the talk last', async () => {
    const body = await sent({ system: 'Be good.', tools, config: { maxTokens: 50, temperature: 0.5, stop: ['END'] } })
    expect(body).toEqual({
      generationConfig: { maxOutputTokens: 50, temperature: 0.5, stopSequences: ['END'] },
      tools: [{ functionDeclarations: [{ name: 'read', description: 'Read a file.', parametersJsonSchema: tools[0]?.parameters }] }],
      systemInstruction: { parts: [{ text: 'Be good.' }] },
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    })
    expect(Object.keys(body).at(-1)).toBe('contents')
    expect(server?.requests[0]?.path).toBe(`/v1beta/models/${model}:streamGenerateContent?alt=sse`)
  })

  const wireCall = (name: string, extra: object = {}, id: object = {}) => ({ functionCall: { ...id, name, args: { a: 'x' } }, ...extra })
  const response = (name: string, words: object, extra: object = {}) => ({ functionResponse: { ...extra, name, response: words } })
  const wire: readonly [name: string, model: string, messages: readonly Message[], wire: readonly unknown[]][] = [
    [
      'signatures where they came, results by the name of their call, in one content with what follows',
      model,
      [prompt('hi'), thought, toolResult('c1', 'text'), toolResult('c2', ''), prompt('and?')],
      [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ text: 'I read.' }, wireCall('read', { thoughtSignature: 'sig+/=' }), wireCall('grep', {}, { id: 'own-2' })] },
        { role: 'user', parts: [response('read', { output: 'text' }), response('grep', { output: 'The tool gave no output.' }, { id: 'own-2' }), { text: 'and?' }] },
      ],
    ],
    [
      'the provider’s own word in the place of a signature for calls of another model',
      model,
      [{ ...thought, source: { ...thought.source, model: 'gemini-3.1-pro-preview' } }, toolResult('c2', 'text')],
      [
        { role: 'model', parts: [{ text: 'I read.' }, wireCall('read', { thoughtSignature: 'skip_thought_signature_validator' }), wireCall('grep')] },
        { role: 'user', parts: [response('grep', { output: 'text' })] },
      ],
    ],
    [
      'no signature at all to a model that wants none',
      'gemini-2.5-flash',
      [{ ...thought, source: { ...thought.source, provider: 'other' } }],
      [{ role: 'model', parts: [{ text: 'I read.' }, wireCall('read'), wireCall('grep')] }],
    ],
    [
      'a signature on text and on nothing',
      model,
      [{ ...thought, content: [{ type: 'text', text: 'Said.' }, { type: 'text', text: '' }], source: { ...thought.source, replayState: { blocks: [{ thoughtSignature: 'one' }, { thoughtSignature: 'two' }] } } }],
      [{ role: 'model', parts: [{ text: 'Said.', thoughtSignature: 'one' }, { text: '', thoughtSignature: 'two' }] }],
    ],
    [
      'a failed result as an error',
      model,
      [thought, { id: 't', role: 'tool', source: { kind: 'tool', callId: 'c1' }, content: [{ type: 'tool-result', callId: 'c1', isError: true, content: [{ type: 'text', text: 'No.' }] }] }],
      [expect.anything(), { role: 'user', parts: [response('read', { error: 'No.' })] }],
    ],
    ...([model, 'gemini-2.5-flash'] as const).map((name): [string, string, readonly Message[], readonly unknown[]] => [
      `images in prompts and in results of ${name}`,
      name,
      [
        { id: 'u', role: 'user', source: { kind: 'user' }, content: [{ type: 'image', attachment: image }, { type: 'text', text: 'look' }] },
        { ...thought, content: [call('c1')], source: { ...thought.source, model: name } },
        { id: 't', role: 'tool', source: { kind: 'tool', callId: 'c1' }, content: [{ type: 'tool-result', callId: 'c1', isError: false, content: [{ type: 'image', attachment: image }] }] },
      ],
      [
        { role: 'user', parts: [imagePart, { text: 'look' }] },
        expect.anything(),
        {
          role: 'user',
          parts:
            name === model
              ? [{ functionResponse: { name: 'read', response: { output: 'The images follow.' }, parts: [imagePart] } }]
              : [response('read', { output: 'The images follow.' }), imagePart],
        },
      ],
    ]),
  ]
  it.each(wire)('carries %s', async (_name, name, messages, wire) => expect((await sent({ messages, config: { model: name } }))['contents']).toEqual(wire))

  const efforts: readonly [model: string, effort: string | undefined, purpose: Asked['purpose'], thinking: object][] = [
    [model, undefined, undefined, { includeThoughts: true }],
    [model, 'high', undefined, { includeThoughts: true, thinkingLevel: 'high' }],
    [model, 'high', 'title', { thinkingLevel: 'minimal' }],
    ['gemini-2.5-flash', 'medium', undefined, { includeThoughts: true, thinkingBudget: 8_192 }],
    ['gemini-2.5-flash', 'off', undefined, { thinkingBudget: 0 }],
    ['gemini-4-argon', 'low', undefined, { includeThoughts: true, thinkingLevel: 'low' }],
  ]
  it.each(efforts)('tells %s the effort %s (%s)', async (name, effort, purpose, thinking) => {
    const body = await sent(
      { config: { model: name, ...(effort !== undefined && { reasoningEffort: effort }) }, ...(purpose && { purpose }) },
      { reasoningEfforts: name.includes('2.5') ? ['off', 'low', 'medium', 'high'] : ['minimal', 'low', 'high'] },
    )
    expect(body['generationConfig']).toEqual({ thinkingConfig: thinking })
  })

  it.each([
    [model, 'off'],
    ['gemini-2.5-flash', 'minimal'],
  ])('refuses for %s the effort %s, which it cannot tell', async (name, reasoningEffort) => {
    const { url } = await start()
    const chunks = await ask(adapter(url, { reasoningEfforts: ['off', 'minimal'] }), { config: { model: name, reasoningEffort } })
    expect([chunks, server?.requests]).toEqual([[{ type: 'finish', reason: { kind: 'error', failure: expect.objectContaining({ code: 'UNSUPPORTED_REASONING_EFFORT' }) } }], []])
  })

  it('shares its bytes with the one before, up to the new contents', async () => {
    const { url } = await start()
    const talk = [prompt('hi'), thought, toolResult('c1', 'one\ntwo'), toolResult('c2', 'three')]
    const asked = { system: 'Be good.', tools, config: { model, maxTokens: 100 } }
    const own = adapter(url)
    await ask(own, { ...asked, messages: talk.slice(0, 1) })
    await ask(own, { ...asked, messages: talk })
    await ask(adapter(url), { ...asked, messages: structuredClone([...talk, prompt('and now?')]) })
    const [first = '', second = '', third = ''] = server?.chats().map(({ body }) => body) ?? []
    expect(sharedPrefixLength(first, second)).toBe(Buffer.byteLength(first) - ']}'.length)
    expect(sharedPrefixLength(second, third)).toBe(Buffer.byteLength(second) - ']}]}'.length)
  })
})

describe('an answer of Google', () => {
  const chunk = (parts: readonly object[], more: object = {}) => `data: ${JSON.stringify({ candidates: [{ content: { parts, role: 'model' }, ...more }] })}\n\n`
  const answered = async (...raw: readonly string[]) => {
    server = await startModelServer({ steps: [{ answer: { parts: raw.map((raw) => ({ raw })), finish: null } }] }, { api: 'google' })
    return ask(adapter(server.url), { config: { model } })
  }
  const ends = (chunks: Awaited<ReturnType<typeof answered>>) => chunks.flatMap((chunk) => (chunk.type === 'block-end' ? [chunk.replayState ?? null] : []))

  it('keeps each signature with its part', async () => {
    const chunks = await answered(
      chunk([{ text: 'Hm.', thought: true }]),
      chunk([{ text: 'Sa' }]),
      chunk([{ text: 'id.', thoughtSignature: 'text' }]),
      chunk([{ functionCall: { name: 'read', args: { a: 1 } }, thoughtSignature: 'call' }, { functionCall: { id: 'own', name: 'grep' } }]),
      chunk([{ text: '', thoughtSignature: 'end' }], { finishReason: 'STOP' }),
    )
    expect(assembled(chunks)).toMatchObject({
      blocks: [
        { block: 'reasoning', text: 'Hm.' },
        { block: 'text', text: 'Said.' },
        { block: 'tool-call', name: 'read', text: '{"a":1}' },
        { block: 'tool-call', id: 'own', name: 'grep', text: '{}' },
        { block: 'text', text: '' },
      ],
      end: { kind: 'tool-calls' },
    })
    expect(ends(chunks)).toEqual([null, { thoughtSignature: 'text' }, { thoughtSignature: 'call' }, { id: 'own' }, { thoughtSignature: 'end' }])
  })

  it('takes nothing after its finish, and loses nothing when the connection breaks then', async () => {
    server = await startModelServer(
      { steps: [{ answer: { parts: [{ raw: chunk([{ text: 'Said.' }], { finishReason: 'STOP' }) }, { raw: chunk([{ text: 'More.' }]) }, { cut: true }] } }] },
      { api: 'google' },
    )
    expect(assembled(await ask(adapter(server.url), { config: { model } }))).toMatchObject({ blocks: [{ text: 'Said.' }], end: { kind: 'stop' } })
  })

  const ended: readonly [finishReason: string, end: object][] = [
    ['MAX_TOKENS', { kind: 'max-tokens' }],
    ['PROHIBITED_CONTENT', { kind: 'error', failure: { code: 'INVALID_REQUEST' } }],
    ['MALFORMED_FUNCTION_CALL', { kind: 'error', failure: { code: 'MALFORMED_RESPONSE' } }],
    ['OTHER', { kind: 'error', failure: { code: 'SERVER' } }],
    ['FINISH_REASON_UNSPECIFIED', { kind: 'stop' }],
  ]
  it.each(ended)('that ends for %s', async (finishReason, end) => expect((await answered(chunk([{ text: 'x' }], { finishReason }))).at(-1)).toMatchObject({ reason: end }))

  it('that its filter kept back is a refusal', async () =>
    expect((await answered('data: {"promptFeedback":{"blockReason":"SAFETY"}}\n\n')).at(-1)).toMatchObject({ reason: { failure: { code: 'INVALID_REQUEST' } } }))
})

it('the list of models tells window and cap, and leaves out what cannot answer', async () => {
  server = await startModelServer({ steps: [], models: ['gemini-next'] }, { api: 'google' })
  expect(await adapter(server.url).listModels(new AbortController().signal)).toEqual([
    { id: 'gemini-next', name: 'Model gemini-next', contextWindow: 300_000, maxOutputTokens: 50_000, input: ['text', 'image'], reasoningEfforts: [] },
  ])
})
