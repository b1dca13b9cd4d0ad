import { describe, expect, it } from 'vitest'
import { createLoopRig, fakeTool, gate, linesOf, prompt, settled, textOf } from '../../../support/loop-rig.ts'
import type { LoopRigOptions } from '../../../support/loop-rig.ts'
import { callParts, callTools, failWith, reasoningParts, sayText, textParts } from '../../../support/scripted-adapter.ts'
import type { ScriptedPart } from '../../../support/scripted-adapter.ts'

const byUser = { kind: 'user' } as const

async function setUp(options: LoopRigOptions = {}) {
  const rig = createLoopRig({ tools: [fakeTool('act')], ...options })
  const agent = await rig.newAgent()
  const discarded: string[] = []
  rig.ctx.on('agent/inbox/discarded', ({ message }) => void discarded.push(textOf(message)))
  return {
    ...rig,
    agent,
    discarded,
    /** Start a turn and let it go as far as it can. */
    async begin(...texts: readonly string[]) {
      for (const text of texts) agent.followup(prompt(text))
      await settled()
    },
    async say(text: string) {
      agent.followup(prompt(text))
      await agent.whenIdle()
    },
    story: () => linesOf(agent.session).filter((line) => !/^(inbox|header|context) /.test(line)),
    lastReason: () => {
      const last = agent.session.events().findLast((event) => event.type === 'turn/end')
      return last?.data.reason
    },
  }
}
const hang: ScriptedPart = { type: 'hang' }
const finished = ['turn 2', 'step 1', 'user next', 'assistant fine', 'step end', 'end completed']

describe('a cancel', () => {
  it('of an idle agent leaks into nothing, and the next prompt runs', async () => {
    const { agent, say, story } = await setUp({ answers: [sayText('fine')] })
    agent.cancel(byUser)
    await say('hi')
    expect(story().at(-1)).toBe('end completed')
  })
  it('keeps the first of two causes', async () => {
    const { agent, begin, lastReason } = await setUp({ answers: [[hang]] })
    await begin('hi')
    agent.cancel({ kind: 'hook', reason: 'first' })
    agent.cancel(byUser)
    await agent.whenIdle()
    expect(lastReason()).toEqual({ kind: 'aborted', reason: { kind: 'hook', reason: 'first' } })
  })
  it('does not touch the next turn', async () => {
    const { agent, begin, say, story } = await setUp({ answers: [[hang], sayText('fine')] })
    await begin('hi')
    agent.cancel(byUser)
    await agent.whenIdle()
    await say('next')
    expect(story().slice(-6)).toEqual(finished)
  })
  it('lets a waiter for idleness from before it go on', async () => {
    const { agent, begin } = await setUp({ answers: [[hang]] })
    await begin('hi')
    const idle = agent.whenIdle()
    agent.cancel(byUser)
    await idle
    expect(agent.status).toBe('idle')
  })
})

describe('a cancel before the request', () => {
  const place = async (cancelAt: (rig: Awaited<ReturnType<typeof setUp>>) => void, expected: readonly string[]) => {
    const rig = await setUp({ answers: [sayText('fine')] })
    cancelAt(rig)
    await rig.say('hi')
    expect(rig.story()).toEqual(expected)
    expect(rig.adapter.requests).toEqual([])
    expect([rig.agent.inbox.nextTurn, rig.discarded]).toEqual([[], ['hi']])
  }
  it('from an observer of the status drops that work', () =>
    place(({ ctx, agent }) => void ctx.on('agent/status', (_agent, status) => status === 'running' && agent.cancel(byUser)), []))
  it('right after the prompt drops that work', () => place(({ ctx, agent }) => void ctx.on('agent/inbox/inserted', () => queueMicrotask(() => agent.cancel(byUser))), []))
  it('during prompt assembly closes a turn without a step', () =>
    place(
      ({ ctx, agent }) => void ctx.systemPrompt.section({ name: 'late', order: 0, text: () => (agent.cancel(byUser), 'x') }),
      ['turn 1', 'end aborted'],
    ))
  it('during pre-step closes a turn without a step', () =>
    place(({ ctx, agent }) => void ctx.on('agent/pre-step', (_place, next) => (agent.cancel(byUser), next())), ['turn 1', 'end aborted']))
  it('beats a rejecting pre-step', () =>
    place(({ ctx, agent }) => void ctx.on('agent/pre-step', () => (agent.cancel(byUser), { kind: 'reject' })), ['turn 1', 'end aborted']))
  it('from an observer of the step’s start drops that work', () =>
    place(
      ({ ctx, agent }) => void ctx.on('session/event', (_session, { type }) => type === 'step/start' && agent.cancel(byUser)),
      ['turn 1', 'step 1', 'step end', 'end aborted'],
    ))
  it('from a listener of the request’s configuration makes no request', async () => {
    const { ctx, agent, say, story, adapter } = await setUp({ answers: [sayText('x')] })
    ctx.on('agent/request', (_place, next) => (agent.cancel(byUser), next()))
    await say('hi')
    expect([story(), adapter.requests]).toEqual([['turn 1', 'step 1', 'user hi', 'step end', 'end aborted'], []])
  })
  it('ends a prompt assembly and a look-up of the model that never answer', async () => {
    const never = new Promise<never>(() => {})
    const { ctx, agent, begin, story, adapter } = await setUp()
    const undo = ctx.systemPrompt.runtimeContext({ name: 'stuck', order: 0, text: () => never })
    await begin('hi')
    agent.cancel(byUser)
    await agent.whenIdle()
    undo()
    adapter.resolveModel = () => never
    await begin('again')
    agent.cancel(byUser)
    await agent.whenIdle()
    expect(story()).toEqual(['turn 1', 'end aborted', 'turn 2', 'step 1', 'user again', 'step end', 'end aborted'])
  })
  it('gives the words back when the inbox is to be kept', async () => {
    const { ctx, agent, say, discarded } = await setUp()
    ctx.on('agent/pre-step', (_place, next) => (agent.cancel(byUser, { keepInbox: true }), next()))
    agent.inject(prompt('context'))
    await say('hi')
    expect([agent.inbox.nextTurn.map(textOf), agent.inbox.nextStep.map(textOf), discarded]).toEqual([['hi'], ['context'], []])
  })
})

describe('a cancel while the model answers', () => {
  const check = async (parts: readonly ScriptedPart[], expected: readonly string[]) => {
    const { agent, begin, story, say } = await setUp({ answers: [[...parts, hang], sayText('fine')] })
    await begin('hi')
    agent.cancel(byUser)
    await agent.whenIdle()
    expect(story()).toEqual(['turn 1', 'step 1', 'user hi', ...expected, 'step end', 'end aborted'])
    await say('next')
    expect(story().slice(-6)).toEqual(finished)
  }
  it('keeps what was said so far, marked as cut', () => check([{ type: 'text-delta', index: 0, delta: 'Well, ' }, { type: 'text-delta', index: 0, delta: 'I' }], ['assistant (cut) Well, I']))
  it('keeps reasoning alone', () => check(reasoningParts('hm'), ['assistant (cut) hm']))
  it('keeps nothing of blanks', () => check([{ type: 'text-delta', index: 0, delta: ' \n' }], []))
  it('keeps nothing when nothing was said', () => check([], []))
  it('drops a half-streamed call and keeps the text before it', () =>
    check([...textParts('Let me'), { type: 'tool-call-delta', index: 1, id: 'a', name: 'act', argumentsDelta: '{"x' }], ['assistant (cut) Let me']))
  it('drops a complete call that was not yet dispatched', () => check([...textParts('Let me'), ...callParts({ id: 'a', name: 'act', args: {} }, 1)], ['assistant (cut) Let me']))
  it('ends at once even when the adapter does not listen', () => {
    const never = new Promise<never>(() => {})
    return check([...textParts('Well'), { type: 'wait', until: never }], ['assistant (cut) Well'])
  })
  it('ends at once even when a middleware does not listen', async () => {
    const { agent, begin, ctx, story } = await setUp({ answers: [sayText('x')] })
    ctx.on('llm/stream', () => new Promise(() => {}))
    await begin('hi')
    agent.cancel(byUser)
    await agent.whenIdle()
    expect(story()).toEqual(['turn 1', 'step 1', 'user hi', 'step end', 'end aborted'])
  })
  it('cites the parts it kept', async () => {
    const { agent, begin } = await setUp({ answers: [[{ type: 'text-delta', index: 0, delta: 'a' }, { type: 'text-delta', index: 0, delta: 'b' }, hang]] })
    await begin('hi')
    agent.cancel(byUser)
    await agent.whenIdle()
    const events = agent.session.events()
    const chunks = events.filter(({ type }) => type === 'assistant/chunk')
    expect(chunks).toHaveLength(2)
    expect(events.find(({ type }) => type === 'assistant/message')).toMatchObject({
      sourceEventSeqs: chunks.map(({ seq }) => seq),
      data: { interrupted: true, message: { content: [{ type: 'text', text: 'ab' }] } },
    })
  })
  it('shows the next request what was said, and no call', async () => {
    const { agent, begin, say, adapter } = await setUp({ answers: [[...textParts('Well'), hang], sayText('ok')] })
    await begin('hi')
    agent.cancel(byUser)
    await agent.whenIdle()
    await say('next')
    expect(adapter.requests[1]?.messages.map(textOf)).toEqual(['hi', 'Well', 'next'])
  })
})

describe('a cancel during error recovery', () => {
  const busy = [...textParts('half'), ...failWith({ code: 'SERVER', message: 'busy' })]
  it('ends the wait, does not keep the failed stream and sends nothing again', async () => {
    const { agent, begin, story, clock, adapter } = await setUp({ answers: [busy, sayText('x')] })
    await begin('hi')
    agent.cancel(byUser)
    await agent.whenIdle()
    expect(story()).toEqual(['turn 1', 'step 1', 'user hi', expect.stringMatching(/^retry 1 in/), 'step end', 'end aborted'])
    clock.advance(60_000)
    await settled()
    expect(adapter.requests).toHaveLength(1)
  })
  it('beats an answer that says retry', async () => {
    const { agent, say, story, adapter, ctx } = await setUp({ answers: [busy, sayText('x')] })
    ctx.on('agent/request-error', () => (agent.cancel(byUser), { kind: 'retry' }), { prepend: true })
    await say('hi')
    expect([story().at(-1), adapter.requests.length]).toEqual(['end aborted', 1])
  })
})

describe('a cancel while tools run', () => {
  it('drains a parallel group, commits it in order and gives what did not start its pair', async () => {
    const open = gate()
    const { agent, begin, story, adapter } = await setUp({
      answers: [callTools({ id: 'a', name: 'slow', args: {} }, { id: 'b', name: 'slow', args: {} }, { id: 'c', name: 'act', args: {} })],
      tools: [fakeTool('slow', () => open.opened.then(() => 'late'), { isConcurrencySafe: () => true }), fakeTool('act')],
    })
    await begin('hi')
    agent.cancel(byUser)
    await settled()
    expect(agent.status).toBe('running')
    open.open()
    await agent.whenIdle()
    expect(story().slice(4)).toEqual([
      'call a slow', 'call b slow', 'result a ABORTED', 'result b ABORTED', 'call c act', 'result c ABORTED_BEFORE_DISPATCH', 'step end', 'end aborted',
    ])
    expect(adapter.requests).toHaveLength(1)
  })
  it('reaches the body by its signal', async () => {
    const { agent, begin, story } = await setUp({
      answers: [callTools({ id: 'a', name: 'slow', args: {} })],
      tools: [
        fakeTool('slow', (_args, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))),
      ],
    })
    await begin('hi')
    agent.cancel(byUser)
    await agent.whenIdle()
    expect(story().slice(4)).toEqual(['call a slow', expect.stringMatching(/^result a (error|ABORTED)$/), 'step end', 'end aborted'])
  })
  it('during approval runs nothing', async () => {
    const open = gate()
    let ran = false
    const { agent, begin, story, ctx } = await setUp({
      answers: [callTools({ id: 'a', name: 'act', args: {} }, { id: 'b', name: 'act', args: {} })],
      tools: [fakeTool('act', () => ((ran = true), 'ok'))],
    })
    ctx.on('tools/pre-execute', async () => {
      await open.opened
      return { kind: 'allow' }
    })
    await begin('hi')
    agent.cancel(byUser)
    open.open()
    await agent.whenIdle()
    expect(story().slice(4)).toEqual(['call a act', 'result a ABORTED_BEFORE_DISPATCH', 'call b act', 'result b ABORTED_BEFORE_DISPATCH', 'step end', 'end aborted'])
    expect(ran).toBe(false)
  })
  it('does not ask the listeners of the turn’s end', async () => {
    const { agent, say, ctx, lastReason } = await setUp({ answers: [sayText('x')] })
    ctx.on('agent/turn-stopping', () => agent.cancel(byUser))
    let later = false
    ctx.on('agent/turn-stopping', () => void (later = true))
    await say('hi')
    expect(lastReason()).toEqual({ kind: 'aborted', reason: byUser })
    expect(later).toBe(true)
  })
})

describe('what waits', () => {
  it('is discarded durably, as cancelled', async () => {
    const { agent, begin, discarded } = await setUp({ answers: [[hang]] })
    await begin('a', 'b', 'c')
    agent.inject(prompt('context'))
    agent.cancel(byUser)
    await agent.whenIdle()
    expect(linesOf(agent.session).filter((line) => line.endsWith('canceled'))).toEqual(['inbox next-step 0 -1 + canceled', 'inbox next-turn 0 -2 + canceled'])
    expect(discarded).toEqual(['context', 'b', 'c'])
  })
  it('is kept by the Stop of the chat and waits for the next wake-up', async () => {
    const { agent, begin, say, story } = await setUp({ answers: [[hang], ...['1', '2', '3'].map(sayText)] })
    await begin('a', 'b')
    agent.cancel(byUser, { keepInbox: true })
    await agent.whenIdle()
    expect([agent.inbox.nextTurn.map(textOf), story().at(-1)]).toEqual([['b'], 'end aborted'])
    await say('c')
    expect(story().filter((line) => line.startsWith('user'))).toEqual(['user a', 'user b', 'user c'])
  })
  it.each(['steer', 'followup'] as const)('%s after the cancel goes to a turn of its own, which begins when the cancelled one is over', async (verb) => {
    const open = gate()
    const { agent, begin, story } = await setUp({
      answers: [callTools({ id: 'a', name: 'slow', args: {} }), sayText('fine')],
      tools: [fakeTool('slow', () => open.opened.then(() => 'ok'))],
    })
    await begin('hi')
    agent.cancel(byUser)
    agent[verb](prompt('next'))
    expect(agent.inbox.nextTurn.map(textOf)).toEqual(['next'])
    open.open()
    await agent.whenIdle()
    expect(story().slice(-7)).toEqual(['end aborted', ...finished])
  })
  it('does not begin a turn by an inject after the cancel', async () => {
    const { agent, begin, story } = await setUp({ answers: [[hang]] })
    await begin('hi')
    agent.cancel(byUser)
    agent.inject(prompt('context'))
    await agent.whenIdle()
    expect([story().at(-1), agent.inbox.nextStep.map(textOf)]).toEqual(['end aborted', ['context']])
  })
  it('does not begin a turn when a second cancel follows', async () => {
    const { agent, begin, story } = await setUp({ answers: [[hang]] })
    await begin('hi')
    agent.cancel(byUser)
    agent.steer(prompt('next'))
    agent.cancel(byUser, { keepInbox: true })
    await agent.whenIdle()
    expect([story().at(-1), agent.inbox.nextTurn.map(textOf)]).toEqual(['end aborted', ['next']])
  })
})
