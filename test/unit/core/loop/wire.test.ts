import { afterEach, describe, expect, it } from 'vitest'
import { createLoopRig, fakeTool, linesOf, prompt, settled } from '../../../support/loop-rig.ts'
import { failures } from '../../../support/model-script.ts'
import type { ModelScript } from '../../../support/model-script.ts'
import { sharedPrefixLength, startModelServer } from '../../../support/model-server.ts'
import { adapterFor } from '../../../support/adapter-rig.ts'

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()))
})

/** The loop against a server on loopback that speaks the real wire format. */
async function setUp(script: ModelScript) {
  const server = await startModelServer(script)
  open.push(server.close)
  const rig = createLoopRig({
    settings: { 'model.provider': 'mine', 'model.name': 'scripted', 'llm.retry.jitter': 0 },
    tools: [fakeTool('look', undefined, { isConcurrencySafe: () => true }), fakeTool('act')],
    prepare: (ctx) => {
      ctx.models.register(adapterFor(server.url))
      ctx.systemPrompt.section({ name: 'identity', order: 0, text: 'You are Bosun in {{cwd}}.' })
      ctx.systemPrompt.runtimeContext({ name: 'facts', order: 0, text: () => 'Git branch: main' })
    },
  })
  const agent = await rig.newAgent()
  open.push(() => rig.kernel.dispose())
  return {
    ...rig,
    server,
    agent,
    async say(text: string) {
      agent.followup(prompt(text))
      await agent.whenIdle()
    },
    /** Wait for real answers until the log has a line that begins so. */
    until: (line: string) => until(() => linesOf(agent.session).some((other) => other.startsWith(line)), line),
    story: () => linesOf(agent.session).filter((line) => !/^(inbox|header|context|turn) /.test(line)),
    lastReason: () => agent.session.events().findLast((event) => event.type === 'turn/end')?.data.reason,
  }
}
/** The server answers in its own time. */
async function until(isSo: () => boolean, what: string): Promise<void> {
  const end = performance.now() + 50_000
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`It never came to: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
const look = (id: string) => ({ id, name: 'look', arguments: { id } })
const words = (text: string) => ({ answer: { parts: [{ text }] } })

it('sends two requests in a row that are the same byte for byte up to the new messages', async () => {
  const { say, server } = await setUp({
    steps: [
      { answer: { parts: [{ reasoning: 'hm' }, { text: 'I look.' }, { toolCalls: [look('a'), look('b')], interleaved: true }] } },
      { answer: { parts: [{ toolCalls: [{ id: 'c', name: 'act', arguments: {} }] }] } },
      words('done'),
      words('again'),
    ],
  })
  await say('one')
  await say('two')
  const bodies = server.chats().map(({ body }) => body)
  expect(bodies).toHaveLength(4)
  for (const [index, body] of bodies.entries()) {
    const before = bodies[index - 1]
    if (before === undefined) continue
    // What stands after the list of messages is the same in each body; only the list grows.
    const { messages } = JSON.parse(before) as { readonly messages: readonly unknown[] }
    const list = JSON.stringify(messages).slice(0, -1)
    const messagesEnd = before.indexOf(list) + list.length
    expect(before).toContain(list)
    expect(sharedPrefixLength(before, body)).toBeGreaterThanOrEqual(messagesEnd)
  }
})

describe('what goes wrong on the wire', () => {
  it('a malformed call is a failed result, and the turn goes on', async () => {
    const { say, story } = await setUp({ steps: [{ answer: { parts: [{ toolCalls: [{ id: 'a', name: 'act', arguments: '{"x": ' }, { id: 'b', name: 'nope', arguments: {} }] }] } }, words('sorry')] })
    await say('go')
    expect(story().slice(3)).toEqual(['assistant act(a) nope(b)', 'call a act', expect.stringMatching(/^result a/), 'call b nope', 'result b UNKNOWN_TOOL', 'step end', 'step 2', 'assistant sorry', 'step end', 'end completed'])
  })
  it('a stream that ends without its end commits nothing, and Continue asks again', async () => {
    const { say, story, lastReason, agent } = await setUp({ steps: [{ answer: { parts: [{ text: 'half of it' }], finish: null, done: false } }, words('whole')] })
    await say('go')
    expect(lastReason()).toEqual({ kind: 'error', failure: expect.objectContaining({ code: 'STREAM_CLOSED' }) })
    expect(story().some((line) => line.startsWith('assistant'))).toBe(false)
    agent.continueTurn()
    await agent.whenIdle()
    expect(story().slice(-3)).toEqual(['assistant whole', 'step end', 'end completed'])
  })
  it.each([
    ['a connection that breaks in the middle', { parts: [{ text: 'half of it' }, { cut: true as const }] }, 'TRANSPORT'],
    ['a 500', failures.server, 'SERVER'],
    ['a page of HTML from a gateway', failures.serverHtml, 'SERVER'],
  ])('%s is asked again after our wait', async (_what, answer, code) => {
    const { agent, until, clock, story } = await setUp({ steps: [{ answer }, words('ok')] })
    agent.followup(prompt('go'))
    await until('retry 1 in')
    expect(story().at(-1)).toMatch(new RegExp(`for ${code}$`))
    clock.advance(600)
    await agent.whenIdle()
    expect(story().slice(-3)).toEqual(['assistant ok', 'step end', 'end completed'])
  })
  it('a 429 is sent again when the server says', async () => {
    const { agent, until, clock, server, story } = await setUp({ steps: [{ answer: failures.rateLimit('3') }, words('ok')] })
    agent.followup(prompt('go'))
    await until('retry 1 in 3000 for RATE_LIMIT')
    clock.advance(2999)
    await settled()
    expect(server.chats()).toHaveLength(1)
    clock.advance(1)
    await agent.whenIdle()
    expect(story().slice(-3)).toEqual(['assistant ok', 'step end', 'end completed'])
  })
  it('a model that does not exist ends the turn and says so', async () => {
    const { say, lastReason } = await setUp({ steps: [], models: ['other'] })
    await say('go')
    expect(lastReason()).toEqual({ kind: 'error', failure: expect.objectContaining({ code: 'UNKNOWN_MODEL' }) })
  })
  it('a cancel reaches the server', async () => {
    const { agent, server, story } = await setUp({ steps: [{ answer: { parts: [{ text: 'Well, this is long' }, { waitMs: 20_000 }, { text: '...' }] } }] })
    agent.followup(prompt('go'))
    await until(() => agent.session.events().some(({ type }) => type === 'assistant/chunk'), 'a first part')
    agent.cancel({ kind: 'user' })
    await agent.whenIdle()
    await until(() => server.chats()[0]?.wasAborted === true, 'an aborted request')
    expect(story().at(-1)).toBe('end aborted')
  })
})
