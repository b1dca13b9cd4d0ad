import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compactionPlugin } from '../../../../extension/core/compaction/plugin.ts'
import type { ModelAdapter, ModelRequest, StreamChunk } from '../../../../extension/core/model/contract.ts'
import { estimateRequestTokens } from '../../../../extension/core/model/token-estimate.ts'
import { createFakeMachine } from '../../../support/fake-machine.ts'
import { createLoopRig, fakeTool, prompt } from '../../../support/loop-rig.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { createMemoryBlobStore } from '../../../support/memory-blob-store.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'
import { runCount } from '../../../support/run-count.ts'
import { callParts, createScriptedAdapter, failWith, textParts } from '../../../support/scripted-adapter.ts'

interface World {
  readonly contextWindow: number
  /** Tokens of this provider for one of the estimate. */
  readonly density: number
  readonly countsUsage: boolean
  /** Characters of each result, by step; an empty list is an answer in words. */
  readonly steps: readonly (readonly number[])[]
  /** Words of each summary, over and over. */
  readonly summaries: readonly number[]
}

/** A model with a window that is really closed. */
function createModel({ contextWindow, density, countsUsage, steps, summaries }: World, sizes: number[]): ModelAdapter {
  const script = [...steps]
  let asked = 0
  const answer = (request: ModelRequest): readonly StreamChunk[] => {
    const tokens = Math.ceil(density * estimateRequestTokens(request))
    if (tokens > contextWindow) return failWith({ code: 'CONTEXT_WINDOW_EXCEEDED', message: `${tokens} tokens` })
    sizes.push(tokens)
    const usage: readonly StreamChunk[] = countsUsage ? [{ type: 'usage', usage: { inputTokens: tokens, outputTokens: 20, cacheRead: 0, cacheWrite: 0, reasoning: 0 } }] : []
    if (request.purpose === 'compaction') return [...textParts('word '.repeat(summaries[asked++ % summaries.length]!)), ...usage, { type: 'finish', reason: { kind: 'stop' } }]
    const lengths = script.shift() ?? []
    if (lengths.length === 0) return [...textParts('Done.'), ...usage, { type: 'finish', reason: { kind: 'stop' } }]
    const calls = lengths.flatMap((length, index) => callParts({ id: `c${steps.length - script.length}-${index}`, name: 'look', args: { length } }, index))
    return [...calls, ...usage, { type: 'finish', reason: { kind: 'tool-calls' } }]
  }
  return {
    ...createScriptedAdapter([], { model: { contextWindow, maxOutputTokens: Math.floor(contextWindow / 8) } }),
    async *stream(request) {
      yield* answer(request)
    },
  }
}

async function endOf(world: World): Promise<readonly string[]> {
  const rig = createLoopRig({
    settings: { 'agent.maxStepsPerTurn': 0 },
    tools: [fakeTool('look', (args) => 'line of text\n'.repeat(5_000).slice(0, (args as { length: number }).length))],
    prepare: (ctx, kernel) =>
      void ctx.plugin(compactionPlugin({ clock: createManualClock(), machine: createFakeMachine(), logger: createRecordingLogger(), dispatch: kernel.dispatch, blobs: createMemoryBlobStore() })),
    adapter: { ...createModel(world, []), requests: [], play: () => {} },
  })
  const agent = await rig.newAgent()
  agent.followup(prompt('Do the work and tell me what came of it.'))
  await agent.whenIdle()
  return agent.session.milestones().flatMap(({ type, data }) => (type === 'turn/end' ? [JSON.stringify(data.reason)] : []))
}

const worlds = fc.record<World>({
  contextWindow: fc.integer({ min: 6_000, max: 40_000 }),
  density: fc.double({ min: 0.6, max: 2.5, noNaN: true }),
  countsUsage: fc.boolean(),
  steps: fc.array(fc.array(fc.integer({ min: 10, max: 30_000 }), { minLength: 1, maxLength: 3 }), { minLength: 20, maxLength: 60 }),
  summaries: fc.array(fc.integer({ min: 20, max: 300 }), { minLength: 1, maxLength: 3 }),
})

describe('a talk over a window that is really closed', () => {
  it('comes to its end, whatever the tools give and however the provider counts', { timeout: 120_000 }, () =>
    fc.assert(
      fc.asyncProperty(worlds, async (world) => {
        expect(await endOf(world)).toEqual(['{"kind":"completed"}'])
      }),
      { numRuns: runCount({ full: 8, desk: 3 }) },
    ))
})
