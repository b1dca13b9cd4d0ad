import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Agent } from '../../../../extension/core/session/agent.ts'
import { inboxFrom } from '../../../../extension/core/session/inbox.ts'
import { createLoopRig, fakeTool, linesOf, prompt, settled } from '../../../support/loop-rig.ts'
import type { LoopRig } from '../../../support/loop-rig.ts'
import { createMemoryEventStore } from '../../../support/memory-event-store.ts'
import { callTools, createScriptedAdapter, failWith, sayText, textParts } from '../../../support/scripted-adapter.ts'
import type { ScriptedAnswer } from '../../../support/scripted-adapter.ts'

const answers: readonly ScriptedAnswer[] = [
  sayText('fine'),
  callTools({ id: 'a', name: 'look', args: {} }, { id: 'b', name: 'act', args: {} }),
  [...textParts('half'), { type: 'hang' }],
  failWith({ code: 'SERVER', message: 'busy' }),
  failWith({ code: 'AUTH', message: 'no' }),
]
const verbs = ['followup', 'steer', 'inject', 'stop', 'cancel', 'continue', 'remove', 'edit', 'steerNow', 'wait', 'advance', 'close', 'crash'] as const
type Deed = { readonly verb: (typeof verbs)[number]; readonly pick: number; readonly isHurried: boolean }

it('whatever people do and whenever the application dies: every message is in the talk, waits, or was dropped on purpose', async () => {
  const deed: fc.Arbitrary<Deed> = fc.record({ verb: fc.constantFrom(...verbs), pick: fc.nat(30), isHurried: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { minLength: 1, maxLength: 25 }), fc.array(fc.nat(answers.length - 1), { minLength: 60, maxLength: 60 }), act),
    { numRuns: 40 },
  )
})

async function act(deeds: readonly Deed[], script: readonly number[]): Promise<void> {
  const adapter = createScriptedAdapter(script.map((index) => answers[index] ?? sayText('fine')))
  const store = createMemoryEventStore()
  const dropped = new Set<string>()
  const sent: string[] = []
  const start = async (id?: string) => {
    const rig = createLoopRig({ store: createMemoryEventStore({ disk: store.disk }), adapter, tools: [fakeTool('look', undefined, { isConcurrencySafe: () => true }), fakeTool('act')] })
    rig.ctx.on('agent/inbox/discarded', ({ message }) => void (message.source.kind === 'user' && dropped.add(message.id)))
    return { rig, agent: id === undefined ? await rig.newAgent() : await rig.agents.resume(id) }
  }
  let { rig, agent } = await start()
  const restart = async (how: 'close' | 'crash') => {
    // A session that left nothing on the disk is not there to come back to.
    await agent.session.flush()
    if (agent.session.length === 0) return
    const { id } = agent
    if (how === 'close') await rig.kernel.dispose()
    else await die(rig, agent)
    ;({ rig, agent } = await start(id))
  }
  for (const { verb, pick, isHurried } of deeds) {
    const waiting = [...agent.inbox.nextTurn, ...agent.inbox.nextStep]
    const chosen = waiting[pick % Math.max(1, waiting.length)]?.id ?? 'none'
    if (verb === 'followup' || verb === 'steer' || verb === 'inject') {
      const id = `m${sent.length}`
      sent.push(id)
      agent[verb](prompt(id, id))
    } else if (verb === 'stop') agent.cancel({ kind: 'user' }, { keepInbox: true })
    else if (verb === 'cancel') agent.cancel({ kind: 'user' })
    else if (verb === 'continue') agent.continueTurn()
    else if (verb === 'remove') agent.queue.remove(chosen)
    else if (verb === 'edit') agent.queue.edit(chosen, [{ type: 'text', text: 'edited' }])
    else if (verb === 'steerNow') agent.queue.steerNow(chosen)
    else if (verb === 'advance') rig.clock.advance(20_000)
    else if (verb !== 'wait') await restart(verb)
    if (!isHurried) await settled()
  }
  agent.cancel({ kind: 'user' }, { keepInbox: true })
  await agent.whenIdle()

  const events = agent.session.events()
  const entered = events.flatMap((event) => (event.type === 'user/message' && event.data.source.kind === 'user' ? [event.data.id] : []))
  const waiting = [...agent.inbox.nextTurn, ...agent.inbox.nextStep].filter(({ source }) => source.kind === 'user').map(({ id }) => id)
  expect([...entered, ...waiting, ...dropped].sort()).toEqual([...sent].sort())
  expect(inboxFrom(events)).toEqual({ lists: agent.inbox, lost: [] })
  const story = linesOf(agent.session)
  const count = (pattern: RegExp) => story.filter((line) => pattern.test(line)).length
  expect([count(/^turn /), count(/^step \d/), count(/^call /)]).toEqual([count(/^end /), count(/^step end/), count(/^result /)])
  expect([agent.status, agent.session.messages().length > 0 || entered.length === 0]).toEqual(['idle', true])
  await rig.kernel.dispose()
}

/** The application is gone without a word; what it appended and did not flush is lost with it, so it is flushed before. */
async function die(rig: LoopRig, agent: Agent): Promise<void> {
  await agent.session.flush()
  rig.store.crash()
  agent.session.append = () => {
    throw new Error('dead')
  }
}
