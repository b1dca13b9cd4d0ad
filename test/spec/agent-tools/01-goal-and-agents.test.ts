import { describe, expect, it } from 'vitest'
import { costPlugin } from '../../../extension/core/cost/plugin.ts'
import type { Kernel, Plugin } from '../../../extension/core/kernel/plugin.ts'
import { goalsPlugin } from '../../../extension/features/goals/plugin.ts'
import type { Goals } from '../../../extension/features/goals/service.ts'
import { agentTools } from '../../../extension/tools/agents/plugin.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { messagesOf, roundsOf } from '../../support/goal-rig.ts'
import { gate, settled, textOf } from '../../support/loop-rig.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { MemoryFileSystem } from '../../support/memory-file-system.ts'
import { createRecordingLogger } from '../../support/quiet-logger.ts'
import { callTools, failWith, sayText } from '../../support/scripted-adapter.ts'
import { createSubagentRig, type Minds, type SubagentRig } from '../../support/subagent-rig.ts'

/* A goal of a session whose agents are at work. */

async function start(minds: Minds, settings = {}): Promise<SubagentRig & { readonly goals: Goals }> {
  let ids = 0
  const machine = createFakeMachine({ randomId: () => `m-${(ids += 1)}` })
  const logger = createRecordingLogger()
  const clock = createManualClock()
  const goals = ({ dispatch }: Kernel): Plugin => goalsPlugin({ clock, files: new MemoryFileSystem(), logger, machine, workspace: { isTrusted: () => true, onDidChangeTrust: () => () => {} }, dispatch, problemFeed: undefined, isOneTurn: false })
  const rig = await createSubagentRig({ minds, settings, plugins: [agentTools({ machine, forkMode: () => 'one-shot' }), costPlugin({ clock, logger }), goals] })
  return Object.assign(rig, { goals: rig.ctx.goals })
}

const callSubagent = (name: string) => callTools({ id: `start ${name}`, name: 'subagent', args: { description: name, prompt: `@${name} work` } })
const spokenTo = (rig: SubagentRig) => messagesOf(rig.root).map(({ source }) => (source.kind === 'goal' ? `round ${source.round}` : source.kind))

describe('1.6 while agents that the session started are at work', () => {
  it('no round begins; what they say at their end is heard first, then the next one begins', async () => {
    const inner = gate()
    const rig = await start({
      root: [callSubagent('one'), sayText('waiting for one'), sayText('heard one'), sayText('round two done')],
      one: [[{ type: 'wait', until: inner.opened }, ...sayText('I found it')]],
    })
    rig.goals.create(rig.root, { objective: '@root do it', maxGoalRounds: 2 })
    await expect.poll(() => rig.asked('one').length).toBe(1)
    await rig.root.whenIdle()
    await settled()
    expect([roundsOf(rig.root), rig.goals.read(rig.root.session)]).toMatchObject([[1], { heldBy: 'agents', activation: 'armed', goal: { phase: 'active' } }])
    inner.open()
    await rig.quiet()
    expect(spokenTo(rig)).toEqual(['round 1', 'subagent-settled', 'round 2'])
    expect(rig.goals.read(rig.root.session)).toMatchObject({ heldBy: null, goal: { phase: 'blocked', blockedReason: { code: 'round-limit' } } })
  })

  it('one that fails lets it go on as well', async () => {
    const rig = await start({ root: [callSubagent('one'), sayText('waiting'), sayText('heard')], one: [failWith({ code: 'SERVER', message: 'No.' })] }, { 'llm.retry.maxRetries': 0 })
    rig.goals.create(rig.root, { objective: '@root do it', maxGoalRounds: 2 })
    await rig.quiet()
    expect(roundsOf(rig.root)).toEqual([1, 2])
  })

  it('one that never ends holds it until the person ends its turn', async () => {
    const rig = await start({ root: [callSubagent('one'), sayText('waiting'), sayText('heard')], one: [[{ type: 'hang' }]] })
    rig.goals.create(rig.root, { objective: '@root do it', maxGoalRounds: 2 })
    await expect.poll(() => rig.asked('one').length).toBe(1)
    await rig.root.whenIdle()
    await settled()
    expect(roundsOf(rig.root)).toEqual([1])
    expect(rig.subagents.interrupt({ from: 'person', childId: rig.subagents.known()[0]!.id })).toBe(true)
    await rig.quiet()
    expect(spokenTo(rig)).toEqual(['round 1', 'subagent-settled', 'round 2'])
  })

  it('tells when it begins to wait and when it is over, once each', async () => {
    const inner = gate()
    const rig = await start({ root: [callSubagent('one'), sayText('waiting'), sayText('heard')], one: [[{ type: 'wait', until: inner.opened }, ...sayText('x')]] })
    const holds: (string | null)[] = []
    rig.goals.onDidChange(({ session }) => {
      const hold = rig.goals.read(session)?.heldBy ?? null
      if (hold !== (holds.at(-1) ?? null)) holds.push(hold)
    })
    rig.goals.create(rig.root, { objective: '@root do it', maxGoalRounds: 2 })
    await expect.poll(() => rig.goals.read(rig.root.session)?.heldBy).toBe('agents')
    inner.open()
    await rig.quiet()
    expect(holds).toEqual(['agents', null])
  })

  it('a pause, a resume and an end of the goal are possible meanwhile', async () => {
    const inner = gate()
    const rig = await start({ root: [callSubagent('one'), sayText('waiting'), sayText('heard')], one: [[{ type: 'wait', until: inner.opened }, ...sayText('x')]] })
    rig.goals.create(rig.root, { objective: '@root do it', maxGoalRounds: 5 })
    await expect.poll(() => rig.goals.read(rig.root.session)?.heldBy).toBe('agents')
    const { goal } = rig.goals.pause(rig.root, rig.goals.read(rig.root.session)!.goal)
    expect(rig.goals.resume(rig.root, goal)).toMatchObject({ heldBy: 'agents', activation: 'armed' })
    rig.goals.complete(rig.root, rig.goals.read(rig.root.session)!.goal)
    inner.open()
    await rig.quiet()
    expect([roundsOf(rig.root), messagesOf(rig.root).map(textOf).at(-1)]).toEqual([[1], expect.stringContaining('has finished')])
  })

  it('what they use counts, and ends the goal when its budget is used up', async () => {
    const inner = gate()
    const rig = await start({
      root: [callSubagent('one'), sayText('waiting'), sayText('heard')],
      one: [callTools({ id: 'list', name: 'list_agents', args: {} }, ), [{ type: 'wait', until: inner.opened }, ...sayText('x')]],
    })
    rig.goals.create(rig.root, { objective: '@root do it', maxGoalRounds: 5, terms: { maxTokens: 40 } })
    await expect.poll(() => rig.asked('one').length).toBe(2)
    await settled()
    const state = rig.goals.read(rig.root.session)
    expect([state?.used.tokens, state?.goal.phase, state?.goal.blockedReason?.code]).toEqual([expect.any(Number), 'blocked', 'token-limit'])
    inner.open()
    await rig.quiet()
    expect(roundsOf(rig.root)).toEqual([1])
  })
})
