import { expect, it } from 'vitest'
import { createChildBook, type Child } from '../../../../extension/features/subagents/child-book.ts'
import { createChildEnds } from '../../../../extension/features/subagents/child-ends.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

it.each(['agent', 'worktree'] as const)('whoever waits for a child hears of its end also when its %s cannot be put away', async (broken) => {
  const logger = createRecordingLogger()
  const clock = createManualClock()
  const book = createChildBook({ clock, logger })
  const [parent, agent] = [createFakeAgent({ id: 'parent' }), createFakeAgent({ id: 'child' })]
  const done: string[] = []
  const ending = (what: string) => async () => {
    done.push(what)
    if (what === broken) throw new Error('No space left.')
  }
  const child = { id: 'child', runId: 'r1', parent, agent: Object.assign(agent, { dispose: ending('agent') }), mode: 'one-shot', from: 0, worktree: { end: ending('worktree') }, settled: Promise.withResolvers() } as unknown as Child
  const { settle } = createChildEnds({ ctx: { agents: { live: () => parent } }, dispatch: { emit: (point: string) => done.push(point) }, clock, logger, newId: () => 'm1', governor: { rest: () => done.push('rest') }, book } as unknown as Parameters<typeof createChildEnds>[0])
  const outcome = await settle(child)
  expect(await child.settled.promise).toBe(outcome)
  expect(done).toEqual(['agent', 'rest', 'worktree', 'subagent/end'])
  expect(logger.lines).toEqual([{ level: 'error', message: 'An agent could not be put away in order.', facts: { session: 'child', error: 'No space left.' } }])
})
