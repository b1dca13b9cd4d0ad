import { afterEach, describe, expect, it } from 'vitest'
import { utf8Length } from '../../../extension/base/text.ts'
import type { SessionEvent } from '../../../extension/core/log/event.ts'
import type { StreamChunk } from '../../../extension/core/model/contract.ts'
import type { Session } from '../../../extension/core/session/session.ts'
import { acceptedTitle, fallbackTitle, titleFromAnswer } from '../../../extension/core/session/titles.ts'
import { titlesPlugin } from '../../../extension/core/session/titles-plugin.ts'
import { createModelRoutesPlugin } from '../../../extension/core/loop/model-routes.ts'
import type {} from '../../../extension/core/loop/points.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { createLoopRig, gate, prompt, settled } from '../../support/loop-rig.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { startModelServer, type ModelServer } from '../../support/model-server.ts'
import { createRecordingLogger } from '../../support/quiet-logger.ts'
import { createScriptedAdapter, failWith, type ScriptedAnswer } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

const say = (text: string): readonly StreamChunk[] => [
  { type: 'block-start', index: 0, block: 'text' },
  { type: 'text-delta', index: 0, delta: text },
  { type: 'block-end', index: 0 },
  { type: 'usage', usage: { inputTokens: 9, outputTokens: 3, cacheRead: 0, cacheWrite: 0, reasoning: 0 } },
  { type: 'finish', reason: { kind: 'stop' } },
]

/** The first answers the prompt, the second the request for a title. */
async function talk(title: ScriptedAnswer, options: { readonly settings?: Readonly<Record<string, unknown>>; readonly words?: string; readonly efforts?: readonly string[]; readonly isScripted?: true; readonly other?: ReturnType<typeof createScriptedAdapter> } = {}) {
  const clock = createManualClock()
  const scripted = createScriptedAdapter([say('Done.'), title, say('Done again.')], { model: { reasoningEfforts: options.efforts ?? [] } })
  const adapter = { ...scripted, provider: { id: 'scripted', name: 'Scripted', ...(options.isScripted && { isScripted: true as const }) } }
  const rig = createLoopRig({
    adapter,
    settings: options.settings as never,
    prepare: (ctx) => {
      if (options.other) ctx.models.register(options.other)
      ctx.plugin(createModelRoutesPlugin({ logger: createRecordingLogger() }))
      ctx.plugin(titlesPlugin({ logger: createRecordingLogger(), clock, machine: createFakeMachine() }))
    },
  })
  const agent = await rig.newAgent()
  agent.followup(prompt(options.words ?? 'Please rename the old parser module'))
  await agent.whenIdle()
  await settled()
  return { rig, agent, clock, requests: adapter.requests, title: () => agent.session.projections().values['title'] }
}

const eventsOf = <T extends SessionEvent['type']>(session: Session, type: T) => session.events().filter((event): event is Extract<SessionEvent, { type: T }> => event.type === type)

describe('the fallback title', () => {
  const check = (words: string, title: string | null) => expect(fallbackTitle(words)).toBe(title)

  it('is the first five words', () => check('one two three four five six', 'one two three four five'))
  it('keeps fewer as they are', () => check('  one\n two ', 'one two'))
  it('holds 40 bytes at most', () => check('x'.repeat(41), 'x'.repeat(40)))
  it('is cut between characters', () => check('あ'.repeat(14), 'あ'.repeat(13)))
  it('does not end in a space', () => check(`${'x'.repeat(39)} yz`, 'x'.repeat(39)))
  it('is none without words', () => check(' \n\t ', null))
})

describe('any accepted title', () => {
  it('holds 80 bytes at most, cut between characters', () => {
    const title = titleFromAnswer('日'.repeat(60))
    expect([title, utf8Length(title ?? '')]).toEqual(['日'.repeat(26), 78])
  })
  it.each([
    ['Rename the old parser', 'Rename the old parser'],
    ['"Rename the old parser"', 'Rename the old parser'],
    ['Title: Rename the old parser.', 'Rename the old parser'],
    ['\n\n# Rename the  old parser\nI hope it helps', 'Rename the old parser'],
    ['<think>What is it?\nHm.</think>\nRename it', 'Rename it'],
    ['<think>What is', null],
    ['「古いパーサー」', '古いパーサー'],
    ['**Rename it**', 'Rename it'],
    ['...', null],
    ['', null],
  ])('is the first line with words of what a model says: %j', (answer, title) => expect(titleFromAnswer(answer)).toBe(title))
  it('is refused to a person when it is longer, with the sizes', () => expect(() => acceptedTitle('x'.repeat(81))).toThrow('at most 80 bytes and this one has 81'))
  it.each(['', '  ', '\n\t'])('is refused when it is blank: %j', (title) => expect(() => acceptedTitle(title)).toThrow('cannot be blank'))
})

describe('the title of a model', () => {
  it('replaces the fallback and says which route made it', async () => {
    const { agent, title } = await talk(say('Parser rename'))
    expect(title()).toBe('Parser rename')
    expect(eventsOf(agent.session, 'session/title').map(({ data }) => data)).toMatchObject([
      { title: 'Please rename the old parser', source: { kind: 'fallback' } },
      { title: 'Parser rename', source: { kind: 'provider', provider: 'scripted' } },
    ])
  })

  it('is asked for with what session/title-llm-request says, before the request goes out', async () => {
    const { agent, requests } = await talk(say('Parser rename'))
    const [asked] = eventsOf(agent.session, 'session/title-llm-request')
    const { seq } = eventsOf(agent.session, 'user/message')[0]!
    expect(asked?.data).toMatchObject({ titleProvider: 'scripted', messageSeqs: [seq], route: { provider: 'scripted', model: 'm1' }, maxTokens: 64 })
    expect(requests[1]).toMatchObject({ purpose: 'title', system: asked?.data.system, messages: asked?.data.messages, tools: [], config: { provider: 'scripted', model: 'm1', maxTokens: 64 } })
  })

  it('is made from at most 4096 bytes of the first prompt', async () => {
    const { requests } = await talk(say('Long'), { words: 'é'.repeat(5_000) })
    expect(requests[1]?.messages[0]?.content).toEqual([{ type: 'text', text: 'é'.repeat(2_048) }])
  })

  it.each([
    [['off', 'high'], 'off'],
    [['none', 'low'], 'none'],
    [['low', 'high'], undefined],
  ])('is made without thinking where the model can: %j', async (efforts, effort) => {
    const { requests } = await talk(say('Quiet'), { efforts })
    expect(requests[1]?.config.reasoningEffort).toBe(effort)
  })

  it('is asked for once, whatever comes later', async () => {
    const { agent, requests } = await talk(say('Parser rename'))
    agent.followup(prompt('And the tests'))
    await agent.whenIdle()
    await settled()
    expect([requests.length, eventsOf(agent.session, 'session/title-llm-request').length]).toEqual([3, 1])
  })

  it('never holds the turn up: the next one runs while it is awaited', async () => {
    const { agent, title } = await talk([{ type: 'hang' }])
    agent.followup(prompt('And the tests'))
    await agent.whenIdle()
    expect(eventsOf(agent.session, 'turn/end').map(({ data }) => data.reason.kind)).toEqual(['completed', 'completed'])
    expect(title()).toBe('Please rename the old parser')
    await agent.dispose()
  })

  it('is given up after 60 s', async () => {
    const { agent, clock, title } = await talk([{ type: 'wait', until: new Promise(() => {}) }])
    clock.advance(59_999)
    expect(clock.waiting).toBe(1)
    clock.advance(1)
    await settled()
    expect([clock.waiting, title()]).toEqual([0, 'Please rename the old parser'])
    await agent.dispose()
  })

  it.each<[string, ScriptedAnswer]>([
    ['fails', [{ type: 'finish', reason: { kind: 'error', failure: { code: 'RATE_LIMIT', message: 'Slow down.' } } }]],
    ['throws', [{ type: 'throw', error: new Error('broken') }]],
    ['says nothing', say('')],
  ])('leaves the fallback when the model %s', async (_how, answer) => {
    const { agent, title } = await talk(answer)
    expect(title()).toBe('Please rename the old parser')
    expect(eventsOf(agent.session, 'turn/end')).toMatchObject([{ data: { reason: { kind: 'completed' } } }])
  })

  it('is not asked for when titles are off', async () => {
    const { requests } = await talk(say('Never'), { settings: { 'titles.enabled': false } })
    expect(requests).toHaveLength(1)
  })

  it('is not asked of a script', async () => expect((await talk(say('Never'), { isScripted: true })).requests).toHaveLength(1))

  it('comes from the route that titles.model names', async () => {
    const { requests } = await talk(say('Cheap'), { settings: { 'titles.model': 'scripted/small/model' } })
    expect(requests[1]?.config).toMatchObject({ provider: 'scripted', model: 'small/model' })
  })

  it('comes from the next route when its own is out, and the log says whom it was asked of', async () => {
    const other = createScriptedAdapter([say('Elsewhere')], { provider: 'other' })
    const { agent, title } = await talk(failWith({ code: 'QUOTA', message: 'Used up.' }), { other, settings: { 'model.fallback': ['scripted/m1', 'other/m'] } })
    expect(title()).toBe('Elsewhere')
    expect(eventsOf(agent.session, 'session/title-llm-request').map(({ data }) => data.route.provider)).toEqual(['scripted', 'other'])
    expect(eventsOf(agent.session, 'session/title').at(-1)?.data.source).toEqual({ kind: 'provider', provider: 'other' })
  })

  it('is not asked for elsewhere when a key is refused', async () => {
    const other = createScriptedAdapter([say('Elsewhere')], { provider: 'other' })
    const { title } = await talk(failWith({ code: 'AUTH', message: 'No key.' }), { other, settings: { 'model.fallback': ['other/m'] } })
    expect([title(), other.requests]).toEqual(['Please rename the old parser', []])
  })

  it('loses against the name that a person gave meanwhile', async () => {
    const renamed = gate()
    const { rig, agent, title } = await talk([{ type: 'wait', until: renamed.opened }, ...say('Parser rename')])
    await rig.ctx.sessions.rename(agent.id, 'Mine')
    renamed.open()
    await settled()
    expect(title()).toBe('Mine')
    expect(eventsOf(agent.session, 'session/title').map(({ data }) => data.source.kind)).toEqual(['fallback', 'user'])
  })
})

describe('through the composed application', () => {
  let server: ModelServer | undefined
  let application: WholeApplication | undefined
  afterEach(async () => {
    await application?.dispose()
    await server?.close()
  })

  it('a server gets one request for a title beside the turn, and the list shows it after a reload', async () => {
    server = await startModelServer({ steps: [{ answer: { parts: [{ text: 'Done.' }] } }] })
    application = await wholeApplication({
      settings: { 'titles.enabled': true, 'model.provider': 'mine', 'model.name': 'scripted', providers: { mine: { baseUrl: server.url, keyName: null } } },
    })
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    agent.followup(prompt('Please rename the old parser module'))
    await agent.whenIdle()
    await expect.poll(() => agent.session.projections().values['title']).toBe('A title from the model')
    const [wire] = server.titles().map(({ body }) => JSON.parse(body) as { readonly max_tokens: number; readonly tools?: unknown; readonly messages: readonly { readonly role: string }[] })
    expect([server.chats().length, wire?.max_tokens, wire?.tools, wire?.messages.map(({ role }) => role)]).toEqual([1, 64, undefined, ['system', 'user']])
    const { ctx } = await application.restart()
    expect(await ctx.sessions.list()).toMatchObject([{ title: 'A title from the model' }])
  })
})
