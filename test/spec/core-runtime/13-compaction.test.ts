import { describe, expect, it } from 'vitest'
import { compactionPlugin } from '../../../extension/core/compaction/plugin.ts'
import { shortenedContent } from '../../../extension/core/compaction/prune.ts'
import type { CompactionOutcome } from '../../../extension/core/compaction/service.ts'
import { createModelRoutesPlugin } from '../../../extension/core/loop/model-routes.ts'
import type { EventDraft, SessionEvent } from '../../../extension/core/log/event.ts'
import type { ImageBlock } from '../../../extension/core/log/message.ts'
import type { ModelInfo, ModelRequest, StreamChunk, Usage } from '../../../extension/core/model/contract.ts'
import { estimateRequestTokens } from '../../../extension/core/model/token-estimate.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { Session } from '../../../extension/core/session/session.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { createLoopRig, fakeTool, gate, linesOf, prompt, settled, textOf, type LoopRig, type LoopRigOptions } from '../../support/loop-rig.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { createMemoryBlobStore } from '../../support/memory-blob-store.ts'
import { createRecordingLogger } from '../../support/quiet-logger.ts'
import { wholeApplication } from '../../support/whole-application.ts'
import { callParts, createScriptedAdapter, failWith, reasoningParts, textParts, type ScriptedAnswer, type ScriptedPart } from '../../support/scripted-adapter.ts'

/** 16 000 tokens of window leave 14 000 for a request; from 11 200 on it is compacted. */
const small: Partial<ModelInfo> = { contextWindow: 16_000, maxOutputTokens: 2_000 }
const stop: StreamChunk = { type: 'finish', reason: { kind: 'stop' } }
const say = (text: string): readonly StreamChunk[] => [...textParts(text), stop]
const look = (id: string, length: number): readonly StreamChunk[] => [...callParts({ id, name: 'look', args: { length } }), { type: 'finish', reason: { kind: 'tool-calls' } }]
const tooLong = failWith({ code: 'CONTEXT_WINDOW_EXCEEDED', message: 'Too many tokens.' })
const words = (tokens: number, word = 'word') => `${word} `.repeat(tokens * 4).slice(0, tokens * 4)

interface Rig extends LoopRig {
  readonly agent: Agent
  readonly session: Session
  readonly started: string[]
  ask(text: string): Promise<void>
  compact(): Promise<CompactionOutcome>
  lines(): readonly string[]
}

async function start(answers: readonly ScriptedAnswer[], options: Omit<LoopRigOptions, 'answers'> & { readonly model?: Partial<ModelInfo>; readonly resume?: string } = {}): Promise<Rig> {
  const started: string[] = []
  const rig = createLoopRig({
    adapter: createScriptedAdapter(answers, { model: { ...small, ...options.model } }),
    tools: [fakeTool('look', (args) => 'x'.repeat((args as { length: number }).length))],
    ...options,
    prepare(ctx, kernel) {
      options.prepare?.(ctx, kernel)
      ctx.plugin(compactionPlugin({ clock: createManualClock(), machine: createFakeMachine(), logger: { debug() {}, info() {}, warn: (message, facts) => void started.push(`warning ${JSON.stringify(facts?.['code'] ?? message)}`), error() {} }, dispatch: kernel.dispatch, blobs: createMemoryBlobStore() }))
      ctx.on('agent/session-start', (_agent, source) => void started.push(source))
    },
  })
  const agent = options.resume === undefined ? await rig.newAgent() : await rig.agents.resume(options.resume)
  const { session } = agent
  return {
    ...rig, agent, session, started,
    ask: async (text) => {
      agent.followup(prompt(text))
      await agent.whenIdle()
    },
    compact: () => rig.ctx.compaction.compact(agent),
    lines: () => linesOf(session).filter((line) => !/^(inbox|header|context)/.test(line)).map((line) => line.slice(0, 40)),
  }
}

const ofType = <T extends SessionEvent['type']>(session: Session, type: T) => session.events().filter((event) => event.type === type) as unknown as readonly SessionEvent<T>[]
const codes = (session: Session) => ofType(session, 'compaction/end').map(({ data }) => data.error?.code ?? 'done')
const shown = (session: Session) => session.messages().map((message) => textOf(message).slice(0, 20))
const reasons = (session: Session) => ofType(session, 'turn/end').map(({ data }) => (data.reason.kind === 'error' ? data.reason.failure.code : data.reason.kind))
const purposes = ({ adapter }: LoopRig) => adapter.requests.map(({ purpose }) => purpose)
const lastWords = (request: ModelRequest | undefined) => (request?.messages.at(-1) ? textOf(request.messages.at(-1)!) : '')

/** A talk of three rounds, 9 600 tokens: the next prompt is one too many when it has 1 600 or more. */
const rounds: readonly ScriptedAnswer[] = [say(words(1_600, 'one')), say(words(1_600, 'two')), say(words(1_600, 'three'))]
async function filled(answers: readonly ScriptedAnswer[], options: Parameters<typeof start>[1] = {}): Promise<Rig> {
  const rig = await start([...rounds, ...answers], options)
  for (const word of ['a', 'b', 'c']) await rig.ask(words(1_600, word))
  return rig
}

const reaching = (other: ReturnType<typeof createScriptedAdapter>): Pick<LoopRigOptions, 'prepare'> => ({
  prepare(ctx) {
    ctx.models.register(other)
    ctx.plugin(createModelRoutesPlugin({ logger: createRecordingLogger() }))
  },
})

describe('pressure', () => {
  it('compacts before the step that would pass the threshold: start, summary, replacing message, end', async () => {
    const rig = await filled([say('Summary.'), say('Go on.')])
    expect(purposes(rig)).toEqual(['turn', 'turn', 'turn'])
    await rig.ask(words(2_000, 'd'))
    expect(rig.lines().slice(-11)).toEqual([
      'end completed', 'turn 4', 'compaction/start', 'compaction/summary', expect.stringMatching(/^user <compacted-summary>/), 'compaction/end',
      'step 1', expect.stringMatching(/^user d d/), 'assistant Go on.', 'step end', 'end completed',
    ])
    expect(purposes(rig).slice(3)).toEqual(['compaction', 'turn'])
    expect([rig.started, rig.adapter.requests.at(-1)?.messages.length]).toEqual([['startup', 'compact'], 3])
  })

  it('leaves a talk below the threshold as it is, large results too', async () => {
    const rig = await start([look('c1', 36_000), say('Seen.'), say('Good.')])
    await rig.ask('look')
    await rig.ask('and?')
    expect([purposes(rig), ofType(rig.session, 'compaction/prune')]).toEqual([['turn', 'turn', 'turn'], []])
  })

  it('is measured from what the provider counted last', async () => {
    const usage: Usage = { inputTokens: 800, cacheRead: 11_000, cacheWrite: 0, outputTokens: 90, reasoning: 10 }
    const rig = await start([look('c1', 400), [...callParts({ id: 'c2', name: 'look', args: { length: 2_400 } }), { type: 'usage', usage }, { type: 'finish', reason: { kind: 'tool-calls' } }], say('Summary.'), say('Done.')])
    await rig.ask(words(3_600, 'a'))
    expect(purposes(rig)).toEqual(['turn', 'turn', 'compaction', 'turn'])
  })

  it('goes on with the step when the summary fails, warns, and leaves the surface untouched', async () => {
    const failed = failWith({ code: 'AUTH', message: 'No key.' })
    const rig = await filled([failed, say('Still here.')])
    const before = shown(rig.session)
    await rig.ask(words(2_000, 'd'))
    expect([codes(rig.session), reasons(rig.session).at(-1), rig.started.slice(1)]).toEqual([['summary'], 'completed', ['warning "summary"']])
    expect(shown(rig.session).slice(0, before.length)).toEqual(before)
  })

  it('is not tried again before the talk has grown', async () => {
    const rig = await filled([failWith({ code: 'AUTH', message: 'No key.' }), look('c1', 160), say('Still here.')])
    await rig.ask(words(2_000, 'd'))
    expect(purposes(rig).slice(3)).toEqual(['compaction', 'turn', 'turn'])
  })

  it('asks again for a summary that failed, as often as compaction.retries says', async () => {
    const rig = await filled([say('  '), say('Summary.'), say('Go on.')], { settings: { 'compaction.retries': 1 } })
    await rig.ask(words(2_000, 'd'))
    expect([codes(rig.session), purposes(rig).slice(3)]).toEqual([['done'], ['compaction', 'compaction', 'turn']])
  })

  it('shortens old results first, and does not summarise when that is enough', async () => {
    const rig = await start([look('c1', 36_000), say('Seen.'), say('Go on.'), say('And on.')], { settings: { 'compaction.prune.trigger': 1_000, 'compaction.prune.head': 500, 'compaction.prune.tail': 100 } })
    await rig.ask('look')
    await rig.ask(words(2_400, 'd'))
    expect(purposes(rig)).toEqual(['turn', 'turn', 'turn'])
    const [pruned] = ofType(rig.session, 'compaction/prune')
    const replaced = rig.session.surface().nodes[2]!
    expect([pruned?.data.shadowedRange, rig.session.events()[pruned!.data.shadowedSeqs[0]!]?.type, replaced.event.surfaceOp]).toEqual([{ start: 2, end: 2 }, 'tool/result', { op: 'replace', start: 2, end: 2 }])
    await rig.ask(words(400, 'e'))
    expect(ofType(rig.session, 'compaction/prune').length).toBe(1)
  })

  it('shortens and then summarises when that is not enough', async () => {
    const rig = await start([look('c1', 24_000), ...rounds, say('Summary.'), say('Go on.')], { settings: { 'compaction.prune.trigger': 20_000, 'compaction.prune.head': 12_000, 'compaction.prune.tail': 6_000 } })
    await rig.ask('look')
    await rig.ask(words(1_200, 'b'))
    await rig.ask(words(2_000, 'd'))
    expect(rig.lines().filter((line) => line.startsWith('compaction'))).toEqual(['compaction/prune', 'compaction/start', 'compaction/summary', 'compaction/end'])
  })
})

/** So that what is summarised fits one request although the provider found the whole too long. */
const keepsMore = { settings: { 'compaction.retainRatio': 0.3 } }

describe('an overflow', () => {
  it('compacts and sends the request of the same step again', async () => {
    const rig = await filled([tooLong, say('Summary.'), say('Go on.')], keepsMore)
    await rig.ask('short')
    expect(rig.lines().slice(-9)).toEqual(['step 1', 'user short', 'compaction/start', 'compaction/summary', expect.stringMatching(/^user <compacted/), 'compaction/end', 'assistant Go on.', 'step end', 'end completed'])
  })

  it('is not sent again when nothing changed', async () => {
    const rig = await start([tooLong])
    await rig.ask(words(3_200, 'a'))
    expect([reasons(rig.session), purposes(rig), codes(rig.session)]).toEqual([['CONTEXT_WINDOW_EXCEEDED'], ['turn'], []])
  })

  it('is not sent again when the summary failed', async () => {
    const rig = await filled([tooLong, failWith({ code: 'AUTH', message: 'No key.' })])
    await rig.ask('short')
    expect([reasons(rig.session).at(-1), purposes(rig).slice(3), codes(rig.session)]).toEqual(['CONTEXT_WINDOW_EXCEEDED', ['turn', 'compaction'], ['summary']])
  })

  it('may be sent again after shortening alone', async () => {
    const rig = await start([look('c1', 36_000), say('Seen.'), tooLong, say('Go on.')], { settings: { 'compaction.prune.trigger': 1_000, 'compaction.prune.head': 500, 'compaction.prune.tail': 100 } })
    await rig.ask('look')
    await rig.ask('and?')
    expect([purposes(rig), reasons(rig.session), codes(rig.session), ofType(rig.session, 'compaction/prune').length]).toEqual([['turn', 'turn', 'turn', 'turn'], ['completed', 'completed'], [], 1])
  })

  it('may be sent again after shortening, also when the summary then fails', async () => {
    const rig = await start([look('c1', 16_000), ...rounds, tooLong, failWith({ code: 'AUTH', message: 'No key.' }), say('Go on.')], {
      settings: { 'compaction.prune.trigger': 15_000, 'compaction.prune.head': 10_000, 'compaction.prune.tail': 4_000, 'compaction.thresholdRatio': 0.95 },
    })
    await rig.ask('look')
    await rig.ask(words(1_200, 'b'))
    await rig.ask(words(1_200, 'c'))
    await rig.ask('and?')
    expect([reasons(rig.session).at(-1), codes(rig.session), purposes(rig).slice(-3)]).toEqual(['completed', ['summary'], ['turn', 'compaction', 'turn']])
  })

  it('is recovered from as often in a step as compaction.maxOverflowRetries says', async () => {
    const rig = await filled([tooLong, say('Summary.'), tooLong], keepsMore)
    await rig.ask('short')
    expect([reasons(rig.session).at(-1), purposes(rig).slice(3)]).toEqual(['CONTEXT_WINDOW_EXCEEDED', ['turn', 'compaction', 'turn']])
  })

  it('has a budget of its own beside that of transient failures', async () => {
    const flaky = failWith({ code: 'SERVER', message: 'Busy.' })
    const rig = await filled([flaky, tooLong, say('Summary.'), flaky, say('Go on.')], { settings: { 'llm.retry.maxRetries': 2, 'llm.retry.initialDelayMs': 10, 'llm.retry.jitter': 0, ...keepsMore.settings } })
    rig.agent.followup(prompt('short'))
    for (let wait = 0; wait < 4; wait++) {
      await settled()
      rig.clock.advance(20)
    }
    await rig.agent.whenIdle()
    expect([reasons(rig.session).at(-1), ofType(rig.session, 'llm/retry').map(({ data }) => data.retry), codes(rig.session)]).toEqual(['completed', [1, 2], ['done']])
  })

  it('of one large batch shortens what is left, so that it does not dead-end', async () => {
    const rig = await start([look('c1', 36_000), tooLong, say('Go on.')], { settings: { 'compaction.auto': true, 'compaction.thresholdRatio': 0.95 } })
    await rig.ask('look')
    expect([reasons(rig.session), ofType(rig.session, 'compaction/prune').length, purposes(rig)]).toEqual([['completed'], 1, ['turn', 'turn', 'turn']])
  })
})

describe('compaction.auto', () => {
  it('off installs neither trigger', async () => {
    const rig = await filled([say('On.'), tooLong], { settings: { 'compaction.auto': false } })
    await rig.ask(words(2_000, 'd'))
    await rig.ask('more')
    expect([purposes(rig), reasons(rig.session).at(-1)]).toEqual([['turn', 'turn', 'turn', 'turn', 'turn'], 'CONTEXT_WINDOW_EXCEEDED'])
  })

  it('is followed while the application runs', async () => {
    const rig = await filled([say('Summary.'), say('Go on.')], { settings: { 'compaction.auto': false } })
    await rig.settings.set('compaction.auto', true, 'user')
    await rig.ask(words(2_000, 'd'))
    expect(codes(rig.session)).toEqual(['done'])
  })

  it('and the ratios may be other for single models', async () => {
    const rig = await start([...rounds.slice(0, 1), say('Summary.'), say('Go on.')], { settings: { 'compaction.modelPolicies': [{ model: 'other', auto: false }, { model: 'm1', provider: 'scripted', thresholdRatio: 0.3 }] } })
    await rig.ask(words(1_600, 'a'))
    await rig.ask(words(1_200, 'b'))
    expect(purposes(rig)).toEqual(['turn', 'compaction', 'turn'])
  })
})

describe('shortening a result', () => {
  const caps = { trigger: 8_192, head: 4_096, tail: 1_024 }
  const image: ImageBlock = { type: 'image', attachment: { attachmentId: 'sha256:0', mediaType: 'image/png', bytes: 1 } }
  const short = (text: string) => {
    const [first, ...others] = shortenedContent([{ type: 'text', text }, image], caps) ?? []
    return { text: first?.type === 'text' ? first.text : '', others }
  }
  it('leaves its beginning, a mark that says how much is missing, its end, and all that is no text', () => {
    const { text, others } = short(`${'a'.repeat(5_000)}${'b'.repeat(5_000)}`)
    expect([text.startsWith(`${'a'.repeat(4_096)}\n[4880 characters were left out`), text.endsWith(`\n${'b'.repeat(1_024)}`), others]).toEqual([true, true, [image]])
  })
  it('counts code points and never splits a pair of surrogates', () => {
    expect(shortenedContent([{ type: 'text', text: '😀'.repeat(8_192) }], caps)).toBeNull()
    const { text } = short(`a${'😀'.repeat(9_000)}`)
    expect([text.isWellFormed(), text.startsWith(`a${'😀'.repeat(4_095)}\n`), text.endsWith(`\n${'😀'.repeat(1_024)}`)]).toEqual([true, true, true])
  })
  it('comes to its end in one pass', () => expect(shortenedContent([{ type: 'text', text: short('a'.repeat(90_000)).text }], caps)).toBeNull())
})

describe('a preset without compaction', () => {
  const bare = { id: 'all', name: 'All', description: '', order: 0, presentation: 'native' as const, tools: ['look'], hasRuntimeContext: false, hasCompaction: false }
  it('is never compacted by itself: under no pressure, and after no overflow', async () => {
    const rig = await filled([say('On.'), tooLong], { presets: [bare] })
    await rig.ask(words(2_000, 'd'))
    await rig.ask('e')
    expect([codes(rig.session), ofType(rig.session, 'compaction/prune'), reasons(rig.session).slice(-2)]).toEqual([[], [], ['completed', 'CONTEXT_WINDOW_EXCEEDED']])
  })
  it('is still compacted when the person asks for it', async () => {
    const rig = await filled([say('Summary.')], { presets: [bare] })
    expect(await rig.compact()).toMatchObject({ kind: 'summarised' })
  })
})

describe('the summary request', () => {
  it('repeats the system prompt, the tools and the messages byte for byte and adds an instruction', async () => {
    const rig = await filled([say('Summary.'), say('Go on.')], { prepare: (ctx) => void ctx.systemPrompt.section({ name: 'who', order: 0, text: 'You help.' }) })
    const before = rig.adapter.requests.at(-1)!
    await rig.ask(words(2_000, 'd'))
    const request = rig.adapter.requests[3]!
    expect([request.system, request.tools]).toEqual([before.system, before.tools])
    const replayed = request.messages.slice(0, -1)
    expect(JSON.stringify(before.messages).startsWith(JSON.stringify(replayed).slice(0, -1))).toBe(true)
    expect([replayed.length, request.messages.at(-1)?.role, request.config]).toEqual([5, 'user', { ...before.config, maxTokens: 2_000 }])
  })

  it('asks for the eight parts, in text', async () => {
    const rig = await filled([say('Summary.'), say('Go on.')])
    await rig.ask(words(2_000, 'd'))
    for (const part of ['Primary request and intent', 'Key technical concepts', 'Files and code', 'Errors and fixes', 'Pending jobs', 'Current work', 'Next step', 'Critical context', 'Do not call any tool']) {
      expect(lastWords(rig.adapter.requests[3])).toContain(part)
    }
  })

  it('leaves the prefix of the next request as it was', async () => {
    const rig = await filled([say('Summary.'), say('Go on.')], { prepare: (ctx) => void ctx.systemPrompt.section({ name: 'who', order: 0, text: 'You help.' }) })
    await rig.ask(words(2_000, 'd'))
    expect(new Set(rig.adapter.requests.map(({ system, tools }) => JSON.stringify([system, tools]))).size).toBe(1)
    expect(ofType(rig.session, 'request/header').length).toBe(1)
  })

  it('goes in pieces when it would not fit, each with the summary so far', async () => {
    const rig = await filled([say('Read.'), say('First.'), say('Second.'), say('Third.')], { settings: { 'compaction.auto': false } })
    await rig.ask(words(20_000, 'd'))
    rig.session.append({ type: 'user/message', surfaceOp: 'append', data: prompt('tail') })
    expect((await rig.compact()).kind).toBe('summarised')
    const requests = rig.adapter.requests.slice(4)
    expect(requests.map(({ messages }) => textOf(messages[0]!).slice(0, 18))).toEqual(['a a a a a a a a a ', '<summary-so-far>\nT', '<summary-so-far>\nT'].slice(0, requests.length))
    // What fits no request is shown cut, the rest as it was.
    expect(requests.flatMap(({ messages }) => messages).filter((message) => textOf(message).startsWith('<part-of-the-conversation>')).length).toBe(1)
    expect(ofType(rig.session, 'compaction/summary')[0]?.data.pieces).toBe(requests.length)
    expect(Math.max(...requests.map((request) => estimateRequestTokens(request)))).toBeLessThan(14_000)
  })

  it('is halved when the provider finds it too long all the same', async () => {
    const rig = await filled([tooLong, say('First.'), say('Second.'), say('Third.'), say('Go on.')])
    await rig.compact()
    const sizes = rig.adapter.requests.slice(3).map(({ messages }) => messages.length)
    expect([sizes[0]! > sizes[1]!, codes(rig.session)]).toEqual([true, ['done']])
  })

  it('goes to the next route when its own is out, which the summary names; the talk goes on as chosen', async () => {
    const other = createScriptedAdapter([say('Summary.')], { provider: 'other', model: { contextWindow: 20_000, maxOutputTokens: 400 } })
    const rig = await filled([failWith({ code: 'QUOTA', message: 'Used up.' }), say('Go on.')], { settings: { 'model.fallback': ['scripted/m1', 'other/m'] }, ...reaching(other) })
    await rig.ask(words(2_000, 'd'))
    expect([codes(rig.session), reasons(rig.session).at(-1), ofType(rig.session, 'llm/route')]).toEqual([['done'], 'completed', []])
    expect(ofType(rig.session, 'compaction/summary').map(({ data: { provider, model, maxTokens } }) => [provider, model, maxTokens])).toEqual([['other', 'm', 400]])
    expect(other.requests.map(({ config, purpose }) => [config.maxTokens, purpose])).toEqual([[400, 'compaction']])
    expect(purposes(rig).slice(3)).toEqual(['compaction', 'turn'])
  })

  it('goes on from the piece that failed, in pieces that fit the next model', async () => {
    const other = createScriptedAdapter(Array.from({ length: 9 }, (_, index) => say(`Part ${index}.`)), { provider: 'other', model: { contextWindow: 3_000, maxOutputTokens: 400 } })
    const rig = await filled([failWith({ code: 'SERVER', message: 'Down.' }), say('Go on.')], { settings: { 'model.fallback': ['other/m'], 'llm.retry.maxRetries': 0 }, ...reaching(other) })
    await rig.ask(words(2_000, 'd'))
    const [summary] = ofType(rig.session, 'compaction/summary')
    expect([summary?.data.pieces, summary?.data.provider]).toEqual([other.requests.length, 'other'])
    expect(Math.max(...other.requests.map((request) => estimateRequestTokens(request)))).toBeLessThan(2_600)
  })

  it('fails with the failure of the first route, and says why the next one could not serve', async () => {
    const other = createScriptedAdapter([failWith({ code: 'AUTH', message: 'No key.' })], { provider: 'other' })
    const rig = await filled([failWith({ code: 'QUOTA', message: 'Used up.' }), say('Go on.')], { settings: { 'model.fallback': ['other/m'] }, ...reaching(other) })
    await rig.ask(words(2_000, 'd'))
    expect(ofType(rig.session, 'compaction/end')).toMatchObject([{ data: { error: { code: 'summary', message: expect.stringContaining('Used up. The fallback other/m could not be used: No key.') as string } } }])
  })

  it('gives up when even the smallest is too long', async () => {
    const rig = await filled(Array.from({ length: 20 }, () => tooLong))
    await expect(rig.compact()).rejects.toMatchObject({ code: 'summary' })
    expect(rig.adapter.requests.length).toBeLessThan(10)
  })
})

describe('compaction.model', () => {
  const routesOf = (session: Session) => ofType(session, 'compaction/summary').map(({ data }) => `${data.provider}/${data.model}`)
  it('makes the summaries; the talk goes on with its own model', async () => {
    const cheap = createScriptedAdapter([say('Summary.')], { provider: 'cheap', model: small })
    const rig = await filled([say('Go on.')], { ...reaching(cheap), settings: { 'compaction.model': 'cheap/mini' } })
    await rig.compact()
    await rig.ask('d')
    expect([cheap.requests.map(({ purpose, config }) => [purpose, config.model]), routesOf(rig.session), purposes(rig).slice(3)]).toEqual([[['compaction', 'mini']], ['cheap/mini'], ['turn']])
  })
  it('gives way to the talk’s own model when it fails, whatever it fails with', async () => {
    const cheap = createScriptedAdapter([failWith({ code: 'AUTH', message: 'No key.' })], { provider: 'cheap', model: small })
    const rig = await filled([say('Summary.')], { ...reaching(cheap), settings: { 'compaction.model': 'cheap/mini' } })
    expect(await rig.compact()).toMatchObject({ kind: 'summarised' })
    expect([cheap.requests.length, routesOf(rig.session)]).toEqual([1, ['scripted/m1']])
  })
  it('that is not there is left out, and the log of the application says so', async () => {
    const rig = await filled([say('Summary.')], { settings: { 'compaction.model': 'gone/mini' } })
    await rig.compact()
    expect([routesOf(rig.session), rig.started]).toEqual([['scripted/m1'], expect.arrayContaining(['warning "The model of bosun.compaction.model cannot be used."'])])
  })
})

describe('the result', () => {
  it('is one user message in a tag that replaces the range and names all it shadows', async () => {
    const rig = await filled([say('The story.'), say('Go on.')])
    const nodes = rig.session.surface().nodes
    await rig.compact()
    const [summary] = ofType(rig.session, 'compaction/summary')
    const node = rig.session.surface().nodes[0]!
    const end = summary!.data.shadowedRange.end
    expect(node.event.surfaceOp).toEqual({ op: 'replace', start: 0, end })
    expect(node.event.sourceEventSeqs).toEqual(nodes.slice(0, end + 1).map(({ seq }) => seq))
    expect(summary!.data).toMatchObject({ summary: [{ type: 'text', text: 'The story.' }], shadowedSeqs: node.event.sourceEventSeqs, provider: 'scripted', model: 'm1', maxTokens: 2_000 })
    expect(textOf(rig.session.messages()[0]!)).toMatch(/^<compacted-summary>\n[^]*# Summary\nThe story\.[^]*<\/compacted-summary>$/)
  })

  it('holds the first request of the person in their words, through a second compaction too', async () => {
    const rig = await start([say(words(1_600, 'one')), say(words(1_600, 'two')), say('S1.'), say(words(2_000, 'three')), say(words(2_000, 'four')), say('S2.'), say('End.')])
    await rig.ask('Build a boat.')
    await rig.ask(words(2_400, 'b'))
    await rig.compact()
    await rig.ask(words(2_000, 'c'))
    await rig.ask(words(1_200, 'd'))
    await rig.compact()
    expect(codes(rig.session)).toEqual(['done', 'done'])
    expect(textOf(rig.session.messages()[0]!)).toContain('in their words\nBuild a boat.')
  })

  it('keeps calls and results together', async () => {
    const rig = await start([look('c1', 12_000), look('c2', 4_800), say('Done.'), say('Summary.')])
    await rig.ask(words(1_200, 'a'))
    await rig.compact()
    const calls = rig.session.messages().flatMap(({ content }) => content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : [])))
    const results = rig.session.messages().flatMap(({ content }) => content.flatMap((block) => (block.type === 'tool-result' ? [block.callId] : [])))
    expect([codes(rig.session), calls]).toEqual([['done'], results])
  })

  it('is refused when it is no shorter than what it replaces', async () => {
    const rig = await filled([say(words(7_900, 'long'))])
    const before = shown(rig.session)
    await expect(rig.compact()).rejects.toMatchObject({ code: 'summary', message: expect.stringContaining('no shorter') })
    expect([shown(rig.session), codes(rig.session)]).toEqual([before, ['summary']])
  })

  it('is given up when it never ends', async () => {
    const more = Array.from({ length: 2_000 }, (): StreamChunk => ({ type: 'text-delta', index: 0, delta: 'and so on '.repeat(20) }))
    const endless: readonly StreamChunk[] = [{ type: 'block-start', index: 0, block: 'text' }, ...more, { type: 'block-end', index: 0 }, stop]
    const rig = await filled([endless, endless])
    const before = shown(rig.session)
    await expect(rig.compact()).rejects.toMatchObject({ code: 'summary', message: expect.stringContaining('far beyond') })
    expect([shown(rig.session), codes(rig.session)]).toEqual([before, ['summary']])
  })

  it.each<[string, readonly ScriptedPart[]]>([
    ['blank', say(' \n ')],
    ['reasoning alone', [...reasoningParts('Hm.'), stop]],
    ['a call alone', look('c9', 4)],
  ])('is not %s', async (_, answer) => {
    const rig = await filled([answer, answer])
    await expect(rig.compact()).rejects.toMatchObject({ code: 'summary' })
    expect([codes(rig.session), purposes(rig).slice(3)]).toEqual([['summary'], ['compaction', 'compaction']])
  })

  it('leaves every message in the log, to be shown and searched', async () => {
    const rig = await filled([say('Summary.')])
    const before = rig.session.events().filter(({ surfaceOp }) => surfaceOp === 'append')
    await rig.compact()
    expect(rig.session.events().filter(({ surfaceOp }) => surfaceOp === 'append')).toEqual(before)
  })

  it('takes images from before the model and leaves them in the log', async () => {
    const rig = await start([...rounds, say('Summary.')])
    const image: ImageBlock = { type: 'image', attachment: { attachmentId: 'sha256:0', mediaType: 'image/png', bytes: 1 } }
    rig.agent.followup({ ...prompt('look'), content: [{ type: 'text', text: words(1_600, 'a') }, image] })
    await rig.agent.whenIdle()
    for (const word of ['b', 'c']) await rig.ask(words(1_600, word))
    await rig.compact()
    const holdsImage = (values: readonly unknown[]) => JSON.stringify(values).includes('sha256:0')
    expect([holdsImage(rig.session.messages()), holdsImage(ofType(rig.session, 'user/message'))]).toEqual([false, true])
  })

  it('lets the surroundings be told again, before the very next request', async () => {
    const tells = (rig: Rig) => rig.adapter.requests.at(-1)!.messages.filter((message) => textOf(message).includes('It rains.')).length
    const prepare: NonNullable<LoopRigOptions['prepare']> = (ctx) => void ctx.systemPrompt.runtimeContext({ name: 'weather', order: 0, text: () => 'It rains.' })
    const pressed = await filled([say('Summary.'), say('Go on.')], { prepare })
    await pressed.ask(words(2_000, 'd'))
    const overflowed = await filled([tooLong, say('Summary.'), say('Go on.')], { prepare })
    await overflowed.ask('short')
    expect([codes(pressed.session), codes(overflowed.session), tells(pressed), tells(overflowed)]).toEqual([['done'], ['done'], 1, 1])
  })
})

describe('while a summary is made', () => {
  it('a cancel leaves the surface untouched and closes the bracket', async () => {
    const rig = await filled([[{ type: 'hang' }]])
    const before = shown(rig.session)
    rig.agent.followup(prompt(words(2_000, 'd')))
    await settled()
    rig.agent.cancel({ kind: 'user' }, { keepInbox: true })
    await rig.agent.whenIdle()
    expect([shown(rig.session), codes(rig.session), reasons(rig.session).at(-1), rig.agent.inbox.nextTurn.length]).toEqual([before, ['cancelled'], 'aborted', 1])
  })

  it('a cancel by the person ends what they asked for', async () => {
    const rig = await filled([[{ type: 'hang' }]])
    const work = rig.compact()
    await settled()
    rig.agent.cancel({ kind: 'user' })
    await expect(work).rejects.toMatchObject({ code: 'cancelled' })
    expect(codes(rig.session)).toEqual(['cancelled'])
  })

  it.each<[string, (rig: Rig) => void]>([
    ['another message', ({ session }) => session.append({ type: 'user/message', surfaceOp: 'append', data: prompt('late') })],
    ['a replaced span', ({ session }) => session.append({ type: 'user/message', surfaceOp: { op: 'replace', start: 0, end: 0 }, sourceEventSeqs: [session.surface().nodes[0]!.seq], data: prompt('other') })],
    ['another model', ({ agents, agent }) => agents.configure(agent.id, { provider: 'scripted', model: 'm2' })],
  ])('%s makes it void: changed', async (_, change) => {
    const rig: Rig = await filled([[{ type: 'do', act: () => change(rig) }, ...say('Summary.')]])
    await expect(rig.compact()).rejects.toMatchObject({ code: 'changed' })
    expect([codes(rig.session), ofType(rig.session, 'compaction/summary')]).toEqual([['changed'], []])
  })

  it('a prompt waits until the bracket is on the disk, context for the next step', async () => {
    const { opened, open } = gate()
    const rig = await filled([[{ type: 'wait', until: opened }, ...say('Summary.')], say('Go on.')])
    const work = rig.compact()
    await settled()
    rig.agent.followup(prompt('later'))
    rig.agent.inject(prompt('beside'))
    await settled()
    expect([purposes(rig).slice(3), rig.agent.inbox.nextTurn.length, rig.agent.inbox.nextStep.length]).toEqual([['compaction'], 1, 1])
    open()
    await work
    await rig.agent.whenIdle()
    expect(rig.lines().slice(-7)).toEqual(['compaction/end', 'turn 4', 'step 1', 'user beside', 'user later', 'assistant Go on.', 'step end', 'end completed'].slice(-7))
    expect([codes(rig.session), reasons(rig.session).at(-1)]).toEqual([['done'], 'completed'])
  })

  it('no other one begins: busy', async () => {
    const { opened, open } = gate()
    const rig = await filled([[{ type: 'wait', until: opened }, ...say('Summary.')]])
    const manual = rig.compact()
    await settled()
    await expect(rig.compact()).rejects.toMatchObject({ code: 'busy' })
    open()
    await manual
    rig.adapter.play([{ type: 'wait', until: gate().opened }])
    rig.agent.followup(prompt('work'))
    await settled()
    await expect(rig.compact()).rejects.toMatchObject({ code: 'busy' })
    expect(codes(rig.session)).toEqual(['done'])
  })
})

describe('by request of a person', () => {
  it('has no turn and is on the disk at the end', async () => {
    const rig = await filled([say('Summary.')])
    const outcome = await rig.ctx.compaction.compact(rig.agent, { sourceCommandId: 'k' })
    expect(outcome).toMatchObject({ kind: 'summarised', summarySeq: ofType(rig.session, 'compaction/summary')[0]!.seq })
    for (const type of ['compaction/start', 'compaction/end'] as const) expect(ofType(rig.session, type)[0]?.data).toMatchObject({ turn: null, sourceCommandId: 'k' })
    expect(rig.store.disk.logs.get(rig.session.id)?.text).toContain('compaction/end')
  })

  it('nothing happens to a talk that is one indivisible part', async () => {
    const rig = await start([say(words(2_000, 'one'))])
    expect(await rig.compact()).toEqual({ kind: 'nothing' })
    const pair = await start([look('c1', 12_000), failWith({ code: 'AUTH', message: 'No key.' })])
    await pair.ask('look')
    pair.session.append({ type: 'user/message', surfaceOp: { op: 'replace', start: 0, end: 0 }, sourceEventSeqs: [pair.session.surface().nodes[0]!.seq], data: { ...prompt(''), content: [] } })
    expect(await pair.compact()).toEqual({ kind: 'nothing' })
    expect([codes(rig.session), codes(pair.session)]).toEqual([[], []])
  })

  it('a store that fails is told as persistence', async () => {
    const rig = await filled([say('Summary.')])
    const flush = rig.session.flush.bind(rig.session)
    let flushes = 0
    rig.session.flush = () => (++flushes === 2 ? Promise.reject(new Error('disk full')) : flush())
    await expect(rig.compact()).rejects.toMatchObject({ code: 'persistence', message: expect.stringMatching(/was compacted, .*disk full/) })
    expect(codes(rig.session)).toEqual(['done'])
  })
  it('a store that fails before the summary is asked for is told as persistence too, and nothing was compacted', async () => {
    const rig = await filled([])
    const before = shown(rig.session)
    rig.session.flush = () => Promise.reject(new Error('disk full'))
    await expect(rig.compact()).rejects.toMatchObject({ code: 'persistence', message: expect.stringMatching(/was not compacted.*disk full/) })
    expect([codes(rig.session), shown(rig.session), purposes(rig)]).toEqual([['persistence'], before, ['turn', 'turn', 'turn']])
  })

  it('a log that refuses the summary is told as commit', async () => {
    const rig = await filled([say('Summary.')])
    const append = rig.session.append.bind(rig.session) as (draft: EventDraft) => SessionEvent
    rig.session.append = ((draft: EventDraft) => {
      if (draft.type === 'compaction/summary') throw new Error('defect')
      return append(draft)
    }) as Session['append']
    await expect(rig.compact()).rejects.toMatchObject({ code: 'commit' })
    expect(codes(rig.session)).toEqual(['commit'])
  })
})

describe('the bracket in the log', () => {
  const bracket = (id: string): EventDraft<'compaction/start'> => ({ type: 'compaction/start', data: { compactionId: id, turn: null } })
  const ended = (id: string): EventDraft<'compaction/end'> => ({ type: 'compaction/end', data: { compactionId: id, turn: null } })
  const summary = (id: string): EventDraft<'compaction/summary'> => ({
    type: 'compaction/summary',
    data: { compactionId: id, summary: [], shadowedRange: { start: 0, end: 0 }, shadowedSeqs: [0], shadowedTokenCount: 1, provider: 'p', model: 'm' },
  })
  const check = async (drafts: readonly EventDraft[], refused: EventDraft) => {
    const { session } = await start([])
    for (const draft of drafts) session.append(draft)
    expect(() => session.append(refused)).toThrow(/rule pairs/)
  }
  it('is one at a time', () => check([bracket('a')], bracket('b')))
  it('ends once', () => check([bracket('a'), ended('a')], ended('a')))
  it('ends what was started', () => check([bracket('a')], ended('b')))
  it('holds the summary', () => check([bracket('a'), ended('a')], summary('a')))
  it('keeps others out while it is open', async () => {
    const rig = await filled([])
    rig.session.append(bracket('a'))
    await expect(rig.compact()).rejects.toMatchObject({ code: 'busy' })
  })
  it('is void when a crash left it open and the session is opened again', async () => {
    const rig = await filled([])
    rig.session.append(bracket('a'))
    await rig.session.flush()
    const { id } = rig.session
    await rig.agent.dispose()
    const next = await start([say('Summary.')], { store: rig.store, resume: id })
    expect((await next.compact()).kind).toBe('summarised')
  })
})

describe('the command /compact of the whole application', () => {
  const made = async (answers: readonly ScriptedAnswer[]) => {
    const application = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1', 'titles.enabled': false } })
    const adapter = createScriptedAdapter(answers, { model: small })
    application.ctx.models.register(adapter)
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    return { application, adapter, agent }
  }

  it('summarises, points to the summary, and the talk goes on from it after a reload', async () => {
    const { application, adapter, agent } = await made([say(words(1_600, 'one')), say(words(1_600, 'two')), say('The story.'), say('Go on.')])
    for (const text of ['first', 'second']) {
      agent.followup(prompt(text))
      await agent.whenIdle()
    }
    const settledCommand = await application.ctx.commands.run(agent, '/compact')
    const [summary] = ofType(agent.session, 'compaction/summary')
    expect(settledCommand).toMatchObject({ kind: 'success', sourceEventSeq: summary!.seq })
    expect(summary!.data.sourceCommandId).toBe(settledCommand.commandId)
    const { ctx } = await application.restart()
    ctx.models.register(adapter)
    const resumed = await ctx.agents.resume(agent.id)
    resumed.followup(prompt('third'))
    await resumed.whenIdle()
    const messages = adapter.requests.at(-1)!.messages.map(textOf)
    expect([messages[0]?.startsWith('<compacted-summary>'), messages.some((text) => text.includes('The story.')), reasons(resumed.session).at(-1)]).toEqual([true, true, 'completed'])
    await application.dispose()
  })

  it('says so when there is nothing to compact, takes no arguments, and waits for nobody at work', async () => {
    const { application, agent } = await made([[{ type: 'hang' }]])
    const { commands } = application.ctx
    expect(await commands.run(agent, '/compact')).toMatchObject({ kind: 'success', text: 'There is nothing to compact yet.' })
    await expect(commands.run(agent, '/compact now')).rejects.toMatchObject({ code: 'BAD_SYNTAX' })
    agent.followup(prompt('work'))
    await expect(commands.run(agent, '/compact')).rejects.toMatchObject({ code: 'BUSY' })
    await application.dispose()
  })
})
