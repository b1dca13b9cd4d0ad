import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Context } from '../../../extension/core/kernel/plugin.ts'
import type { EventType } from '../../../extension/core/log/event.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import { linesOf, prompt } from '../../support/loop-rig.ts'
import { callTools, createScriptedAdapter, sayText, type ScriptedCall } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

const killWaiting = new URL('../../support/kill-waiting.ts', import.meta.url).pathname
const write = (id: string, text: string): ScriptedCall => ({ id, name: 'bash', args: { command: `printf '${text}' >> made.txt && git init -q made-${id}`, description: 'Make it' } })
const ask: ScriptedCall = { id: 'c1', name: 'ask_user_question', args: { questions: [{ id: 'q', question: 'Which?', options: [{ label: 'A (Recommended)' }, { label: 'B' }] }] } }

const left: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const undo of left.splice(0).toReversed()) await undo()
})

interface Opened {
  readonly app: WholeApplication
  readonly ctx: Context
  readonly agent: Agent
  readonly adapter: ReturnType<typeof createScriptedAdapter>
  readonly made: () => string | null
}

/** Kill an application while `calls` wait, and open its session in the next one. `meanwhile`: at once, before the turn goes on. */
async function afterKill(calls: readonly ScriptedCall[], meanwhile: (ctx: Context) => void = () => {}, when: 'waiting' | EventType = 'waiting'): Promise<Opened> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'bosun-killed-')))
  left.push(() => rm(home, { recursive: true, force: true }))
  const { id, signal } = await new Promise<{ readonly id: string; readonly signal: string | null }>((resolve) => {
    execFile(process.execPath, [killWaiting, home, JSON.stringify(calls), when], { timeout: 50_000 }, (error, stdout, stderr) => resolve({ id: stdout.trim(), signal: error?.signal ?? `none: ${stderr}` }))
  })
  expect(signal).toBe('SIGKILL')
  if (when !== 'waiting') cutBehind(join(home, 'sessions', id, 'events.jsonl'), when)
  const adapter = createScriptedAdapter([sayText('Thanks.'), sayText('Later.')])
  const app = await wholeApplication({ home, adapters: [adapter], settings: { 'model.provider': 'scripted', 'model.name': 'm1' } })
  left.push(() => app.dispose())
  const { ctx } = app
  ctx.approvals.attach()
  ctx.questions.attach()
  const agent = await ctx.agents.resume(id)
  meanwhile(ctx)
  return { app, ctx, agent, adapter, made: () => (existsSync(join(home, 'work', 'made.txt')) ? readFileSync(join(home, 'work', 'made.txt'), 'utf8') : null) }
}

/** What went to the disk in the same write as the event is cut off, as if the machine had died in the middle of it. */
function cutBehind(file: string, type: EventType): void {
  const lines = readFileSync(file, 'utf8').split('\n')
  const at = lines.findIndex((line) => line.includes(`"type":"${type}"`))
  expect(at).toBeGreaterThan(0)
  writeFileSync(file, `${lines.slice(0, at + 1).join('\n')}\n`)
}

const waitFor = async (ready: () => boolean) => {
  await expect.poll(ready).toBe(true)
}
const count = (agent: Agent, type: string) => agent.session.events().filter((event) => event.type === type).length
const ends = (agent: Agent) => linesOf(agent.session).filter((line) => line.startsWith('end '))

describe('12.5 what waited when the window was killed', () => {
  it('is in the list again under its id: an approval, which runs the very call once when it is allowed', async () => {
    const { ctx, agent, adapter, made } = await afterKill([write('c1', 'one')])
    await waitFor(() => ctx.approvals.pending().length === 1)
    const [request] = ctx.approvals.pending()
    const asked = agent.session.events().find((event) => event.type === 'approval/asked')
    expect([request?.id, request?.callId, request?.toolName, JSON.stringify(request?.arguments)]).toEqual([asked?.data.id, 'c1', 'bash', JSON.stringify(write('c1', 'one').args)])
    expect([agent.status, made(), adapter.requests.length]).toEqual(['running', null, 0])
    expect(ctx.approvals.answer(request!.id, { outcome: 'allowed-once' })).toBe(true)
    await agent.whenIdle()
    expect([made(), count(agent, 'tool/call'), count(agent, 'approval/asked'), count(agent, 'approval/decided'), count(agent, 'turn/start'), ends(agent)]).toEqual(['one', 1, 1, 1, 1, ['end completed']])
    expect(ctx.approvals.answer(request!.id, { outcome: 'allowed-once' })).toBe(false)
  })

  it('gives the answer of the person to the very call that asked', async () => {
    const { ctx, agent, adapter } = await afterKill([ask])
    await waitFor(() => ctx.questions.pending().length === 1)
    const [set] = ctx.questions.pending()
    const asked = agent.session.events().find((event) => event.type === 'question/asked')
    expect([set?.id, set?.callId]).toEqual([asked?.data.id, 'c1'])
    ctx.questions.answer(set!.id, [{ id: 'q', selected: ['B'] }])
    await agent.whenIdle()
    expect([count(agent, 'question/asked'), count(agent, 'question/settled'), ends(agent)]).toEqual([1, 1, ['end completed']])
    expect(JSON.stringify(adapter.requests[0]?.messages.at(-1))).toContain(String.raw`{\"answers\":[{\"id\":\"q\",\"selected\":[\"B\"]}]}`)
  })

  it('gives the verdict on a plan to the very call that submitted it', async () => {
    const { ctx, agent, adapter } = await afterKill([{ id: 'c1', name: 'exit_plan_mode', args: { plan: '# Move the dates\n\n1. To UTC' } }])
    await waitFor(() => ctx.questions.pending().length === 1)
    const [set] = ctx.questions.pending()
    expect([set?.callId, set?.questions[0]?.intent?.kind, ctx.plan.isActive(agent.session)]).toEqual(['c1', 'plan-review', true])
    ctx.questions.answer(set!.id, [{ id: 'plan-review', selected: ['Approve'] }])
    await agent.whenIdle()
    expect([count(agent, 'question/asked'), count(agent, 'plan/approved'), ctx.plan.isActive(agent.session), ends(agent)]).toEqual([1, 1, false, ['end completed']])
    expect(JSON.stringify(adapter.requests[0]?.messages)).toContain('The person approved the plan')
  })

  it('tells the model of a refusal, with its words, and runs nothing', async () => {
    const { ctx, agent, adapter, made } = await afterKill([write('c1', 'one')])
    await waitFor(() => ctx.approvals.pending().length === 1)
    ctx.approvals.answer(ctx.approvals.pending()[0]!.id, { outcome: 'rejected', note: 'Use make.' })
    await agent.whenIdle()
    expect([made(), JSON.stringify(adapter.requests[0]?.messages.at(-1)).includes('Use make.')]).toEqual([null, true])
  })

  it('is asked about also where it would be allowed by now, and goes on with the calls behind it', async () => {
    const { ctx, agent, made } = await afterKill([write('c1', 'one'), write('c2', 'two')], (later) => later.permissions.select(later.agents.list()[0]!.id, 'danger-full-access'))
    await waitFor(() => ctx.approvals.pending().length === 1)
    expect([ctx.permissions.modeOf(agent.id), made()]).toEqual(['danger-full-access', null])
    ctx.approvals.answer(ctx.approvals.pending()[0]!.id, { outcome: 'allowed-once' })
    await agent.whenIdle()
    expect([made(), linesOf(agent.session).filter((line) => line.startsWith('call') || line.startsWith('result'))]).toEqual(['onetwo', ['call c1 bash', 'result c1 ok', 'call c2 bash', 'result c2 ok']])
  })

  it('ends with a stop as any turn does', async () => {
    const { ctx, agent, made } = await afterKill([write('c1', 'one'), write('c2', 'two')])
    await waitFor(() => ctx.approvals.pending().length === 1)
    agent.cancel({ kind: 'user' })
    await agent.whenIdle()
    expect([made(), ctx.approvals.pending(), agent.session.openTurn(), ends(agent), count(agent, 'approval/decided'), count(agent, 'tool/result')]).toEqual([null, [], null, ['end aborted'], 1, 2])
  })

  it('ends with a stop that comes before anybody is asked again', async () => {
    const { ctx, agent } = await afterKill([ask, write('c2', 'two')])
    agent.cancel({ kind: 'user' })
    await agent.whenIdle()
    expect([ctx.questions.pending(), agent.session.openTurn(), ends(agent), count(agent, 'question/settled')]).toEqual([[], null, ['end aborted'], 1])
  })

  it('was allowed and may have begun: it never runs again unasked, and the model is told to look', async () => {
    const { ctx, agent, made } = await afterKill([write('c1', 'one')], () => {}, 'approval/decided')
    expect([agent.status, ctx.approvals.pending(), made(), ends(agent)]).toEqual(['idle', [], null, ['end interrupted']])
    expect(linesOf(agent.session)).toContain('result c1 TOOL_OUTCOME_UNKNOWN')
  })
})

describe('12.5 what was answered when the window was killed', () => {
  const review: ScriptedCall = { id: 'c1', name: 'exit_plan_mode', args: { plan: '# Move the dates\n\n1. To UTC' } }
  it.each<[string, ScriptedCall, EventType, string]>([
    ['a question', ask, 'question/settled', String.raw`{\"answers\":[{\"id\":\"q\",\"selected\":[\"A (Recommended)\"]}]}`],
    ['a plan, before it was kept', review, 'question/settled', 'The person approved the plan'],
    ['a plan, once it was kept', review, 'plan/approved', 'The person approved the plan'],
    ['a plan, once its mode was to end', review, 'plan/selected', 'The person approved the plan'],
  ])('is the result of the very call, and nobody is asked again: %s', async (_name, call, when, said) => {
    const { ctx, agent, adapter } = await afterKill([call], () => {}, when)
    await agent.whenIdle()
    expect([ctx.questions.pending(), count(agent, 'question/asked'), count(agent, 'question/settled'), ends(agent)]).toEqual([[], 1, 1, ['end completed']])
    expect(JSON.stringify(adapter.requests[0]?.messages)).toContain(said)
    if (call === review) expect([count(agent, 'plan/approved'), ctx.plan.isActive(agent.session), ctx.tasks.of(agent.session).tasks?.map(({ content }) => content)]).toEqual([1, false, ['To UTC']])
  })
})

describe('6.1 a reload of the window', () => {
  it.each([
    ['an approval', write('c1', 'one')],
    ['a question', ask],
  ])('leaves the turn of %s as it is, and the next window goes on with it', async (_name, call) => {
    const adapter = createScriptedAdapter([callTools(call), sayText('Thanks.')])
    const app = await wholeApplication({ adapters: [adapter], settings: { 'model.provider': 'scripted', 'model.name': 'm1' } })
    left.push(() => app.dispose())
    const list = ({ approvals, questions }: Context) => [...approvals.pending(), ...questions.pending()].map(({ id }) => id)
    const attach = ({ approvals, questions }: Context) => [approvals.attach(), questions.attach()]
    attach(app.ctx)
    const first = await app.ctx.agents.create({ cwd: app.folder })
    first.followup(prompt('Go on.'))
    await waitFor(() => list(app.ctx).length === 1)
    const before = list(app.ctx)
    const lines = linesOf(first.session)
    const { ctx } = await app.restart()
    attach(ctx)
    const agent = await ctx.agents.resume(first.id)
    await waitFor(() => list(ctx).length === 1)
    expect([list(ctx), linesOf(agent.session), app.logger.lines.filter(({ level }) => level === 'error')]).toEqual([before, [...lines, 'session/end-seed'], []])
    if (call === ask) ctx.questions.answer(before[0]!, [{ id: 'q', selected: [] }])
    else ctx.approvals.answer(before[0]!, { outcome: 'allowed-once' })
    await agent.whenIdle()
    expect([ends(agent), count(agent, 'turn/start'), existsSync(join(app.folder, 'made.txt'))]).toEqual([['end completed'], 1, call !== ask])
    // What the model had read stands before what is new, message for message.
    const [asked, answered] = adapter.requests
    expect(answered?.messages.slice(0, asked?.messages.length)).toEqual(asked?.messages)
    expect([answered?.system, answered?.tools]).toEqual([asked?.system, asked?.tools])
  })
})
