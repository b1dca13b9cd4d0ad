import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { EventDraft } from '../../../extension/core/log/event.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import { extended, usedUp } from '../../../extension/features/goals/terms.ts'
import { createFakeProblemFeed, problemAt } from '../../support/fake-problem-feed.ts'
import { createGoalRig, goalCall, goalOf, messagesOf, rested, resultsOf, resultText, roundsOf, updateGoal, type GoalRig } from '../../support/goal-rig.ts'
import { prompt, settled, textOf } from '../../support/loop-rig.ts'
import { callTools, createScriptedAdapter, sayText, someUsage, type ScriptedAnswer } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/** Tokens of one answer of the script. */
const perRequest = someUsage.inputTokens + someUsage.outputTokens
const spend = (amount: number | undefined): EventDraft => ({ type: 'cost/estimated', ignorable: true, data: { purpose: 'turn', provider: 'p', model: 'm', usage: someUsage, ...(amount !== undefined && { amount }) } })
const standing = (rig: GoalRig, agent: Agent) => [goalOf(rig, agent).goal.phase, goalOf(rig, agent).goal.blockedReason?.code ?? null]
const look = (id: string) => callTools({ id, name: 'look', args: {} })

describe('12.1 budgets', () => {
  const used = { tokens: 100, amount: 0.5, isWhole: true, minutes: 10, countsSince: null }
  const rows: readonly (readonly [object, string | null])[] = [
    [{}, null],
    [{ maxTokens: 101, maxCost: 0.51, maxMinutes: 11 }, null],
    [{ maxTokens: 100 }, 'token-limit'],
    [{ maxCost: 0.5 }, 'cost-limit'],
    [{ maxMinutes: 10 }, 'time-limit'],
  ]
  it.each(rows)('%j with 100 tokens, $0.50 and 10 minutes used: %s', (terms, code) => expect(usedUp({ checks: [], ...terms }, used)?.code ?? null).toBe(code))

  it('an extension gives as much again, from what is used on', () => {
    const all = { maxTokens: 90, maxCost: 0.4, maxMinutes: 10, checks: ['a'] }
    expect([extended(all, 'token-limit', used), extended(all, 'cost-limit', used), extended(all, 'time-limit', used)]).toEqual([{ ...all, maxTokens: 190 }, { ...all, maxCost: 0.9 }, { ...all, maxMinutes: 20 }])
  })

  it('tokens: a round that uses them up is the last one', async () => {
    const rig = createGoalRig()
    const agent = await rig.begun()
    rig.adapter.play(sayText('a'), sayText('b'), sayText('c'))
    rig.goals.create(agent, { objective: 'x', terms: { maxTokens: 2 * perRequest } })
    await rested(agent)
    expect([roundsOf(agent), standing(rig, agent), goalOf(rig, agent).used.tokens]).toEqual([[1, 2], ['blocked', 'token-limit'], 2 * perRequest])
  })
  it('a budget that is used up in the middle of a round ends it before the next request; what waited waits on', async () => {
    const rig = createGoalRig()
    const agent = await rig.begun()
    const note = { id: 'n', role: 'user' as const, content: [{ type: 'text' as const, text: 'a job ended' }], source: { kind: 'plugin' as const, plugin: 'jobs' } }
    rig.adapter.play([{ type: 'do', act: () => agent.inject(note) }, ...look('1')], look('2'), sayText('c'))
    rig.goals.create(agent, { objective: 'x', terms: { maxTokens: perRequest } })
    await rested(agent)
    expect([resultsOf(agent), standing(rig, agent), rig.adapter.requests.length, agent.inbox.nextStep.map(({ id }) => id)]).toEqual([{ 1: 'ok' }, ['blocked', 'token-limit'], 2, ['n']])
  })
  it('the person’s own turn is not ended by the goal’s budget', async () => {
    const rig = createGoalRig()
    const agent = await rig.begun()
    rig.adapter.play([{ type: 'do', act: () => agent.steer(prompt('and this')) }, ...look('1')], look('2'), sayText('c'))
    rig.goals.create(agent, { objective: 'x', terms: { maxTokens: perRequest } })
    await rested(agent)
    expect([resultsOf(agent), standing(rig, agent)]).toEqual([{ 1: 'ok', 2: 'ok' }, ['blocked', 'token-limit']])
  })
  it('money: what agents that it started cost counts, what they had cost before the goal does not', async () => {
    const rig = createGoalRig()
    const agent = await rig.begun()
    const child = await rig.ctx.sessions.create({ cwd: '/w', origin: 'subagent', parentSession: agent.id })
    child.append(spend(3))
    rig.adapter.play([{ type: 'do', act: () => void child.append(spend(0.75)) }, ...sayText('a')], sayText('b'))
    rig.goals.create(agent, { objective: 'x', terms: { maxCost: 0.7 } })
    await rested(agent)
    expect([roundsOf(agent), standing(rig, agent), goalOf(rig, agent).used.amount]).toEqual([[1], ['blocked', 'cost-limit'], 0.75])
  })
  it('money of requests without a known price is “at least”', async () => {
    const rig = createGoalRig({ isTrusted: false })
    const agent = await rig.begun()
    rig.goals.create(agent, { objective: 'x' })
    agent.session.append(spend(undefined))
    agent.session.append(spend(0.25))
    expect(goalOf(rig, agent).used).toMatchObject({ amount: 0.25, isWhole: false })
  })
  it('time: minutes in which turns ran count, and rest does not', async () => {
    const rig = createGoalRig()
    const agent = await rig.begun()
    rig.clock.advance(3_600_000)
    rig.adapter.play([{ type: 'do', act: () => rig.clock.advance(4 * 60_000) }, ...sayText('a')], [{ type: 'do', act: () => rig.clock.advance(7 * 60_000) }, ...sayText('b')], sayText('c'))
    rig.goals.create(agent, { objective: 'x', terms: { maxMinutes: 10 } })
    await rested(agent)
    rig.clock.advance(3_600_000)
    expect([roundsOf(agent), standing(rig, agent), goalOf(rig, agent).used.minutes]).toEqual([[1, 2], ['blocked', 'time-limit'], 11])
  })
  it('new terms keep the revision, and a round keeps its authority over them', async () => {
    const rig = createGoalRig()
    const agent = await rig.begun()
    rig.adapter.play([{ type: 'do', act: () => void rig.goals.setTerms(agent, goalOf(rig, agent).goal, { maxTokens: 900, checks: [] }) }, ...look('l')], updateGoal(rig, () => agent, { action: 'complete' }, 'd'), sayText('Done.'))
    rig.goals.create(agent, { objective: 'x' })
    await rested(agent)
    expect([resultsOf(agent), goalOf(rig, agent).maxTokens]).toEqual([{ l: 'ok', d: 'ok' }, 900])
  })
  it('terms for another state are refused', async () => {
    const rig = createGoalRig({ isTrusted: false })
    const agent = await rig.begun()
    const { goal } = rig.goals.create(agent, { objective: 'x' })
    rig.goals.pause(agent, goal)
    expect(() => rig.goals.setTerms(agent, goal, { checks: [] })).toThrow(expect.objectContaining({ code: 'GOAL_STALE_REVISION' }))
  })
})

describe('12.2 checks', () => {
  let whole: WholeApplication | undefined
  afterEach(async () => whole?.dispose())

  /** The whole application with a model that plays a script, and one agent that may do everything unless it says otherwise. */
  async function begin(answers: (agent: () => Agent) => readonly ScriptedAnswer[], { mode = 'danger-full-access' }: { readonly mode?: 'danger-full-access' | 'workspace-write' } = {}) {
    whole = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1' } })
    const { ctx, folder } = whole
    const adapter = createScriptedAdapter()
    ctx.models.register(adapter)
    const agent = await ctx.agents.create({ cwd: folder, preset: 'standard' })
    ctx.permissions.select(agent.id, mode)
    adapter.play(...answers(() => agent))
    return { ctx, folder, agent, adapter }
  }
  const complete = (agent: () => Agent, id: string): ScriptedAnswer => () => {
    const { goal } = whole!.ctx.goals.read(agent().session)!
    return callTools({ id, name: 'update_goal', args: { goal_id: goal.id, revision: goal.revision, action: 'complete' } })
  }
  const write = (id: string, file_path: string, content: string) => callTools({ id, name: 'write', args: { file_path, content } })

  it('a failed check returns its output as the failed result of the call, and the goal stays active; passing, it completes with results and diff', async () => {
    const { ctx, folder, agent } = await begin((agent) => [
      sayText('Ready.'),
      write('w1', 'a.txt', 'one\n'), complete(agent, 'd1'), sayText('Not yet.'),
      callTools({ id: 'e', name: 'edit', args: { file_path: 'a.txt', old_string: 'one', new_string: 'one\nready' } }), complete(agent, 'd2'), sayText('Account.'),
    ])
    await writeFile(join(folder, 'before.txt'), 'x\n')
    agent.followup(prompt('begin'))
    await rested(agent)
    ctx.goals.create(agent, { objective: 'x', terms: { checks: ['grep -n ready a.txt || { echo "no ready here" >&2; exit 4; }', 'true'] } })
    await rested(agent)
    await expect.poll(() => ctx.goals.read(agent.session)?.goal.phase).toBe('complete')
    await rested(agent)
    const codes = resultsOf(agent)
    expect([codes['d1'], codes['d2'], roundsOf(agent)]).toEqual(['GOAL_TOOL_CHECK_FAILED', 'ok', [1, 2]])
    expect(resultText(agent, 'd1')).toMatch(/1 of its 2 checks did not pass[\s\S]*failed: grep -n ready[\s\S]*exit code 4[\s\S]*passed: true \(exit code 0[\s\S]*no ready here/)
    expect(ctx.goals.read(agent.session)).toMatchObject({ goal: { phase: 'complete' }, checked: [{ isOk: true, outcome: 'exit code 0' }, { isOk: true }] })
    const account = textOf(messagesOf(agent).at(-1)!)
    expect(account).toMatch(/Checks that were run:\n- passed: grep -n ready[\s\S]*Files changed since the goal began:\na\.txt \(new\) \+2 -0[\s\S]*\+one\n\+ready/)
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('one\nready\n')
  }, 60_000)

  it('go through the pipeline: the person is asked, and a refusal is a failed check', async () => {
    const { ctx, agent } = await begin((agent) => [sayText('Ready.'), complete(agent, 'd'), sayText('x')], { mode: 'workspace-write' })
    const asked: string[] = []
    ctx.on('approval/request', ({ toolName, arguments: args }) => {
      asked.push(`${toolName} ${(args as { readonly command: string }).command}`)
      return { outcome: 'rejected', note: 'not now' }
    })
    agent.followup(prompt('begin'))
    await rested(agent)
    ctx.goals.create(agent, { objective: 'x', terms: { checks: ['rm -rf build && make'] } })
    await rested(agent)
    await expect.poll(() => resultsOf(agent)['d']).toBeDefined()
    expect([asked, resultsOf(agent)['d']]).toEqual([['bash rm -rf build && make'], 'GOAL_TOOL_CHECK_FAILED'])
    expect(resultText(agent, 'd')).toMatch(/not allowed to run[\s\S]*not now/)
    expect(ctx.goals.read(agent.session)).toMatchObject({ goal: { phase: 'active' } })
  }, 60_000)

  it('bind a model whose word is the person’s too, and not the person', async () => {
    const { ctx, agent } = await begin((agent) => [goalCall('create_goal', { objective: 'x', checks: ['false'] }, 'c'), complete(agent, 'd'), sayText('No.'), sayText('No.')])
    agent.followup(prompt('go'))
    await agent.whenIdle()
    const { goal } = ctx.goals.read(agent.session)!
    expect(resultsOf(agent)['d']).toBe('GOAL_TOOL_CHECK_FAILED')
    expect(ctx.goals.complete(agent, goal).goal.phase).toBe('complete')
    await rested(agent)
  }, 60_000)

  it('a goal that was changed while they ran is not completed', async () => {
    const { ctx, agent } = await begin((agent) => [sayText('Ready.'), complete(agent, 'd'), sayText('x')])
    ctx.on('tools/result', (exec) => {
      const state = ctx.goals.read(agent.session)
      if (exec.parent !== undefined && state !== null) ctx.goals.edit(agent, state.goal, { objective: 'Other' })
    })
    agent.followup(prompt('begin'))
    await rested(agent)
    ctx.goals.create(agent, { objective: 'x', terms: { checks: ['true'] } })
    await rested(agent)
    await expect.poll(() => resultsOf(agent)['d']).toBeDefined()
    expect([resultsOf(agent)['d'], ctx.goals.read(agent.session)?.goal.phase]).toEqual(['GOAL_STALE_REVISION', 'active'])
  }, 60_000)

  it('a stop ends the check that runs and those behind it, which says that they were stopped, and the goal waits', async () => {
    const { ctx, folder, agent } = await begin((agent) => [sayText('Ready.'), complete(agent, 'd'), sayText('x')])
    agent.followup(prompt('begin'))
    await rested(agent)
    ctx.goals.create(agent, { objective: 'x', terms: { checks: ['touch begun; sleep 600', 'true'] } })
    await expect.poll(() => readdir(folder), { timeout: 30_000 }).toContain('begun')
    agent.cancel({ kind: 'user' })
    await rested(agent)
    expect(ctx.goals.read(agent.session)).toMatchObject({ goal: { phase: 'paused' }, checked: [{ isOk: false, outcome: 'stopped before its end' }, { isOk: false, outcome: 'stopped before it ran' }] })
  }, 60_000)

  it('no new errors: only those that were not there when it was asked for count', async () => {
    const feed = createFakeProblemFeed()
    feed.publish('/w/a.ts', [problemAt(1, 'old'), problemAt(2, 'warned', { severity: 'warning' })], 1)
    const rig = createGoalRig({ problemFeed: feed })
    const agent = await rig.begun()
    const done = (id: string) => updateGoal(rig, () => agent, { action: 'complete' }, id)
    const act = (problems: Parameters<typeof feed.publish>[1]): ScriptedAnswer => [{ type: 'do', act: () => feed.publish('/w/a.ts', problems, 2) }, ...look(`l${problems.length}`)]
    rig.adapter.play(act([problemAt(9, 'old'), problemAt(3, 'new')]), done('1'), act([problemAt(4, 'old'), problemAt(5, 'old'), problemAt(6, 'w', { severity: 'warning' })]), done('2'), act([problemAt(7, 'old')]), done('3'), sayText('Account.'))
    rig.goals.create(agent, { objective: 'x', terms: { checks: ['no-new-errors'] } })
    await rested(agent)
    expect([resultsOf(agent)['1'], resultsOf(agent)['2'], resultsOf(agent)['3']]).toEqual(['GOAL_TOOL_CHECK_FAILED', 'GOAL_TOOL_CHECK_FAILED', 'ok'])
    expect([resultText(agent, '1'), resultText(agent, '2')]).toEqual([expect.stringMatching(/1 new error[\s\S]*\/w\/a\.ts: new/), expect.stringMatching(/1 new error[\s\S]*\/w\/a\.ts: old/)])
  })

  it('a session without a shell fails the check with that reason', async () => {
    const rig = createGoalRig()
    const agent = await rig.begun()
    rig.adapter.play(updateGoal(rig, () => agent, { action: 'complete' }, 'd'), sayText('x'))
    rig.goals.create(agent, { objective: 'x', terms: { checks: ['true'] } })
    await rested(agent)
    await settled()
    expect([resultsOf(agent)['d'], resultText(agent, 'd')]).toEqual(['GOAL_TOOL_CHECK_FAILED', expect.stringContaining('this session has no shell')])
  })
})
