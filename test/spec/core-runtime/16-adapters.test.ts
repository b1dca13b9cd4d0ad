import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { BlobStore } from '../../../extension/capabilities/blob-store.ts'
import type { EventType, SessionEvent } from '../../../extension/core/log/event.ts'
import type { UserMessage } from '../../../extension/core/log/message.ts'
import type { WireApi } from '../../../extension/core/model/provider-config.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { ScriptUsage } from '../../support/model-script.ts'
import { serverWires, startModelServer, type ModelServer } from '../../support/model-server.ts'
import { prefixProblems } from '../../support/wire-prefix.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/*
 * Chapter 16: each adapter in the composed application, against a server that speaks its provider's protocol.
 */

const signature = 'c2lnbmF0dXJl+/=='
const image = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

/** How the thought of an answer goes back in each protocol. */
const replayed: Readonly<Record<WireApi, string>> = {
  'openai-compatible': '"reasoning_content":"Two files, then."',
  anthropic: `{"type":"thinking","thinking":"Two files, then.","signature":"${signature}"}`,
  'openai-responses': `"summary":[{"type":"summary_text","text":"Two files, then."}],"encrypted_content":"${signature}"`,
  google: `"thoughtSignature":"${signature}"`,
}
const models: Readonly<Record<WireApi, string>> = { 'openai-compatible': 'm', anthropic: 'claude-opus-4-8', 'openai-responses': 'gpt-5.4', google: 'gemini-3-flash-preview' }

let server: ModelServer | undefined
let application: WholeApplication | undefined
afterEach(async () => {
  await application?.dispose()
  await server?.close()
})

describe.each(Object.values(serverWires))('a provider that speaks $api', ({ api, failures }) => {
  const isAnthropic = api === 'anthropic'
  const first: ScriptUsage = { promptTokens: 1_000, completionTokens: 90, reasoningTokens: 40, cachedTokens: 0, ...(isAnthropic && { cacheWriteTokens: 960 }) }
  const second: ScriptUsage = { promptTokens: 1_200, completionTokens: 7, cachedTokens: 960, ...(isAnthropic && { cacheWriteTokens: 200 }) }
  const counted = ({ promptTokens, completionTokens, cachedTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 }: ScriptUsage) => ({
    inputTokens: promptTokens - cachedTokens - cacheWriteTokens,
    outputTokens: completionTokens - reasoningTokens,
    cacheRead: cachedTokens,
    cacheWrite: cacheWriteTokens,
    reasoning: reasoningTokens,
  })

  async function setUp() {
    let blobs: BlobStore | undefined
    server = await startModelServer({ steps: [], apiKey: 'key-1' }, { api })
    application = await wholeApplication({
      settings: {
        'model.provider': 'mine',
        'model.name': models[api],
        'llm.retry.initialDelayMs': 10,
        providers: { mine: { api, baseUrl: server.url, keyName: 'MY_KEY', images: true, reasoningEfforts: ['low', 'high'], reasoningPassback: 'always' } },
      },
      secrets: { MY_KEY: 'key-1' },
      alter: (world) => {
        blobs = world.blobs
        return world
      },
    })
    await writeFile(join(application.folder, 'a.txt'), 'one\n')
    await writeFile(join(application.folder, 'b.txt'), 'two\n')
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    const stored = await blobs?.putAttachment(agent.id, image, { mediaType: 'image/png' })
    const attachment = { attachmentId: stored?.attachmentId ?? '', mediaType: 'image/png', bytes: image.length }
    return { server, application, agent, attachment }
  }

  const dataOf = <T extends EventType>(agent: Agent, type: T) => agent.session.events().flatMap((event) => (event.type === type ? [(event as SessionEvent<T>).data] : []))
  const usages = (agent: Agent) => dataOf(agent, 'assistant/message').map(({ usage }) => usage)
  const endOf = (agent: Agent) => dataOf(agent, 'turn/end').at(-1)?.reason
  const bodies = () => (server?.chats() ?? []).map(({ body }) => body)
  const message = (text: string, ...more: UserMessage['content']): UserMessage => ({ id: text, role: 'user', content: [{ type: 'text', text }, ...more], source: { kind: 'user' } })
  const turn = async (agent: Agent, message: UserMessage) => {
    agent.followup(message)
    await agent.whenIdle()
    return endOf(agent)
  }
  const twoReads = [
    { id: 'c1', name: 'read', arguments: { file_path: 'a.txt' } },
    { id: 'c2', name: 'read', arguments: { file_path: 'b.txt' } },
  ]
  const toolTurn = [
    { answer: { parts: [{ reasoning: 'Two files, then.', signature }, { toolCalls: twoReads, interleaved: true }], usage: first } },
    { answer: { parts: [{ text: 'One and two.' }], usage: second } },
  ]

  it('carries a turn with thought, an image and two parallel calls; the second request sends the thought back and shares every byte before it', async () => {
    const { server, agent, attachment } = await setUp()
    server.play({ apiKey: 'key-1', steps: toolTurn })
    expect(await turn(agent, message('Read both.', { type: 'image', attachment }))).toEqual({ kind: 'completed' })

    expect(dataOf(agent, 'tool/result').map(({ message }) => JSON.stringify(message.content).match(/one|two/)?.[0])).toEqual(['one', 'two'])
    expect(dataOf(agent, 'assistant/message').map(({ message }) => message.content.map((block) => block.type))).toEqual([['reasoning', 'tool-call', 'tool-call'], ['text']])
    expect(usages(agent)).toEqual([counted(first), counted(second)])

    const sent = bodies()
    expect(sent).toHaveLength(2)
    for (const body of sent) expect(body).toContain(image.toString('base64'))
    expect(sent[1]).toContain(replayed[api])
    expect(prefixProblems(sent.map(bare), tail)).toEqual([])
    // With the marks on: the one that ends the first request still stands there in the second.
    if (isAnthropic) expect(prefixProblems(sent, tail)).toEqual([])
  })

  it('shares every byte also with the request after a reload, and gives its thought to no other model', async () => {
    const { server, application, agent } = await setUp()
    server.play({ apiKey: 'key-1', steps: [...toolTurn, { repeat: true, answer: { parts: [{ text: 'Again.' }] } }] })
    await turn(agent, message('Read both.'))
    const { ctx } = await application.restart()
    const resumed = await ctx.agents.resume(agent.id)
    expect(await turn(resumed, message('And now?'))).toEqual({ kind: 'completed' })
    expect(prefixProblems(bodies().map(bare), tail)).toEqual([])

    ctx.agents.configure(resumed.id, { provider: 'mine', model: `${models[api]}-2` })
    expect(await turn(resumed, message('And you?'))).toEqual({ kind: 'completed' })
    const last = bodies().at(-1) ?? ''
    expect(last).toContain('And you?')
    // Servers that want reasoning back want that of any model of theirs.
    if (api !== 'openai-compatible') expect(last).not.toContain(signature)
  })

  it('waits as long as a 429 asks, and says so', async () => {
    const { server, agent } = await setUp()
    server.play({ apiKey: 'key-1', steps: [{ answer: failures.rateLimit(0.02) }, { answer: { parts: [{ text: 'Fine.' }], usage: second } }] })
    expect(await turn(agent, message('go'))).toEqual({ kind: 'completed' })
    expect(dataOf(agent, 'llm/retry')).toEqual([expect.objectContaining({ provider: 'mine', retry: 1, delayMs: 20, failure: expect.objectContaining({ code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: 20 }) })])
    expect(dataOf(agent, 'llm/retry-started')).toHaveLength(1)
    const [refused, answered] = bodies()
    expect(answered).toBe(refused)
    expect(usages(agent)).toEqual([counted(second)])
  })

  it('ends the turn at a 401, once, without the key in the log', async () => {
    const { server, agent } = await setUp()
    server.play({ apiKey: 'key-2', steps: [] })
    expect(await turn(agent, message('go'))).toEqual({ kind: 'error', failure: expect.objectContaining({ code: 'AUTH', message: expect.stringContaining('Set API Key') }) })
    expect([server.chats().length, dataOf(agent, 'llm/retry')]).toEqual([1, []])
    expect(JSON.stringify(agent.session.events())).not.toContain('key-1')
  })

  it('asks again after a connection that broke, and lets nothing of the broken answer count', async () => {
    const { server, agent } = await setUp()
    server.play({ apiKey: 'key-1', steps: [{ answer: { parts: [{ text: 'Hal' }, { cut: true }] } }, { answer: { parts: [{ text: 'Whole.' }], usage: second } }] })
    expect(await turn(agent, message('go'))).toEqual({ kind: 'completed' })
    expect(dataOf(agent, 'llm/retry').map(({ failure }) => failure.code)).toEqual(['TRANSPORT'])
    expect(dataOf(agent, 'assistant/message').map(({ message, usage }) => [message.content, usage])).toEqual([[[{ type: 'text', text: 'Whole.' }], counted(second)]])
    expect(bodies()[1]).toBe(bodies()[0])
  })

  it('ends the turn at a stream that closes without a finish, and commits no message', async () => {
    const { server, agent } = await setUp()
    server.play({ apiKey: 'key-1', steps: [{ answer: { parts: [{ text: 'Hal' }], finish: null, usage: null, done: false } }] })
    expect(await turn(agent, message('go'))).toEqual({ kind: 'error', failure: expect.objectContaining({ code: 'STREAM_CLOSED' }) })
    expect([dataOf(agent, 'assistant/message'), dataOf(agent, 'llm/retry')]).toEqual([[], []])
  })

  it('drops the calls of an answer cut by its cap, with what they would have been sent back with', async () => {
    const { server, agent } = await setUp()
    server.play({
      apiKey: 'key-1',
      steps: [{ answer: { parts: [{ reasoning: 'Two files, then.', signature }, { text: 'I read.' }, { toolCalls: twoReads }], finish: 'length', usage: first } }, { answer: { parts: [{ text: 'Done.' }] } }],
    })
    expect(await turn(agent, message('go'))).toEqual({ kind: 'max-tokens' })
    const [cut] = dataOf(agent, 'assistant/message')
    expect(cut?.message.content.map(({ type }) => type)).toEqual(['reasoning', 'text'])
    const blocks = cut?.message.source.replayState?.blocks
    if (blocks) expect(blocks).toHaveLength(2)
    await turn(agent, message('on'))
    expect(bodies()[1]).not.toMatch(/"c1"|"c2"/)
  })

  /** What closes a request, which the next one moves on; where both sides of a talk are kept apart, results join what stands there. */
  const tail = api === 'anthropic' || api === 'google' ? ']}]}' : ']}'
})

/** Without the marks that tell Anthropic's server what to keep. */
const bare = (body: string): string => body.replaceAll(',"cache_control":{"type":"ephemeral"}', '')
