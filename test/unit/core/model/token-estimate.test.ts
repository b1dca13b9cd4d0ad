import { describe, expect, it } from 'vitest'
import { createRequestEstimate, estimateMessageTokens, estimateRequestTokens, projectTokens } from '../../../../extension/core/model/token-estimate.ts'
import type { Message } from '../../../../extension/core/log/message.ts'

const user = (text: string): Message => ({ id: 'u', role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } })
const image = (size: object): Message => ({
  id: 'u',
  role: 'user',
  content: [{ type: 'image', attachment: { attachmentId: 'sha256:0', mediaType: 'image/png', bytes: 1, ...size } }],
  source: { kind: 'user' },
})

describe('the estimate of tokens', () => {
  const rows: readonly [name: string, message: Message, tokens: number][] = [
    ['a quarter of the characters, 4 a block, 4 a role', user('x'.repeat(40)), 18],
    ['a rest counts whole', user('x'.repeat(41)), 19],
    ['an image by its pixels', image({ width: 750, height: 10 }), 18],
    ['an image of unknown size', image({}), 1008],
    [
      'a call by its name and arguments',
      { id: 'a', role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'read', arguments: '{"a":12}' }], source: { kind: 'model', provider: 'p', model: 'm' } },
      11,
    ],
    [
      'a result by its blocks',
      { id: 't', role: 'tool', content: [{ type: 'tool-result', callId: 'c', isError: false, content: [{ type: 'text', text: '12345678' }] }], source: { kind: 'tool', callId: 'c' } },
      14,
    ],
  ]
  it.each(rows)('%s', (_name, message, tokens) => expect(estimateMessageTokens(message)).toBe(tokens))

  it('of a request holds system, tools and messages', () => {
    const tools = [{ name: 'a', description: 'b', parameters: {} }]
    expect(estimateRequestTokens({ system: 'x'.repeat(8), tools, messages: [user('1234')] })).toBe(10 + 4 + Math.ceil(JSON.stringify(tools[0]).length / 4) + 9)
  })

  it('of one request after the other is the same, and looks at no message twice', () => {
    const looks: string[] = []
    const watched = (id: string): Message => {
      const message = user(`message ${id}`)
      return Object.defineProperty({ ...message }, 'content', { enumerable: true, get: () => (looks.push(id), message.content) }) as Message
    }
    const [tools, first, second] = [[{ name: 'a', description: 'b', parameters: {} }], watched('1'), watched('2')]
    const estimate = createRequestEstimate()
    const of = (messages: readonly Message[]) => estimate({ system: 'be brief', tools, messages })
    const got = [of([first]), of([first, second]), of([first, second])]
    expect(looks).toEqual(['1', '2'])
    expect(got).toEqual([[first], [first, second], [first, second]].map((messages) => estimateRequestTokens({ system: 'be brief', tools, messages })))
  })

  it('goes on from what the provider counted', () =>
    expect(projectTokens({ inputTokens: 100, cacheRead: 50, cacheWrite: 5, outputTokens: 20, reasoning: 10 }, [user('1234')])).toBe(185 + 9))
})
