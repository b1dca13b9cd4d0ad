import { describe, expect, it } from 'vitest'
import { agentTools } from '../../../extension/tools/agents/plugin.ts'
import type { UserMessage } from '../../../extension/core/log/message.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { fakeTool, gate, prompt, settled, textOf } from '../../support/loop-rig.ts'
import { createMemoryEventStore } from '../../support/memory-event-store.ts'
import { callTools, sayText } from '../../support/scripted-adapter.ts'
import { createSubagentRig, type SubagentRig } from '../../support/subagent-rig.ts'

/* Children at moments that nobody chose: while they start, while they go, while their parent goes. */

const rigWith = (options: Parameters<typeof createSubagentRig>[0] = {}) =>
  createSubagentRig({ ...options, plugins: [agentTools({ machine: createFakeMachine({ randomId: counted() }), forkMode: () => 'one-shot' }), ...(options.plugins ?? [])], tools: [fakeTool('look'), ...(options.tools ?? [])] })
const counted = () => {
  let count = 0
  return () => `message-${++count}`
}
const word = (rig: SubagentRig, id: string): UserMessage => ({ id, role: 'user', content: [{ type: 'text', text: '@one again' }], source: { kind: 'coordinator', form: 'relay', senderSessionId: rig.root.id } })
const noticesOf = (rig: SubagentRig) => rig.root.session.events().flatMap((event) => (event.type === 'user/message' && event.data.source.kind === 'subagent-settled' ? [textOf(event.data).split('\n')[0]] : []))

describe('a child that is closed by somebody else than who started it', () => {
  it('takes a message that comes meanwhile when it is live again', async () => {
    const slow = gate()
    const rig = await rigWith({ minds: { root: [sayText('ok')], one: [[{ type: 'hang' }], sayText('again')] } })
    rig.ctx.on('agent/disposing', () => slow.opened)
    const { childId } = await rig.subagents.startContinuable(rig.request('one'))
    await expect.poll(() => rig.asked('one').length).toBe(1)
    const closing = rig.agents.live(childId)!.dispose()
    const sending = rig.subagents.send({ from: rig.root, childId, message: word(rig, 'w1'), mode: 'next-turn' })
    await settled()
    slow.open()
    await Promise.all([closing, sending])
    await rig.quiet()
    expect(rig.asked('one').length).toBe(2)
  })
})

describe('a parent that goes while children start', () => {
  it.each(['start', 'startContinuable'] as const)('%s: nothing of them lives or is stored when it is gone', async (kind) => {
    const rig = await rigWith({ minds: { one: [sayText('x')] } })
    const starting = rig.subagents[kind](rig.request('one')).catch((error: unknown) => error)
    await rig.root.dispose()
    expect([rig.agents.list(), rig.subagents.governor.running, rig.subagents.governor.queued, [...rig.store.disk.logs.keys()]]).toEqual([[], 0, 0, []])
    expect(await starting).toMatchObject({ code: 'ACTIVATION_CLOSING' })
  })

  it('one that waits for its place waits no longer', async () => {
    const rig = await rigWith({ settings: { 'subagents.maxConcurrent': 1 }, minds: { one: [[{ type: 'hang' }]], two: [sayText('x')] } })
    const other = await rig.newAgent('all')
    await rig.subagents.start(rig.request('one', { parent: other }))
    const starting = rig.subagents.start(rig.request('two')).catch((error: unknown) => error)
    await expect.poll(() => rig.subagents.governor.queued).toBe(1)
    await rig.root.dispose()
    expect([await starting, rig.subagents.governor.queued]).toEqual([expect.objectContaining({ code: 'ACTIVATION_CLOSING' }), 0])
  })

  it('the runtime that goes waits for those that start and those that come back', async () => {
    const rig = await rigWith({ minds: { root: [sayText('ok')], one: [sayText('one')] } })
    const { childId } = await rig.subagents.startContinuable(rig.request('one'))
    await rig.quiet()
    const starting = rig.subagents.startContinuable(rig.request('one')).catch((error: unknown) => error)
    const sending = rig.subagents.send({ from: rig.root, childId, message: word(rig, 'w1'), mode: 'next-turn' }).catch((error: unknown) => error)
    const runtime = rig.subagents as unknown as { dispose(): Promise<void> }
    await runtime.dispose()
    expect(rig.agents.list()).toEqual([rig.root])
    expect([await starting, await sending]).toEqual([expect.objectContaining({ code: 'DRAINING' }), expect.objectContaining({ code: 'DRAINING' })])
  })
})

describe('6.3 work that was taken back unrun', () => {
  it('makes an end that is otherwise a success an abort', async () => {
    const first = gate()
    const rig = await rigWith({ minds: { root: [sayText('ok')], one: [[{ type: 'wait', until: first.opened }, ...sayText('one')], [{ type: 'hang' }]] } })
    const { childId } = await rig.subagents.startContinuable(rig.request('one'))
    const child = rig.agents.live(childId)!
    // Whatever waits behind the first turn is taken back as that ends.
    rig.ctx.on('session/event', ({ id }, event) => {
      if (id === childId && event.type === 'turn/end') queueMicrotask(() => child.cancel({ kind: 'parent' }))
    })
    await rig.subagents.send({ from: rig.root, childId, message: word(rig, 'w1'), mode: 'next-turn' })
    first.open()
    await rig.quiet()
    expect(noticesOf(rig)).toEqual([expect.stringContaining('was stopped before it finished')])
  })
})

it('the same id chosen twice at once makes one child', async () => {
  const rig = await rigWith({ minds: { root: [sayText('ok')], one: [sayText('x')] } })
  const starts = await Promise.allSettled([1, 2, 3].map(() => rig.subagents.startContinuable({ ...rig.request('one'), childId: 'chosen' })))
  await rig.quiet()
  expect(starts.map((one) => (one.status === 'fulfilled' ? 'made' : (one.reason as { code: string }).code)).toSorted()).toEqual(['DUPLICATE_CHILD', 'DUPLICATE_CHILD', 'made'])
  expect([noticesOf(rig).length, rig.agents.list(), rig.subagents.governor.running]).toEqual([1, [rig.root], 0])
})

it('fifty at once run ten at a time, each is heard of once, and nothing is left', async () => {
  const names = Array.from({ length: 50 }, (_, index) => `n${index}`)
  let most = 0
  const rig = await rigWith({
    settings: { 'subagents.maxTotal': 100 },
    minds: { root: [callTools(...names.map((name) => ({ id: name, name: 'subagent', args: { description: name, prompt: `@${name}` } }))), sayText('started'), sayText('heard')], ...Object.fromEntries(names.map((name) => [name, [[{ type: 'do' as const, act: () => void (most = Math.max(most, rig.subagents.governor.running)) }, ...sayText(`I am ${name}`)]]])) },
  })
  rig.root.followup(prompt('@root go'))
  await rig.quiet()
  expect(most).toBeLessThanOrEqual(10)
  expect(new Set(noticesOf(rig)).size).toBe(50)
  expect(noticesOf(rig).length).toBe(50)
  expect([rig.agents.list(), rig.subagents.governor.running, rig.subagents.governor.queued]).toEqual([[rig.root], 0, 0])
})

describe('a stored child that goes on', () => {
  it('is asked with what was chosen for it last, and with the effort it had', async () => {
    const store = createMemoryEventStore()
    const rig = await rigWith({ store, minds: { root: [sayText('ok')], one: [sayText('x')] } })
    const { childId } = await rig.subagents.startContinuable(rig.request('one', { model: { model: 'm2', reasoningEffort: 'high', maxTokens: 77 } }))
    await rig.quiet()
    await rig.subagents.send({ from: rig.root, childId, message: word(rig, 'w1'), mode: 'next-turn' })
    await rig.quiet()
    // The person opens it and picks another model.
    const own = await rig.agents.resume(childId)
    rig.agents.configure(childId, { provider: 'scripted', model: 'm3', reasoningEffort: 'low' })
    await own.dispose()
    await rig.subagents.send({ from: rig.root, childId, message: word(rig, 'w2'), mode: 'next-turn' })
    await rig.quiet()
    expect(rig.asked('one').map(({ config: { model, reasoningEffort, maxTokens } }) => [model, reasoningEffort, maxTokens])).toEqual([['m2', 'high', 77], ['m2', 'high', undefined], ['m3', 'low', undefined]])
  })

  it('that is a fork is not asked with what its parent was before it', async () => {
    const rig = await rigWith({ minds: { root: [sayText('ok')], one: [[{ type: 'hang' }], sayText('x')] } })
    await rig.say('@root hello')
    const { childId } = await rig.subagents.startContinuable(rig.request('one', { provider: 'fork', model: { model: 'm2' } }))
    // It goes before it was asked anything.
    await rig.agents.live(childId)!.dispose()
    await rig.quiet()
    await rig.subagents.send({ from: rig.root, childId, message: word(rig, 'w1'), mode: 'next-turn' })
    await expect.poll(() => rig.asked('one').at(-1)?.config.model).toBe('m2')
  })
})

describe('agent.maxMinutesPerTurn', () => {
  it('does not count the time in which an agent waits for its place', async () => {
    const first = gate()
    const rig = await rigWith({
      settings: { 'subagents.maxConcurrent': 1, 'agent.maxMinutesPerTurn': 5 },
      minds: { root: [sayText('ok')], one: [[{ type: 'wait', until: first.opened }, ...sayText('one')]], two: [callTools({ id: 'look', name: 'look', args: {} }), sayText('two')] },
    })
    await rig.subagents.startContinuable(rig.request('one'))
    await expect.poll(() => rig.asked('one').length).toBe(1)
    await rig.subagents.startContinuable(rig.request('two'))
    await expect.poll(() => rig.subagents.governor.queued).toBe(1)
    rig.clock.advance(20 * 60_000)
    first.open()
    await rig.quiet()
    expect(noticesOf(rig)).toEqual([expect.stringContaining('has finished'), expect.stringContaining('has finished')])
    expect(rig.asked('two').length).toBe(2)
  })

  it('counts what it takes itself', async () => {
    const rig = await rigWith({
      settings: { 'agent.maxMinutesPerTurn': 5 },
      minds: { root: [sayText('ok')], one: [callTools({ id: 'slow', name: 'slow', args: {} }), sayText('one')] },
      tools: [fakeTool('slow', () => (rig.clock.advance(6 * 60_000), 'slept'))],
    })
    await rig.subagents.startContinuable(rig.request('one'))
    await rig.quiet()
    expect(noticesOf(rig)).toEqual([expect.stringContaining('limit: 5 minutes')])
  })
})

it('a forked child of a session that the person named is not named by that', async () => {
  const rig = await rigWith({ minds: { root: [sayText('ok')], one: [sayText('x')] } })
  await rig.say('@root hello')
  await rig.ctx.sessions.rename(rig.root.id, 'My work')
  await rig.say('@root again')
  await (await rig.subagents.start(rig.request('one', { provider: 'fork' }))).outcome
  await rig.quiet()
  const rows = () => rig.ctx.sessions.list().then((list) => list.map(({ title, isNamed, startedBy }) => [title, isNamed, startedBy !== undefined]))
  expect(await rows()).toEqual(expect.arrayContaining([['My work', true, false], ['New session', false, true]]))
})
