import { beforeAll, describe, expect, it } from 'vitest'
import type { Agent } from '../../../extension/core/session/agent.ts'
import { createRecordedStore, diskOf, type DiskImage } from '../../support/disk-images.ts'
import { createGoalRig, goalCall, goalOf, rested, roundsOf, updateGoal } from '../../support/goal-rig.ts'
import { prompt } from '../../support/loop-rig.ts'
import { createMemoryEventStore } from '../../support/memory-event-store.ts'
import { callTools, sayText } from '../../support/scripted-adapter.ts'

/*
 * The host dies after any event of a session that works towards a goal. Whatever the disk held then opens again: the goal is as the
 * log tells, nothing goes on by itself, and once the person resumes it the next round is the one that follows.
 */

const look = callTools({ id: null, name: 'look', args: {} })

async function recorded(): Promise<{ readonly images: readonly DiskImage[]; readonly id: string }> {
  const { store, images } = createRecordedStore()
  const rig = createGoalRig({ store })
  const agent = await rig.begun(goalCall('create_goal', { objective: 'Make it green' }), sayText('made'), look, sayText('one'), updateGoal(rig, () => agentOf(), { action: 'blocked', blocked_reason: 'no way' }, 'b1'), sayText('two'), look, sayText('three'), updateGoal(rig, () => agentOf(), { action: 'complete' }, 'c1'), sayText('done'))
  function agentOf(): Agent {
    return rig.agents.list()[0]!
  }
  await rested(agent)
  expect([goalOf(rig, agent).goal.phase, roundsOf(agent)]).toEqual(['complete', [1, 2, 3, 4]])
  // Not only what was written at once: a write may be cut behind any event.
  await agent.session.flush()
  const lines = (images.at(-1)?.get(agent.id) ?? '').split('\n').slice(0, -1)
  return { images: lines.map((_line, index) => new Map([[agent.id, `${lines.slice(0, index + 1).join('\n')}\n`]])), id: agent.id }
}

describe('killed after any event', () => {
  let all: Awaited<ReturnType<typeof recorded>>
  beforeAll(async () => void (all = await recorded()))

  it('there are many such moments', () => expect(all.images.length).toBeGreaterThan(20))

  it('the goal is read as it stood, rests, and goes on with the round that follows', async () => {
    for (const [moment, image] of all.images.entries()) {
      const where = `moment ${moment}`
      const rig = createGoalRig({ store: createMemoryEventStore({ disk: diskOf(image) }) })
      const agent = await rig.agents.resume(all.id)
      await rested(agent)
      const state = rig.goals.read(agent.session)
      expect(rig.adapter.requests.length, where).toBe(0)
      if (state === null || state.goal.phase === 'complete') continue
      const { goal } = state
      const before = roundsOf(agent)
      expect([state.activation, goal.phase, goal.roundsStarted], where).toEqual(['disarmed', 'active', before.length])
      rig.adapter.play(updateGoal(rig, () => agent, { action: 'complete' }, 'late'), sayText('done'))
      // What of the person waited in the inbox waits on for them.
      if (agent.inbox.nextTurn.some(({ source }) => source.kind === 'user')) agent.followup(prompt('go on'))
      rig.goals.resume(agent, goal)
      await rested(agent)
      expect([goalOf(rig, agent).goal.phase, roundsOf(agent)], where).toEqual(['complete', [...before, before.length + 1]])
    }
  })
})
