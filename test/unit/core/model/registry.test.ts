import { describe, expect, it } from 'vitest'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import { ModelError, type ModelRequest, type StreamChunk } from '../../../../extension/core/model/contract.ts'
import { modelsPlugin } from '../../../../extension/core/model/registry.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'
import { callParts, createScriptedAdapter, reasoningParts, sayText, textParts, type ScriptedPart } from '../../../support/scripted-adapter.ts'

const setUp = async () => {
  const kernel = createKernel({ logger: createRecordingLogger() })
  await kernel.root.plugin(modelsPlugin({ dispatch: kernel.dispatch })).ready
  return kernel
}

const request = (signal = new AbortController().signal): ModelRequest => ({
  tools: [],
  messages: [],
  config: { provider: 'scripted', model: 'm1' },
  signal,
  loadAttachment: () => Promise.reject(new Error('none')),
})

const collect = async (stream: AsyncIterable<StreamChunk>) => {
  const chunks: StreamChunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

const failed = (code: string, kind = 'error') => ({ type: 'finish', reason: { kind, failure: expect.objectContaining({ code }) } })

describe('the registry of models', () => {
  it('lists what is registered, says so on every change, and forgets what goes with its plugin', async () => {
    const kernel = await setUp()
    let changes = 0
    kernel.root.on('llm/adapters-updated', () => void (changes += 1))
    let changesInLayer = 0
    kernel.root.scoped(kernel.createScope('a preset', null)).on('llm/adapters-updated', () => void (changesInLayer += 1))
    const adapter = createScriptedAdapter()
    const fiber = kernel.root.plugin({ name: 'one', inject: ['models'], apply: (ctx) => void ctx.models.register(adapter) })
    await fiber.ready
    expect([kernel.root.models.list(), kernel.root.models.get('scripted')]).toEqual([[adapter], adapter])
    await fiber.dispose()
    expect([kernel.root.models.list(), changes, changesInLayer]).toEqual([[], 2, 2])
  })

  it('refuses a second provider of one name, and takes it once the first is gone', async () => {
    const { root } = await setUp()
    const undo = root.models.register(createScriptedAdapter())
    expect(() => root.models.register(createScriptedAdapter())).toThrow(expect.objectContaining({ code: 'DUPLICATE_ADAPTER' }))
    undo()
    undo()
    expect(() => root.models.register(createScriptedAdapter())).not.toThrow()
  })

  it('binds an adapter for one stream alone', async () => {
    const { root } = await setUp()
    const undo = root.models.register(createScriptedAdapter([sayText('bound')]))
    const call = root.models.prepareCall('scripted')
    undo()
    expect(await collect(call.stream(request()))).toEqual(sayText('bound'))
    expect(() => call.stream(request())).toThrow(expect.objectContaining({ code: 'INVALID_PREPARED_CALL' }))
  })

  it('ends a request to a route nobody registered with the reason', async () => {
    const { root } = await setUp()
    expect(await collect(root.models.prepareCall('nowhere').stream(request()))).toEqual([failed('NO_ADAPTER')])
  })

  it('lets a listener serve a route nobody registered, wrap a stream, and fail loudly', async () => {
    const { root } = await setUp()
    root.models.register(createScriptedAdapter([sayText('inner')]))
    const undo = root.on('llm/stream', async (asked, next) => {
      if (asked.config.provider === 'nowhere') return (async function* () { yield* sayText('served') })()
      return next()
    })
    const nowhere = { ...request(), config: { provider: 'nowhere', model: 'x' } }
    expect(await collect(root.models.prepareCall('nowhere').stream(nowhere))).toEqual(sayText('served'))
    expect(await collect(root.models.prepareCall('scripted').stream(request()))).toEqual(sayText('inner'))
    undo()
    root.on('llm/stream', () => Promise.reject(new Error('a defect of the listener')))
    await expect(collect(root.models.prepareCall('scripted').stream(request()))).rejects.toThrow('a defect of the listener')
  })
})

describe('a stream', () => {
  const play = async (parts: readonly ScriptedPart[]) => {
    const { root } = await setUp()
    root.models.register(createScriptedAdapter([parts]))
    return collect(root.models.prepareCall('scripted').stream(request()))
  }
  const stop: StreamChunk = { type: 'finish', reason: { kind: 'stop' } }
  const failure = { code: 'RATE_LIMIT', message: 'Wait.', status: 429, providerRetryAfterMs: 7000, requestId: 'r1' } as const

  const rows: readonly [name: string, parts: readonly ScriptedPart[], chunks: readonly unknown[]][] = [
    ['goes through as it is', sayText('hi'), sayText('hi')],
    ['keeps the failure of a throw', [{ type: 'throw', error: new ModelError(failure) }], [{ type: 'finish', reason: { kind: 'error', failure } }]],
    ['names an unknown throw', [{ type: 'throw', error: new Error('odd') }], [failed('UNKNOWN')]],
    ['survives a thrown value without text', [{ type: 'throw', error: Object.create(null) }], [failed('UNKNOWN')]],
    ['keeps what came before a throw', [...textParts('half'), { type: 'throw', error: new Error('odd') }], [...textParts('half'), failed('UNKNOWN')]],
    ['that just ends is closed', textParts('half'), [...textParts('half'), failed('STREAM_CLOSED')]],
    ['without anything is empty', [stop], [failed('EMPTY_RESPONSE')]],
    ['of blanks is empty', [...textParts(' \n'), stop], [...textParts(' \n'), failed('EMPTY_RESPONSE')]],
    ['of thought alone is empty', [...reasoningParts('hm'), stop], [...reasoningParts('hm'), failed('EMPTY_RESPONSE')]],
    [
      'of calls alone is an answer',
      [...callParts({ id: 'c', name: 'read', args: {} }), { type: 'finish', reason: { kind: 'tool-calls' } }],
      [...callParts({ id: 'c', name: 'read', args: {} }), { type: 'finish', reason: { kind: 'tool-calls' } }],
    ],
    ['cut short by its cap may be empty', [{ type: 'finish', reason: { kind: 'max-tokens' } }], [{ type: 'finish', reason: { kind: 'max-tokens' } }]],
    ['of more than anybody can read is ended', [...textParts('x'.repeat(9_000_000)), ...textParts('x'.repeat(9_000_000), 1)], [...textParts('x'.repeat(9_000_000)), { type: 'block-start', index: 1, block: 'text' }, failed('MALFORMED_RESPONSE')]],
    ['says nothing after its finish', [...sayText('a'), ...textParts('b', 1), stop], sayText('a')],
  ]
  it.each(rows)('%s', async (_name, parts, chunks) => expect(await play(parts)).toEqual(chunks))

  it('ends at once when it is cancelled, even by an adapter that does not listen', async () => {
    const { root } = await setUp()
    const cancel = new AbortController()
    root.models.register(
      createScriptedAdapter([[...textParts('half'), { type: 'do', act: () => cancel.abort() }, { type: 'wait', until: new Promise(() => undefined) }]]),
    )
    expect(await collect(root.models.prepareCall('scripted').stream(request(cancel.signal)))).toEqual([...textParts('half'), failed('ABORTED', 'aborted')])
  })

  it('does not start when it is cancelled before', async () => {
    const { root } = await setUp()
    const adapter = createScriptedAdapter([sayText('never')])
    root.models.register(adapter)
    expect(await collect(root.models.prepareCall('scripted').stream(request(AbortSignal.abort())))).toEqual([failed('ABORTED', 'aborted')])
    expect(adapter.requests).toEqual([])
  })
})
