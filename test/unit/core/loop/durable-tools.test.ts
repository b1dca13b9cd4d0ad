import { expect, it } from 'vitest'
import { durableTools } from '../../../../extension/core/loop/durable-tools.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { fakeTool } from '../../../support/loop-rig.ts'
import { createToolBench, outcomeOf } from '../../../support/tool-bench.ts'
import type { RunOptions } from '../../../support/tool-bench.ts'

/** What happened, in order, for one call. */
async function traced(options: RunOptions, flush: () => Promise<void> = async () => {}, tool = 'act') {
  const trace: string[] = []
  const agent = createFakeAgent()
  agent.session.flush = async () => {
    trace.push('sync')
    await new Promise((resolve) => setImmediate(resolve))
    await flush()
    trace.push('synced')
  }
  const bench = createToolBench(agent)
  const fiber = await bench.mount(durableTools)
  bench.ctx.tools.register(fakeTool(tool, () => (trace.push('body'), 'ok')))
  const outcome = outcomeOf(await bench.run(tool, {}, options))
  return { trace, outcome, fiber, bench }
}

it('waits for the log before the body of a top-level call', async () => expect((await traced({})).trace).toEqual(['sync', 'synced', 'body']))
it('relies on the outer call for a call inside it', async () => expect((await traced({ isNested: true })).trace).toEqual(['body']))
it('has nothing to wait for without an agent', async () => expect((await traced({ agent: null })).trace).toEqual(['body']))
it('lets no body run when the log fails, and says why', async () => {
  const { trace, outcome } = await traced({}, () => Promise.reject(new Error('disk full')))
  expect([trace, outcome]).toEqual([['sync'], { code: null, message: 'disk full' }])
})
it('lets a tool that only reads begin meanwhile, and holds what it found until the log is written', async () => {
  const { trace, outcome } = await traced({}, async () => {}, 'read')
  expect([trace, outcome]).toEqual([['sync', 'body', 'synced'], 'ok'])
})
it('throws away what was read when the log fails', async () => {
  const { trace, outcome } = await traced({}, () => Promise.reject(new Error('disk full')), 'grep')
  expect([trace, outcome]).toEqual([['sync', 'body'], { code: null, message: 'disk full' }])
})
it('goes with its plugin', async () => {
  const { trace, fiber, bench } = await traced({})
  await fiber.dispose()
  await bench.run('act', {})
  expect(trace).toEqual(['sync', 'synced', 'body', 'body'])
})
