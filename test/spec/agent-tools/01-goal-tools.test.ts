import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../extension/base/json.ts'
import type { BodyExecution } from '../../../extension/core/tools/definition.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import { createGoalRig, goalCall, goalOf, messagesOf, rested, resultsOf, resultText, roundsOf, updateGoal, type GoalRig } from '../../support/goal-rig.ts'
import { prompt, settled, textOf } from '../../support/loop-rig.ts'
import { callTools, sayText, type ScriptedAnswer } from '../../support/scripted-adapter.ts'

/** One human turn with these answers, on a rig whose driver begins nothing unless it is asked to. */
async function humanTurn(answers: (rig: GoalRig, agent: () => Agent) => readonly ScriptedAnswer[], options: Parameters<typeof createGoalRig>[0] = { isTrusted: false }) {
  const rig = createGoalRig(options)
  const agent = await rig.newAgent()
  rig.adapter.play(...answers(rig, () => agent), sayText('Done.'))
  agent.followup(prompt('go'))
  await rested(agent)
  return { rig, agent, results: resultsOf(agent) }
}

/** Rounds of a goal that a person set, answered so; a later request ends the script, which disarms. */
async function rounds(answers: (rig: GoalRig, agent: () => Agent) => readonly ScriptedAnswer[], options: Parameters<typeof createGoalRig>[0] = {}) {
  const rig = createGoalRig(options)
  const agent = await rig.begun()
  rig.adapter.play(...answers(rig, () => agent))
  rig.goals.create(agent, { objective: 'Reach it' })
  await rested(agent)
  return { rig, agent, results: resultsOf(agent) }
}

const create = (args: JsonObject = {}, id = 'c') => goalCall('create_goal', { objective: 'Reach it', ...args }, id)
const blocked = (rig: GoalRig, agent: () => Agent, id: string) => updateGoal(rig, agent, { action: 'blocked', blocked_reason: 'No key' }, id)
const look = (id: string) => callTools({ id, name: 'look', args: {} })

describe('1.2 authority', () => {
  it('a call without an agent', async () => {
    const rig = createGoalRig()
    for (const name of ['create_goal', 'get_goal', 'update_goal']) {
      const result = await rig.ctx.tools.execute({ callId: 'x', name, arguments: { objective: 'x', goal_id: 'g', revision: 1, action: 'pause' }, signal: new AbortController().signal })
      expect(result.isError && result.error.info).toEqual({ name: 'GoalToolError', code: 'GOAL_TOOL_AGENT_REQUIRED' })
    }
  })
  it('a call of an agent at rest, or from outside its turn, also to read', async () => {
    const rig = createGoalRig()
    const agent = await rig.begun()
    const call = () => rig.ctx.tools.execute({ callId: 'x', name: 'get_goal', arguments: {}, agent, signal: new AbortController().signal })
    expect((await call()).isError && (await call())).toMatchObject({ error: { info: { code: 'GOAL_TOOL_DRIVER_REQUIRED' } } })
    rig.adapter.play([{ type: 'hang' }])
    agent.followup(prompt('go'))
    await settled()
    expect(agent.status).toBe('running')
    expect(await call()).toMatchObject({ isError: true, error: { info: { code: 'GOAL_TOOL_DRIVER_REQUIRED' } } })
    agent.cancel({ kind: 'user' })
    await rested(agent)
  })
  it('a copy of the live agent is not it', async () => {
    let copied: unknown
    const rig = createGoalRig({
      tools: [],
      prepare: (ctx) =>
        ctx.tools.register({
          name: 'bash', description: 'x', parameters: { type: 'object' }, output: { schema: { type: 'string' }, render: () => [] },
          async execute(_args, exec: BodyExecution) {
            const agent = Object.create(exec.agent ?? null) as Agent
            copied = await ctx.tools.execute({ callId: 'y', name: 'get_goal', arguments: {}, agent, parent: exec.token, signal: exec.signal })
            return 'ok'
          },
        }),
    })
    const agent = await rig.newAgent()
    rig.adapter.play(callTools({ id: 'b', name: 'bash', args: {} }), sayText('x'))
    agent.followup(prompt('go'))
    await rested(agent)
    expect(copied).toMatchObject({ isError: true, error: { info: { code: 'GOAL_TOOL_DRIVER_REQUIRED' } } })
  })
  it('a person in the turn, as its prompt or as a steer, gives it', async () => {
    const { results } = await humanTurn(() => [create()])
    expect(results).toEqual({ c: 'ok' })
    const rig = createGoalRig({ isTrusted: false })
    const agent = await rig.newAgent()
    rig.adapter.play([{ type: 'do', act: () => agent.steer(prompt('and more')) }, ...sayText('a')], create(), sayText('b'))
    agent.followup({ id: 'n', role: 'user', content: [{ type: 'text', text: 'notice' }], source: { kind: 'plugin', plugin: 'jobs' } })
    await rested(agent)
    expect(resultsOf(agent)).toEqual({ c: 'ok' })
  })
  it('a notice alone does not, and neither does a person of an earlier turn', async () => {
    const rig = createGoalRig({ isTrusted: false })
    const agent = await rig.begun()
    rig.adapter.play(create(), sayText('b'))
    agent.followup({ id: 'n', role: 'user', content: [{ type: 'text', text: 'notice' }], source: { kind: 'plugin', plugin: 'jobs' } })
    await rested(agent)
    expect(resultsOf(agent)).toEqual({ c: 'GOAL_TOOL_AUTHORITY_REQUIRED' })
  })
  it('an agent that another one owns may not, whoever spoke', async () => {
    const rig = createGoalRig({ isTrusted: false })
    const owner = await rig.newAgent()
    const child = await rig.agents.create({ cwd: '/w', preset: 'all', owner })
    rig.adapter.play(create(), goalCall('get_goal', {}, 'g'), sayText('b'))
    child.followup(prompt('go'))
    await rested(child)
    expect(resultsOf(child)).toEqual({ c: 'GOAL_TOOL_AUTHORITY_REQUIRED', g: 'ok' })
  })
  it('a round may complete or block, and nothing else', async () => {
    const { results } = await rounds((rig, agent) => [
      ...['edit', 'pause', 'resume'].map((action) => updateGoal(rig, agent, { action, objective: action === 'edit' ? 'x' : '' }, action)),
      create({}, 'create'),
      updateGoal(rig, agent, { action: 'complete' }, 'complete'),
      sayText('Done.'),
    ])
    expect(results).toEqual({ edit: 'GOAL_TOOL_AUTHORITY_REQUIRED', pause: 'GOAL_TOOL_AUTHORITY_REQUIRED', resume: 'GOAL_TOOL_AUTHORITY_REQUIRED', create: 'GOAL_TOOL_AUTHORITY_REQUIRED', complete: 'ok' })
  })
  it('a goal that is edited from the panel in mid-round takes the round’s authority away', async () => {
    const { results } = await rounds((rig, agent) => [
      [{ type: 'do', act: () => void rig.goals.edit(agent(), goalOf(rig, agent()).goal, { objective: 'Other' }) }, ...look('l')],
      updateGoal(rig, agent, { action: 'complete' }, 'd'),
      sayText('x'),
    ])
    expect(results['d']).toBe('GOAL_TOOL_AUTHORITY_REQUIRED')
  })
})

describe('1.3, 1.4 get_goal and create_goal', () => {
  it('give the same value, as compact JSON', async () => {
    const { rig, agent } = await humanTurn(() => [goalCall('get_goal', {}, 'before'), create({ max_goal_rounds: 12 }), goalCall('get_goal', {}, 'after')])
    const { id } = goalOf(rig, agent).goal
    const value = { goal: { id, revision: 1, objective: 'Reach it', phase: 'active', roundsStarted: 0, maxGoalRounds: 12 }, activation: 'armed' }
    expect([resultText(agent, 'before'), resultText(agent, 'c'), resultText(agent, 'after')]).toEqual(['{"goal":null}', JSON.stringify(value), JSON.stringify(value)])
  })
  it('say budgets, what is used of them, and checks only where there are any; 0 is no budget', async () => {
    const { agent } = await humanTurn(() => [create({ max_tokens: 900, max_cost: 0, max_minutes: 30, checks: [' npm test ', '', 'npm test'] })])
    expect(JSON.parse(resultText(agent, 'c'))).toMatchObject({ budgets: { tokens: 900, minutes: 30 }, used: { tokens: 0, cost: 0 }, checks: ['npm test'] })
  })
  const bad: readonly (readonly [JsonObject, string])[] = [
    [{ objective: ' ' }, 'GOAL_INVALID_OBJECTIVE'],
    [{ max_goal_rounds: 0 }, 'GOAL_INVALID_MAX_ROUNDS'],
    [{ max_goal_rounds: 1.5 }, 'GOAL_INVALID_MAX_ROUNDS'],
    [{ max_goal_rounds: '3' }, 'INVALID_ARGS'],
    [{ objective: 3 }, 'INVALID_ARGS'],
    [{ max_tokens: -1 }, 'GOAL_INVALID_TERMS'],
    [{ checks: ['no-new-errors'] }, 'GOAL_INVALID_TERMS'],
  ]
  it.each(bad)('%j is refused with %s, and nothing is made', async (args, code) => {
    const { rig, agent, results } = await humanTurn(() => [create(args)])
    expect([results, rig.goals.read(agent.session)]).toEqual([{ c: code }, null])
  })
  it('a second goal is refused; unknown keys at the root are not looked at', async () => {
    const { results } = await humanTurn(() => [create({ more: 1 }), create({}, 'd')])
    expect(results).toEqual({ c: 'ok', d: 'GOAL_ALREADY_EXISTS' })
  })
  it('calls of one batch see each other’s revision', async () => {
    const rig = createGoalRig({ isTrusted: false })
    const agent = await rig.newAgent()
    rig.adapter.play(create(), () => {
      const { id } = goalOf(rig, agent).goal
      const update = (call: string, revision: number, action: string) => ({ id: call, name: 'update_goal', args: { goal_id: id, revision, action } })
      return callTools(update('p', 1, 'pause'), update('s', 1, 'resume'), update('r', 2, 'resume'))
    }, sayText('x'))
    agent.followup(prompt('go'))
    await rested(agent)
    expect(resultsOf(agent)).toEqual({ c: 'ok', p: 'ok', s: 'GOAL_STALE_REVISION', r: 'ok' })
  })
})

describe('1.5 update_goal', () => {
  const shapes: readonly (readonly [JsonObject, string])[] = [
    [{ goal_id: '', action: 'pause' }, 'GOAL_TOOL_INVALID_UPDATE'],
    [{ goal_id: ' goal-x', action: 'pause' }, 'GOAL_TOOL_INVALID_UPDATE'],
    [{ revision: 0, action: 'pause' }, 'GOAL_TOOL_INVALID_UPDATE'],
    [{ revision: 1.5, action: 'pause' }, 'GOAL_TOOL_INVALID_UPDATE'],
    [{ action: 'finish' }, 'INVALID_ARGS'],
    [{ action: 'pause', objective: 'x' }, 'GOAL_TOOL_INVALID_UPDATE'],
    [{ action: 'pause', objective: ' ' }, 'GOAL_TOOL_INVALID_UPDATE'],
    [{ action: 'complete', max_goal_rounds: 3 }, 'GOAL_TOOL_INVALID_UPDATE'],
    [{ action: 'resume', blocked_reason: 'x' }, 'GOAL_TOOL_INVALID_UPDATE'],
    [{ action: 'blocked' }, 'GOAL_TOOL_INVALID_UPDATE'],
    [{ action: 'blocked', blocked_reason: '' }, 'GOAL_TOOL_INVALID_UPDATE'],
    [{ action: 'blocked', blocked_reason: ' ' }, 'GOAL_TOOL_INVALID_UPDATE'],
    [{ action: 'blocked', blocked_reason: 'x', objective: 'y' }, 'GOAL_TOOL_INVALID_UPDATE'],
    [{ action: 'edit', objective: '', max_goal_rounds: 0 }, 'GOAL_INVALID_EDIT'],
    [{ action: 'edit', objective: ' ' }, 'GOAL_INVALID_OBJECTIVE'],
    [{ action: 'edit', max_goal_rounds: -1 }, 'GOAL_INVALID_MAX_ROUNDS'],
    [{ action: 'resume' }, 'GOAL_INVALID_TRANSITION'],
    [{ action: 'pause', goal_id: 'goal-other' }, 'GOAL_STALE_REVISION'],
    [{ action: 'pause', revision: 9 }, 'GOAL_STALE_REVISION'],
    // What models with strict schemas fill in counts as left out.
    [{ action: 'pause', objective: '', max_goal_rounds: 0, blocked_reason: '' }, 'ok'],
    [{ action: 'edit', objective: '', max_goal_rounds: 4, blocked_reason: '' }, 'ok'],
    [{ action: 'edit', objective: 'Other', max_goal_rounds: 0 }, 'ok'],
    [{ action: 'blocked', blocked_reason: ' No key ', objective: '', max_goal_rounds: 0 }, 'ok'],
    [{ action: 'complete', objective: '', max_goal_rounds: 0, blocked_reason: '' }, 'ok'],
  ]
  it.each(shapes)('%j with a word of the person: %s', async (args, code) => {
    const { results } = await humanTurn((rig, agent) => [create(), updateGoal(rig, agent, args, 'u')])
    expect(results['u']).toBe(code)
  })

  const order: readonly (readonly [string, JsonObject, string])[] = [
    ['shape before authority', { goal_id: '', action: 'edit', objective: 'x' }, 'GOAL_TOOL_INVALID_UPDATE'],
    ['authority before misplaced fields', { action: 'pause', objective: 'x' }, 'GOAL_TOOL_AUTHORITY_REQUIRED'],
    ['misplaced fields before the threshold', { action: 'blocked', blocked_reason: 'x', objective: 'y' }, 'GOAL_TOOL_INVALID_UPDATE'],
    ['a missing reason before the threshold', { action: 'blocked' }, 'GOAL_TOOL_INVALID_UPDATE'],
    ['the threshold before the revision', { action: 'blocked', blocked_reason: 'x', revision: 99 }, 'GOAL_TOOL_BLOCK_THRESHOLD'],
    ['the revision before the move', { action: 'complete', revision: 99 }, 'GOAL_STALE_REVISION'],
  ]
  it.each(order)('in a round: %s', async (_what, args, code) => {
    const { results } = await rounds((rig, agent) => [updateGoal(rig, agent, args, 'u'), sayText('x')])
    expect(results['u']).toBe(code)
  })

  it('a completion or a block of a round asks for one last account; one of the person’s turn does not', async () => {
    const { agent } = await rounds((rig, agent) => [updateGoal(rig, agent, { action: 'complete' }, 'd'), sayText('Account.')])
    const last = messagesOf(agent).at(-1)!
    expect(last.source).toMatchObject({ kind: 'plugin', plugin: 'tool-goal', form: 'notice' })
    expect(textOf(last)).toMatch(/complete[\s\S]*no more tools/)
    expect(agent.session.messages().at(-1)).toMatchObject({ role: 'assistant' })

    const person = await humanTurn((rig, agent) => [create(), updateGoal(rig, agent, { action: 'complete' }, 'd')])
    expect(messagesOf(person.agent).map(({ source }) => source.kind)).toEqual(['user'])
  })
})

describe('1.5, design 6.1: a round may block only when three in a row were stuck', () => {
  const cases: readonly (readonly [string, (rig: GoalRig, agent: () => Agent) => readonly ScriptedAnswer[], Readonly<Record<string, string>>])[] = [
    [
      'reported in three rounds in a row',
      (rig, agent) => [blocked(rig, agent, '1'), sayText('a'), look('x'), blocked(rig, agent, '2'), sayText('b'), blocked(rig, agent, '3'), sayText('Account.')],
      { 1: 'GOAL_TOOL_BLOCK_THRESHOLD', x: 'ok', 2: 'GOAL_TOOL_BLOCK_THRESHOLD', 3: 'ok' },
    ],
    ['two rounds in which nothing was done, then reported', (rig, agent) => [sayText('a'), sayText('b'), blocked(rig, agent, '3'), sayText('Account.')], { 3: 'ok' }],
    ['a call that failed is nothing done', (rig, agent) => [callTools({ id: 'f', name: 'fail', args: {} }), sayText('a'), goalCall('get_goal', {}, 'g'), sayText('b'), blocked(rig, agent, '3'), sayText('Account.')], { f: 'error', g: 'ok', 3: 'ok' }],
    [
      'a round with progress and no report begins anew',
      (rig, agent) => [blocked(rig, agent, '1'), sayText('a'), look('l'), sayText('b'), blocked(rig, agent, '3'), sayText('c'), sayText('d'), blocked(rig, agent, '5'), sayText('Account.')],
      { 1: 'GOAL_TOOL_BLOCK_THRESHOLD', l: 'ok', 3: 'GOAL_TOOL_BLOCK_THRESHOLD', 5: 'ok' },
    ],
    [
      'the same round counts once, however often it reports',
      (rig, agent) => [blocked(rig, agent, '1'), blocked(rig, agent, '1b'), blocked(rig, agent, '1c'), sayText('a'), blocked(rig, agent, '2'), sayText('b'), blocked(rig, agent, '3'), sayText('Account.')],
      { 1: 'GOAL_TOOL_BLOCK_THRESHOLD', '1b': 'GOAL_TOOL_BLOCK_THRESHOLD', '1c': 'GOAL_TOOL_BLOCK_THRESHOLD', 2: 'GOAL_TOOL_BLOCK_THRESHOLD', 3: 'ok' },
    ],
  ]
  it.each(cases)('%s', async (_what, answers, expected) => {
    const { rig, agent, results } = await rounds(answers)
    expect([results, goalOf(rig, agent).goal.blockedReason]).toEqual([expected, { code: 'model-reported', message: 'No key' }])
  })
  it('a word of the person in between begins anew, and in the same turn needs no threshold', async () => {
    const rig = createGoalRig()
    const agent = await rig.begun()
    rig.adapter.play(sayText('a'), [{ type: 'do', act: () => agent.followup(prompt('here is a hint')) }, ...sayText('b')], sayText('To you.'), blocked(rig, () => agent, '3'), [{ type: 'do', act: () => agent.steer(prompt('give it up')) }, ...sayText('c')], blocked(rig, () => agent, '4'), sayText('Given up.'))
    rig.goals.create(agent, { objective: 'x' })
    await rested(agent)
    expect([resultsOf(agent), goalOf(rig, agent).goal.phase]).toEqual([{ 3: 'GOAL_TOOL_BLOCK_THRESHOLD', 4: 'ok' }, 'blocked'])
  })
  it('the setting says how many', async () => {
    const { results } = await rounds((rig, agent) => [blocked(rig, agent, '1'), sayText('Account.')], { settings: { 'goals.blockedAfterRounds': 1 } })
    expect(results).toEqual({ 1: 'ok' })
  })
  it('the refusal says the rule and where the count stands', async () => {
    const { agent } = await rounds((rig, agent) => [sayText('a'), blocked(rig, agent, '2'), sayText('b')])
    expect(resultText(agent, '2')).toMatch(/3 rounds in a row report it or get nothing done; this is number 2/)
    expect(roundsOf(agent).length).toBeGreaterThanOrEqual(2)
  })
})
