import { afterEach, describe, expect, it } from 'vitest'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { Context } from '../../../extension/core/kernel/plugin.ts'
import { linesOf, prompt } from '../../support/loop-rig.ts'
import { callTools, createScriptedAdapter, sayText, type ScriptedCall } from '../../support/scripted-adapter.ts'
import { wholeApplication } from '../../support/whole-application.ts'

/* Chapters 2, 3 and 10 under bad luck: what happens to what waits when its session is copied, summarised, stopped or answered twice. */

const left: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const undo of left.splice(0).toReversed()) await undo()
})

const ask: ScriptedCall = { id: 'c1', name: 'ask_user_question', args: { questions: [{ id: 'q', question: 'Which?', options: [{ label: 'A (Recommended)' }, { label: 'B' }] }] } }
const plan: ScriptedCall = { id: 'c1', name: 'exit_plan_mode', args: { plan: '# Move the dates\n\n1. To UTC\n2. And back\n' } }
const bash: ScriptedCall = { id: 'c1', name: 'bash', args: { command: 'git init -q made', description: 'Make it' } }
const answerB = [{ id: 'q', selected: ['B'] }]

/** A session with one finished turn and one that waits. */
async function waiting(call: ScriptedCall = ask) {
  const adapter = createScriptedAdapter([sayText('Hello.'), callTools(call), sayText('Thanks.'), sayText('Thanks too.'), sayText('And again.')])
  const app = await wholeApplication({ adapters: [adapter], settings: { 'model.provider': 'scripted', 'model.name': 'm1' } })
  left.push(() => app.dispose())
  attach(app.ctx)
  const agent = await app.ctx.agents.create({ cwd: app.folder })
  agent.followup(prompt('Hello.'))
  await agent.whenIdle()
  if (call === plan) app.ctx.plan.set(agent, true)
  agent.followup(prompt('Go on.'))
  await expect.poll(() => waitingOf(app.ctx).length).toBe(1)
  return { app, ctx: app.ctx, agent, adapter }
}
const attach = ({ approvals, questions }: Context) => [approvals.attach(), questions.attach()]
const waitingOf = ({ approvals, questions }: Context) => [...approvals.pending(), ...questions.pending()]
const pendingCount = (ctx: Context, count: number) => expect.poll(() => ctx.questions.pending().length).toBe(count)
const only = (ctx: Context) => ctx.questions.pending()[0]!
const count = (agent: Agent, type: string) => agent.session.events().filter((event) => event.type === type).length
const results = (agent: Agent) => linesOf(agent.session).filter((line) => line.startsWith('result '))
const lastTurnEnd = (agent: Agent) => agent.session.milestones().findLast(({ type }) => type === 'turn/end')!.seq

describe('while a question waits', () => {
  it('a fork begins without it, and it is answered where it was asked', async () => {
    const { ctx, agent } = await waiting()
    await expect(ctx.sessions.fork(agent.id)).rejects.toMatchObject({ code: 'OPEN_TURN' })
    const fork = await ctx.sessions.fork(agent.id, { boundary: lastTurnEnd(agent) })
    const copy = await ctx.agents.resume(fork.id)
    expect([ctx.questions.pending().map(({ agent: of }) => of.id), copy.status]).toEqual([[agent.id], 'idle'])
    ctx.questions.answer(only(ctx).id, answerB)
    await agent.whenIdle()
    expect([results(agent), results(copy)]).toEqual([['result c1 ok'], []])
  })

  it('a fork of a session whose question waits without its call does not ask it too, also after a reload', async () => {
    const { app, ctx, agent } = await waiting()
    ctx.questions.answer(only(ctx).id, answerB)
    await agent.whenIdle()
    agent.session.append({ type: 'question/asked', data: { id: 'lost', callId: 'c9', questions: [{ id: 'q', question: 'Lost?' }] }, ignorable: true })
    const fork = await ctx.sessions.fork(agent.id)
    await fork.flush()
    const { ctx: next } = await app.restart()
    attach(next)
    await next.agents.resume(fork.id)
    expect(next.questions.pending()).toEqual([])
    await next.agents.resume(agent.id)
    expect(next.questions.pending().map(({ id, agent: of }) => [id, of.id])).toEqual([['lost', agent.id]])
  })

  it.each([['a question', ask, answerB], ['a plan', plan, [{ id: 'plan-review', selected: ['Approve'] }]]])('an imported copy asks for itself: %s, and each answer stays in its session', async (_name, call, answers) => {
    const { ctx, agent, app } = await waiting(call)
    const parts: Uint8Array[] = []
    for await (const part of ctx.sessionArchives.export(await ctx.sessionArchives.plan(agent.id), { isRedacted: false })) parts.push(part)
    const [id = ''] = await ctx.sessionArchives.import(Buffer.concat(parts), { cwd: app.folder })
    const copy = await ctx.agents.resume(id)
    await pendingCount(ctx, 2)
    const [first, second] = [agent, copy].map((of) => ctx.questions.pending().find((set) => set.agent === of))
    expect([first?.questions, first?.id === second?.id]).toEqual([second?.questions, false])
    ctx.questions.answer(second!.id, answers)
    await copy.whenIdle()
    expect([results(copy), results(agent), ctx.questions.pending().map((set) => set.agent.id)]).toEqual([['result c1 ok'], [], [agent.id]])
    ctx.questions.answer(first!.id, answers)
    await agent.whenIdle()
    expect([results(agent), agent.session.openTurn(), copy.session.openTurn()]).toEqual([['result c1 ok'], null, null])
    if (call === plan) expect([agent, copy].map((of) => ctx.plan.isActive(of.session))).toEqual([false, false])
  })

  it.each([['a question', ask], ['an approval', bash]])('after a reload each copy asks for itself, whichever is opened first: %s', async (_name, call) => {
    const { ctx, agent, app } = await waiting(call)
    const parts: Uint8Array[] = []
    for await (const part of ctx.sessionArchives.export(await ctx.sessionArchives.plan(agent.id), { isRedacted: false })) parts.push(part)
    const [id = ''] = await ctx.sessionArchives.import(Buffer.concat(parts), { cwd: app.folder })
    const { ctx: next } = await app.restart()
    attach(next)
    const opened = [await next.agents.resume(id), await next.agents.resume(agent.id)]
    await expect.poll(() => waitingOf(next).length).toBe(2)
    expect(new Set(waitingOf(next).map((each) => each.id)).size).toBe(2)
    for (const { id: one } of waitingOf(next)) {
      if (call === ask) next.questions.answer(one, answerB)
      else next.approvals.answer(one, { outcome: 'rejected' })
    }
    await Promise.all(opened.map((one) => one.whenIdle()))
    expect(opened.map((one) => [results(one).length, one.session.openTurn()])).toEqual([[1, null], [1, null]])
  })

  it('a summary that is asked for waits for the turn or is refused, and the answer still reaches the very call', async () => {
    const { ctx, agent } = await waiting()
    const summary = ctx.commands.run(agent, '/compact').catch((error: unknown) => error)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(ctx.questions.pending().length).toBe(1)
    ctx.questions.answer(only(ctx).id, answerB)
    await agent.whenIdle()
    await summary
    expect([results(agent), agent.session.openTurn(), count(agent, 'question/settled')]).toEqual([['result c1 ok'], null, 1])
  })

  const races: readonly [name: string, act: (ctx: Context, agent: Agent, id: string) => void, result: RegExp][] = [
    ['an answer and then a stop', (ctx, agent, id) => (ctx.questions.answer(id, answerB), agent.cancel({ kind: 'user' })), /^result c1 (ok|ABORTED)$/],
    ['a stop and then an answer', (ctx, agent, id) => (agent.cancel({ kind: 'user' }), ctx.questions.answer(id, answerB)), /^result c1 ASK_ABORTED$/],
    ['two answers', (ctx, _agent, id) => (ctx.questions.answer(id, answerB), ctx.questions.answer(id, [{ id: 'q', selected: [] }])), /^result c1 ok$/],
    ['an answer and a close', (ctx, _agent, id) => (ctx.questions.answer(id, answerB), ctx.questions.answer(id, null)), /^result c1 ok$/],
    ['a close and an answer', (ctx, _agent, id) => (ctx.questions.answer(id, null), ctx.questions.answer(id, answerB)), /^result c1 ASK_CANCELLED$/],
  ]
  it.each(races)('%s at once: one result, one settlement, and the log opens again', async (_name, act, result) => {
    const { app, ctx, agent } = await waiting()
    act(ctx, agent, only(ctx).id)
    await agent.whenIdle()
    expect([results(agent).length, results(agent)[0], count(agent, 'question/settled'), ctx.questions.pending(), agent.session.openTurn()]).toEqual([1, expect.stringMatching(result), 1, [], null])
    const { ctx: next } = await app.restart()
    attach(next)
    const reopened = await next.agents.resume(agent.id)
    await reopened.whenIdle()
    expect([next.questions.pending(), reopened.session.repair, results(reopened)]).toEqual([[], undefined, results(agent)])
  })
})
