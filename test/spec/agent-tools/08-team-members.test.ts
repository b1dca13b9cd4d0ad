import { afterEach, describe, expect, it } from 'vitest'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { EventDraft } from '../../../extension/core/log/event.ts'
import type { RosterRow } from '../../../extension/features/teams/service.ts'
import { gate } from '../../support/loop-rig.ts'
import { callTools, failWith, sayText, type ScriptedAnswer } from '../../support/scripted-adapter.ts'
import { createTeamRig, type TeamRig } from '../../support/team-rig.ts'

let rig: TeamRig
afterEach(() => rig.dispose())
const start = async (options: Parameters<typeof createTeamRig>[0] = {}) => (rig = await createTeamRig(options))
const names = (agent: Agent) => rig.ctx.tools.schemas(agent.scope).map(({ name }) => name)
const roster = async (agent: Agent = rig.lead) => ((await rig.exec(agent, 'list_agents')) as { value: readonly RosterRow[] }).value
const teamNames = ['followup_task', 'spawn_teammate', 'team_task_create', 'team_task_get', 'team_task_list', 'team_task_update', 'wait_agent']
const hanging = (until: Promise<unknown>, text = 'done'): ScriptedAnswer => [{ type: 'wait', until }, ...sayText(text)]
const parameters = (agent: Agent, name: string) => Object.keys((rig.ctx.tools.get(name, agent.scope)?.parameters['properties'] ?? {}) as object).toSorted()

describe('8 what the disk does not take', () => {
  /** The write behind the next record of the team fails; the log in memory has it, and a later write makes up for it. */
  const failOnce = () => {
    const { session } = rig.lead
    const [append, flush] = [session.append.bind(session), session.flush.bind(session)]
    let next: 'waits' | 'fails' | 'is over' = 'waits'
    Object.assign(session, {
      append: (draft: Parameters<typeof append>[0]) => {
        if (next === 'waits' && draft.type.startsWith('team/')) next = 'fails'
        return append(draft)
      },
      flush: async () => {
        if (next !== 'fails') return flush()
        next = 'is over'
        throw new Error('no space left')
      },
    })
  }
  it('leaves no teammate on its way for ever, and says what counts', async () => {
    await start()
    failOnce()
    const spawned = await rig.exec(rig.lead, 'spawn_teammate', { name: 'ada', description: 'd', prompt: 'p' })
    expect(spawned).toEqual({ code: 'TEAM_STORAGE_UNCERTAIN', text: expect.stringContaining('no space left') })
    expect((await roster()).map(({ name, status, diagnostics }) => [name, status, diagnostics.length])).toEqual([['lead', 'idle', 0], ['ada', 'failed', 1]])
    expect((await rig.exec(rig.lead, 'wait_agent', { timeout_ms: 10_000 })).value).toMatchObject({ noProgress: { reason: 'no-active-peer' } })
    await rig.restart()
    expect((await roster()).map(({ name, status }) => [name, status])).toEqual([['lead', 'idle'], ['ada', 'failed']])
  })
  it('is on the board and in the mail all the same, so nobody does it twice', async () => {
    await start()
    const ada = await rig.spawn('ada')
    failOnce()
    expect(await rig.exec(rig.lead, 'team_task_create', { subject: 's', description: 'd' })).toEqual({ code: 'TEAM_STORAGE_UNCERTAIN', text: expect.stringContaining('before you do it again') })
    expect(((await rig.exec(rig.lead, 'team_task_list')).value as { tasks: readonly unknown[] }).tasks.length).toBe(1)
    failOnce()
    expect(await rig.exec(rig.lead, 'followup_task', { target: 'ada', message: 'hi' })).toMatchObject({ code: 'TEAM_STORAGE_UNCERTAIN' })
    await rig.quiet()
    expect(await rig.mailOf(ada.id)).toEqual(['hi'])
  })
})

describe('8 where the tools of a team are', () => {
  it('in the preset team for the Lead and teammates, where they shadow the others of the same name', async () => {
    const open = gate()
    await start({ minds: { ada: [hanging(open.opened)] } })
    const { id } = await rig.spawn('ada')
    const ada = rig.live(id)
    for (const agent of [rig.lead, ada]) {
      expect(names(agent)).toEqual(expect.arrayContaining([...teamNames, 'list_agents', 'send_message', 'interrupt_agent']))
      expect([parameters(agent, 'send_message'), parameters(agent, 'interrupt_agent'), parameters(agent, 'list_agents')]).toEqual([['message', 'target'], ['target'], []])
      expect(new Set(names(agent)).size).toBe(names(agent).length)
    }
    expect(names(ada)).not.toContain('report')
    expect(Object.keys(rig.ctx.tools.get('subagent', ada.scope)!.parameters['properties'] as object)).toContain('run_in_background')
    open.open()
    await rig.quiet()
  })
  it('not in other presets, where the others stand', async () => {
    await start({ preset: 'standard' })
    expect(names(rig.lead).filter((name) => teamNames.includes(name))).toEqual([])
    expect(parameters(rig.lead, 'send_message')).toEqual(['message', 'mode', 'subagent_id'])
    expect((await rig.exec(rig.lead, 'wait_agent')).code).toBe('UNKNOWN_TOOL')
  })
  it('come and go with the preset until the talk begins', async () => {
    await start({ preset: 'standard' })
    rig.ctx.agents.selectPreset(rig.lead.id, 'team')
    expect([names(rig.lead).includes('spawn_teammate'), parameters(rig.lead, 'send_message')]).toEqual([true, ['message', 'target']])
    rig.ctx.agents.selectPreset(rig.lead.id, 'standard')
    expect([names(rig.lead).includes('spawn_teammate'), parameters(rig.lead, 'send_message')]).toEqual([false, ['message', 'mode', 'subagent_id']])
  })
  it('subagents of a team give one answer, have no say in it, and start none themselves', async () => {
    const open = gate()
    await start({ minds: { ada: [hanging(open.opened)], helper: [callTools({ id: 'a', name: 'subagent', args: { description: 'x', prompt: 'y' } }, { id: 'b', name: 'send_message', args: { target: 'lead', message: 'x' } }, { id: 'c', name: 'team_task_list', args: {} }), sayText('helped')] } })
    const { text } = await rig.exec(rig.lead, 'subagent', { description: 'help', prompt: 'Help.' })
    expect(text).toBe('helped')
    const said = rig.asked('helper').at(-1)!.messages.flatMap((message) => (message.role === 'tool' ? message.content[0].content.map((block) => (block.type === 'text' ? block.text : '')) : []))
    expect(said).toEqual([expect.stringMatching(/depth/), expect.stringMatching(/send_message/), expect.stringMatching(/team_task_list/)])
    expect(rig.asked('helper')[0]!.tools.map(({ name }) => name).filter((name) => [...teamNames, 'list_agents', 'send_message', 'interrupt_agent', 'report'].includes(name))).toEqual([])
    const { id } = await rig.spawn('ada')
    expect((await rig.exec(rig.live(id), 'subagent', { description: 'help', prompt: 'Help.' })).code).toBe('DEPTH_EXCEEDED')
    open.open()
    await rig.quiet()
  })
  it('the prompt of a member carries role, name, team and the rule on teammates, the same in each request', async () => {
    await start({ minds: { lead: [sayText('one'), sayText('two')] } })
    await rig.spawn('ada')
    await rig.quiet()
    await rig.say('hello')
    const [lead, again] = rig.asked('lead')
    expect(lead?.system).toMatch(new RegExp(`You are the Lead \\(name: lead\\) of the agent team ${rig.lead.id}.*only when the person explicitly asks`, 's'))
    expect(rig.asked('ada')[0]?.system).toMatch(new RegExp(`You are the teammate ada of the agent team ${rig.lead.id}`))
    expect(again?.system ?? lead?.system).toBe(lead?.system)
  })
})

describe('8.1 spawn_teammate', () => {
  it('records the member, starts it with its prompt, and records that it is active; its name is its label', async () => {
    await start()
    const member = await rig.spawn('test-writer', { context: 'fork' })
    expect(member).toEqual({ id: expect.any(String) as string, name: 'test-writer', description: 'Does test-writer', provider: 'fork', context: 'fork', phase: 'active' })
    expect(rig.records()).toEqual(['test-writer provisioning', 'test-writer active'])
    expect(rig.ctx.subagents.facts(member.id)).toMatchObject({ label: 'test-writer', mode: 'continuable', purpose: { kind: 'team', name: 'test-writer' }, parentId: rig.lead.id })
    await rig.quiet()
    expect((await roster()).map(({ name, role, status }) => [name, role, status])).toEqual([['lead', 'lead', 'idle'], ['test-writer', 'teammate', 'inactive']])
  })
  const bad: readonly [what: string, args: object, code: string][] = [
    ['a name with capitals', { name: 'Ada' }, 'TEAM_INVALID_MEMBER_NAME'],
    ['a name with underscores', { name: 'a_b' }, 'TEAM_INVALID_MEMBER_NAME'],
    ['a name of hyphens', { name: 'a--b' }, 'TEAM_INVALID_MEMBER_NAME'],
    ['no name', { name: '' }, 'TEAM_INVALID_MEMBER_NAME'],
    ['the name of the Lead', { name: 'lead' }, 'TEAM_INVALID_MEMBER_NAME'],
    ['a long name', { name: 'a'.repeat(65) }, 'TEAM_INVALID_MEMBER_NAME'],
    ['a long description', { description: 'x'.repeat(201) }, 'TEAM_INVALID_ARGUMENT'],
    ['no description', { description: ' ' }, 'TEAM_INVALID_ARGUMENT'],
    ['no prompt', { prompt: ' ' }, 'TEAM_INVALID_ARGUMENT'],
    ['another context', { context: 'copy' }, 'INVALID_ARGS'],
  ]
  it('refuses what is wrong and records nothing then', async () => {
    await start()
    for (const [what, args, code] of bad) expect([what, (await rig.exec(rig.lead, 'spawn_teammate', { name: 'ada', description: 'd', prompt: 'p', ...args })).code]).toEqual([what, code])
    expect(rig.records()).toEqual([])
  })
  it('takes a name once, eight in all, failed ones too', async () => {
    await start({ settings: { 'subagents.maxTotal': 6 } })
    for (const index of [1, 2, 3, 4, 5, 6]) await rig.spawn(`m${index}`)
    const spawn = async (name: string) => (await rig.exec(rig.lead, 'spawn_teammate', { name, description: 'd', prompt: 'p' })).code
    expect([await spawn('m1'), await spawn('m7'), await spawn('m7'), await spawn('m8'), await spawn('m9')]).toEqual(['TEAM_MEMBER_NAME_TAKEN', 'FAN_OUT_EXCEEDED', 'TEAM_MEMBER_NAME_TAKEN', 'FAN_OUT_EXCEEDED', 'TEAM_MEMBER_LIMIT'])
    expect((await roster()).filter(({ status }) => status === 'failed')).toEqual([
      expect.objectContaining({ name: 'm7', diagnostics: [expect.stringMatching(/6/)] }),
      expect.objectContaining({ name: 'm8' }),
    ])
    await rig.quiet()
  })
  it('of two that ask for one name at once, one gets it', async () => {
    await start()
    const both = await Promise.all([1, 2].map(() => rig.exec(rig.lead, 'spawn_teammate', { name: 'ada', description: 'd', prompt: 'p' })))
    expect(both.map(({ code }) => code ?? 'fine').toSorted()).toEqual(['TEAM_MEMBER_NAME_TAKEN', 'fine'])
    await rig.quiet()
  })
  it('an abort before anything is recorded leaves nothing', async () => {
    await start()
    const stopped = new AbortController()
    const work = rig.ctx.teams.spawn(rig.lead, { name: 'ada', description: 'd', prompt: 'p', context: 'fresh', signal: stopped.signal })
    stopped.abort(new Error('not now'))
    await expect(work).rejects.toThrow('not now')
    expect(rig.records()).toEqual([])
  })
  it('a later abort ends in a failed member, durably', async () => {
    await start()
    const stopped = new AbortController()
    rig.ctx.on('session/event', (_session, event) => {
      if (event.type === 'team/member') queueMicrotask(() => stopped.abort(new Error('not now')))
    })
    await expect(rig.ctx.teams.spawn(rig.lead, { name: 'ada', description: 'd', prompt: 'p', context: 'fresh', signal: stopped.signal })).rejects.toThrow('not now')
    expect(rig.records()).toEqual(['ada provisioning', 'ada failed'])
    await rig.restart()
    expect((await roster()).map(({ name, status, diagnostics }) => [name, status, diagnostics])).toEqual([['lead', 'idle', []], ['ada', 'failed', ['not now']]])
  })
  it('is the Lead’s alone', async () => {
    const open = gate()
    await start({ minds: { ada: [hanging(open.opened)] } })
    const { id } = await rig.spawn('ada')
    expect((await rig.exec(rig.live(id), 'spawn_teammate', { name: 'bob', description: 'd', prompt: 'p' })).code).toBe('TEAM_LEAD_REQUIRED')
    expect((await rig.exec(rig.live(id), 'interrupt_agent', { target: 'lead' })).code).toBe('TEAM_LEAD_REQUIRED')
    open.open()
    await rig.quiet()
  })
  it('passes no cap of its own, but the cap of all agents holds and leaves the name free', async () => {
    await start({ settings: { 'subagents.maxDepth': 0 } })
    expect((await rig.exec(rig.lead, 'spawn_teammate', { name: 'ada', description: 'd', prompt: 'p' })).code).toBe('DEPTH_EXCEEDED')
    expect(rig.records()).toEqual([])
  })
})

describe('8.1 spawn and interrupt are confirmed by the person, unless they asked for a team in the session', () => {
  const asked = async (words: string) => {
    const calls = [callTools({ id: 's', name: 'spawn_teammate', args: { name: 'ada', description: 'Writes tests', prompt: 'Begin.' } }), callTools({ id: 'i', name: 'interrupt_agent', args: { target: 'ada' } }), sayText('ok')]
    await start({ settings: { 'permissions.defaultPreset': 'workspace-write' }, minds: { lead: calls, ada: [sayText('done')] } })
    rig.ctx.approvals.attach()
    const seen: (string | undefined)[] = []
    rig.ctx.approvals.onDidChange(() => {
      for (const one of rig.ctx.approvals.pending()) {
        seen.push(one.details?.effect)
        rig.ctx.approvals.answer(one.id, { outcome: 'allowed-once' })
      }
    })
    await rig.say(words)
    expect(rig.records()).toEqual(['ada provisioning', 'ada active'])
    return seen
  }
  it.each([['words about something else', 'Fix the team page.'], ['a refusal', 'Do it alone, without a team.']])('%s: both ask', async (_what, words) =>
    expect(await asked(words)).toEqual(['Create the teammate `ada`', 'Interrupt the teammate `ada`']))
  it.each(['Do this with a team of three agents.', 'Please start two teammates.', 'Build a small team for it', 'Use an agent team.'])('“%s” is asking for one', async (words) => expect(await asked(words)).toEqual([]))
})

describe('8.1 list_agents', () => {
  it('has the Lead first, then the others in the order they were made, with what is known of each', async () => {
    const open = gate()
    await start({ minds: { ada: [hanging(open.opened)] } })
    await rig.spawn('zoe')
    await rig.quiet()
    await rig.spawn('ada')
    expect(await roster()).toEqual([
      { id: rig.lead.id, name: 'lead', role: 'lead', status: 'idle', model: 'm1', diagnostics: [] },
      { id: expect.any(String) as string, name: 'zoe', role: 'teammate', status: 'inactive', description: 'Does zoe', provider: 'spawn', context: 'fresh', diagnostics: [] },
      { id: expect.any(String) as string, name: 'ada', role: 'teammate', status: 'running', description: 'Does ada', provider: 'spawn', context: 'fresh', model: 'm1', diagnostics: [] },
    ])
    open.open()
    await rig.quiet()
  })
})

describe('8.1 interrupt_agent', () => {
  it('ends the current turn alone: mail, tasks and the member stay', async () => {
    await start({ minds: { ada: [[{ type: 'hang' }], sayText('again')] } })
    const { id } = await rig.spawn('ada')
    await expect.poll(() => rig.asked('ada').length).toBe(1)
    await rig.exec(rig.lead, 'team_task_create', { subject: 's', description: 'd' })
    await rig.exec(rig.live(id), 'team_task_update', { task_id: 'task-1', expected_revision: 1, action: 'claim' })
    await rig.exec(rig.lead, 'send_message', { target: 'ada', message: 'for later' })
    expect((await rig.exec(rig.lead, 'interrupt_agent', { target: 'ada' })).value).toEqual({ previousStatus: 'running' })
    await rig.quiet()
    expect(rig.tasks().get('task-1')).toMatchObject({ status: 'in_progress', ownerId: id })
    expect((await rig.exec(rig.lead, 'interrupt_agent', { target: 'ada' })).value).toEqual({ previousStatus: 'inactive' })
    await rig.exec(rig.lead, 'followup_task', { target: 'ada', message: 'go on' })
    await rig.quiet()
    expect(await rig.mailOf(id)).toEqual(['for later', 'go on'])
  })
  it('refuses the Lead and names nobody has', async () => {
    await start()
    expect([(await rig.exec(rig.lead, 'interrupt_agent', { target: 'lead' })).code, (await rig.exec(rig.lead, 'interrupt_agent', { target: 'eve' })).code]).toEqual(['TEAM_INVALID_TARGET', 'TEAM_MEMBER_NOT_FOUND'])
  })
})

describe('8 restart', () => {
  const draft = (phase: 'provisioning', id: string): EventDraft => ({ type: 'team/member', data: { version: 1, teamId: rig.lead.id, member: { id, name: 'ada', description: 'd', provider: 'spawn', context: 'fresh', phase } } })

  it('roster, board and undelivered mail come back', async () => {
    await start()
    const { id } = await rig.spawn('ada')
    await rig.quiet()
    await rig.exec(rig.lead, 'team_task_create', { subject: 's', description: 'd', write_scopes: ['src'] })
    await rig.exec(rig.lead, 'send_message', { target: 'ada', message: 'asleep' })
    const before = rig.records()
    await rig.restart()
    expect(rig.records()).toEqual(before)
    expect((await roster()).map(({ id, name, status }) => [id, name, status])).toEqual([[rig.lead.id, 'lead', 'idle'], [id, 'ada', 'inactive']])
    expect((await rig.exec(rig.lead, 'team_task_get', { task_id: 'task-1' })).value).toMatchObject({ id: 'task-1', revision: 1, ready: true, writeScopes: ['src'] })
    await rig.exec(rig.lead, 'followup_task', { target: 'ada', message: 'awake' })
    await rig.quiet()
    expect(await rig.mailOf(id)).toEqual(['asleep', 'awake'])
    expect(rig.ctx.subagents.facts(id)?.purpose).toEqual({ kind: 'team', name: 'ada' })
  })
  it('who was being set up is failed where no child is its own', async () => {
    await start({ minds: { lead: [sayText('hi')] } })
    await rig.say('hi')
    rig.lead.session.append(draft('provisioning', 'gone'))
    await rig.restart()
    await expect.poll(() => rig.records()).toEqual(['ada provisioning', 'ada failed'])
    expect((await rig.exec(rig.lead, 'spawn_teammate', { name: 'ada', description: 'd', prompt: 'p' })).code).toBe('TEAM_MEMBER_NAME_TAKEN')
  })
  const children: readonly [what: string, label: string, prompt: boolean, phase: string][] = [
    ['active where the child has its label and its first prompt', 'ada', true, 'active'],
    ['failed where the child is another', 'bob', true, 'failed'],
  ]
  it.each(children)('who was being set up is %s', async (_what, label, _prompt, phase) => {
    await start({ minds: { lead: [sayText('hi')] } })
    await rig.say('hi')
    const id = 'child-of-mine'
    rig.lead.session.append(draft('provisioning', id))
    await rig.ctx.subagents.startContinuable({ parent: rig.lead, provider: 'spawn', label, prompt: 'Begin.', purpose: { kind: 'team', name: label }, childId: id, signal: new AbortController().signal })
    await rig.quiet()
    await rig.restart()
    await expect.poll(() => rig.records()).toEqual(['ada provisioning', `ada ${phase}`])
  })
  it('a log that contradicts itself stops the team, says where, and never the session', async () => {
    await start({ minds: { lead: [sayText('hi'), sayText('still here')] } })
    await rig.say('hi')
    rig.lead.session.append({ type: 'team/task', data: { version: 1, teamId: rig.lead.id, task: { id: 'task-5', revision: 1, subject: 's', description: '', status: 'pending', blockedBy: [], writeScopes: [] } } })
    await rig.restart()
    expect(await rig.exec(rig.lead, 'team_task_list')).toMatchObject({ code: 'TEAM_CORRUPT_LOG', text: expect.stringMatching(/event \d+: task-5 does not follow/) as string })
    expect(rig.ctx.teams.overview(rig.lead.id)?.problem).toMatch(/task-5/)
    await rig.say('go on')
    expect(rig.asked('lead').length).toBe(2)
  })
  it('a member whose turn failed is asleep and can be woken', async () => {
    await start({ settings: { 'llm.retry.maxRetries': 0 }, minds: { ada: [failWith({ code: 'SERVER', message: 'No.' }), sayText('well')] } })
    const { id } = await rig.spawn('ada')
    await rig.quiet()
    await rig.exec(rig.lead, 'followup_task', { target: 'ada', message: 'again' })
    await rig.quiet()
    expect([rig.asked('ada').length, (await roster())[1]?.status, await rig.mailOf(id)]).toEqual([2, 'inactive', ['again']])
  })
})
