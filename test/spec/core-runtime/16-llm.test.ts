import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { EditorModelError, type EditorModelErrorCode } from '../../../extension/capabilities/editor-models.ts'
import type { EventType, SessionEvent } from '../../../extension/core/log/event.ts'
import type { Message, UserMessage } from '../../../extension/core/log/message.ts'
import { delayFor } from '../../../extension/core/loop/retry.ts'
import { configuredProviders } from '../../../extension/core/model/configured-providers.ts'
import { ModelError, type Failure, type FailureCode, type ModelInfo, type RetryPolicy, type StreamChunk } from '../../../extension/core/model/contract.ts'
import { listChoices } from '../../../extension/core/model/model-choices.ts'
import { estimateMessageTokens, estimateRequestTokens, projectTokens } from '../../../extension/core/model/token-estimate.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import { createFakeEditorModels, fakeModel, type FakeAnswer } from '../../support/fake-editor-models.ts'
import { createLoopRig, prompt, settled } from '../../support/loop-rig.ts'
import { memorySecrets } from '../../support/memory-secrets.ts'
import { failures, type Answer } from '../../support/model-script.ts'
import { startModelServer, type ModelServer } from '../../support/model-server.ts'
import { realClock } from '../../support/real-clock.ts'
import { callParts, callTools, createScriptedAdapter, failWith, reasoningParts, sayText, someUsage, textParts, type ScriptedAnswer, type ScriptedPart } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/*
 * Chapter 16: the model layer around the adapters, in the composed application. What each adapter makes of its own protocol
 * stands in `16-adapters.test.ts`, costs in `16-cost.test.ts`.
 */

let server: ModelServer | undefined
const applications: WholeApplication[] = []
afterEach(async () => {
  for (const application of applications.splice(0)) await application.dispose()
  await server?.close()
  server = undefined
})

const compose = async (settings: Readonly<Record<string, unknown>> = {}, secrets: Readonly<Record<string, string>> = {}) => {
  const application = await wholeApplication({ settings: { 'titles.enabled': false, 'llm.retry.initialDelayMs': 1, ...settings }, secrets })
  applications.push(application)
  return application
}
const dataOf = <T extends EventType>(agent: Agent, type: T) => agent.session.events().flatMap((event) => (event.type === type ? [(event as SessionEvent<T>).data] : []))
const endOf = (agent: Agent) => dataOf(agent, 'turn/end').at(-1)?.reason
const failureOf = (agent: Agent) => {
  const end = endOf(agent)
  return end?.kind === 'error' ? end.failure : undefined
}

/** One turn with a scripted model in the composed application. */
async function scripted(answers: readonly ScriptedAnswer[], options: { readonly settings?: Readonly<Record<string, unknown>>; readonly model?: Partial<ModelInfo>; readonly retryPolicy?: RetryPolicy } = {}) {
  const { settings, ...more } = options
  const application = await compose({ 'model.provider': 'scripted', 'model.name': 'm1', ...settings })
  const adapter = createScriptedAdapter(answers, more)
  application.ctx.models.register(adapter)
  const agent = await application.ctx.agents.create({ cwd: application.folder })
  const turn = async (text = 'go') => {
    agent.followup(prompt(text))
    await agent.whenIdle()
  }
  await turn()
  const content = () => agent.session.messages().findLast(({ role }) => role === 'assistant')?.content
  return { application, adapter, agent, turn, content }
}

/** One turn with a provider of the settings over a server that speaks its protocol. */
async function served(answer: Answer, options: { readonly entry?: object; readonly secrets?: Readonly<Record<string, string>>; readonly settings?: Readonly<Record<string, unknown>>; readonly message?: UserMessage } = {}) {
  server = await startModelServer({ steps: [{ repeat: true, answer }] })
  const application = await compose(
    { 'model.provider': 'mine', 'model.name': 'm', 'llm.retry.maxRetries': 0, providers: { mine: { baseUrl: server.url, keyName: null, ...options.entry } }, ...options.settings },
    options.secrets,
  )
  const agent = await application.ctx.agents.create({ cwd: application.folder })
  agent.followup(options.message ?? prompt('go'))
  await agent.whenIdle()
  return { application, agent, server }
}

const stop: StreamChunk = { type: 'finish', reason: { kind: 'stop' } }
const failing = (code: FailureCode, more: Partial<Failure> = {}): Failure => ({ code, message: code, ...more })

describe('16.1 adapters', () => {
  it('stand under a route of their own: a second one is a DUPLICATE_ADAPTER', async () => {
    const { ctx } = await compose()
    ctx.models.register(createScriptedAdapter())
    expect(() => ctx.models.register(createScriptedAdapter())).toThrow(expect.objectContaining({ code: 'DUPLICATE_ADAPTER' }))
  })
  it('are told of when they come and go', async () => {
    const { ctx } = await compose()
    let told = 0
    ctx.on('llm/adapters-updated', () => void told++)
    ctx.models.register(createScriptedAdapter())()
    expect(told).toBe(2)
  })
  it('are bound by a prepared call for exactly one stream: a second one is an INVALID_PREPARED_CALL', async () => {
    const { ctx } = await compose()
    const undo = ctx.models.register(createScriptedAdapter([sayText('bound')]))
    const call = ctx.models.prepareCall('scripted')
    undo()
    const request = { tools: [], messages: [], config: { provider: 'scripted', model: 'm' }, signal: new AbortController().signal, loadAttachment: () => Promise.reject(new Error('none')) }
    const chunks: StreamChunk[] = []
    for await (const chunk of call.stream(request)) chunks.push(chunk)
    expect(chunks).toEqual(sayText('bound'))
    expect(() => call.stream(request)).toThrow(expect.objectContaining({ code: 'INVALID_PREPARED_CALL' }))
  })
  it('get the system prompt, tools, messages, configuration, signal and purpose, frozen', async () => {
    const { adapter, agent } = await scripted([sayText('ok')])
    const [request] = adapter.requests
    expect(request).toMatchObject({ system: expect.any(String), config: { provider: 'scripted', model: 'm1' }, sessionId: agent.id, purpose: 'turn', signal: expect.any(AbortSignal) })
    expect([request?.tools.length !== 0, Object.isFrozen(request), Object.isFrozen(request?.messages), Object.isFrozen(request?.config)]).toEqual([true, true, true, true])
  })
  it('may be checked against facts that cannot be: INVALID_MODEL_*', async () => {
    const { agent, adapter } = await scripted([sayText('never')], { model: { contextWindow: 0 } })
    expect([failureOf(agent)?.code, adapter.requests.length]).toEqual(['INVALID_MODEL_WINDOW', 0])
  })
})

describe('16.1 the end of a stream', () => {
  const rows: readonly [name: string, answer: readonly ScriptedPart[], end: object][] = [
    ['stop', sayText('ok'), { kind: 'completed' }],
    ['max-tokens', [...textParts('half'), { type: 'finish', reason: { kind: 'max-tokens' } }], { kind: 'max-tokens' }],
    ['error', failWith(failing('AUTH', { status: 401, requestId: 'r1' })), { kind: 'error', failure: { code: 'AUTH', message: 'AUTH', status: 401, requestId: 'r1' } }],
    ['aborted by the adapter itself', [{ type: 'finish', reason: { kind: 'aborted', failure: failing('ABORTED') } }], { kind: 'error', failure: { code: 'ABORTED', message: 'ABORTED' } }],
    ['a throw of the adapter', [{ type: 'throw', error: new ModelError(failing('QUOTA')) }], { kind: 'error', failure: { code: 'QUOTA', message: 'QUOTA' } }],
    ['a throw after its first part', [...textParts('half'), { type: 'throw', error: new Error('odd') }], { kind: 'error', failure: { code: 'UNKNOWN' } }],
    ['none at all', textParts('half'), { kind: 'error', failure: { code: 'STREAM_CLOSED' } }],
    ['nothing said', [stop], { kind: 'error', failure: { code: 'EMPTY_RESPONSE' } }],
    ['thought alone', [...reasoningParts('hm'), stop], { kind: 'error', failure: { code: 'EMPTY_RESPONSE' } }],
  ]
  it.each(rows)('%s', async (_name, answer, end) => expect(endOf((await scripted([answer], { settings: { 'llm.retry.maxRetries': 0 } })).agent)).toMatchObject(end))
  it('tool-calls goes on with the results', async () => {
    const { adapter, agent } = await scripted([callTools({ id: 'c', name: 'glob', args: { pattern: '*' } }), sayText('ok')])
    expect([adapter.requests.length, endOf(agent)]).toEqual([2, { kind: 'completed' }])
  })
  it('by a cancel is the cancel’s, and what was said stays', async () => {
    const application = await compose({ 'model.provider': 'scripted', 'model.name': 'm1' })
    const said = Promise.withResolvers<void>()
    application.ctx.models.register(createScriptedAdapter([[...textParts('half'), { type: 'do', act: said.resolve }, { type: 'hang' }]]))
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    agent.followup(prompt('go'))
    await said.promise
    agent.cancel({ kind: 'user' })
    await agent.whenIdle()
    expect([endOf(agent), dataOf(agent, 'assistant/message')[0]?.interrupted]).toEqual([{ kind: 'aborted', reason: { kind: 'user' } }, true])
  })
  it('by a defect of a listener stays a throw and is no failure of the provider', async () => {
    const application = await compose({ 'model.provider': 'scripted', 'model.name': 'm1' })
    application.ctx.models.register(createScriptedAdapter([sayText('never')]))
    application.ctx.on('llm/stream', () => Promise.reject(new Error('a defect')))
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    agent.followup(prompt('go'))
    await agent.whenIdle()
    expect([failureOf(agent), dataOf(agent, 'llm/retry')]).toEqual([{ code: 'UNKNOWN', message: 'a defect' }, []])
  })
  it.each<[FailureCode, readonly ScriptedPart[], number]>([
    ['STREAM_CLOSED', textParts('half'), 0],
    ['EMPTY_RESPONSE', [stop], 2],
  ])('%s commits no message; it is sent again that often: %#', async (code, answer, retries) => {
    const { agent } = await scripted([answer, answer, answer], { settings: { 'llm.retry.maxRetries': 2 } })
    expect([failureOf(agent)?.code, dataOf(agent, 'assistant/message').length, dataOf(agent, 'llm/retry').length]).toEqual([code, 0, retries])
  })
})

describe('16.1 blocks', () => {
  const cut: StreamChunk = { type: 'finish', reason: { kind: 'max-tokens' } }
  const text = (value: string) => ({ type: 'text', text: value })
  const check = async (answer: readonly ScriptedPart[], content: readonly object[]) => expect((await scripted([answer, sayText('then')])).agent.session.messages().find(({ role }) => role === 'assistant')?.content).toEqual(content)
  it('end with their first close: deltas after it are ignored', () => check([...textParts('a'), { type: 'text-delta', index: 0, delta: 'late' }, { type: 'block-end', index: 0 }, stop], [text('a')]))
  it('begin once: a second start is ignored', () =>
    check([{ type: 'block-start', index: 0, block: 'text' }, { type: 'block-start', index: 0, block: 'reasoning' }, { type: 'text-delta', index: 0, delta: 'a' }, stop], [text('a')]))
  it('of calls without an id are named by their place', () =>
    check([...callParts({ id: null, name: 'nothing', args: {} }, 2), { type: 'finish', reason: { kind: 'tool-calls' } }], [{ type: 'tool-call', id: 'call-2', name: 'nothing', arguments: '{}' }]))
  it('of calls go with their replay entries when the answer reached its cap', async () => {
    const { agent } = await scripted([
      [
        { type: 'block-start', index: 0, block: 'reasoning' },
        { type: 'reasoning-delta', index: 0, delta: 'r' },
        { type: 'block-end', index: 0, replayState: 'signed' },
        { type: 'tool-call-delta', index: 1, id: 'c', name: 'nothing', argumentsDelta: '{"a' },
        { type: 'block-end', index: 1, replayState: 'call' },
        cut,
      ],
    ])
    expect(dataOf(agent, 'assistant/message')[0]?.message).toMatchObject({ content: [{ type: 'reasoning', text: 'r' }], source: { replayState: { blocks: ['signed'] } } })
  })
  it('come back on later requests with the replay state of their own provider', async () => {
    const { adapter, turn } = await scripted([
      [{ type: 'block-start', index: 0, block: 'text' }, { type: 'text-delta', index: 0, delta: 'a' }, { type: 'block-end', index: 0, replayState: { sig: 1 } }, { type: 'finish', reason: { kind: 'stop' }, replayState: 'whole' }],
      sayText('b'),
    ])
    await turn('again')
    expect(adapter.requests[1]?.messages.find(({ role }) => role === 'assistant')?.source).toMatchObject({ replayState: { blocks: [{ sig: 1 }], message: 'whole' } })
  })
  it('of reasoning go back to their own provider only', async () => {
    const answer = { parts: [{ reasoning: 'secret thought' }, { text: 'Hi.' }] }
    const { application, agent, server: asked } = await served(answer, { entry: { reasoningPassback: 'always' } })
    await application.settings.set('providers', { mine: { baseUrl: asked.url, keyName: null, reasoningPassback: 'always' }, other: { baseUrl: asked.url, keyName: null, reasoningPassback: 'always' } }, 'user')
    for (const provider of ['mine', 'other']) {
      application.ctx.agents.configure(agent.id, { provider, model: 'm' })
      agent.followup(prompt(`for ${provider}`))
      await agent.whenIdle()
    }
    const thoughts = asked.chats().slice(1).map(({ body }) => body.includes('secret thought'))
    expect(thoughts).toEqual([true, false])
  })
})

describe('16.1 usage', () => {
  it('is counted in parts that do not overlap', async () => {
    const { agent } = await served({ parts: [{ text: 'Hi.' }], usage: { promptTokens: 100, cachedTokens: 30, completionTokens: 50, reasoningTokens: 20 } })
    expect(dataOf(agent, 'assistant/message')[0]?.usage).toEqual({ inputTokens: 70, outputTokens: 30, cacheRead: 30, cacheWrite: 0, reasoning: 20 })
  })
})

describe('16.1 codes', () => {
  const rows: readonly [code: FailureCode, answer: Answer, options?: Parameters<typeof served>[1]][] = [
    ['AUTH', failures.wrongKey],
    ['QUOTA', failures.noMoney],
    ['RATE_LIMIT', failures.rateLimit('7')],
    ['CONTEXT_WINDOW_EXCEEDED', failures.contextLength],
    ['INVALID_REQUEST', { status: 400, body: { error: { message: 'Odd.' } } }],
    ['SERVER', failures.server],
    ['HTTP_418', { status: 418, body: { error: { message: 'A teapot.' } } }],
    ['UNKNOWN_MODEL', failures.unknownModel('m')],
    ['TIMEOUT', { hang: 'before-headers' }, { settings: { 'llm.idleTimeoutMs': 100 } }],
    ['TRANSPORT', { parts: [] }, { entry: { baseUrl: 'http://127.0.0.1:1/v1' } }],
    ['MALFORMED_RESPONSE', { parts: [{ raw: 'data: {broken\n\n' }] }],
    ['STREAM_CLOSED', { parts: [{ text: 'half' }], finish: null, done: false }],
    ['EMPTY_RESPONSE', { parts: [] }],
    ['MISSING_CREDENTIAL', { parts: [] }, { entry: { keyName: 'NOT_SET' } }],
    ['INVALID_CREDENTIAL', { parts: [] }, { entry: { keyName: 'KEY' }, secrets: { KEY: 'with space' } }],
    ['NO_ADAPTER', { parts: [] }, { settings: { 'model.provider': 'nobody' } }],
    [
      'UNSUPPORTED_CONTENT',
      { parts: [] },
      { message: { id: 'i', role: 'user', source: { kind: 'user' }, content: [{ type: 'image', attachment: { attachmentId: 'sha256:1', mediaType: 'image/png', bytes: 1 } }] } },
    ],
  ]
  it.each(rows)('%s', async (code, answer, options) => {
    const { agent } = await served(answer, options)
    expect(failureOf(agent)?.code).toBe(code)
    expect(failureOf(agent)?.message).toMatch(/\S/)
  })
  it('come with the status, the provider’s wait and the id of the request', async () => {
    const { agent } = await served(failures.rateLimit('70'))
    expect(failureOf(agent)).toMatchObject({ status: 429, providerRetryAfterMs: 70_000, requestId: 'scripted-failure' })
  })
  it('UNSUPPORTED_REASONING_EFFORT: an effort is refused, never bent, and nothing is sent', async () => {
    const { application, agent, server: asked } = await served({ parts: [{ text: 'ok' }] }, { entry: { reasoningEfforts: ['low', 'high'] } })
    const before = asked.chats().length
    application.ctx.agents.configure(agent.id, { provider: 'mine', model: 'm', reasoningEffort: 'ultra' })
    agent.followup(prompt('again'))
    await agent.whenIdle()
    expect([failureOf(agent)?.code, asked.chats().length - before]).toEqual(['UNSUPPORTED_REASONING_EFFORT', 0])
  })
})

describe('16.3 the dictionary of providers', () => {
  const policy: RetryPolicy = { mode: 'normal', maxRetries: 5, initialDelayMs: 500, maxDelayMs: 10_000, jitter: 0.1 }
  it('takes protocol, address, headers, models with facts of their own, efforts, switches and a key by its name', async () => {
    const entry = {
      headers: { 'x-team': 'blue' },
      keyName: 'MY_KEY',
      models: { m: { contextWindow: 1_000, maxOutputTokens: 50, images: true, reasoningEfforts: ['low'], price: { input: 1, output: 2 } } },
      effortStyle: 'openrouter',
    }
    const { application, server: asked } = await served({ parts: [{ text: 'ok' }] }, { entry, secrets: { MY_KEY: 'sk-1' }, settings: { 'model.reasoningEffort': 'low' } })
    const [chat] = asked.chats()
    expect([chat?.headers['x-team'], chat?.headers['authorization'], (JSON.parse(chat?.body ?? '{}') as { reasoning?: unknown }).reasoning]).toEqual(['blue', 'Bearer sk-1', { effort: 'low' }])
    expect(await application.ctx.models.get('mine')?.resolveModel('m')).toMatchObject({ contextWindow: 1_000, maxOutputTokens: 50, input: ['text', 'image'], reasoningEfforts: ['low'], price: { input: 1, output: 2 } })
  })
  it('has defaults for what it does not say: 262 144 tokens, answers of 32 768, text alone', async () => {
    const { application } = await served({ parts: [{ text: 'ok' }] })
    expect(await application.ctx.models.get('mine')?.resolveModel('unheard-of')).toMatchObject({ contextWindow: 262_144, maxOutputTokens: 32_768, input: ['text'], reasoningEfforts: [] })
  })
  it('is dormant until it is configured: a preset without a key is not asked and not offered', async () => {
    const { ctx } = await compose()
    const presets = ctx.models.list().filter(({ provider }) => provider.isPreset === true)
    const offered = await listChoices({ models: { list: () => presets, get: ctx.models.get }, secrets: memorySecrets(), clock: realClock })
    expect([presets.length > 0, offered]).toEqual([true, []])
  })
  it.each(['anthropic', 'openai', 'google', 'openrouter', 'groq', 'mistral', 'deepseek-official'])('needs only a key for %s', (id) => {
    const config = configuredProviders({}, policy).configs.find((row) => row.id === id)
    expect([config?.keyName, config?.isKeyOptional, config?.baseUrl]).toEqual([expect.stringMatching(/^[A-Z_]+_KEY$/), false, expect.stringMatching(/^https:/)])
  })
  it('names each bad entry and why, and the others work', async () => {
    const { application, agent } = await served({ parts: [{ text: 'ok' }] })
    const { providers } = application.settings.user as { providers: object }
    await application.settings.set('providers', { ...providers, bad: { baseUrl: 'ftp://x' }, worse: { nonsense: true } }, 'user')
    expect(application.ctx.modelProblems.list()).toEqual([expect.stringMatching(/"bad".*baseUrl/), expect.stringMatching(/"worse".*"nonsense"/)])
    agent.followup(prompt('again'))
    await agent.whenIdle()
    expect(endOf(agent)).toEqual({ kind: 'completed' })
  })
  it('takes facts about models from models.json of Bosun’s own folder, wherever that is', async () => {
    const whole = await wholeApplication({
      alter: (world) => {
        const userFolder = join(world.machine.tempFolder, 'own')
        mkdirSync(userFolder, { recursive: true })
        writeFileSync(join(userFolder, 'models.json'), '{"deepseek-v4-pro": {"contextWindow": 4321}}')
        return { ...world, machine: { ...world.machine, userFolder } }
      },
    })
    applications.push(whole)
    // The file is read beside the start.
    await expect.poll(() => whole.ctx.models.get('deepseek-official')?.resolveModel('deepseek-v4-pro')).toMatchObject({ contextWindow: 4321 })
  })
  it('can list the models of an address', async () => {
    const { application, server: asked } = await served({ parts: [{ text: 'ok' }] })
    asked.play({ steps: [], models: ['one', 'two'] })
    const listed = await application.ctx.models.get('mine')?.listModels(new AbortController().signal)
    expect(listed?.map(({ id }) => id)).toEqual(['one', 'two'])
  })
  it('lets the person’s headers take the place of Bosun’s, however they are spelled, for answers and lists alike', async () => {
    const { application, server: asked } = await served({ parts: [{ text: 'ok' }] }, { entry: { headers: { Authorization: 'Token abc' }, keyName: 'MY_KEY' }, secrets: { MY_KEY: 'sk-1' } })
    await application.ctx.models.get('mine')?.listModels(new AbortController().signal)
    expect(asked.requests.map(({ path, headers }) => [path, headers['authorization']])).toEqual([['/v1/chat/completions', 'Token abc'], ['/v1/models', 'Token abc']])
  })
})

describe('16.4 retry', () => {
  const normal: RetryPolicy = { mode: 'normal', maxRetries: 5, initialDelayMs: 500, maxDelayMs: 10_000, jitter: 0.1 }
  const delays = (policy: RetryPolicy, count: number, failure: Failure, chance = 0.5) => Array.from({ length: count }, (_, index) => delayFor(policy, { failure, retry: index + 1, chance }))
  it('is at most five times by default, after 500 ms doubling to 10 000', async () => {
    const { ctx } = await compose({ 'llm.retry.initialDelayMs': undefined })
    expect(ctx.models.get('deepseek-official')?.retryPolicy).toEqual(normal)
    expect(delays(normal, 6, failing('SERVER'))).toEqual([500, 1_000, 2_000, 4_000, 8_000, null])
    expect(delays({ ...normal, maxRetries: 9 }, 7, failing('SERVER')).at(-1)).toBe(10_000)
  })
  it('is spread by a tenth to both sides', () => expect([delays(normal, 1, failing('SERVER'), 0), delays(normal, 1, failing('SERVER'), 1)]).toEqual([[450], [550]]))
  it.each(['EMPTY_RESPONSE', 'RATE_LIMIT', 'SERVER', 'TIMEOUT', 'TRANSPORT'] as const)('is there for %s', (code) => expect(delays(normal, 1, failing(code))).toEqual([500]))
  it.each(['AUTH', 'QUOTA', 'STREAM_CLOSED', 'CONTEXT_WINDOW_EXCEEDED', 'INVALID_REQUEST', 'MALFORMED_RESPONSE', 'HTTP_418', 'ABORTED', 'NO_ADAPTER', 'UNKNOWN_MODEL'] as const)('is not there for %s', (code) =>
    expect(delays(normal, 1, failing(code))).toEqual([null]))
  it('keeps to the provider’s wait within the longest, without spread', () => expect(delays(normal, 1, failing('RATE_LIMIT', { providerRetryAfterMs: 10_000 }), 1)).toEqual([10_000]))
  it('gives up on a longer one in normal mode', () => expect(delays(normal, 1, failing('RATE_LIMIT', { providerRetryAfterMs: 10_001 }))).toEqual([null]))
  it('uses its own wait for a longer one in always mode, and never ends', () =>
    expect(delays({ ...normal, mode: 'always', jitter: 0 }, 9, failing('RATE_LIMIT', { providerRetryAfterMs: 60_000 }))).toEqual([500, 1_000, 2_000, 4_000, 8_000, ...Array.from({ length: 4 }, () => 10_000)]))

  it('logs each wait and each new attempt in the same step, numbered', async () => {
    const { agent } = await scripted([failWith(failing('SERVER')), failWith(failing('TIMEOUT')), sayText('ok')], { settings: { 'llm.retry.jitter': 0 } })
    expect(dataOf(agent, 'llm/retry').map(({ turn, step, provider, mode, retry, maxRetries, delayMs, failure }) => [turn, step, provider, mode, retry, maxRetries, delayMs, failure.code])).toEqual([
      [1, 1, 'scripted', 'normal', 1, 5, 1, 'SERVER'],
      [1, 1, 'scripted', 'normal', 2, 5, 2, 'TIMEOUT'],
    ])
    expect(dataOf(agent, 'llm/retry-started').map(({ retryId }) => retryId)).toEqual(dataOf(agent, 'llm/retry').map(({ retryId }) => retryId))
    expect(dataOf(agent, 'step/start')).toHaveLength(1)
  })
  it('counts by step', async () => {
    const busy = failWith(failing('SERVER'))
    const { agent } = await scripted([busy, callTools({ id: 'c', name: 'glob', args: { pattern: '*' } }), busy, sayText('ok')])
    expect(dataOf(agent, 'llm/retry').map(({ step, retry }) => [step, retry])).toEqual([[1, 1], [2, 1]])
  })
  it('counts by provider', async () => {
    const busy = failWith(failing('SERVER'))
    const application = await compose({ 'model.provider': 'a', 'model.name': 'm', 'llm.retry.maxRetries': 1, 'model.fallback': ['b/m'] })
    application.ctx.models.register(createScriptedAdapter([busy, busy], { provider: 'a' }))
    application.ctx.models.register(createScriptedAdapter([busy, sayText('ok')], { provider: 'b' }))
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    agent.followup(prompt('go'))
    await agent.whenIdle()
    expect(dataOf(agent, 'llm/retry').map(({ provider, retry }) => [provider, retry])).toEqual([['a', 1], ['b', 1]])
  })
  it('counts by the policy: the adapter’s own, else that of the settings', async () => {
    const own: RetryPolicy = { mode: 'always', maxRetries: 0, initialDelayMs: 1, maxDelayMs: 1, jitter: 0 }
    const { agent } = await scripted([failWith(failing('SERVER')), sayText('ok')], { retryPolicy: own })
    expect(dataOf(agent, 'llm/retry')).toMatchObject([{ policyKey: 'provider', mode: 'always', delayMs: 1 }])
    expect(dataOf((await scripted([failWith(failing('SERVER')), sayText('ok')])).agent, 'llm/retry')).toMatchObject([{ policyKey: 'settings' }])
  })
  it('may be set for one provider alone', async () => {
    const { agent } = await served(failures.server, { entry: { retry: { maxRetries: 2, initialDelayMs: 1 } } })
    expect(dataOf(agent, 'llm/retry').map(({ retry, maxRetries }) => [retry, maxRetries])).toEqual([[1, 2], [2, 2]])
  })
  it('ends its wait with a cancel', async () => {
    const rig = createLoopRig({ answers: [failWith(failing('RATE_LIMIT', { providerRetryAfterMs: 9_000 })), sayText('never')] })
    const agent = await rig.newAgent()
    agent.followup(prompt('go'))
    await settled()
    agent.cancel({ kind: 'user' })
    await agent.whenIdle()
    expect([endOf(agent), dataOf(agent, 'llm/retry-started'), rig.adapter.requests.length]).toEqual([{ kind: 'aborted', reason: { kind: 'user' } }, [], 1])
  })
  it('asks the listeners in turn: the first to answer wins, the others are not asked', async () => {
    const asked: string[] = []
    const rig = createLoopRig({
      answers: [failWith(failing('AUTH')), sayText('ok')],
      prepare: (ctx) => {
        ctx.on('agent/request-error', (_place, next) => (asked.push('first'), next()))
        ctx.on('agent/request-error', () => (asked.push('second'), { kind: 'retry' as const }))
        ctx.on('agent/request-error', (_place, next) => (asked.push('third'), next()))
      },
    })
    const agent = await rig.newAgent()
    agent.followup(prompt('go'))
    await agent.whenIdle()
    expect([asked, endOf(agent)]).toEqual([['first', 'second'], { kind: 'completed' }])
  })
})

describe('30.17 the fallback route', () => {
  it('takes over in the same step once the retries are used up, and the log says so', async () => {
    const application = await compose({ 'model.provider': 'a', 'model.name': 'm', 'llm.retry.maxRetries': 0, 'model.fallback': ['b/n'] })
    application.ctx.models.register(createScriptedAdapter([failWith(failing('SERVER'))], { provider: 'a' }))
    application.ctx.models.register(createScriptedAdapter([sayText('ok')], { provider: 'b' }))
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    agent.followup(prompt('go'))
    await agent.whenIdle()
    expect(dataOf(agent, 'llm/route')).toEqual([{ turn: 1, step: 1, from: { provider: 'a', model: 'm' }, to: { provider: 'b', model: 'n' }, failure: failing('SERVER') }])
    expect([dataOf(agent, 'request/context').map(({ provider }) => provider), endOf(agent)]).toEqual([['a', 'b'], { kind: 'completed' }])
  })
  it('ends with its turn, also when the session is opened anew', async () => {
    const application = await compose({ 'model.provider': 'a', 'model.name': 'm', 'llm.retry.maxRetries': 0, 'model.fallback': ['b/n'] })
    application.ctx.models.register(createScriptedAdapter([failWith(failing('SERVER'))], { provider: 'a' }))
    application.ctx.models.register(createScriptedAdapter([sayText('ok')], { provider: 'b' }))
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    agent.followup(prompt('go'))
    await agent.whenIdle()
    await agent.dispose()
    await application.ctx.agents.resume(agent.id)
    expect(application.ctx.agents.configurationOf(agent.id)).toMatchObject({ provider: 'a', model: 'm' })
  })
  it('does not hide a refused key', async () => {
    const application = await compose({ 'model.provider': 'a', 'model.name': 'm', 'model.fallback': ['b/n'] })
    application.ctx.models.register(createScriptedAdapter([failWith(failing('AUTH'))], { provider: 'a' }))
    application.ctx.models.register(createScriptedAdapter([sayText('never')], { provider: 'b' }))
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    agent.followup(prompt('go'))
    await agent.whenIdle()
    expect([failureOf(agent)?.code, dataOf(agent, 'llm/route')]).toEqual(['AUTH', []])
  })
})

describe('16.5 tokens', () => {
  const user = (text: string): Message => ({ id: 'u', role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } })
  it('are estimated as a quarter of the characters, four for each block and four for each role', () => {
    expect(estimateMessageTokens(user('x'.repeat(400)))).toBe(4 + 4 + 100)
    expect(estimateRequestTokens({ system: 'x'.repeat(40), tools: [], messages: [user('x'.repeat(400))] })).toBe(4 + 4 + 10 + 108)
  })
  it('are anchored to what the provider counted last', () =>
    expect(projectTokens({ ...someUsage, inputTokens: 1_000, cacheRead: 200, cacheWrite: 30, outputTokens: 4, reasoning: 1 }, [user('x'.repeat(400))])).toBe(1_235 + 108))
  it('of a model that nobody counts are marked as an estimate', async () => {
    const { agent } = await scripted([[...textParts('ok'), { type: 'usage', usage: { ...someUsage, isEstimate: true } }, stop]])
    expect(dataOf(agent, 'assistant/message')[0]?.usage).toEqual({ ...someUsage, isEstimate: true })
  })
})

describe('24.1 credentials', () => {
  it('are told of by name when they change', async () => {
    const secrets = memorySecrets()
    const application = await wholeApplication({ alter: (world) => ({ ...world, secrets }) })
    applications.push(application)
    const told: string[] = []
    application.ctx.on('credentials/updated', (name) => void told.push(name))
    await secrets.set('A_KEY', 'x')
    expect(told).toEqual(['A_KEY'])
  })
  it('are looked up anew for each request, so a key that was set a moment ago works at once', async () => {
    const secrets = memorySecrets()
    server = await startModelServer({ steps: [{ repeat: true, answer: { parts: [{ text: 'ok' }] } }] })
    const application = await wholeApplication({
      settings: { 'titles.enabled': false, 'model.provider': 'mine', 'model.name': 'm', providers: { mine: { baseUrl: server.url, keyName: 'A_KEY' } } },
      alter: (world) => ({ ...world, secrets }),
    })
    applications.push(application)
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    const ends: unknown[] = []
    for (const key of ['', 'sk-1']) {
      if (key !== '') await secrets.set('A_KEY', key)
      agent.followup(prompt(`with "${key}"`))
      await agent.whenIdle()
      ends.push(failureOf(agent)?.code ?? 'ok')
    }
    expect([ends, server.chats().map(({ headers }) => headers['authorization'])]).toEqual([['MISSING_CREDENTIAL', 'ok'], ['Bearer sk-1']])
  })
  it('count as absent when they are empty', async () => {
    const { agent } = await served({ parts: [] }, { entry: { keyName: 'EMPTY' }, secrets: { EMPTY: '  ' } })
    expect(failureOf(agent)?.code).toBe('MISSING_CREDENTIAL')
  })
})

describe('16 the editor’s models, route vscode-lm', () => {
  const call = (callId: string, pattern: string) => ({ type: 'call', callId, name: 'glob', input: { pattern } }) as const
  async function withEditor(...answers: readonly FakeAnswer[]) {
    const editorModels = createFakeEditorModels([fakeModel('acme/one', { canReadImages: true })])
    editorModels.play(...answers)
    const application = await wholeApplication({
      settings: { 'titles.enabled': false, 'llm.retry.maxRetries': 0, 'model.provider': 'vscode-lm', 'model.name': 'acme/one' },
      alter: (world) => ({ ...world, editorModels }),
    })
    applications.push(application)
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    agent.followup(prompt('go'))
    await agent.whenIdle()
    return { editorModels, agent, application }
  }

  it('work through parallel calls; the results go back together, the effort of the settings is left out', async () => {
    const { editorModels, agent } = await withEditor([{ type: 'text', text: 'Two looks.' }, call('a', '*.ts'), call('b', '*.md')], [{ type: 'text', text: 'Done.' }])
    expect(endOf(agent)).toEqual({ kind: 'completed' })
    const [first, second] = editorModels.requests
    expect(first?.tools.some(({ name }) => name === 'glob')).toBe(true)
    expect(second?.messages.slice(-2)).toMatchObject([
      { role: 'assistant', parts: [{ type: 'text', text: 'Two looks.' }, { type: 'call', callId: 'a' }, { type: 'call', callId: 'b' }] },
      { role: 'user', parts: [{ type: 'result', callId: 'a' }, { type: 'result', callId: 'b' }] },
    ])
    // What was said before is said again, part by part.
    expect(second?.messages.slice(0, first?.messages.length)).toEqual(first?.messages)
  })
  it('have their usage estimated, which the log says', async () => {
    const { agent } = await withEditor([{ type: 'text', text: 'Done.' }])
    expect(dataOf(agent, 'assistant/message')[0]?.usage).toMatchObject({ isEstimate: true, cacheRead: 0, reasoning: 0 })
  })
  it.each<[EditorModelErrorCode, FailureCode]>([['NO_PERMISSION', 'AUTH'], ['BLOCKED', 'QUOTA'], ['NOT_FOUND', 'UNKNOWN_MODEL'], ['UNKNOWN', 'SERVER']])('fail with the codes of the contract: %s is %s', async (said, code) => {
    const { agent } = await withEditor([{ type: 'throw', error: new EditorModelError(said, 'words') }])
    expect(failureOf(agent)).toMatchObject({ code, message: expect.stringContaining('words') })
  })
})
