import { afterEach, describe, expect, it } from 'vitest'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { ModelRequest } from '../../../extension/core/model/contract.ts'
import type { ChildRequest } from '../../../extension/features/subagents/service.ts'
import { prompt, settled, textOf } from '../../support/loop-rig.ts'
import { callTools, createScriptedAdapter, sayText, type ScriptedAnswer, type ScriptedCall } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

let whole: WholeApplication | undefined
afterEach(async () => {
  await whole?.dispose()
  whole = undefined
})

async function start(options: { readonly mode?: 'read-only' | 'workspace-write' | 'danger-full-access'; readonly settings?: Record<string, unknown>; readonly answers: readonly ScriptedAnswer[] }) {
  whole = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1', ...(options.mode && { 'permissions.defaultPreset': options.mode }), ...options.settings } })
  const adapter = createScriptedAdapter(options.answers)
  const { ctx, folder } = whole
  ctx.models.register(adapter)
  const root = await ctx.agents.create({ cwd: folder, preset: 'standard' })
  const request = (more: Partial<ChildRequest> = {}): ChildRequest => ({ parent: root, provider: 'spawn', label: 'mend the tests', prompt: 'Do it.', purpose: { kind: 'subagent' }, signal: new AbortController().signal, ...more })
  const facts = (agent: Agent) => agent.session.events().flatMap((event) => (event.type === 'sandbox/mode' ? [`mode ${event.data.mode} ${event.data.source ?? ''}`] : event.type === 'approval/policy' ? [`policy ${event.data.policy} ${event.data.source ?? ''}`] : event.type === 'approval/decided' ? [`decided ${event.data.outcome}`] : []))
  const results = (agent: Agent) => agent.session.events().flatMap((event) => (event.type === 'tool/result' ? [event.data.error?.code ?? (event.data.message.content[0].isError ? 'error' : 'ok')] : []))
  return { ctx, folder, adapter, root, request, facts, results, settings: whole.settings }
}
const write = (id = 'w'): ScriptedCall => ({ id, name: 'write', args: { file_path: `new-${id}.txt`, content: 'x' } })

describe('6.1 what a child may do', () => {
  it('asks the person, naming the agent and its task, and goes on with the answer', async () => {
    const { ctx, request, facts, results } = await start({ mode: 'workspace-write', answers: [callTools(write()), sayText('done')] })
    ctx.approvals.attach()
    const { childId, outcome } = await ctx.subagents.start(request())
    const child = ctx.agents.live(childId)!
    await expect.poll(() => ctx.approvals.pending().length).toBe(1)
    const [asked] = ctx.approvals.pending()
    expect([asked?.agent.id, ctx.subagents.facts(asked?.agent.id ?? '')?.label]).toEqual([childId, 'mend the tests'])
    ctx.approvals.answer(asked!.id, { outcome: 'allowed-once' })
    expect((await outcome).stopReason).toBe('completed')
    expect([facts(child), results(child)]).toEqual([['mode workspace-write delegation', 'policy ask delegation', 'decided allowed-once'], ['ok']])
  })
  it('with the policy deny, every question inside a child is refused without one', async () => {
    const { ctx, request, facts, results } = await start({ mode: 'workspace-write', settings: { 'subagents.approvals': 'deny' }, answers: [callTools(write()), sayText('done')] })
    ctx.approvals.attach()
    const { childId, outcome } = await ctx.subagents.start(request())
    const child = ctx.agents.live(childId)!
    await outcome
    expect([facts(child), results(child), ctx.approvals.pending()]).toEqual([['mode workspace-write delegation', 'policy never delegation', 'decided rejected'], ['DENIED'], []])
  })
  it.each([['ask', 1], ['inherit', 0]] as const)('what the person allowed for the session of the parent: %s', async (approvals, asks) => {
    const { ctx, root, request } = await start({ mode: 'workspace-write', settings: { 'subagents.approvals': approvals }, answers: [callTools(write()), sayText('root done'), callTools(write('v')), sayText('done')] })
    ctx.approvals.attach()
    let asked = 0
    ctx.approvals.onDidChange(() => {
      for (const { id, agent, details } of ctx.approvals.pending()) {
        if (agent !== root) asked += 1
        const rule = details?.always?.find((offer) => JSON.stringify(offer.rule).includes('"session"'))?.rule
        ctx.approvals.answer(id, agent === root && rule ? { outcome: 'allowed-once', rule } : { outcome: 'rejected' })
      }
    })
    root.followup(prompt('go'))
    await root.whenIdle()
    await (await ctx.subagents.start(request())).outcome
    expect(asked).toBe(asks)
  })
  it('allowed for all agents of the session it is asked for once, and can be taken back', async () => {
    const { ctx, root, request, results } = await start({ mode: 'workspace-write', answers: [callTools(write()), sayText('one'), callTools(write('v')), sayText('two'), callTools(write('x')), sayText('three')] })
    ctx.approvals.attach()
    const asked: string[] = []
    ctx.approvals.onDidChange(() => {
      for (const { id, details } of ctx.approvals.pending()) {
        const offer = details?.always?.find(({ rule }) => rule['scope'] === 'tree')
        asked.push(offer?.label ?? 'no offer')
        ctx.approvals.answer(id, asked.length === 1 && offer ? { outcome: 'allowed-once', rule: offer.rule } : { outcome: 'rejected' })
      }
    })
    const ended: string[][] = []
    for (const label of ['one', 'two', 'three']) {
      if (label === 'three') for (const rule of ctx.permissions.rules(root.id)) await ctx.permissions.revoke(rule)
      const { childId, outcome } = await ctx.subagents.start(request({ label }))
      const child = ctx.agents.live(childId)!
      await outcome
      ended.push(results(child))
    }
    expect([ended, asked]).toEqual([[['ok'], ['ok'], ['DENIED']], ['Allow changing files in this workspace until the session ends, for all agents of this session', expect.any(String)]])
    expect(root.session.events().filter(({ type }) => type === 'permission/rule-granted').length).toBe(1)
  })
  it('never more than its parent: a parent that is narrowed later narrows it, one that is widened does not widen it', async () => {
    const { ctx, root, request } = await start({ mode: 'workspace-write', answers: [[{ type: 'hang' }]] })
    const stop = new AbortController()
    const { childId, outcome } = await ctx.subagents.start(request({ signal: stop.signal }))
    const modes = (['read-only', 'danger-full-access', 'workspace-write'] as const).map((mode) => {
      ctx.permissions.select(root.id, mode)
      return ctx.permissions.modeOf(childId)
    })
    expect(modes).toEqual(['read-only', 'workspace-write', 'workspace-write'])
    stop.abort()
    await outcome
  })
  it('plan mode of the parent holds it to reading, and a fork brings it along', async () => {
    const { ctx, root, request, results } = await start({ mode: 'danger-full-access', answers: [sayText('planned'), callTools(write()), sayText('a'), callTools(write()), sayText('b')] })
    ctx.plan.set(root, true)
    root.followup(prompt('go'))
    await root.whenIdle()
    for (const provider of ['spawn', 'fork']) {
      const { childId, outcome } = await ctx.subagents.start(request({ provider }))
      const child = ctx.agents.live(childId)!
      await outcome
      expect(results(child).at(-1)).toBe('DENIED')
    }
  })
  it('a filter of tools and the preset of the parent hold for it', async () => {
    const { ctx, request, adapter } = await start({ answers: [sayText('a')] })
    await (await ctx.subagents.start(request({ toolFilter: { allow: ['read', 'grep'] } }))).outcome
    expect(adapter.requests[0]?.tools?.map(({ name }) => name)).toEqual(['grep', 'read'])
  })
  it('a stored child keeps the permissions it was given when it goes on', async () => {
    const { ctx, root, request, facts } = await start({ mode: 'read-only', answers: [sayText('first'), sayText('heard'), sayText('second'), sayText('heard')] })
    const { childId } = await ctx.subagents.startContinuable(request())
    await expect.poll(() => ctx.agents.live(childId)).toBeUndefined()
    await root.whenIdle()
    ctx.permissions.select(root.id, 'danger-full-access')
    await ctx.subagents.send({ from: root, childId, message: { id: 'm', role: 'user', content: [{ type: 'text', text: 'again' }], source: { kind: 'coordinator', form: 'relay', senderSessionId: root.id } }, mode: 'next-turn' })
    const child = ctx.agents.live(childId)!
    expect([facts(child), ctx.permissions.modeOf(childId)]).toEqual([['mode read-only delegation', 'policy ask delegation'], 'read-only'])
    await expect.poll(() => ctx.agents.live(childId)).toBeUndefined()
  })
})

describe('chapter 0: an owned agent', () => {
  it('cannot ask the person, and says what it would have asked in its result', async () => {
    const { ctx, request, results } = await start({ answers: [callTools({ id: 'q', name: 'ask_user_question', args: { questions: [{ id: 'q', question: 'Which?' }] } }), sayText('I would have asked which.')] })
    const undo = ctx.questions.attach()
    const { childId, outcome } = await ctx.subagents.start(request())
    const child = ctx.agents.live(childId)!
    expect(await outcome).toEqual({ stopReason: 'completed', output: 'I would have asked which.' })
    expect([results(child), ctx.questions.pending()]).toEqual([['DELEGATED_CALLER'], []])
    undo()
  })
  it('opens no review of a plan, makes no goal and holds no reminder', async () => {
    const { ctx, root, request, results } = await start({
      settings: { 'agent.defaultPreset': 'editor' },
      answers: [callTools({ id: 'g', name: 'create_goal', args: { objective: 'Rule the world.' } }, { id: 'p', name: 'exit_plan_mode', args: { plan: '# P' } }, { id: 's', name: 'schedule_create', args: { prompt: 'x', after_seconds: 60 } }), sayText('none of that')],
    })
    const editorRoot = await ctx.agents.create({ cwd: root.session.header.cwd ?? '', preset: 'editor' })
    const { childId, outcome } = await ctx.subagents.start(request({ parent: editorRoot }))
    const child = ctx.agents.live(childId)!
    expect((await outcome).stopReason).toBe('completed')
    const failed = child.session.events().flatMap((event) => (event.type === 'tool/result' ? [event.data.message.content[0].isError || JSON.stringify(event.data.message.content).includes('error')] : []))
    expect([results(child), failed]).toEqual([[expect.any(String), expect.any(String), expect.any(String)], [true, true, true]])
    expect(JSON.stringify(results(child))).not.toContain('UNKNOWN_TOOL')
    expect(child.session.events().filter(({ type }) => ['goal/change', 'schedule/change', 'plan/asked'].includes(type))).toEqual([])
  })
  it('opened again by the person it is a root like any other', async () => {
    const { ctx, request } = await start({ answers: [sayText('a')] })
    const { childId, outcome } = await ctx.subagents.start(request())
    await outcome
    const reopened = await ctx.agents.resume(childId)
    expect(reopened.owner).toBeUndefined()
    void ctx.questions.ask({ agent: reopened, questions: [{ id: 'q', question: 'Which?' }], signal: new AbortController().signal }).catch(() => undefined)
    await settled()
    // Nobody is attached, so it is the lack of a surface that refuses it and not that it is somebody's child.
    await expect(ctx.questions.ask({ agent: reopened, questions: [{ id: 'q', question: 'Which?' }], signal: new AbortController().signal })).rejects.toMatchObject({ code: 'NO_PROVIDER' })
  })
})

describe('the whole of it', () => {
  it('counts what children cost in the sum of the parent', async () => {
    const { ctx, root, request } = await start({ answers: [sayText('r'), sayText('a'), sayText('b')] })
    root.followup(prompt('go'))
    await root.whenIdle()
    const own = await ctx.costs.treeCost(root.id)
    await (await ctx.subagents.start(request())).outcome
    await (await ctx.subagents.start(request({ provider: 'fork' }))).outcome
    const all = await ctx.costs.treeCost(root.id)
    expect([own.outputTokens, all.outputTokens, all.requests - own.requests]).toEqual([5, 15, 2])
  })
  it('keeps the bytes of the parent’s prefix while children come and go, and those of children apart from their task', async () => {
    const { ctx, root, request, adapter, folder } = await start({ answers: [sayText('one'), sayText('child'), sayText('child'), sayText('two')] })
    await writeFile(join(folder, 'a.txt'), 'a\n')
    root.followup(prompt('first'))
    await root.whenIdle()
    await (await ctx.subagents.start(request())).outcome
    await (await ctx.subagents.start(request({ label: 'another', prompt: 'Other.' }))).outcome
    root.followup(prompt('second'))
    await root.whenIdle()
    const [first, one, two, second] = adapter.requests as readonly [ModelRequest, ModelRequest, ModelRequest, ModelRequest]
    const head = ({ system, tools }: ModelRequest) => JSON.stringify([system, tools])
    expect([head(second) === head(first), head(one) === head(two), head(one) === head(first)]).toEqual([true, true, true])
    expect(JSON.stringify(second.messages.slice(0, first.messages.length))).toBe(JSON.stringify(first.messages))
    expect(one.messages.map(textOf).slice(0, -1)).toEqual(two.messages.map(textOf).slice(0, -1))
  })
})
