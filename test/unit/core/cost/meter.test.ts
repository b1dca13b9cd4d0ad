import { describe, expect, it } from 'vitest'
import { createMeter } from '../../../../extension/core/cost/meter.ts'
import type { ModelAdapter, ModelRequest, StreamChunk, Usage } from '../../../../extension/core/model/contract.ts'
import { createMemoryEventStore } from '../../../support/memory-event-store.ts'
import { createSessionRig } from '../../../support/session-rig.ts'
import { createScriptedAdapter } from '../../../support/scripted-adapter.ts'

const usage: Usage = { inputTokens: 10, outputTokens: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
const parts: readonly StreamChunk[] = [{ type: 'text-delta', index: 0, delta: 'Yes' }, { type: 'usage', usage }, { type: 'finish', reason: { kind: 'stop' } }]
async function* streamOf(chunks: readonly StreamChunk[]) {
  yield* chunks
}

async function setUp(adapter: ModelAdapter | undefined = createScriptedAdapter()) {
  const rig = await createSessionRig({ events: createMemoryEventStore() })
  const meter = createMeter({ sessions: rig.sessions, models: { get: () => adapter }, clock: rig.clock, logger: rig.logger })
  const session = await rig.sessions.create({ cwd: '/p', id: 's' })
  const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
    tools: [], messages: [], config: { provider: 'p', model: 'm' }, sessionId: 's', purpose: 'turn', signal: new AbortController().signal, loadAttachment: () => Promise.reject(new Error('none')), ...more,
  })
  const pass = async (chunks: readonly StreamChunk[], more?: Partial<ModelRequest>) => {
    const seen: StreamChunk[] = []
    for await (const part of meter.watch(request(more), async () => streamOf(chunks))) seen.push(part)
    return seen
  }
  const noted = () => session.events().map(({ data }) => data as { readonly purpose?: string; readonly usage: Usage })
  return { ...rig, meter, session, request, pass, noted }
}

describe('the meter', () => {
  it('changes nothing of a stream', async () => {
    const { pass } = await setUp()
    expect(await pass(parts)).toEqual(parts)
  })

  it.each(['turn', 'title', 'compaction'] as const)('notes a request for a %s', async (purpose) => {
    const { pass, noted } = await setUp()
    await pass(parts, { purpose })
    expect(noted()).toMatchObject([{ purpose, usage }])
  })

  it('notes the newest count of a stream once, also when it is left half way', async () => {
    const { meter, request, noted } = await setUp()
    const more = { ...usage, outputTokens: 9 }
    for await (const part of meter.watch(request(), async () => streamOf([{ type: 'usage', usage }, { type: 'usage', usage: more }, ...parts]))) if (part.type === 'text-delta') break
    expect(noted()).toMatchObject([{ usage: more }])
  })

  it('notes what a failed request had used', async () => {
    const { pass, noted } = await setUp()
    await pass([{ type: 'usage', usage }, { type: 'finish', reason: { kind: 'error', failure: { code: 'SERVER', message: 'No.' } } }])
    expect(noted()).toMatchObject([{ usage }])
  })

  it('lets a throw through and notes what was used before it', async () => {
    const { meter, request, noted } = await setUp()
    const broken = async function* () {
      yield { type: 'usage', usage } as const
      throw new Error('Broken.')
    }
    const read = async () => {
      for await (const _ of meter.watch(request(), async () => broken()));
    }
    await expect(read()).rejects.toThrow('Broken.')
    expect(noted()).toHaveLength(1)
  })

  it('says nothing of a request without a session, or of one that is gone', async () => {
    const { pass, noted, session, logger } = await setUp()
    expect(await pass(parts, { sessionId: 'other' })).toEqual(parts)
    expect(noted()).toEqual([])
    await session.close()
    expect(await pass(parts)).toEqual(parts)
    expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  it('goes on when its session is closed under it', async () => {
    const { meter, request, session } = await setUp()
    const seen: string[] = []
    for await (const part of meter.watch(request(), async () => streamOf(parts))) {
      seen.push(part.type)
      if (part.type === 'text-delta') await session.close()
    }
    expect(seen).toEqual(['text-delta', 'usage', 'finish'])
  })

  it('takes a model that cannot be resolved for one of unknown price', async () => {
    const adapter = { ...createScriptedAdapter(), resolveModel: () => Promise.reject(new Error('Unknown.')) }
    const { pass, noted } = await setUp(adapter)
    await pass(parts)
    expect(noted()[0]).not.toHaveProperty('rates')
  })

  it('asks an adapter for a price once a minute at most', async () => {
    let asked = 0
    const scripted = createScriptedAdapter()
    const { pass, clock } = await setUp({ ...scripted, resolveModel: (model) => (asked++, scripted.resolveModel(model)) })
    for (const wait of [0, 30_000, 40_000]) {
      clock.advance(wait)
      await pass(parts)
    }
    expect(asked).toBe(2)
  })
})
