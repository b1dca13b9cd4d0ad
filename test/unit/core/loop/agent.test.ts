import { describe, expect, it } from 'vitest'
import type { InboxLists } from '../../../../extension/core/session/inbox.ts'
import { createLoopRig, fakeTool, gate, linesOf, prompt, settled, textOf } from '../../../support/loop-rig.ts'
import type { LoopRigOptions } from '../../../support/loop-rig.ts'
import { callTools, createScriptedAdapter, failWith, sayText, textParts } from '../../../support/scripted-adapter.ts'

async function setUp(options: LoopRigOptions = {}) {
  const rig = createLoopRig({ tools: [fakeTool('act')], ...options })
  const agent = await rig.newAgent()
  return {
    ...rig,
    agent,
    async say(text: string) {
      agent.followup(prompt(text))
      await agent.whenIdle()
    },
    story: () => linesOf(agent.session).filter((line) => !/^(inbox|header|context) /.test(line)),
    /** Close the application and open the session in a new one. */
    async reopen(more: LoopRigOptions = {}) {
      await rig.kernel.dispose()
      const next = createLoopRig({ ...options, ...more, store: rig.store, adapter: more.adapter ?? createScriptedAdapter(more.answers) })
      return { ...next, agent: await next.agents.resume(agent.id) }
    },
  }
}
const waiting = ({ nextTurn, nextStep }: InboxLists) => [nextTurn.map(textOf), nextStep.map(textOf)]

describe('taking messages in', () => {
  it('says running from the moment it is woken until nothing is left', async () => {
    const { agent, ctx } = await setUp({ answers: [sayText('ok')] })
    const states: string[] = []
    ctx.on('agent/status', ({ status }, news) => void states.push(`${status} ${news}`))
    agent.followup(prompt('hi'))
    expect(agent.status).toBe('running')
    await agent.whenIdle()
    expect(states).toEqual(['running running', 'idle idle'])
  })
  it('stays idle at an inject, and the next request sees it', async () => {
    const { agent, say, adapter } = await setUp({ answers: [sayText('ok')] })
    agent.inject(prompt('context'))
    await settled()
    expect([agent.status, agent.session.length]).toEqual(['idle', 1])
    await say('hi')
    expect(adapter.requests[0]?.messages.map(textOf)).toEqual(['context', 'hi'])
  })
  it('keeps a snapshot: what the sender does to its object later changes nothing', async () => {
    const { agent } = await setUp()
    const message = { ...prompt('before'), content: [{ type: 'text' as const, text: 'before' }] }
    agent.inject(message)
    message.content[0]!.text = 'after'
    expect(agent.inbox.nextStep.map(textOf)).toEqual(['before'])
  })
  it('refuses what is no JSON and takes nothing in', async () => {
    const { agent } = await setUp()
    expect(() => agent.followup({ ...prompt('x'), source: { kind: 'user', when: new Date(0) } as never })).toThrow('message.source.when is an instance of Date')
    expect([agent.inbox.nextTurn, agent.status]).toEqual([[], 'idle'])
  })
  it('takes messages from observers of the log, in the order of the log', async () => {
    const { agent, ctx, say, story } = await setUp({ answers: ['1', '2', '3'].map(sayText) })
    ctx.on('session/event', (_session, event) => {
      if (event.type === 'turn/end' && event.data.turn === 1) agent.followup(prompt('from the end'))
      if (event.type === 'assistant/message' && event.data.turn === 1 && event.data.step === 1) agent.inject(prompt('from the answer'))
    })
    await say('hi')
    await agent.whenIdle()
    expect(story().filter((line) => line.startsWith('user'))).toEqual(['user hi', 'user from the answer', 'user from the end'])
    expect(agent.inbox).toEqual({ nextTurn: [], nextStep: [] })
  })
  it('begins anew for what arrives while a failed turn is being written', async () => {
    const { agent, ctx, say, story } = await setUp({ answers: [failWith({ code: 'AUTH', message: 'no' }), sayText('ok')] })
    ctx.on('session/event', (_session, event) => void (event.type === 'turn/end' && event.data.turn === 1 && agent.followup(prompt('retry'))))
    await say('hi')
    expect(story().filter((line) => line.startsWith('end'))).toEqual(['end error', 'end completed'])
  })
  it('tells who listens, once per message', async () => {
    const { ctx, say } = await setUp({ answers: [sayText('ok')] })
    const news: string[] = []
    ctx.on('agent/inbox/inserted', ({ message }) => void news.push(`in ${textOf(message)}`))
    ctx.on('agent/inbox/claimed', ({ message, turn }) => void news.push(`claimed ${textOf(message)} ${turn}`))
    await say('hi')
    expect(news).toEqual(['in hi', 'claimed hi 1'])
  })
})

describe('edits of the queue', () => {
  async function queued() {
    const open = gate()
    const rig = await setUp({
      answers: [callTools({ id: 'a', name: 'slow', args: {} }), ...['1', '2', '3'].map(sayText)],
      tools: [fakeTool('slow', () => open.opened.then(() => 'ok'))],
    })
    for (const text of ['go', 'one', 'two', 'three']) rig.agent.followup(prompt(text))
    await settled()
    return { ...rig, open }
  }
  it('change, remove and bring forward what waits, durably', async () => {
    const { agent, open, story } = await queued()
    expect(agent.queue.edit('prompt two', [{ type: 'text', text: 'two!' }])).toBe(true)
    expect(agent.queue.remove('prompt one')).toBe(true)
    expect(agent.queue.steerNow('prompt three')).toBe(true)
    expect(waiting(agent.inbox)).toEqual([['two!'], ['three']])
    open.open()
    await agent.whenIdle()
    expect(story().filter((line) => /^(turn|step \d|user)/.test(line))).toEqual(['turn 1', 'step 1', 'user go', 'step 2', 'user three', 'turn 2', 'step 1', 'user two!'])
  })
  it('say when the message waits no longer', async () => {
    const { agent, open } = await queued()
    expect([agent.queue.edit('prompt go', []), agent.queue.remove('nope'), agent.queue.steerNow('prompt go')]).toEqual([false, false, false])
    open.open()
    await agent.whenIdle()
  })
  it('wake an idle agent when something is brought forward', async () => {
    const { agent, story } = await setUp({ answers: [failWith({ code: 'AUTH', message: 'no' }), sayText('ok')] })
    agent.followup(prompt('a'))
    agent.followup(prompt('b'))
    await agent.whenIdle()
    agent.queue.steerNow('prompt b')
    await agent.whenIdle()
    expect(story().at(-1)).toBe('end completed')
  })
})

describe('after a restart', () => {
  it('what was queued waits, and does not start by itself', async () => {
    const { agent, reopen } = await setUp({ answers: [failWith({ code: 'AUTH', message: 'no' })] })
    for (const text of ['a', 'b', 'c']) agent.followup(prompt(text))
    agent.inject(prompt('context'))
    await agent.whenIdle()
    const next = await reopen({ answers: [sayText('ok'), sayText('ok'), sayText('ok')] })
    await settled()
    expect([waiting(next.agent.inbox), next.agent.status]).toEqual([[['b', 'c'], []], 'idle'])
    next.agent.continueTurn()
    await next.agent.whenIdle()
    expect(next.adapter.requests).toHaveLength(2)
  })
  it('an idle inject is there without a turn of its own', async () => {
    const { agent, reopen } = await setUp()
    agent.inject(prompt('context'))
    const next = await reopen({ answers: [sayText('ok')] })
    await settled()
    expect([waiting(next.agent.inbox), next.adapter.requests]).toEqual([[[], ['context']], []])
    next.agent.followup(prompt('hi'))
    await next.agent.whenIdle()
    expect(linesOf(next.agent.session).filter((line) => /^(turn|user)/.test(line))).toEqual(['turn 1', 'user context', 'user hi'])
  })
  it('turns go on counting, the header is written once more as a resume, and the choice of model stands', async () => {
    const { agent, agents, say, reopen } = await setUp({ answers: [sayText('ok')] })
    agents.configure(agent.id, { provider: 'scripted', model: 'm2', maxTokens: 99 })
    await say('hi')
    const next = await reopen({ answers: [sayText('1'), sayText('2')] })
    expect(next.agents.optionsOf(agent.id)).toEqual({ provider: 'scripted', model: 'm2', maxTokens: 99 })
    for (const text of ['x', 'y']) next.agent.followup(prompt(text))
    await next.agent.whenIdle()
    expect(linesOf(next.agent.session).filter((line) => /^(turn|header|context)/.test(line))).toEqual([
      'turn 1', 'header initial', 'context scripted/m2', 'turn 2', 'header resume', 'context scripted/m2', 'turn 3',
    ])
    expect(next.adapter.requests[0]?.messages.map(textOf)).toEqual(['hi', 'ok', 'x'])
  })
  it('ids of calls stay unique in the session', async () => {
    const { say, reopen } = await setUp({ answers: [callTools({ id: 'a', name: 'act', args: {} }), sayText('ok')] })
    await say('hi')
    const next = await reopen({ answers: [callTools({ id: 'a', name: 'act', args: {} }), sayText('ok')] })
    next.agent.followup(prompt('again'))
    await next.agent.whenIdle()
    expect(linesOf(next.agent.session)).toContain('call a-2 act')
  })
  it('closing kept the queue of a running agent', async () => {
    const { agent, reopen } = await setUp({ answers: [[...textParts('half'), { type: 'hang' }]] })
    agent.followup(prompt('a'))
    agent.followup(prompt('b'))
    await settled()
    const next = await reopen()
    expect(waiting(next.agent.inbox)).toEqual([['b'], []])
    expect(linesOf(next.agent.session)).toEqual(expect.arrayContaining(['assistant (cut) half', 'end aborted']))
    expect(next.agent.session.events().findLast(({ type }) => type === 'turn/end')).toMatchObject({ data: { reason: { reason: { kind: 'disposed' } } } })
  })
})

describe('going on without words', () => {
  it('after a failure sends the same talk again', async () => {
    const { agent, say, adapter, story } = await setUp({ answers: [failWith({ code: 'AUTH', message: 'no' }), sayText('ok')] })
    await say('hi')
    agent.continueTurn()
    await agent.whenIdle()
    expect(adapter.requests.map(({ messages }) => messages.map(textOf))).toEqual([['hi'], ['hi']])
    expect(story().slice(-5)).toEqual(['turn 2', 'step 1', 'assistant ok', 'step end', 'end completed'])
  })
  it('after an answer says so to the model in a message that is not the person’s', async () => {
    const { agent, say, adapter } = await setUp({ answers: [[...textParts('half'), { type: 'finish', reason: { kind: 'max-tokens' } }], sayText('rest')] })
    await say('hi')
    agent.continueTurn()
    await agent.whenIdle()
    expect(adapter.requests[1]?.messages.at(-1)).toMatchObject({ role: 'user', source: { kind: 'plugin', plugin: 'agent', form: 'notice' } })
  })
  it('takes along what is queued instead', async () => {
    const { agent, say, adapter } = await setUp({ answers: [[{ type: 'hang' }], sayText('ok')] })
    const first = say('hi')
    await settled()
    agent.followup(prompt('queued'))
    agent.cancel({ kind: 'user' }, { keepInbox: true })
    await first
    agent.continueTurn()
    await agent.whenIdle()
    expect(adapter.requests[1]?.messages.map(textOf)).toEqual(['hi', 'queued'])
  })
  it('is nothing in a new session and while it runs', async () => {
    const { agent, story, adapter } = await setUp({ answers: [sayText('ok')] })
    agent.continueTurn()
    await agent.whenIdle()
    expect(agent.session.length).toBe(0)
    agent.followup(prompt('hi'))
    agent.continueTurn()
    await agent.whenIdle()
    expect([story().filter((line) => line.startsWith('turn')), adapter.requests.length]).toEqual([['turn 1'], 1])
  })
})

describe('maintenance', () => {
  it('runs only when idle, leaves the status idle and gives its result', async () => {
    const { agent, say } = await setUp({ answers: [sayText('ok')] })
    expect(await agent.runMaintenance(async () => agent.status)).toBe('idle')
    const run = say('hi')
    await expect(agent.runMaintenance(async () => {})).rejects.toMatchObject({ code: 'BUSY' })
    await run
  })
  it('lets prompts wait until it is done, and idleness waits for both', async () => {
    const { agent, story } = await setUp({ answers: [sayText('ok')] })
    const open = gate()
    const work = agent.runMaintenance(() => open.opened)
    await expect(agent.runMaintenance(async () => {})).rejects.toMatchObject({ code: 'BUSY' })
    agent.followup(prompt('hi'))
    await settled()
    expect([agent.status, story()]).toEqual(['idle', []])
    open.open()
    await agent.whenIdle()
    await work
    expect(story().at(-1)).toBe('end completed')
  })
  it('begins no turn for a mere inject, and a failure of it is the caller’s', async () => {
    const { agent } = await setUp()
    await expect(
      agent.runMaintenance(async () => {
        agent.inject(prompt('context'))
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    expect([agent.status, agent.inbox.nextStep.length]).toEqual(['idle', 1])
  })
  it('is told to stop when the agent goes', async () => {
    const { agent } = await setUp()
    const work = agent.runMaintenance((signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))))
    await Promise.all([agent.dispose(), expect(work).rejects.toThrow('closed')])
  })

  it('is told to stop by a cancel', async () => {
    const { agent } = await setUp()
    const work = agent.runMaintenance((signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))))
    agent.cancel({ kind: 'user' })
    await expect(work).rejects.toThrow('stopped')
  })
})

describe('a disposed agent', () => {
  it('takes nothing in, remembers nothing and stays closed', async () => {
    const { agent, story } = await setUp({ answers: [[{ type: 'hang' }]] })
    agent.followup(prompt('hi'))
    await settled()
    const gone = agent.dispose()
    for (const verb of ['followup', 'steer'] as const) expect(() => agent[verb](prompt('x'))).toThrow('Open its session again')
    expect(() => agent.continueTurn()).toThrow('closed')
    expect([agent.queue.remove('x'), agent.queue.edit('x', []), agent.queue.steerNow('x')]).toEqual([false, false, false])
    await gone
    await agent.dispose()
    expect(() => agent.inject(prompt('x'))).toThrow('Open its session again')
    await expect(agent.runMaintenance(async () => {})).rejects.toMatchObject({ code: 'DISPOSED' })
    expect(story().at(-1)).toBe('end aborted')
  })
  it('keeps what it is told while it goes, without waking, for when its session is resumed', async () => {
    const { agent, agents } = await setUp({ answers: [[{ type: 'hang' }]] })
    agent.followup(prompt('hi'))
    await settled()
    const gone = agent.dispose()
    agent.inject(prompt('what became of it'))
    await gone
    const back = await agents.resume(agent.id)
    expect([back.inbox.nextStep.map(({ id }) => id), back.status]).toEqual([['prompt what became of it'], 'idle'])
  })
})
