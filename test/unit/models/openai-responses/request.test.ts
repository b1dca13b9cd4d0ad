import { afterEach, describe, expect, it } from 'vitest'
import type { AttachmentRef, Message } from '../../../../extension/core/log/message.ts'
import { adapterFor, ask, prompt, toolResult, type AdapterSetUp, type Asked } from '../../../support/adapter-rig.ts'
import { sharedPrefixLength, startModelServer, type ModelServer } from '../../../support/model-server.ts'

let server: ModelServer | undefined
afterEach(() => server?.close())

const model = 'gpt-5.4'
const start = async () => (server = await startModelServer({ steps: [{ repeat: true, answer: { parts: [{ text: 'ok' }] } }] }, { api: 'openai-responses' }))
const adapter = (url: string, entry: AdapterSetUp['entry'] = {}) => adapterFor(url, { entry: { api: 'openai-responses', ...entry } })

const sent = async ({ config, ...asked }: Asked, entry: AdapterSetUp['entry'] = {}): Promise<Record<string, unknown>> => {
  const { url } = await start()
  const chunks = await ask(adapter(url, entry), { ...asked, config: { model, ...config } })
  const body = server?.chats()[0]?.body
  if (body === undefined) throw new Error(JSON.stringify(chunks))
  return JSON.parse(body) as Record<string, unknown>
}

const image: AttachmentRef = { attachmentId: 'sha256:one', mediaType: 'image/png', bytes: 10 }
const imagePart = { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${Buffer.from('sha256:one').toString('base64')}` }
const tools = [{ name: 'read', description: 'Read a file.', parameters: { type: 'object', properties: { a: { type: 'string' } } } }]
const call = (id: string) => ({ type: 'tool-call', id, name: 'read', arguments: '{"a":"x"}' }) as const
type AssistantMessage = Extract<Message, { role: 'assistant' }>
const summary = [{ type: 'summary_text', text: 'Hm.' }]
const thought: AssistantMessage = {
  id: 'a',
  role: 'assistant',
  content: [{ type: 'reasoning', text: 'Hm.' }, { type: 'text', text: 'I read.' }, call('c1'), call('c2')],
  source: {
    kind: 'model',
    provider: 'mine',
    model,
    replayState: {
      blocks: [
        { type: 'reasoning', id: 'rs_1', summary, encrypted_content: 'cipher+/=' },
        { type: 'message', id: 'msg_1', phase: 'commentary' },
        { type: 'function_call', id: 'fc_1' },
        { type: 'function_call', id: 'fc_2' },
      ],
    },
  },
}

describe('a request to OpenAI’s Responses', () => {
  it('stores nothing, names its session for the cache, and says the talk last', async () => {
    const { url } = await start()
    await ask(adapter(url), { system: 'Be good.', tools, sessionId: 'session-7', config: { model, maxTokens: 50, temperature: 0.5 } })
    const body = JSON.parse(server?.chats()[0]?.body ?? '') as Record<string, unknown>
    expect(body).toEqual({
      model,
      max_output_tokens: 50,
      temperature: 0.5,
      store: false,
      stream: true,
      prompt_cache_key: 'session-7',
      tools: [{ type: 'function', ...tools[0], strict: false }],
      instructions: 'Be good.',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
    })
    expect(Object.keys(body).at(-1)).toBe('input')
  })

  const message = (extra: object) => ({ type: 'message', ...extra, role: 'assistant', content: [{ type: 'output_text', text: 'I read.', annotations: [] }] })
  const wireCall = (call_id: string, extra: object = {}) => ({ type: 'function_call', ...extra, call_id, name: 'read', arguments: '{"a":"x"}' })
  const output = (call_id: string, output: unknown) => ({ type: 'function_call_output', call_id, output })
  const foreign = [message({}), wireCall('c1'), wireCall('c2'), output('c1', 'text')]
  const wire: readonly [name: string, messages: readonly Message[], wire: readonly unknown[]][] = [
    [
      'its own items as they came, thought under its cipher',
      [thought, toolResult('c1', 'text'), toolResult('c2', '')],
      [
        { type: 'reasoning', id: 'rs_1', summary, encrypted_content: 'cipher+/=' },
        message({ id: 'msg_1', status: 'completed', phase: 'commentary' }),
        wireCall('c1', { id: 'fc_1' }),
        wireCall('c2', { id: 'fc_2' }),
        output('c1', 'text'),
        output('c2', 'The tool gave no output.'),
      ],
    ],
    ['nothing of its own for another model', [{ ...thought, source: { ...thought.source, model: 'gpt-5.2' } }, toolResult('c1', 'text')], foreign],
    ['nothing of another provider’s', [{ ...thought, source: { ...thought.source, provider: 'other' } }, toolResult('c1', 'text')], foreign],
    ['no thought whose calls were cut off', [{ ...thought, content: thought.content.slice(0, 1) }, prompt('on')], [{ role: 'user', content: [{ type: 'input_text', text: 'on' }] }]],
    [
      'images in prompts and in results',
      [
        { id: 'u', role: 'user', source: { kind: 'user' }, content: [{ type: 'text', text: 'look' }, { type: 'image', attachment: image }] },
        { id: 't', role: 'tool', source: { kind: 'tool', callId: 'c1' }, content: [{ type: 'tool-result', callId: 'c1', isError: false, content: [{ type: 'image', attachment: image }] }] },
      ],
      [{ role: 'user', content: [{ type: 'input_text', text: 'look' }, imagePart] }, output('c1', [imagePart])],
    ],
    ['ids of other providers at the length allowed here', [toolResult(`${'x'.repeat(40)}-${'y'.repeat(40)}`, 'text')], [output(`${'x'.repeat(23)}-${'y'.repeat(40)}`, 'text')]],
  ]
  it.each(wire)('carries %s', async (_name, messages, wire) => expect((await sent({ messages }))['input']).toEqual(wire))

  const reasons = { include: ['reasoning.encrypted_content'] }
  const efforts: readonly [effort: string | undefined, purpose: Asked['purpose'], fields: object][] = [
    [undefined, undefined, { reasoning: { summary: 'auto' }, ...reasons }],
    ['high', undefined, { reasoning: { effort: 'high', summary: 'auto' }, ...reasons }],
    ['none', undefined, { reasoning: { effort: 'none' }, ...reasons, temperature: 0.5 }],
    ['high', 'title', { reasoning: { effort: 'none' }, ...reasons, temperature: 0.5 }],
    ['low', 'compaction', { reasoning: { effort: 'low', summary: 'auto' }, ...reasons }],
  ]
  it.each(efforts)('tells the effort %s (%s)', async (effort, purpose, fields) => {
    const { model: _m, store: _o, stream: _s, input: _i, ...rest } = await sent(
      { config: { temperature: 0.5, ...(effort !== undefined && { reasoningEffort: effort }) }, ...(purpose && { purpose }) },
      { reasoningEfforts: ['none', 'low', 'high'] },
    )
    expect(rest).toEqual(fields)
  })

  it('with words to stop at is refused: the protocol has none', async () => {
    const { url } = await start()
    const chunks = await ask(adapter(url), { config: { model, stop: ['END'] } })
    expect([chunks, server?.requests]).toEqual([[{ type: 'finish', reason: { kind: 'error', failure: expect.objectContaining({ code: 'INVALID_REQUEST' }) } }], []])
  })

  it('shares its bytes with the one before, up to the new items', async () => {
    const { url } = await start()
    const talk = [prompt('hi'), thought, toolResult('c1', 'one\ntwo'), toolResult('c2', 'three')]
    const asked = { system: 'Be good.', tools, sessionId: 's', config: { model, maxTokens: 100 } }
    const own = adapter(url)
    await ask(own, { ...asked, messages: talk.slice(0, 1) })
    await ask(own, { ...asked, messages: talk })
    await ask(adapter(url), { ...asked, messages: structuredClone([...talk, prompt('and now?')]) })
    const [first = '', second = '', third = ''] = server?.chats().map(({ body }) => body) ?? []
    expect(sharedPrefixLength(first, second)).toBe(Buffer.byteLength(first) - ']}'.length)
    expect(sharedPrefixLength(second, third)).toBe(Buffer.byteLength(second) - ']}'.length)
  })
})

describe('an answer of OpenAI’s Responses', () => {
  const ended = (response: object) => `data: ${JSON.stringify({ type: 'response.completed', response: { usage: null, ...response } })}\n\n`
  const done = (output_index: number, item: object) => `data: ${JSON.stringify({ type: 'response.output_item.done', output_index, item })}\n\n`
  const answered = async (...raw: readonly string[]) => {
    server = await startModelServer({ steps: [{ answer: { parts: raw.map((raw) => ({ raw })), finish: null } }] }, { api: 'openai-responses' })
    return ask(adapter(server.url), { config: { model } })
  }

  it('whose items come whole is read all the same', async () => {
    const chunks = await answered(
      done(0, { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'A' }, { type: 'summary_text', text: 'B' }], encrypted_content: 'c' }),
      done(1, { type: 'function_call', id: 'fc', call_id: 'c1', name: 'read', arguments: '{}' }),
      ended({}),
    )
    expect(chunks).toEqual([
      { type: 'block-start', index: 0, block: 'reasoning' },
      { type: 'reasoning-delta', index: 0, delta: 'A\n\nB' },
      { type: 'block-end', index: 0, replayState: { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'A' }, { type: 'summary_text', text: 'B' }], encrypted_content: 'c' } },
      { type: 'block-start', index: 1, block: 'tool-call' },
      { type: 'tool-call-delta', index: 1, id: 'c1', name: 'read', argumentsDelta: '{}' },
      { type: 'block-end', index: 1, replayState: { type: 'function_call', id: 'fc' } },
      { type: 'finish', reason: { kind: 'tool-calls' } },
    ])
  })

  it('that fails for its rate tells how long to wait', async () => {
    const error = { code: 'rate_limit_exceeded', message: 'Rate limit reached for gpt-5.4. Please try again in 11.054s.' }
    const chunks = await answered(`data: ${JSON.stringify({ type: 'response.failed', response: { error } })}\n\n`)
    expect(chunks.at(-1)).toMatchObject({ reason: { failure: { code: 'RATE_LIMIT', providerRetryAfterMs: 11_054, requestId: 'scripted-0' } } })
  })

  it('that says its error without a response is read', async () => {
    const chunks = await answered(`data: ${JSON.stringify({ type: 'error', code: 'context_length_exceeded', message: 'Too long.', param: null })}\n\n`)
    expect(chunks.at(-1)).toMatchObject({ reason: { failure: { code: 'CONTEXT_WINDOW_EXCEEDED' } } })
  })
})

it('the list of models leaves out what cannot answer', async () => {
  server = await startModelServer({ steps: [], models: ['gpt-5.4'] }, { api: 'openai-responses' })
  expect((await adapter(server.url).listModels(new AbortController().signal)).map(({ id }) => id)).toEqual(['gpt-5.4'])
})
