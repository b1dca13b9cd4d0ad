import { describe, expect, it } from 'vitest'
import type { Context, Kernel } from '../../../../extension/core/kernel/plugin.ts'
import type { ToolDefinition } from '../../../../extension/core/tools/definition.ts'
import { questionsPlugin } from '../../../../extension/features/questions/plugin.ts'
import { featureEvents } from '../../../../extension/features/event-types.ts'
import { createFakeMachine } from '../../../support/fake-machine.ts'
import { createLoopRig, fakeTool, linesOf, prompt, settled, type LoopRig } from '../../../support/loop-rig.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'
import { callTools, createScriptedAdapter, sayText } from '../../../support/scripted-adapter.ts'

const question = { id: 'q', question: 'So?' }
const look = (id: string) => ({ id, name: 'look', args: {} })

/** A tool that asks from within its body, then what a window finds that is opened after one that closed while it asked. */
async function nextWindow(more: Partial<ToolDefinition>, calls = [look('c1'), look('c2')]) {
  let bodies = 0
  const adapter = createScriptedAdapter([callTools(...calls), sayText('Thanks.')])
  const rigs: LoopRig[] = []
  const open = (store?: LoopRig['store']) => {
    const rig: LoopRig = createLoopRig({
      adapter,
      ...(store && { store }),
      tools: [
        fakeTool('look', async (_args, { agent, callId, signal }) => {
          bodies += 1
          return JSON.stringify(await rig.ctx.questions.ask({ agent: agent!, callId, questions: [question], signal }))
        }, more),
      ],
      prepare(ctx: Context, _kernel: Kernel) {
        ctx.plugin(featureEvents)
        ctx.plugin(questionsPlugin({ machine: createFakeMachine(), logger: createRecordingLogger(), clock: createManualClock() }))
      },
    })
    rigs.push(rig)
    return rig
  }
  const before = open()
  await settled()
  before.ctx.questions.attach()
  const first = await before.newAgent()
  first.followup(prompt('go'))
  await expect.poll(() => before.ctx.questions.pending().length).toBe(1)
  before.agents.suspend()
  await before.kernel.dispose()
  const errors = before.logger.lines.filter(({ level }) => level === 'error')
  const rig = open(before.store)
  await settled()
  rig.ctx.questions.attach()
  const agent = await rig.agents.resume(first.id)
  await settled()
  return { rig, agent, adapter, errors, bodies: () => bodies, pending: () => rig.ctx.questions.pending() }
}

describe('a turn that waited for the person', () => {
  it('runs the body again where that does nothing twice, and finds the question as it was', async () => {
    const { rig, agent, bodies, pending, errors } = await nextWindow({ canAskAgain: true }, [look('c1')])
    expect([bodies(), pending().map(({ callId }) => callId), errors, rig.adapter.requests.length]).toEqual([2, ['c1'], [], 1])
    rig.ctx.questions.answer(pending()[0]!.id, [{ id: 'q', selected: [], custom: 'Yes' }])
    await agent.whenIdle()
    expect(linesOf(agent.session).slice(-11)).toEqual(['question/asked', 'session/end-seed', 'question/settled', 'result c1 ok', 'step end', 'step 2', 'header resume', 'context scripted/m1', 'assistant Thanks.', 'step end', 'end completed'])
  })

  it('does not run a body again that may have done something: the turn ends, the model is asked nothing, and the question still gets its answer', async () => {
    const { agent, adapter, bodies, pending } = await nextWindow({})
    await agent.whenIdle()
    expect(linesOf(agent.session).slice(-6)).toEqual(['session/end-seed', 'result c1 TOOL_OUTCOME_UNKNOWN', 'call c2 look', 'result c2 TOOL_NOT_STARTED', 'step end', 'end interrupted'])
    expect([bodies(), adapter.requests.length, pending().length]).toEqual([1, 1, 1])
  })

  it('takes what the person had said since as the next turn', async () => {
    const { rig, agent, pending } = await nextWindow({ canAskAgain: true }, [look('c1')])
    rig.adapter.play(sayText('That too.'))
    agent.followup(prompt('and then?'))
    rig.ctx.questions.answer(pending()[0]!.id, null)
    await agent.whenIdle()
    expect(linesOf(agent.session).filter((line) => /^(turn|end|user|assistant)/.test(line))).toEqual(['turn 1', 'user go', 'assistant look(c1)', 'assistant Thanks.', 'end completed', 'turn 2', 'user and then?', 'assistant That too.', 'end completed'])
  })

  it('stays as it is when the next window closes too', async () => {
    const { rig, agent, pending } = await nextWindow({ canAskAgain: true }, [look('c1')])
    const lines = linesOf(agent.session)
    const [set] = pending()
    rig.agents.suspend()
    await rig.kernel.dispose()
    expect(linesOf(agent.session)).toEqual(lines)
    const stored = [...rig.store.disk.logs.values()].flatMap(({ text }) => text.trim().split('\n').slice(1))
    expect(stored.at(-1)).toContain('session/end-seed')
    expect(stored.filter((line) => line.includes(set!.id))).toHaveLength(1)
  })
})
