import { afterEach, describe, expect, it } from 'vitest'
import type { AttachmentRef, Message } from '../../../../extension/core/log/message.ts'
import { adapterFor, ask, prompt, toolResult, type AdapterSetUp, type Asked } from '../../../support/adapter-rig.ts'
import { sharedPrefixLength, startModelServer, type ModelServer } from '../../../support/model-server.ts'

let server: ModelServer | undefined
afterEach(() => server?.close())

const model = 'claude-opus-4-8'
const start = async () => (server = await startModelServer({ steps: [{ repeat: true, answer: { parts: [{ text: 'ok' }] } }] }, { api: 'anthropic' }))
const adapter = (url: string, entry: AdapterSetUp['entry'] = {}) => adapterFor(url, { entry: { api: 'anthropic', ...entry } })

const sent = async ({ config, ...asked }: Asked, entry: AdapterSetUp['entry'] = {}): Promise<Record<string, unknown>> => {
  const { url } = await start()
  const chunks = await ask(adapter(url, entry), { ...asked, config: { model, ...config } })
  const body = server?.chats()[0]?.body
  if (body === undefined) throw new Error(JSON.stringify(chunks))
  return JSON.parse(body) as Record<string, unknown>
}

const mark = { cache_control: { type: 'ephemeral' } }
const image: AttachmentRef = { attachmentId: 'sha256:one', mediaType: 'image/png', bytes: 10 }
const imageBlock = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: Buffer.from('sha256:one').toString('base64') } }
const tools = [
  { name: 'read', description: 'Read a file.', parameters: { type: 'object', properties: { a: { type: 'string' } } } },
  { name: 'grep', description: 'Search.', parameters: { type: 'object' } },
]
const call = (id: string) => ({ type: 'tool-call', id, name: 'read', arguments: '{"a":"x"}' }) as const
type AssistantMessage = Extract<Message, { role: 'assistant' }>
const thought: AssistantMessage = {
  id: 'a',
  role: 'assistant',
  content: [{ type: 'reasoning', text: 'Hm.' }, { type: 'reasoning', text: '' }, { type: 'text', text: 'I read.' }, call('c1'), call('c2')],
  source: {
    kind: 'model',
    provider: 'mine',
    model,
    replayState: { blocks: [{ type: 'thinking', signature: 'sig+/=' }, { type: 'redacted_thinking', data: 'secret' }, null, null, null] },
  },
}
const by = (source: Partial<AssistantMessage['source']>): AssistantMessage => ({ ...thought, source: { ...thought.source, ...source } })

describe('a request to Anthropic', () => {
  it('says first what stays the same, and marks where tools, prompt and talk end', async () => {
    const body = await sent({ system: 'Be good.', tools, config: { maxTokens: 50, temperature: 0.5, stop: ['END'] } })
    expect(body).toEqual({
      model,
      max_tokens: 50,
      temperature: 0.5,
      stop_sequences: ['END'],
      stream: true,
      tools: [
        { name: 'read', description: 'Read a file.', input_schema: tools[0]?.parameters },
        { name: 'grep', description: 'Search.', input_schema: { type: 'object' }, ...mark },
      ],
      system: [{ type: 'text', text: 'Be good.', ...mark }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', ...mark }] }],
    })
    expect(Object.keys(body).slice(-3)).toEqual(['tools', 'system', 'messages'])
    expect(server?.requests[0]?.headers).toMatchObject({ 'anthropic-version': '2023-06-01', 'content-type': 'application/json' })
  })

  it('gives an answer all the tokens the model can, when the person names no cap', async () => expect(await sent({}, { maxOutputTokens: 777 })).toMatchObject({ max_tokens: 777 }))

  const result = (id: string, extra: object = {}) => ({ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: 'text' }], ...extra })
  const use = (id: string) => ({ type: 'tool_use', id, name: 'read', input: { a: 'x' } })
  const wire: readonly [name: string, messages: readonly Message[], wire: readonly unknown[]][] = [
    [
      'thought as it was signed, and parallel results in one message with what follows; marks on the end of this request and of the one before',
      [prompt('hi'), thought, toolResult('c1', 'text'), toolResult('c2', 'text'), prompt('and?')],
      [
        { role: 'user', content: [{ type: 'text', text: 'hi', ...mark }] },
        {
          role: 'assistant',
          content: [{ type: 'thinking', thinking: 'Hm.', signature: 'sig+/=' }, { type: 'redacted_thinking', data: 'secret' }, { type: 'text', text: 'I read.' }, use('c1'), use('c2')],
        },
        { role: 'user', content: [result('c1'), result('c2'), { type: 'text', text: 'and?', ...mark }] },
      ],
    ],
    ...(['another provider', 'another model'] as const).map((who): [string, readonly Message[], readonly unknown[]] => [
      `no thought signed for ${who}`,
      [by(who === 'another model' ? { model: 'claude-sonnet-4-6' } : { provider: 'other' }), toolResult('c1', 'text')],
      [
        { role: 'assistant', content: [{ type: 'text', text: 'I read.' }, use('c1'), use('c2')] },
        { role: 'user', content: [result('c1', mark)] },
      ],
    ]),
    [
      'no thought without a signature, and no empty text',
      [{ ...thought, content: [{ type: 'reasoning', text: 'Hm.' }, { type: 'text', text: ' ' }, call('c1')], source: { kind: 'model', provider: 'mine', model } }, toolResult('c1', 'text')],
      [
        { role: 'assistant', content: [use('c1')] },
        { role: 'user', content: [result('c1', mark)] },
      ],
    ],
    ['no output as words', [toolResult('c1', '')], [{ role: 'user', content: [{ ...result('c1'), content: [{ type: 'text', text: 'The tool gave no output.' }], ...mark }] }]],
    [
      'a failed result as one',
      [{ id: 't', role: 'tool', source: { kind: 'tool', callId: 'c1' }, content: [{ type: 'tool-result', callId: 'c1', isError: true, content: [{ type: 'text', text: 'text' }] }] }],
      [{ role: 'user', content: [result('c1', { is_error: true, ...mark })] }],
    ],
    [
      'images in prompts and in results',
      [
        { id: 'u', role: 'user', source: { kind: 'user' }, content: [{ type: 'text', text: 'look' }, { type: 'image', attachment: image }] },
        { ...thought, content: [call('c1')] },
        { id: 't', role: 'tool', source: { kind: 'tool', callId: 'c1' }, content: [{ type: 'tool-result', callId: 'c1', isError: false, content: [{ type: 'image', attachment: image }] }] },
      ],
      [
        { role: 'user', content: [{ type: 'text', text: 'look' }, { ...imageBlock, ...mark }] },
        { role: 'assistant', content: [use('c1')] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: [imageBlock], ...mark }] },
      ],
    ],
    [
      'ids of other providers in the letters allowed here, in call and result alike',
      [{ ...thought, content: [call('functions.read:0')] }, toolResult('functions.read:0', 'text')],
      [
        { role: 'assistant', content: [use('functions_read_0')] },
        { role: 'user', content: [result('functions_read_0', mark)] },
      ],
    ],
  ]
  it.each(wire)('carries %s', async (_name, messages, wire) => expect((await sent({ messages }))['messages']).toEqual(wire))

  const efforts: readonly [model: string, effort: string | undefined, purpose: Asked['purpose'], fields: object][] = [
    [model, undefined, undefined, {}],
    [model, 'high', undefined, { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } }],
    [model, 'max', 'compaction', { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'max' } }],
    [model, 'off', undefined, { thinking: { type: 'disabled' } }],
    [model, 'high', 'title', { thinking: { type: 'disabled' } }],
    ['claude-sonnet-5-5', 'low', undefined, { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } }],
    ['claude-sonnet-4-5-20250929', 'medium', undefined, { thinking: { type: 'enabled', budget_tokens: 16_384 } }],
    ['claude-opus-4-20250514', 'low', undefined, { thinking: { type: 'enabled', budget_tokens: 4_096 } }],
    ['claude-opus-4-1', 'high', undefined, { thinking: { type: 'enabled', budget_tokens: 25_600 } }],
  ]
  it.each(efforts)('tells %s the effort %s (%s)', async (name, effort, purpose, fields) => {
    const body = await sent(
      { config: { model: name, temperature: 0.5, ...(effort !== undefined && { reasoningEffort: effort }) }, ...(purpose && { purpose }) },
      { reasoningEfforts: ['off', 'low', 'medium', 'high', 'max'] },
    )
    const thinks = JSON.stringify(fields).includes('enabled') || JSON.stringify(fields).includes('adaptive')
    const { model: _m, max_tokens: _t, stream: _s, messages: _l, ...rest } = body
    expect(rest).toEqual({ ...fields, ...(!thinks && { temperature: 0.5 }) })
  })

  const open: readonly [name: string, source: Partial<AssistantMessage['source']>, thinks: boolean][] = [
    ['with thought of its own', {}, true],
    ['by another model', { model: 'claude-opus-4-8' }, false],
    ['by another provider', { provider: 'other' }, false],
    ['without thought', { replayState: {} }, false],
  ]
  it.each(open)('to a model with a budget, among calls made %s, lets it think only where it may', async (_name, source, thinks) => {
    const name = 'claude-sonnet-4-5'
    const messages = [prompt('hi'), by({ model: name, ...source }), toolResult('c1', 'a'), toolResult('c2', 'b')]
    const asked = { messages, config: { model: name, reasoningEffort: 'low' } }
    expect('thinking' in (await sent(asked, { reasoningEfforts: ['low'] }))).toBe(thinks)
    await server?.close()
    expect('thinking' in (await sent({ ...asked, messages: [...messages, { ...by({ model: name }), content: [{ type: 'text', text: 'x' }] }, prompt('on')] }, { reasoningEfforts: ['low'] }))).toBe(true)
  })

  const refusals: readonly [name: string, config: Asked['config'], words: string][] = [
    ['an effort that a budget cannot tell', { model: 'claude-sonnet-4-5', reasoningEffort: 'max' }, 'It knows off, low, medium, high'],
    ['a cap that leaves no room to think', { model: 'claude-sonnet-4-5', reasoningEffort: 'low', maxTokens: 1_200 }, 'no room to think'],
  ]
  it.each(refusals)('refuses %s', async (_name, config, words) => {
    const { url } = await start()
    const chunks = await ask(adapter(url, { reasoningEfforts: ['low', 'max'] }), { config: { ...config } })
    expect(chunks).toEqual([{ type: 'finish', reason: { kind: 'error', failure: expect.objectContaining({ code: 'UNSUPPORTED_REASONING_EFFORT', message: expect.stringContaining(words) }) } }])
  })

  it('carries the key and the person’s headers', async () => {
    const { url } = await start()
    await ask(adapterFor(url, { entry: { api: 'anthropic', keyName: 'MY_KEY', headers: { 'x-team': 'blue' } }, secrets: { MY_KEY: ' sk-1 \n' } }), {})
    expect(server?.requests[0]?.headers).toMatchObject({ 'x-api-key': 'sk-1', 'x-team': 'blue' })
    expect(server?.requests[0]?.headers['authorization']).toBeUndefined()
  })

  it('shares its bytes with the one before, up to the new messages; only the marks move', async () => {
    const { url } = await start()
    const talk = [prompt('hi'), thought, toolResult('c1', 'one\ntwo'), toolResult('c2', 'three')]
    const asked = { system: 'Be good.', tools, config: { model, maxTokens: 100 } }
    const own = adapter(url)
    await ask(own, { ...asked, messages: talk.slice(0, 1) })
    await ask(own, { ...asked, messages: talk })
    // A talk read from its log again is made of other objects.
    await ask(adapter(url), { ...asked, messages: structuredClone([...talk, prompt('and now?')]) })
    const bare = (body: string) => body.replaceAll(',"cache_control":{"type":"ephemeral"}', '')
    const [first = '', second = '', third = ''] = server?.chats().map(({ body }) => body) ?? []
    expect(sharedPrefixLength(bare(first), bare(second))).toBe(Buffer.byteLength(bare(first)) - ']}'.length)
    expect(sharedPrefixLength(bare(second), bare(third))).toBe(Buffer.byteLength(bare(second)) - ']}]}'.length)
    // With the marks: the second still holds the mark where the first ended, so not a byte differs up to there.
    expect(sharedPrefixLength(first, second)).toBe(Buffer.byteLength(first) - ']}'.length)
    for (const body of [first, second, third]) expect(body.split('"cache_control"').length - 1).toBeLessThanOrEqual(4)
  })
})

describe('the list of models of Anthropic', () => {
  it('tells window, cap, images and efforts', async () => {
    server = await startModelServer({ steps: [], models: ['claude-next'] }, { api: 'anthropic' })
    expect(await adapter(server.url).listModels(new AbortController().signal)).toEqual([
      { id: 'claude-next', name: 'Model claude-next', contextWindow: 300_000, maxOutputTokens: 50_000, input: ['text', 'image'], reasoningEfforts: ['low', 'high'] },
    ])
  })
})
