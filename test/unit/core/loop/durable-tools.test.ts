import { expect, it } from 'vitest'
import { durableTools } from '../../../../extension/core/loop/durable-tools.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { fakeTool } from '../../../support/loop-rig.ts'
import { createToolBench, outcomeOf } from '../../../support/tool-bench.ts'
import type { RunOptions } from '../../../support/tool-bench.ts'

/** What happened, in order, for one call. */
async function traced(options: RunOptions, flush: () => Promise<void> = async () => {}) {
  const trace: string[] = []
  const agent = createFakeAgent()
  agent.session.flush = async () => {
    trace.push('sync')
    await flush()
  }
  const bench = createToolBench(agent)
  const fiber = await bench.mount(durableTools)
  bench.ctx.tools.register(fakeTool('act', () => (trace.push('body'), 'ok')))
  const outcome = outcomeOf(await bench.run('act', {}, options))
  return { trace, outcome, fiber, bench }
}

it('waits for the log before the body of a top-level call', async () => expect((await traced({})).trace).toEqual(['sync', 'body']))
it('relies on the outer call for a call inside it', async () => expect((await traced({ isNested: true })).trace).toEqual(['body']))
it('has nothing to wait for without an agent', async () => expect((await traced({ agent: null })).trace).toEqual(['body']))
it('lets no body run when the log fails, and says why', async () => {
  const { trace, outcome } = await traced({}, () => Promise.reject(new Error('disk full')))
  expect([trace, outcome]).toEqual([['sync'], { code: null, message: 'disk full' }])
})
it('goes with its plugin', async () => {
  const { trace, fiber, bench } = await traced({})
  await fiber.dispose()
  await bench.run('act', {})
  expect(trace).toEqual(['sync', 'body', 'body'])
})
