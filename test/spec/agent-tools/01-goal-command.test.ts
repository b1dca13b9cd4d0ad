import { describe, expect, it } from 'vitest'
import type { ImageBlock } from '../../../extension/core/log/message.ts'
import { goalOrder } from '../../../extension/features/goals/command.ts'
import { changesOf, createGoalRig, goalOf, messagesOf, rested } from '../../support/goal-rig.ts'
import { sayText } from '../../support/scripted-adapter.ts'

const image: ImageBlock = { type: 'image', attachment: { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 1 } }

describe('1.7 the grammar of /goal', () => {
  const rows: readonly (readonly [string, object])[] = [
    ['', { kind: 'show' }],
    ['clear', { kind: 'clear' }],
    ['PAUSE', { kind: 'pause' }],
    [' Resume ', { kind: 'resume' }],
    ['pause everything that is not urgent', { kind: 'create', objective: 'pause everything that is not urgent' }],
    ['clear the backlog', { kind: 'create', objective: 'clear the backlog' }],
    ['edit', { kind: 'bad', problem: 'Say the new objective after /goal edit.' }],
    ['edit  a new one', { kind: 'edit', objective: 'a new one' }],
    ['Edit\nover lines\nmore', { kind: 'edit', objective: 'over lines\nmore' }],
    ['editing is slow', { kind: 'create', objective: 'editing is slow' }],
  ]
  it.each(rows)('%j', (args, order) => expect(goalOrder(args)).toEqual(order))
})

describe('1.7 /goal', () => {
  async function rig() {
    const made = createGoalRig({ isTrusted: false })
    const agent = await made.begun()
    const goal = async (args: string, images: readonly ImageBlock[] = []) => {
      const { kind, text } = await made.ctx.commands.run(agent, `/goal ${args}`.trim(), { images })
      return [kind, text]
    }
    return { ...made, rig: made, agent, goal }
  }
  it('shows, creates, edits, pauses, resumes and clears', async () => {
    const { goal, agent } = await rig()
    expect(await goal('')).toEqual(['success', 'There is no goal. Say what to reach after /goal.'])
    expect(await goal('clear')).toEqual(['success', 'There is no goal.'])
    expect(await goal('Make it green')).toEqual(['success', expect.stringContaining('round 0 of 256): Make it green')])
    expect(await goal('edit Make it blue')).toEqual(['success', expect.stringContaining('Make it blue')])
    expect(await goal('pause')).toEqual(['success', expect.stringContaining('paused')])
    expect(await goal('resume')).toEqual(['success', expect.stringContaining('active')])
    expect(await goal('')).toEqual(['success', expect.stringContaining('Make it blue')])
    expect(await goal('clear')).toEqual(['success', 'The goal is cleared.'])
    expect(changesOf(agent)).toEqual(['create', 'edit', 'pause', 'resume', 'clear'])
  })
  it('a goal over an unfinished one is an error; on a complete one, edit makes a new one', async () => {
    const { goal, goals, rig: made, agent } = await rig()
    await goal('One')
    expect(await goal('Two')).toEqual(['error', expect.stringContaining('unfinished goal: One')])
    goals.complete(agent, goalOf(made, agent).goal)
    expect((await goal('edit Three'))[0]).toBe('success')
    expect([changesOf(agent), goalOf(made, agent).goal.revision]).toEqual([['create', 'complete', 'create'], 1])
  })
  it('what the goal does not allow becomes one kind of error', async () => {
    const { goal } = await rig()
    expect((await goal('pause'))[0]).toBe('error')
    await goal('One')
    await goal('pause')
    expect(await goal('pause')).toEqual(['error', expect.stringMatching(/^That is not possible as the goal stands: /)])
    expect(await goal('edit')).toEqual(['error', 'Say the new objective after /goal edit.'])
  })
  it('images go with create and edit alone, as one message of the person before the next round', async () => {
    const { goal, agent, adapter } = await rig()
    expect(await goal('clear', [image])).toEqual(['error', expect.stringContaining('Images go with')])
    expect(await goal('', [image])).toEqual(['error', expect.stringContaining('Images go with')])
    adapter.play(sayText('Seen.'))
    expect((await goal('As in the picture', [image]))[0]).toBe('success')
    await rested(agent)
    expect(messagesOf(agent).slice(1)).toMatchObject([{ content: [image], source: { kind: 'user' } }])
  })
})
