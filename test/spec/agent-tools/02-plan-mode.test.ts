import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { selectionOutcome, type SelectionOutcome } from '../../../extension/features/plan/selection.ts'
import { createPlanRig } from '../../support/plan-rig.ts'
import { callTools, createScriptedAdapter, sayText } from '../../support/scripted-adapter.ts'
import type { SettingValues } from '../../support/memory-settings.ts'

/* Chapter 2, plan mode: the selection, its states, what the model is told, and the wall. Through the application as it is shipped. */

let rig: Awaited<ReturnType<typeof createPlanRig>> | undefined
afterEach(async () => {
  await rig?.whole.dispose()
  rig = undefined
})
const start = async (settings?: SettingValues) => (rig = await createPlanRig(settings))
const write = (path: string, content = 'x') => ({ name: 'write', args: { file_path: path, content } })

describe('set(agent, target)', () => {
  const rows: readonly [when: string, isTurnOpen: boolean, isActive: boolean, pending: boolean | null, target: boolean, outcome: SelectionOutcome][] = [
    ['the target is the pending value', true, false, true, true, 'noop'],
    ['the target is the logged value and none is pending', true, true, null, true, 'noop'],
    ['the target is the logged value, idle', false, false, null, false, 'noop'],
    ['a turn is open and the target differs from the logged value', true, false, null, true, 'queued'],
    ['a turn is open and plan mode is to end', true, true, null, false, 'queued'],
    ['a turn is open and the target takes a pending one back', true, false, true, false, 'cancelled'],
    ['no turn is open and the target takes a pending one back', false, true, false, true, 'cancelled'],
    ['no turn is open and the target differs', false, false, null, true, 'committed'],
    ['no turn is open and plan mode is to end', false, true, null, false, 'committed'],
  ]
  it.each(rows)('%s', (_when, isTurnOpen, isActive, pending, target, outcome) => expect(selectionOutcome({ isTurnOpen, isActive, pending }, target)).toBe(outcome))
})

describe('the states as the person sees them', () => {
  const steps = async (...during: readonly (() => void)[]) => {
    const { adapter, agent, say, whole } = rig!
    await writeFile(join(whole.folder, 'a.txt'), 'a')
    adapter.play(...during.map((act, index) => [{ type: 'do', act } as const, ...(callTools({ id: `s${index}`, name: 'read', args: { file_path: 'a.txt' } }) as readonly never[])]), sayText('Done.'))
    say('go')
    await agent.whenIdle()
  }
  it('off, selected on while idle: on', async () => {
    const { agent, ctx, modes } = await start()
    expect([ctx.plan.set(agent, true), modes(), agent.session.projections().values['plan']]).toEqual(['committed', [true], { active: true, pending: null }])
  })
  it('off, selected on during a turn: entering, then on with the next accepted step', async () => {
    const { agent, ctx, modes } = await start()
    const seen: unknown[] = []
    await steps(() => seen.push(ctx.plan.set(agent, true), modes(), agent.session.projections().values['plan']), () => seen.push(modes()))
    expect(seen).toEqual(['queued', [], { active: false, pending: true }, [true]])
  })
  it('entering already refuses what changes anything', async () => {
    const { agent, adapter, ctx, say, results } = await start()
    adapter.play([{ type: 'do', act: () => void ctx.plan.set(agent, true) }, ...(callTools({ id: 'w', ...write('b.txt') }) as readonly never[])], sayText('Done.'))
    say('go')
    await agent.whenIdle()
    expect(results()[0]).toMatchObject({ isError: true, policy: { by: 'plan' } })
  })
  it('entering, selected off: off, and no mode is logged', async () => {
    const { agent, ctx, modes } = await start()
    const seen: unknown[] = []
    await steps(() => seen.push(ctx.plan.set(agent, true), ctx.plan.set(agent, false)), () => seen.push(ctx.plan.pending(agent.session)))
    expect([seen, modes()]).toEqual([['queued', 'cancelled', null], []])
  })
  it('on, selected off during a turn: leaving, then off with the next accepted step', async () => {
    const { agent, ctx, modes } = await start()
    ctx.plan.set(agent, true)
    const seen: unknown[] = []
    await steps(() => seen.push(ctx.plan.set(agent, false), ctx.plan.isHeld(agent.session)), () => seen.push(ctx.plan.isHeld(agent.session)))
    expect([seen, modes()]).toEqual([['queued', true, false], [true, false]])
  })
  it.each([true, false])('a selection (%s) that the window did not live to write is written when the session is opened again', async (target) => {
    const { agent, ctx, modes, whole, adapter, say } = await start()
    if (!target) ctx.plan.set(agent, true)
    adapter.play([{ type: 'do', act: () => void ctx.plan.set(agent, target) }, { type: 'hang' }])
    say('go')
    await expect.poll(() => ctx.plan.pending(agent.session)).toBe(target)
    const before = modes()
    const again = await whole.restart()
    again.ctx.models.register(createScriptedAdapter())
    const reopened = await again.ctx.agents.resume(agent.id)
    expect([modes(reopened), again.ctx.plan.pending(reopened.session)]).toEqual([[...before, target], null])
  })
  it('a mode that cannot be written stays pending and never blocks the step', async () => {
    const { agent, ctx, modes, adapter, say, whole } = await start()
    const append = agent.session.append.bind(agent.session)
    let isBroken = true
    agent.session.append = ((draft: Parameters<typeof append>[0]) => {
      if (draft.type === 'plan/mode' && isBroken) throw new Error('disk full')
      return append(draft)
    }) as typeof append
    adapter.play([{ type: 'do', act: () => void ctx.plan.set(agent, true) }, ...(callTools({ id: 'r', name: 'glob', args: { pattern: '*' } }) as readonly never[])], sayText('One.'), sayText('Two.'))
    say('go')
    await agent.whenIdle()
    expect([modes(), ctx.plan.pending(agent.session), adapter.requests.length, whole.logger.lines.some(({ level }) => level === 'warn')]).toEqual([[], true, 2, true])
    isBroken = false
    say('on')
    await agent.whenIdle()
    expect(modes()).toEqual([true])
  })
})

describe('what the model is told', () => {
  const noticesIn = (text: string) => [...text.matchAll(/The person turned plan mode (on|off)/g)].map(([, word]) => word)
  const talk = () => JSON.stringify(rig!.adapter.requests.at(-1)?.messages)

  it('nothing by a notice before the first request', async () => {
    const { agent, ctx, turn } = await start()
    ctx.plan.set(agent, true)
    await turn({ name: 'glob', args: { pattern: '*' } })
    expect([noticesIn(talk()), talk().includes('Plan mode is on')]).toEqual([[], true])
  })
  it('a switch of the person by one notice, when the last request told the other mode', async () => {
    const { agent, ctx, turn } = await start()
    await turn({ name: 'glob', args: { pattern: '*' } })
    ctx.plan.set(agent, true)
    await turn({ name: 'glob', args: { pattern: '*' } })
    await turn({ name: 'glob', args: { pattern: '*' } })
    ctx.plan.set(agent, false)
    ctx.plan.set(agent, true)
    ctx.plan.set(agent, false)
    await turn({ name: 'glob', args: { pattern: '*' } })
    expect(noticesIn(talk())).toEqual(['on', 'off'])
  })
  it('no notice for a switch that was taken back', async () => {
    const { agent, ctx, turn } = await start()
    await turn({ name: 'glob', args: { pattern: '*' } })
    ctx.plan.set(agent, true)
    ctx.plan.set(agent, false)
    await turn({ name: 'glob', args: { pattern: '*' } })
    expect(noticesIn(talk())).toEqual([])
  })
  it('the guidance follows the pending value in the step that it takes hold in', async () => {
    const { agent, adapter, ctx, say } = await start()
    adapter.play([{ type: 'do', act: () => void ctx.plan.set(agent, true) }, ...(callTools({ id: 'r', name: 'glob', args: { pattern: '*' } }) as readonly never[])], sayText('Done.'))
    say('go')
    await agent.whenIdle()
    const [first, second] = adapter.requests.map(({ messages }) => JSON.stringify(messages).includes('Plan mode is on'))
    expect([first, second]).toEqual([false, true])
  })
  it('the catalogue and the system prompt stay byte for byte the same', async () => {
    const { agent, adapter, ctx, turn } = await start()
    await turn({ name: 'glob', args: { pattern: '*' } })
    ctx.plan.set(agent, true)
    await turn({ name: 'glob', args: { pattern: '*' } })
    expect(new Set(adapter.requests.map(({ system, tools }) => JSON.stringify([system, tools]))).size).toBe(1)
    expect(adapter.requests[0]?.tools.some(({ name }) => name === 'exit_plan_mode')).toBe(true)
  })
  const policy: readonly [rule: string, words: RegExp][] = [
    ['stay until approval or a switch of the person', /stays on until the person approves .* or turns it off/],
    ['imperative wording still means to plan', /build, fix or run something still means: plan it/],
    ['a yes in the chat approves nothing', /“yes” in the chat approves nothing/],
    ['explore read-only', /reading only/],
    ['no edits, formatters, generators, commits', /No edits, formatters, generators or commits/],
    ['no todo_write for the planning', /Do not use todo_write/],
    ['ask only for choices of the person', /Ask only for choices that are the person’s/],
    ['the plan is decision-complete', /goal, how success is told, the changes by part of the system, interfaces, edge cases, tests, and what you assume/],
    ['call the exit tool alone and last', /call exit_plan_mode with the whole plan, alone and as the last thing/],
  ]
  it.each(policy)('the policy says: %s', async (_rule, words) => {
    const { agent, ctx, turn } = await start()
    ctx.plan.set(agent, true)
    await turn({ name: 'glob', args: { pattern: '*' } })
    expect(talk()).toMatch(words)
  })
  it('a preset without the tool is told to answer with the plan', async () => {
    const { adapter, ctx, say, whole } = await start()
    const asking = await ctx.agents.create({ cwd: whole.folder, preset: 'ask' })
    ctx.plan.set(asking, true)
    adapter.play(sayText('A plan.'))
    say('go', asking)
    await asking.whenIdle()
    const told = talk()
    expect([told.includes('answer with the whole plan'), told.includes('exit_plan_mode')]).toEqual([true, false])
  })
})

describe('the wall', () => {
  it('lets one refused call through when the person says so, once, with the same arguments, and tells the model', async () => {
    const { agent, adapter, ctx, turn, results, whole } = await start()
    ctx.plan.set(agent, true)
    const [refused] = await turn(write('a.txt', 'one'))
    expect(refused).toMatchObject({ isError: true, policy: { by: 'plan' } })
    adapter.play(callTools({ id: 'again', ...write('a.txt', 'one') }), callTools({ id: 'other', ...write('a.txt', 'two') }, { id: 'third', ...write('a.txt', 'one') }), sayText('Done.'))
    expect([ctx.plan.allowOnce(agent, refused!.callId), ctx.plan.allowOnce(agent, refused!.callId)]).toEqual([true, false])
    await agent.whenIdle()
    expect(results().slice(-3).map(({ callId, isError }) => [callId, isError])).toEqual([['again', false], ['other', true], ['third', true]])
    expect(await readFile(join(whole.folder, 'a.txt'), 'utf8')).toBe('one')
    expect([JSON.stringify(adapter.requests.at(-1)?.messages).includes('Make exactly that call again'), rig!.facts('plan/exception')]).toEqual([true, [{ callId: refused!.callId, tool: 'write' }]])
  })
  it('lets a command through as a whole, in the sandbox of the mode that the person chose', async () => {
    const { agent, adapter, ctx, turn, whole } = await start()
    ctx.plan.set(agent, true)
    const args = { command: 'echo hi > made.txt', description: 'x' }
    const [refused] = await turn({ name: 'bash', args })
    adapter.play(callTools({ id: 'again', name: 'bash', args }), sayText('Done.'))
    ctx.plan.allowOnce(agent, refused!.callId)
    await agent.whenIdle()
    expect(await readFile(join(whole.folder, 'made.txt'), 'utf8')).toBe('hi\n')
  })
  it('lets nothing through that something else refused, or that was not refused', async () => {
    const { agent, ctx, turn } = await start({ 'permissions.defaultPreset': 'read-only' })
    const [byMode] = await turn(write('a.txt'))
    const [fine] = await turn({ name: 'glob', args: { pattern: '*' } })
    ctx.plan.set(agent, true)
    expect([byMode, fine].map((each) => ctx.plan.allowOnce(agent, each!.callId))).toEqual([false, false])
  })
  it('an exception lifts nothing but plan mode: what the person chose still refuses', async () => {
    const { agent, adapter, ctx, turn, results } = await start({ 'permissions.defaultPreset': 'read-only' })
    ctx.plan.set(agent, true)
    const [refused] = await turn(write('a.txt'))
    adapter.play(callTools({ id: 'again', ...write('a.txt') }), sayText('Done.'))
    ctx.plan.allowOnce(agent, refused!.callId)
    await agent.whenIdle()
    expect(results().at(-1)).toMatchObject({ callId: 'again', isError: true, policy: { by: 'mode' } })
  })
})

describe('/plan', () => {
  const rows: readonly [line: string, mode: readonly boolean[]][] = [['/plan', [true]], ['/plan off', []]]
  it.each(rows)('%s, first of all', async (line, mode) => {
    const { agent, ctx, modes, adapter } = await start()
    await ctx.commands.run(agent, line)
    expect([modes(), adapter.requests.length]).toEqual([mode, 0])
  })
  it('off says the truth within a turn: it ends with the next step, also when it is said twice', async () => {
    const { agent, adapter, ctx, say } = await start()
    ctx.plan.set(agent, true)
    const said: string[] = []
    const off = async () => {
      const settled = await ctx.commands.run(agent, '/plan off')
      said.push(JSON.stringify(settled))
    }
    adapter.play([{ type: 'do', act: () => void off().then(off) }, { type: 'wait', until: new Promise((resolve) => setTimeout(resolve, 100)) }, ...(sayText('Done.') as readonly never[])])
    say('go')
    await agent.whenIdle()
    expect(said.map((each) => each.includes('ends with the next step'))).toEqual([true, true])
  })
  it('off gives the model nothing to do', async () => {
    const { agent, ctx, modes, adapter } = await start()
    await ctx.commands.run(agent, '/plan')
    await ctx.commands.run(agent, '/plan off')
    expect([modes(), adapter.requests.length, agent.inbox.nextStep.length]).toEqual([[true, false], 0, 0])
  })
})

it('forks inherit the logged mode, fresh sessions start off', async () => {
  const { agent, ctx, turn, whole } = await start()
  ctx.plan.set(agent, true)
  await turn({ name: 'glob', args: { pattern: '*' } })
  const fork = await ctx.sessions.fork(agent.id)
  const fresh = await ctx.agents.create({ cwd: whole.folder })
  expect([ctx.plan.isActive(fork), ctx.plan.isActive(fresh.session)]).toEqual([true, false])
})

