import { afterEach, describe, expect, it } from 'vitest'
import type { AttachmentRef, Message } from '../../../../extension/core/log/message.ts'
import { sharedPrefixLength, startModelServer, type ModelServer } from '../../../support/model-server.ts'
import { adapterFor, ask, assistant, prompt, toolResult, type AdapterSetUp, type Asked } from '../../../support/adapter-rig.ts'

let server: ModelServer | undefined
afterEach(() => server?.close())

const start = async () => (server = await startModelServer({ steps: [{ repeat: true, answer: { parts: [{ text: 'ok' }] } }] }))

const sent = async (asked: Asked, setUp: AdapterSetUp = {}): Promise<Record<string, unknown>> => {
  const { url } = await start()
  const chunks = await ask(adapterFor(url, setUp), asked)
  const body = server?.chats()[0]?.body
  if (body === undefined) throw new Error(JSON.stringify(chunks))
  return JSON.parse(body) as Record<string, unknown>
}
const refused = async (asked: Asked, setUp: AdapterSetUp = {}) => {
  const { url } = await start()
  const chunks = await ask(adapterFor(url, setUp), asked)
  return [server?.requests.length, chunks]
}

const image = (bytes: number, id = 'one'): AttachmentRef => ({ attachmentId: `sha256:${id}`, mediaType: 'image/png', bytes })
const dataUrl = (id: string) => `data:image/png;base64,${Buffer.from(`sha256:${id}`).toString('base64')}`
const tools = [
  { name: 'read', description: 'Read a file.', parameters: { type: 'object', properties: { a: { type: 'string', description: 'ä' } }, required: ['a'], additionalProperties: false } },
]
const read = { type: 'tool-call', id: 'c1', name: 'read', arguments: '{"a":"x"}' } as const

describe('a request', () => {
  it('holds the model, the tools as they are, and the messages last', async () => {
    const body = await sent({ system: 'Be good.', tools, config: { model: 'm', maxTokens: 50, temperature: 0.5, stop: ['END'] } })
    expect(body).toEqual({
      model: 'm',
      max_tokens: 50,
      temperature: 0.5,
      stop: ['END'],
      tools: [{ type: 'function', function: tools[0] }],
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'Be good.' },
        { role: 'user', content: 'hi' },
      ],
    })
    expect(Object.keys(body).at(-1)).toBe('messages')
  })

  const wire: readonly [name: string, messages: readonly Message[], setUp: AdapterSetUp, wire: readonly unknown[]][] = [
    [
      'a call and its result',
      [prompt('hi'), assistant([{ type: 'text', text: 'I read.' }, read]), toolResult('c1', 'text')],
      {},
      [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'I read.', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{"a":"x"}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: 'text' },
      ],
    ],
    ['no text as an empty one', [assistant([read])], {}, [{ role: 'assistant', content: '', tool_calls: [expect.anything()] }]],
    ['no output as words', [toolResult('c1', '')], {}, [{ role: 'tool', tool_call_id: 'c1', content: 'The tool gave no output.' }]],
    ['thought left out where the server does not want it', [assistant([{ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'yes' }])], {}, [{ role: 'assistant', content: 'yes' }]],
    [
      'thought sent back where it does',
      [assistant([{ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'yes' }])],
      { entry: { reasoningPassback: 'always' } },
      [{ role: 'assistant', content: 'yes', reasoning_content: 'hm' }],
    ],
    [
      'the thought of another provider as none',
      [assistant([{ type: 'reasoning', text: 'secret' }, { type: 'text', text: 'yes' }], 'other')],
      { entry: { reasoningPassback: 'always' } },
      [{ role: 'assistant', content: 'yes', reasoning_content: '' }],
    ],
    ['no message that has nothing to say', [prompt('hi'), assistant([{ type: 'reasoning', text: 'cut off' }])], {}, [{ role: 'user', content: 'hi' }]],
    [
      'arguments that were no object, inside of one',
      [assistant([{ ...read, arguments: '{"a": oops' }, { ...read, arguments: '[1]' }, { ...read, arguments: '' }])],
      {},
      [
        {
          role: 'assistant',
          content: '',
          tool_calls: ['{"not_an_object":"{\\"a\\": oops"}', '{"not_an_object":"[1]"}', '{}'].map((text) => ({ id: 'c1', type: 'function', function: { name: 'read', arguments: text } })),
        },
      ],
    ],
    [
      'an image as data',
      [{ id: 'u', role: 'user', source: { kind: 'user' }, content: [{ type: 'text', text: 'look' }, { type: 'image', attachment: image(10) }] }],
      { entry: { images: true } },
      [{ role: 'user', content: [{ type: 'text', text: 'look' }, { type: 'image_url', image_url: { url: dataUrl('one') } }] }],
    ],
    [
      'the images of parallel results after the last of them',
      [
        { ...toolResult('c1', ''), content: [{ type: 'tool-result', callId: 'c1', isError: false, content: [{ type: 'image', attachment: image(10) }] }] } as Message,
        toolResult('c2', 'b'),
        prompt('next'),
      ],
      { entry: { images: true } },
      [
        { role: 'tool', tool_call_id: 'c1', content: 'The images follow.' },
        { role: 'tool', tool_call_id: 'c2', content: 'b' },
        { role: 'user', content: [{ type: 'text', text: 'Images from the tool results above:' }, { type: 'image_url', image_url: { url: dataUrl('one') } }] },
        { role: 'user', content: 'next' },
      ],
    ],
    [
      'words for the oldest images beyond 20 MiB',
      ['old', 'new'].map((id) => ({ id, role: 'user', source: { kind: 'user' }, content: [{ type: 'image', attachment: image(11 * 1024 * 1024, id) }] })),
      { entry: { images: true } },
      [
        { role: 'user', content: [{ type: 'text', text: expect.stringContaining('left out') }] },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: dataUrl('new') } }] },
      ],
    ],
  ]
  it.each(wire)('carries %s', async (_name, messages, setUp, wire) => expect((await sent({ messages }, setUp))['messages']).toEqual(wire))

  it('with an image is refused for a model that reads text only', async () => {
    const messages: readonly Message[] = [{ id: 'u', role: 'user', source: { kind: 'user' }, content: [{ type: 'image', attachment: image(1) }] }]
    expect(await refused({ messages })).toEqual([0, [{ type: 'finish', reason: { kind: 'error', failure: expect.objectContaining({ code: 'UNSUPPORTED_CONTENT' }) } }]])
  })

  const efforts: readonly [name: string, id: string, effort: string | undefined, purpose: Asked['purpose'], fields: object][] = [
    ['as a field', 'mine', 'high', undefined, { reasoning_effort: 'high' }],
    ['not at all when none is chosen', 'mine', undefined, undefined, {}],
    ['to DeepSeek', 'deepseek-official', 'max', undefined, { thinking: { type: 'enabled' }, reasoning_effort: 'max' }],
    ['off for DeepSeek', 'deepseek-official', 'off', undefined, { thinking: { type: 'disabled' } }],
    ['off for a title by DeepSeek', 'deepseek-official', 'high', 'title', { thinking: { type: 'disabled' } }],
    ['to OpenRouter', 'openrouter', 'low', undefined, { reasoning: { effort: 'low' } }],
  ]
  it.each(efforts)('tells the effort %s', async (_name, id, effort, purpose, fields) => {
    const { model: _m, stream: _s, stream_options: _o, messages: _t, ...rest } = await sent(
      { config: effort === undefined ? {} : { reasoningEffort: effort }, ...(purpose && { purpose }) },
      { id, entry: { reasoningEfforts: ['off', 'low', 'high', 'max'], keyName: null } },
    )
    expect(rest).toEqual(fields)
  })

  it('with an effort the model does not know is refused, not bent', async () => {
    const failure = expect.objectContaining({ code: 'UNSUPPORTED_REASONING_EFFORT', message: expect.stringContaining('It knows none') })
    expect(await refused({ config: { reasoningEffort: 'high' } })).toEqual([0, [{ type: 'finish', reason: { kind: 'error', failure } }]])
  })

  it('carries the key, trimmed, and the person’s headers', async () => {
    await sent({}, { entry: { keyName: 'MY_KEY', headers: { 'x-team': 'blue' } }, secrets: { MY_KEY: ' sk-1 \n' } })
    expect(server?.requests[0]?.headers).toMatchObject({ authorization: 'Bearer sk-1', 'x-team': 'blue', 'content-type': 'application/json' })
  })

  it('carries no key where none is set and none is needed', async () => {
    await sent({}, { entry: { keyName: null } })
    expect(server?.requests[0]?.headers['authorization']).toBeUndefined()
  })

  it('shares its bytes with the one before, up to the new messages', async () => {
    const { url } = await start()
    const adapter = adapterFor(url, { entry: { reasoningPassback: 'always', reasoningEfforts: ['high'] } })
    const talk = [prompt('hi'), assistant([{ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'I read.' }, read]), toolResult('c1', 'one\ntwo')]
    const asked = { system: 'Be good.', tools, config: { reasoningEffort: 'high', maxTokens: 100 } }
    await ask(adapter, { ...asked, messages: talk.slice(0, 1) })
    await ask(adapter, { ...asked, messages: talk })
    // A talk read from its log again is made of other objects.
    await ask(adapterFor(url, { entry: { reasoningPassback: 'always', reasoningEfforts: ['high'] } }), { ...asked, messages: structuredClone([...talk, prompt('and now?')]) })
    const [first = '', second = '', third = ''] = server?.chats().map(({ body }) => body) ?? []
    expect(sharedPrefixLength(first, second)).toBe(Buffer.byteLength(first) - ']}'.length)
    expect(sharedPrefixLength(second, third)).toBe(Buffer.byteLength(second) - ']}'.length)
  })
})
