import { describe, expect, it } from 'vitest'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { UserMessage } from '../../../extension/core/log/message.ts'
import { agentTools } from '../../../extension/tools/agents/plugin.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { fakeTool, gate, prompt, settled, textOf } from '../../support/loop-rig.ts'
import { createMemoryDisk, createMemoryEventStore } from '../../support/memory-event-store.ts'
import { callTools, failWith, sayText, type ScriptedCall } from '../../support/scripted-adapter.ts'
import { createSubagentRig, type SubagentRig } from '../../support/subagent-rig.ts'

const rigWith = (options: Parameters<typeof createSubagentRig>[0] = {}) =>
  createSubagentRig({ ...options, plugins: [agentTools({ machine: createFakeMachine({ randomId: counted() }), forkMode: () => 'one-shot' }), ...(options.plugins ?? [])], tools: [fakeTool('look'), ...(options.tools ?? [])] })
const counted = () => {
  let count = 0
  return () => `message-${++count}`
}
const call = (name: string, args: object, id = name): ScriptedCall => ({ id, name, args })
const exec = async (rig: SubagentRig, agent: Agent, name: string, args: object) => {
  const result = await rig.ctx.tools.execute({ callId: `direct ${name}`, name, arguments: args, agent, signal: new AbortController().signal })
  return result.isError ? { code: result.error.info?.code, text: result.content.map((block) => (block.type === 'text' ? block.text : '')).join('') } : { value: result.value, text: result.content.map((block) => (block.type === 'text' ? block.text : '')).join('') }
}
const liveChild = (rig: SubagentRig, id: string) => rig.agents.live(id) ?? expect.unreachable(`${id} is not live`)
const usersOf = (agent: Agent): readonly UserMessage[] => agent.session.events().flatMap((event) => (event.type === 'user/message' && event.data.source.kind !== 'plugin' ? [event.data] : []))
const spliced = (agent: Agent) => agent.session.events().flatMap((event) => (event.type === 'agent/inbox/spliced' ? event.data.inserted.map(({ source }) => `${event.data.target} ${source.kind}`) : []))

describe('6.3 the life of a continuable child', () => {
  it('runs, waits while a child of its own is there, settles when both are quiet, and is stored', async () => {
    const inner = gate()
    const rig = await rigWith({ minds: { root: [sayText('heard')], one: [callTools(call('subagent', { description: 'inner', prompt: '@two go' })), sayText('waiting for two'), sayText('two is done')], two: [[{ type: 'wait', until: inner.opened }, ...sayText('inner answer')]] } })
    const { childId } = await rig.subagents.startContinuable(rig.request('one'))
    const states: (string | undefined)[] = [rig.subagents.facts(childId)?.status]
    await expect.poll(() => rig.subagents.facts(childId)?.status).toBe('waiting')
    states.push('waiting')
    inner.open()
    await rig.quiet()
    states.push(rig.subagents.facts(childId)?.status)
    expect(states).toEqual(['running', 'waiting', 'ready'])
    expect([rig.agents.list(), rig.subagents.known().map(({ depth, status }) => [depth, status])]).toEqual([[rig.root], [[1, 'ready'], [2, 'ready']]])
    expect(usersOf(rig.root).at(-1)).toMatchObject({ source: { kind: 'subagent-settled', form: 'notice', senderSessionId: childId }, content: [{ text: expect.stringContaining('Its closing message: \ntwo is done') }] })
  })

  it('a child above goes only after those below it, and hears of them before', async () => {
    const order: string[] = []
    const rig = await rigWith({ minds: { one: [callTools(call('subagent', { description: 'inner', prompt: '@two go' })), [{ type: 'hang' }]], two: [[{ type: 'hang' }]] } })
    rig.ctx.on('agent/disposed', ({ id }) => void order.push(rig.subagents.facts(id)?.label ?? 'root'))
    await rig.subagents.startContinuable(rig.request('one'))
    await expect.poll(() => rig.asked('two').length).toBe(1)
    await rig.root.dispose()
    expect(order).toEqual(['inner', 'work of one', 'root'])
    expect(rig.subagents.governor.running).toBe(0)
  })

  describe('its parent hears of the end, whatever it was', () => {
    const failure = { code: 'SERVER', message: 'No.' } as const
    const rows: readonly [what: string, answer: Parameters<typeof rigWith>[0], words: RegExp][] = [
      ['a success with its words', { minds: { root: [sayText('ok')], one: [sayText('all good')] } }, /has finished\.\nIts closing message: \nall good/],
      ['a failure without any', { minds: { root: [sayText('ok')], one: [failWith(failure)] }, settings: { 'llm.retry.maxRetries': 0 } }, /failed\. SERVER: No\.\nIts closing message: none/],
      ['a cap of its steps', { minds: { root: [sayText('ok')], one: [callTools({ id: null, name: 'look', args: {} })] }, settings: { 'agent.maxStepsPerTurn': 2 } }, /failed\. It came to a limit: 2 steps a turn/],
    ]
    it.each(rows)('%s', async (_what, options, words) => {
      const rig = await rigWith(options)
      await rig.subagents.startContinuable(rig.request('one'))
      await rig.quiet()
      expect(usersOf(rig.root).map(textOf)).toEqual([expect.stringMatching(words)])
    })
    it('a crash of its machinery', async () => {
      const rig = await rigWith({ minds: { root: [sayText('ok')], one: [[{ type: 'throw', error: new TypeError('broken adapter') }]] } })
      await rig.subagents.startContinuable(rig.request('one'))
      await rig.quiet()
      expect(usersOf(rig.root).map(textOf)).toEqual([expect.stringMatching(/failed\..*broken adapter/)])
    })
  })

  it('an idle parent hears in a turn of its own, a busy one with its next step, several at once', async () => {
    const both = gate()
    const rig = await rigWith({
      minds: {
        root: [callTools(call('subagent', { description: 'a', prompt: '@one' }, 'a'), call('subagent', { description: 'b', prompt: '@two' }, 'b')), [{ type: 'wait', until: both.opened }, ...callTools(call('look', {}))], sayText('both heard'), sayText('late heard')],
        one: [sayText('one')], two: [sayText('two')], three: [sayText('three')],
      },
    })
    rig.root.followup(prompt('@root go'))
    await expect.poll(() => rig.subagents.known().filter(({ status }) => status === 'ready').length).toBe(2)
    both.open()
    await rig.quiet()
    expect(spliced(rig.root)).toEqual(['next-turn user', 'next-step subagent-settled', 'next-step subagent-settled'])
    expect(rig.root.session.events().filter(({ type }) => type === 'turn/start').length).toBe(1)
    await rig.subagents.startContinuable(rig.request('three'))
    await rig.quiet()
    expect(spliced(rig.root).at(-1)).toBe('next-turn subagent-settled')
    expect(rig.root.session.events().filter(({ type }) => type === 'turn/start').length).toBe(2)
  })

  it('a parent that is being closed keeps the news for when it is back, and is not woken', async () => {
    const rig = await rigWith({ minds: { one: [[{ type: 'hang' }]] } })
    const { childId } = await rig.subagents.startContinuable(rig.request('one'))
    await settled()
    await rig.root.dispose()
    const back = await rig.agents.resume(rig.root.id)
    expect([back.status, back.inbox.nextStep.map(({ source }) => source)]).toEqual(['idle', [expect.objectContaining({ kind: 'subagent-settled', senderSessionId: childId })]])
  })

  it('a start that its parent stops before it counts leaves nothing', async () => {
    const rig = await rigWith({ minds: { one: [sayText('x')] } })
    const stop = new AbortController()
    const starting = rig.subagents.startContinuable(rig.request('one', { signal: stop.signal }))
    stop.abort(new Error('not any more'))
    await expect(starting).rejects.toThrow('not any more')
    await rig.quiet()
    expect([rig.agents.list(), rig.subagents.known(), [...rig.store.disk.logs.keys()], usersOf(rig.root)]).toEqual([[rig.root], [], [], []])
  })

  it('a start that cannot be stored is an error, and leaves nothing', async () => {
    const store = createMemoryEventStore()
    const rig = await rigWith({ store, minds: { root: [sayText('hi')], one: [sayText('x')] } })
    await rig.say('@root hi')
    store.failWrites('ENOSPC')
    await expect(rig.subagents.startContinuable(rig.request('one'))).rejects.toMatchObject({ code: 'PERSISTENCE_UNAVAILABLE' })
    expect([rig.agents.list(), rig.subagents.known()]).toEqual([[rig.root], []])
  })

  it('takes an id that was chosen for it, once', async () => {
    const rig = await rigWith({ minds: { root: [sayText('ok')], one: [sayText('x')] } })
    expect(await rig.subagents.startContinuable({ ...rig.request('one'), childId: 'chosen' })).toEqual({ childId: 'chosen' })
    await expect(rig.subagents.startContinuable({ ...rig.request('one'), childId: 'chosen' })).rejects.toMatchObject({ code: 'DUPLICATE_CHILD' })
    await rig.quiet()
    await expect(rig.subagents.startContinuable({ ...rig.request('one'), childId: 'chosen' })).rejects.toMatchObject({ code: 'DUPLICATE_CHILD' })
  })

  it('waits for its place with its task in hand, and says so', async () => {
    const first = gate()
    const rig = await rigWith({ settings: { 'subagents.maxConcurrent': 1 }, minds: { root: [sayText('ok')], one: [[{ type: 'wait', until: first.opened }, ...sayText('one')]], two: [sayText('two')] } })
    const one = await rig.subagents.startContinuable(rig.request('one'))
    await expect.poll(() => rig.asked('one').length).toBe(1)
    const two = await rig.subagents.startContinuable(rig.request('two'))
    await expect.poll(() => rig.subagents.facts(two.childId)?.status).toBe('queued')
    expect([rig.subagents.facts(one.childId)?.status, rig.asked('two').length, rig.subagents.governor.queued]).toEqual(['running', 0, 1])
    first.open()
    await rig.quiet()
    expect([rig.asked('two').length, rig.subagents.governor.running]).toEqual([1, 0])
  })

  it('gets it at once when the person raises the limit', async () => {
    const first = gate()
    const rig = await rigWith({ settings: { 'subagents.maxConcurrent': 1 }, minds: { root: [sayText('ok')], one: [[{ type: 'wait', until: first.opened }, ...sayText('one')]], two: [sayText('two')] } })
    await rig.subagents.startContinuable(rig.request('one'))
    await rig.subagents.startContinuable(rig.request('two'))
    await expect.poll(() => rig.subagents.governor.queued).toBe(1)
    await rig.settings.set('subagents.maxConcurrent', 2, 'user')
    await expect.poll(() => rig.asked('two').length).toBe(1)
    expect(rig.subagents.governor.limits.maxConcurrent).toBe(2)
    first.open()
    await rig.quiet()
  })

  it('a rate limit in one child makes the start of others wait', async () => {
    const rig = await rigWith({ settings: { 'llm.retry.maxRetries': 0 }, minds: { root: [sayText('ok')], one: [failWith({ code: 'RATE_LIMIT', message: 'Slow down.', providerRetryAfterMs: 60_000 })], two: [sayText('two')] } })
    await (await rig.subagents.start(rig.request('one'))).outcome
    const two = rig.subagents.start(rig.request('two'))
    await settled()
    expect([rig.asked('two').length, rig.subagents.governor.queued]).toEqual([0, 1])
    rig.clock.advance(60_000)
    expect(await (await two).outcome).toEqual({ stopReason: 'completed', output: 'two' })
  })
})

describe('6.5 send_message', () => {
  it('to one at work is a later turn of its own, one after the other', async () => {
    const first = gate()
    const rig = await rigWith({ minds: { root: [sayText('ok')], one: [[{ type: 'wait', until: first.opened }, ...sayText('first')], sayText('second'), sayText('third')] } })
    const { childId } = await rig.subagents.startContinuable(rig.request('one'))
    await expect.poll(() => rig.asked('one').length).toBe(1)
    const child = liveChild(rig, childId)
    expect(await exec(rig, rig.root, 'send_message', { subagent_id: childId, message: 'then this' })).toEqual({ value: { messageId: 'message-1' }, text: `Queued as the next turn of ${childId}.` })
    await exec(rig, rig.root, 'send_message', { subagent_id: childId, message: 'and this' })
    expect(child.inbox.nextTurn.map(textOf)).toEqual(['then this', 'and this'])
    first.open()
    await rig.quiet()
    expect(usersOf(child).map((message) => [textOf(message), message.source.kind])).toEqual([['@one work', 'coordinator'], ['then this', 'coordinator'], ['and this', 'coordinator']])
    expect(child.session.events().filter(({ type }) => type === 'turn/start').length).toBe(3)
  })

  it('in the mode now it comes with the next step of the turn', async () => {
    const first = gate()
    const rig = await rigWith({ minds: { root: [sayText('ok')], one: [[{ type: 'wait', until: first.opened }, ...callTools(call('look', {}))], sayText('steered')] } })
    const { childId } = await rig.subagents.startContinuable(rig.request('one'))
    await expect.poll(() => rig.asked('one').length).toBe(1)
    const child = liveChild(rig, childId)
    expect((await exec(rig, rig.root, 'send_message', { subagent_id: childId, message: 'the other way', mode: 'now' })).text).toBe(`${childId} hears it with its next step.`)
    expect(child.inbox.nextStep.map(textOf)).toEqual(['the other way'])
    first.open()
    await rig.quiet()
    expect(child.session.events().filter(({ type }) => type === 'turn/start').length).toBe(1)
    expect(rig.asked('one')[1]?.messages.map(textOf).at(-1)).toBe('the other way')
  })

  it('to one that waits for its own children wakes it', async () => {
    const inner = gate()
    const rig = await rigWith({ minds: { root: [sayText('ok')], one: [callTools(call('subagent', { description: 'inner', prompt: '@two go' })), sayText('waiting'), sayText('woken'), sayText('end')], two: [[{ type: 'wait', until: inner.opened }, ...sayText('inner')]] } })
    const { childId } = await rig.subagents.startContinuable(rig.request('one'))
    await expect.poll(() => rig.subagents.facts(childId)?.status).toBe('waiting')
    await exec(rig, rig.root, 'send_message', { subagent_id: childId, message: 'are you there' })
    await expect.poll(() => rig.asked('one').length).toBe(3)
    inner.open()
    await rig.quiet()
    expect(rig.subagents.facts(childId)?.status).toBe('ready')
  })

  it('to one in storage makes it live again, as what it was: model, words, tools and permissions, not its cap of tokens', async () => {
    const rig = await rigWith({ minds: { root: [sayText('ok')], one: [sayText('first'), sayText('second')] }, tools: [fakeTool('act')] })
    const { childId } = await rig.subagents.startContinuable(rig.request('one', { model: { model: 'm7', maxTokens: 99 }, persona: 'You are terse.', toolFilter: { deny: ['act'] } }))
    await rig.quiet()
    expect(rig.agents.live(childId)).toBeUndefined()
    await exec(rig, rig.root, 'send_message', { subagent_id: childId, message: '@one again' })
    await rig.quiet()
    const [before, after] = rig.asked('one')
    expect([before?.config.model, before?.config.maxTokens, after?.config.model, after?.config.maxTokens]).toEqual(['m7', 99, 'm7', undefined])
    expect([after?.system, after?.tools]).toEqual([before?.system, before?.tools])
    expect(after?.system).toContain('You are terse.')
    expect(after?.tools?.map(({ name }) => name)).not.toContain('act')
    expect(after?.messages.map(textOf).slice(-1)).toEqual(['@one again'])
    expect(usersOf(rig.root).filter(({ source }) => source.kind === 'subagent-settled').length).toBe(2)
  })

  it('also after the host was gone, also when it died', async () => {
    const disk = createMemoryDisk()
    const before = await rigWith({ store: createMemoryEventStore({ disk }), minds: { root: [sayText('ok')], one: [sayText('first')] } })
    await before.say('@root hello')
    const { childId } = await before.subagents.startContinuable(before.request('one'))
    await before.quiet()
    await before.root.session.flush()
    before.store.crash()
    const rig = await rigWith({ store: createMemoryEventStore({ disk }), resume: before.root.id, minds: { root: [sayText('ok')], one: [sayText('second')] } })
    expect(await rig.subagents.children(rig.root.id)).toMatchObject([{ id: childId, label: 'work of one', mode: 'continuable', status: 'ready' }])
    expect(await exec(rig, rig.root, 'list_agents', {})).toMatchObject({ value: [{ kind: 'child', id: childId, label: 'work of one', status: 'ready' }] })
    await exec(rig, rig.root, 'send_message', { subagent_id: childId, message: '@one again' })
    await rig.quiet()
    expect(rig.asked('one')[0]?.messages.map(textOf)).toEqual(expect.arrayContaining(['@one work', 'first', '@one again']))
    expect(usersOf(rig.root).at(-1)).toMatchObject({ source: { kind: 'subagent-settled', senderSessionId: childId } })
  })

  it('a one-shot child that was at work when the host died stays readable, and is not gone on with', async () => {
    const disk = createMemoryDisk()
    const before = await rigWith({ store: createMemoryEventStore({ disk }), minds: { root: [sayText('ok')], one: [[{ type: 'hang' }]] } })
    await before.say('@root hello')
    const { childId } = await before.subagents.start(before.request('one'))
    await expect.poll(() => before.asked('one').length).toBe(1)
    before.store.crash()
    const rig = await rigWith({ store: createMemoryEventStore({ disk }), resume: before.root.id, minds: { root: [sayText('ok')] } })
    expect(await rig.subagents.children(rig.root.id)).toMatchObject([{ id: childId, mode: 'one-shot', status: 'aborted', label: 'work of one' }])
    expect((await exec(rig, rig.root, 'list_agents', {})).value).toEqual([])
    expect(await exec(rig, rig.root, 'send_message', { subagent_id: childId, message: 'x' })).toMatchObject({ code: 'NOT_RESUMABLE' })
    const session = await rig.ctx.sessions.open(childId)
    expect([session.messages().map(textOf).at(-1), session.events().findLast(({ type }) => type === 'turn/end')?.data]).toEqual(['@one work', { turn: 1, reason: { kind: 'interrupted' } }])
  })

  it('to one that is being put away waits and makes it live again', async () => {
    const rig = await rigWith({ minds: { root: [sayText('ok')], one: [sayText('first'), sayText('second')] } })
    const going = gate()
    rig.ctx.on('agent/disposing', ({ owner }) => (owner === undefined ? undefined : going.opened))
    const { childId } = await rig.subagents.startContinuable(rig.request('one'))
    await expect.poll(() => rig.agents.live(childId)?.isDisposed).toBe(true)
    const sent = exec(rig, rig.root, 'send_message', { subagent_id: childId, message: '@one more' })
    await settled()
    going.open()
    expect(await sent).toMatchObject({ value: { messageId: expect.any(String) } })
    await rig.quiet()
    expect(rig.asked('one').length).toBe(2)
  })

  describe('is refused, and nothing is delivered', () => {
    const rows: readonly [what: string, run: (rig: SubagentRig, childId: string) => Promise<unknown>, code: string][] = [
      ['an id that nobody has', (rig) => exec(rig, rig.root, 'send_message', { subagent_id: 'nobody', message: 'x' }), 'NOT_RESUMABLE'],
      ['a session that is no child', async (rig) => exec(rig, rig.root, 'send_message', { subagent_id: (await rig.newAgent()).id, message: 'x' }), 'UNAUTHORIZED'],
      ['itself', (rig) => exec(rig, rig.root, 'send_message', { subagent_id: rig.root.id, message: 'x' }), 'UNAUTHORIZED'],
      ['a child of somebody else', async (rig, childId) => exec(rig, await rig.newAgent(), 'send_message', { subagent_id: childId, message: 'x' }), 'UNAUTHORIZED'],
      ['a one-shot child that ended', async (rig) => {
        const { childId, outcome } = await rig.subagents.start(rig.request('two'))
        await outcome
        return exec(rig, rig.root, 'send_message', { subagent_id: childId, message: 'x' })
      }, 'NOT_RESUMABLE'],
      ['an empty message', (rig, childId) => exec(rig, rig.root, 'send_message', { subagent_id: childId, message: '' }), 'EMPTY_MESSAGE'],
      ['a message that is too long', (rig, childId) => exec(rig, rig.root, 'send_message', { subagent_id: childId, message: 'x'.repeat(70_000) }), 'MESSAGE_TOO_LONG'],
      ['one that the person took over', async (rig, childId) => {
        await rig.subagents.promote(childId)
        return exec(rig, rig.root, 'send_message', { subagent_id: childId, message: 'x' })
      }, 'NOT_RESUMABLE'],
      ['one that the person works in', async (rig, childId) => {
        await rig.agents.resume(childId)
        return exec(rig, rig.root, 'send_message', { subagent_id: childId, message: 'x' })
      }, 'NOT_RESUMABLE'],
      ['one whose log is damaged', async (rig, childId) => {
        const log = rig.store.disk.logs.get(childId)
        if (log) Object.assign(log, { text: log.text.replace('"mode":"continuable"', '"mode":"unknown"'), note: null })
        return exec(rig, rig.root, 'send_message', { subagent_id: childId, message: 'x' })
      }, 'NOT_RESUMABLE'],
      ['when agents are being stopped', async (rig, childId) => {
        const { root } = rig
        const sending: Promise<unknown>[] = []
        rig.ctx.on('agent/disposing', () => void sending.push(rig.subagents.send({ from: root, childId, message: { id: 'm', role: 'user', content: [{ type: 'text', text: 'x' }], source: { kind: 'coordinator', form: 'relay', senderSessionId: root.id } }, mode: 'now' }).catch((error: unknown) => error)))
        await root.dispose()
        return sending[0]
      }, 'ACTIVATION_CLOSING'],
    ]
    it.each(rows)('%s', async (_what, run, code) => {
      const rig = await rigWith({ minds: { root: [sayText('ok')], one: [sayText('first')], two: [sayText('two')] } })
      const { childId } = await rig.subagents.startContinuable(rig.request('one'))
      await rig.quiet()
      expect(await run(rig, childId)).toMatchObject({ code })
      await rig.quiet()
      expect(rig.asked('one').length).toBe(1)
    })
  })
})

describe('6.6 interrupt_agent', () => {
  it('ends the turn, keeps what waits, and the child is there for the next message', async () => {
    const rig = await rigWith({ minds: { root: [sayText('ok')], one: [[{ type: 'hang' }], sayText('queued'), sayText('after')] } })
    const { childId } = await rig.subagents.startContinuable(rig.request('one'))
    await expect.poll(() => rig.asked('one').length).toBe(1)
    await exec(rig, rig.root, 'send_message', { subagent_id: childId, message: '@one queued' })
    expect(await exec(rig, rig.root, 'interrupt_agent', { agent_id: childId })).toEqual({ value: { accepted: true }, text: `Agent ${childId} is told to stop its turn.` })
    await rig.quiet()
    expect(usersOf(rig.root).map(textOf)).toEqual([expect.stringContaining('was stopped before it finished')])
    expect(rig.asked('one').length).toBe(1)
    await exec(rig, rig.root, 'send_message', { subagent_id: childId, message: '@one after' })
    await rig.quiet()
    expect(rig.asked('one').slice(1).map(({ messages }) => textOf(messages.at(-1)!))).toEqual(['@one queued', '@one after'])
  })

  it('is for every ancestor, and leaves those below at work', async () => {
    const rig = await rigWith({ minds: { root: [sayText('ok'), sayText('ok')], one: [callTools(call('subagent', { description: 'inner', prompt: '@two go' })), [{ type: 'hang' }], sayText('end')], two: [[{ type: 'hang' }]] } })
    const { childId } = await rig.subagents.startContinuable(rig.request('one'))
    await expect.poll(() => rig.asked('two').length).toBe(1)
    await expect.poll(() => rig.asked('one').length).toBe(2)
    const inner = rig.subagents.known().find(({ depth }) => depth === 2)?.id ?? ''
    await exec(rig, rig.root, 'interrupt_agent', { agent_id: childId })
    await expect.poll(() => rig.subagents.facts(childId)?.status).toBe('waiting')
    expect(rig.subagents.facts(inner)?.status).toBe('running')
    expect(await exec(rig, rig.root, 'interrupt_agent', { agent_id: inner })).toMatchObject({ value: { accepted: true } })
    await rig.quiet()
    expect(rig.subagents.facts(inner)?.status).toBe('ready')
  })

  it('of one that is not at work is accepted and does nothing; of itself, a sibling or a stranger it is refused', async () => {
    const rig = await rigWith({ minds: { root: [sayText('ok')], one: [sayText('first')], two: [[{ type: 'hang' }]], three: [[{ type: 'hang' }]] } })
    const { childId } = await rig.subagents.startContinuable(rig.request('one'))
    await rig.quiet()
    const stop = new AbortController()
    const oneShot = await rig.subagents.start(rig.request('two', { signal: stop.signal }))
    const sibling = await rig.subagents.startContinuable(rig.request('three'))
    const stranger = await rig.newAgent()
    for (const id of [childId, 'unknown', oneShot.childId]) expect(await exec(rig, rig.root, 'interrupt_agent', { agent_id: id }), id).toMatchObject({ value: { accepted: true } })
    expect(rig.agents.live(childId)).toBeUndefined()
    expect(rig.agents.live(oneShot.childId)?.status).toBe('running')
    for (const [agent, id] of [[rig.root, rig.root.id], [liveChild(rig, oneShot.childId), sibling.childId], [stranger, sibling.childId], [rig.root, stranger.id]] as const) {
      expect(await exec(rig, agent, 'interrupt_agent', { agent_id: id })).toMatchObject({ code: 'UNAUTHORIZED' })
    }
    stop.abort()
    rig.subagents.interrupt({ from: 'person', childId: sibling.childId })
    await rig.quiet()
    expect(rig.agents.list().filter(({ owner }) => owner !== undefined)).toEqual([])
  })
})

describe('6.4 list_agents', () => {
  it('gives children in order of their creation, without one-shot ones, whose own are found below them', async () => {
    const rig = await rigWith({
      minds: {
        root: [sayText('ok')], one: [[{ type: 'hang' }]], two: [sayText('two')],
        shot: [callTools(call('subagent', { description: 'below a shot', prompt: '@deep go' })), [{ type: 'hang' }]], deep: [[{ type: 'hang' }]],
      },
    })
    const two = await rig.subagents.startContinuable(rig.request('two'))
    await rig.quiet()
    rig.clock.advance(10)
    const shot = await rig.subagents.start(rig.request('shot'))
    await expect.poll(() => rig.asked('deep').length).toBe(1)
    rig.clock.advance(10)
    const one = await rig.subagents.startContinuable(rig.request('one'))
    await expect.poll(() => rig.asked('one').length).toBe(1)
    expect(await exec(rig, rig.root, 'list_agents', {})).toEqual({
      value: [{ kind: 'child', id: two.childId, label: 'work of two', status: 'ready' }, { kind: 'child', id: one.childId, label: 'work of one', status: 'running' }],
      text: `${two.childId} [ready] - work of two\n${one.childId} [running] - work of one`,
    })
    const deep = rig.subagents.known().find(({ depth }) => depth === 2)?.id ?? ''
    expect((await exec(rig, rig.root, 'list_agents', { scope: 'descendants' })).text).toBe(
      [`${two.childId} [ready] (parent ${rig.root.id}, depth 1) - work of two`, `${deep} [running] (parent ${shot.childId}, depth 2) - below a shot`, `${one.childId} [running] (parent ${rig.root.id}, depth 1) - work of one`].join('\n'),
    )
    await rig.root.dispose()
  })
  it('says so when there are none, names what cannot be read, and stops when it is told to', async () => {
    const rig = await rigWith({ minds: { root: [sayText('ok')], one: [sayText('one')] } })
    expect((await exec(rig, rig.root, 'list_agents', {})).text).toBe('You have no agents that take messages.')
    const { childId } = await rig.subagents.startContinuable(rig.request('one'))
    await rig.quiet()
    const log = rig.store.disk.logs.get(childId)
    if (log) Object.assign(log, { text: log.text.replace('"subagent/descriptor"', '"who/knows"'), note: null })
    expect(await exec(rig, rig.root, 'list_agents', {})).toEqual({ value: [{ kind: 'diagnostic', id: childId, reason: 'corrupt' }], text: `${childId} [corrupt] - cannot be read` })
    const stopped = new AbortController()
    stopped.abort()
    await expect(rig.subagents.catalogue({ sessionId: rig.root.id, scope: 'children', signal: stopped.signal })).rejects.toMatchObject({ code: 'CANCELLED' })
    await expect(rig.ctx.tools.execute({ callId: 'c', name: 'list_agents', arguments: {}, signal: new AbortController().signal })).resolves.toMatchObject({ error: { info: { code: 'NO_AGENT' } } })
  })
  it('tells a store that cannot be listed from one without children', async () => {
    const store = createMemoryEventStore()
    const rig = await rigWith({ store })
    store.list = () => Promise.reject(new Error('EIO'))
    expect(await exec(rig, rig.root, 'list_agents', {})).toMatchObject({ code: 'SUBAGENT_CONTROL_SESSION_STORE_UNAVAILABLE' })
  })
})

describe('6.7 report', () => {
  it('is there in continuable children alone, whatever their filter says, and reaches the parent with who speaks', async () => {
    const rig = await rigWith({ minds: { root: [sayText('heard'), sayText('and the end')], one: [callTools(call('report', { output: 'half way' })), sayText('done')], two: [sayText('x')] } })
    const { childId } = await rig.subagents.startContinuable(rig.request('one', { toolFilter: { allow: ['look'] } }))
    await rig.quiet()
    expect(rig.asked('one')[0]?.tools?.map(({ name }) => name)).toEqual(['look', 'report'])
    expect(rig.asked('one')[0]?.system).toContain('Another agent started you.')
    const [heard] = usersOf(rig.root)
    expect(heard).toMatchObject({ source: { kind: 'subagent-report', form: 'relay', senderSessionId: childId }, content: [{ text: `Report of your agent ${childId} (work of one), which works on:\nhalf way` }] })
    await (await rig.subagents.start(rig.request('two'))).outcome
    expect([rig.asked('two')[0]?.tools?.some(({ name }) => name === 'report'), rig.asked('root')[0]?.tools?.some(({ name }) => name === 'report')]).toEqual([false, false])
  })
  it('several are heard in their order, before the news of the end', async () => {
    const rig = await rigWith({ minds: { root: [[{ type: 'hang' }]], one: [callTools(call('report', { output: 'first' }, 'r1'), call('report', { output: 'second' }, 'r2')), sayText('end')] } })
    rig.root.followup(prompt('@root go'))
    await settled()
    await rig.subagents.startContinuable(rig.request('one'))
    await expect.poll(() => rig.root.inbox.nextStep.length).toBe(3)
    expect(rig.root.inbox.nextStep.map(({ source }) => source.kind)).toEqual(['subagent-report', 'subagent-report', 'subagent-settled'])
    rig.root.cancel({ kind: 'user' })
    await rig.quiet()
  })
  it('delivered quietly it wakes nobody', async () => {
    const last = gate()
    const rig = await rigWith({ settings: { 'subagents.reportDelivery': 'quiet' }, minds: { root: [sayText('ok')], one: [callTools(call('report', { output: 'psst' })), [{ type: 'wait', until: last.opened }, ...sayText('end')]] } })
    await rig.subagents.startContinuable(rig.request('one'))
    await expect.poll(() => rig.asked('one').length).toBe(2)
    await settled()
    expect([rig.root.status, rig.root.inbox.nextStep.length, rig.asked('root').length]).toEqual(['idle', 1, 0])
    last.open()
    await rig.quiet()
    expect(usersOf(rig.root).map(({ source }) => source.kind)).toEqual(['subagent-report', 'subagent-settled'])
  })
  it('a child that floods its parent is held back, and nothing is lost', async () => {
    const flood = Array.from({ length: 23 }, (_, index) => call('report', { output: `number ${index}` }, `r${index}`))
    const rig = await rigWith({ minds: { root: [[{ type: 'hang' }]], one: [callTools(...flood), sayText('end')] } })
    rig.root.followup(prompt('@root go'))
    await settled()
    const { childId } = await rig.subagents.startContinuable(rig.request('one'))
    const child = liveChild(rig, childId)
    await expect.poll(() => rig.subagents.facts(childId)?.status).toBe('ready')
    const codes = child.session.events().flatMap((event) => (event.type === 'tool/result' ? [event.data.error?.code ?? 'ok'] : []))
    expect([codes.filter((code) => code === 'ok').length, codes.filter((code) => code === 'REPORT_LIMIT').length]).toEqual([20, 3])
    expect(rig.root.inbox.nextStep.length).toBe(21)
    rig.root.cancel({ kind: 'user' })
    await rig.quiet()
  })
  it('is refused to whoever is no such child, and when nobody is there to hear it', async () => {
    const rig = await rigWith({ minds: { one: [[{ type: 'hang' }]], two: [[{ type: 'hang' }]] } })
    const message: UserMessage = { id: 'm', role: 'user', content: [{ type: 'text', text: 'x' }], source: { kind: 'subagent-report', form: 'relay', senderSessionId: 's' } }
    await expect(rig.subagents.report({ from: rig.root, message })).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    const shot = await rig.subagents.start(rig.request('two'))
    await expect(rig.subagents.report({ from: liveChild(rig, shot.childId), message })).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    const { childId } = await rig.subagents.startContinuable(rig.request('one'))
    const child = liveChild(rig, childId)
    await expect(rig.subagents.report({ from: child, message: { ...message, content: [{ type: 'text', text: 'x'.repeat(70_000) }] } })).rejects.toMatchObject({ code: 'MESSAGE_TOO_LONG' })
    const closing = rig.root.dispose()
    await expect(rig.subagents.report({ from: child, message })).rejects.toMatchObject({ code: 'PARENT_UNAVAILABLE' })
    await closing
    await expect(rig.subagents.report({ from: child, message })).rejects.toMatchObject({ code: expect.stringMatching(/ACTIVATION_CLOSING|UNAUTHORIZED/) })
  })
  it('taking the feature away revokes it at once', async () => {
    const rig = await createSubagentRig({ minds: { root: [sayText('ok')], one: [[{ type: 'hang' }]] } })
    const tools = rig.ctx.plugin(agentTools({ machine: createFakeMachine(), forkMode: () => 'one-shot' }))
    await tools.ready
    const { childId } = await rig.subagents.startContinuable(rig.request('one'))
    const has = () => rig.ctx.tools.get('report', liveChild(rig, childId).scope) !== undefined
    const before = has()
    await tools.dispose()
    expect([before, has()]).toEqual([true, false])
    await rig.root.dispose()
  })
})

it('12.11 a child that the person takes over goes on as theirs, and its parent is not told of an end', async () => {
  const rig = await rigWith({ minds: { root: [sayText('ok')], one: [[{ type: 'hang' }], sayText('now yours')] } })
  const { childId } = await rig.subagents.startContinuable(rig.request('one'))
  await expect.poll(() => rig.asked('one').length).toBe(1)
  await rig.subagents.promote(childId)
  const mine = liveChild(rig, childId)
  expect([mine.owner, usersOf(rig.root), await rig.subagents.children(rig.root.id)]).toEqual([undefined, [], []])
  mine.followup(prompt('@one go on'))
  await rig.quiet()
  expect(rig.asked('one').length).toBe(2)
})
