import { execFile } from 'node:child_process'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Capabilities } from '../../../extension/compose.ts'
import { createWaiters } from '../../../extension/features/teams/waiting.ts'
import { gate, settled } from '../../support/loop-rig.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { callTools, sayText, type ScriptedAnswer } from '../../support/scripted-adapter.ts'
import { createTeamRig, type TeamRig } from '../../support/team-rig.ts'

const killTeam = new URL('../../support/kill-team.ts', import.meta.url).pathname

let rig: TeamRig | undefined
afterEach(async () => {
  await rig?.dispose()
  rig = undefined
})
const start = async (options: Parameters<typeof createTeamRig>[0] = {}) => (rig = await createTeamRig(options))
const hanging = (until: Promise<unknown>, text = 'done'): ScriptedAnswer => [{ type: 'wait', until }, ...sayText(text)]
const inboxOf = (team: TeamRig, id: string) => team.live(id).session.events().flatMap((event) => (event.type === 'agent/inbox/spliced' ? event.data.inserted.flatMap(({ source, content }) => (source.kind === 'team-message' ? [`${event.data.target} ${content.map((block) => (block.type === 'text' ? block.text : '')).join(' | ')}`] : [])) : []))
const lastUserTexts = (team: TeamRig, name: string) => team.asked(name).at(-1)!.messages.flatMap(({ role, content }) => (role === 'user' ? [content.map((block) => (block.type === 'text' ? block.text : '')).join(' ')] : [])).filter((text) => text.startsWith('Team message'))

describe('8.1 send_message is quiet', () => {
  it('a target at work hears it with its next step, framed with message and sender', async () => {
    const open = gate()
    const team = await start({ minds: { ada: [[{ type: 'wait', until: open.opened }, ...callTools({ id: 'g', name: 'team_task_list', args: {} })], sayText('done')] } })
    const { id } = await team.spawn('ada')
    const { value } = (await team.exec(team.lead, 'send_message', { target: 'ada', message: 'Look at src.' })) as { value: { messageId: string; status: string } }
    expect(value.status).toBe('accepted')
    expect(inboxOf(team, id)).toEqual([`next-step Team message ${value.messageId} from lead: | Look at src.`])
    open.open()
    await team.quiet()
    expect(lastUserTexts(team, 'ada')).toEqual([`Team message ${value.messageId} from lead: Look at src.`])
    expect(team.records()).toEqual(['ada provisioning', 'ada active', 'queued Look at src.', 'delivered'])
  })
  it('a sleeping target stays asleep, and the mail waits for its own start, in order before what wakes it', async () => {
    const team = await start()
    const { id } = await team.spawn('ada')
    await team.quiet()
    for (const message of ['one', 'two']) expect(((await team.exec(team.lead, 'send_message', { target: 'ada', message })).value as { status: string }).status).toBe('queued')
    await team.quiet()
    expect([team.asked('ada').length, team.ctx.agents.live(id)]).toEqual([1, undefined])
    expect(((await team.exec(team.lead, 'followup_task', { target: 'ada', message: 'three' })).value as { status: string }).status).toBe('accepted')
    await team.quiet()
    expect([await team.mailOf(id), team.asked('ada').length, team.records().slice(-3)]).toEqual([['one', 'two', 'three'], 2, ['delivered', 'delivered', 'delivered']])
  })
  it('the Lead is not woken by it, and is by a followup', async () => {
    const open = gate()
    const team = await start({ minds: { ada: [hanging(open.opened)], lead: [sayText('heard')] } })
    const { id } = await team.spawn('ada')
    await team.exec(team.live(id), 'send_message', { target: 'lead', message: 'quietly' })
    await settled()
    expect([team.asked('lead').length, team.lead.inbox.nextStep.length]).toEqual([0, 1])
    await team.exec(team.live(id), 'followup_task', { target: 'lead', message: 'wake up' })
    await team.lead.whenIdle()
    expect(lastUserTexts(team, 'lead').map((text) => text.replace(/.*: /, ''))).toEqual(expect.arrayContaining(['quietly', 'wake up']))
    open.open()
    await team.quiet()
  })
  it('members speak to each other, each by the name of the sender', async () => {
    const open = gate()
    const team = await start({ minds: { ada: [hanging(open.opened)], bob: [hanging(open.opened)] } })
    const [ada, bob] = [await team.spawn('ada'), await team.spawn('bob')]
    await team.exec(team.live(ada.id), 'send_message', { target: 'bob', message: 'hi' })
    expect(inboxOf(team, bob.id)).toEqual([expect.stringMatching(/^next-step Team message \S+ from ada: \| hi$/)])
    open.open()
    await team.quiet()
  })
})

describe('8.1 followup_task wakes', () => {
  it('a target at work gets it as a turn of its own, in order', async () => {
    const open = gate()
    const team = await start({ minds: { ada: [hanging(open.opened), sayText('two'), sayText('three')] } })
    const { id } = await team.spawn('ada')
    for (const message of ['second', 'third']) await team.exec(team.lead, 'followup_task', { target: 'ada', message })
    const session = team.live(id).session
    expect(inboxOf(team, id).map((line) => line.split(' ')[0])).toEqual(['next-turn', 'next-turn'])
    open.open()
    await team.quiet()
    expect([session.events().filter(({ type }) => type === 'turn/start').length, await team.mailOf(id)]).toEqual([3, ['second', 'third']])
  })
})

describe('8.1 what is refused is not sent', () => {
  it('says why, and leaves nothing', async () => {
    const team = await start()
    await team.spawn('ada')
    await team.quiet()
    const before = team.records()
    const send = async (target: string, message: string) => (await team.exec(team.lead, 'send_message', { target, message })).code
    expect([await send('eve', 'x'), await send('lead', 'x'), await send('ada', ' '), await send('ada', 'é'.repeat(32_768))]).toEqual(['TEAM_MEMBER_NOT_FOUND', 'TEAM_SELF_MESSAGE', 'TEAM_INVALID_ARGUMENT', 'TEAM_MESSAGE_TOO_LARGE'])
    const stopped = AbortSignal.abort(new Error('not now'))
    await expect(team.ctx.teams.send(team.lead, { target: 'ada', message: 'x', delivery: 'quiet', signal: stopped })).rejects.toThrow('not now')
    expect(team.records()).toEqual(before)
  })
  it('the largest message fits with its frame, as JSON', async () => {
    const team = await start()
    await team.spawn('ada')
    await team.quiet()
    const { value } = (await team.exec(team.lead, 'send_message', { target: 'ada', message: 'x' })) as { value: { messageId: string } }
    const frame = JSON.stringify([{ type: 'text', text: `Team message ${value.messageId} from lead:` }, { type: 'text', text: '' }]).length
    expect((await team.exec(team.lead, 'send_message', { target: 'ada', message: 'x'.repeat(65_536 - frame) })).code).toBeUndefined()
    expect((await team.exec(team.lead, 'send_message', { target: 'ada', message: 'x'.repeat(65_537 - frame) })).code).toBe('TEAM_MESSAGE_TOO_LARGE')
  })
  it('64 messages may wait for one member', async () => {
    const team = await start()
    await team.spawn('ada')
    await team.spawn('bob')
    await team.quiet()
    for (let index = 0; index < 64; index += 1) await team.exec(team.lead, 'send_message', { target: 'ada', message: `m${index}` })
    expect([(await team.exec(team.lead, 'send_message', { target: 'ada', message: 'more' })).code, (await team.exec(team.lead, 'followup_task', { target: 'ada', message: 'more' })).code]).toEqual(['TEAM_MAILBOX_FULL', 'TEAM_MAILBOX_FULL'])
    expect((await team.exec(team.lead, 'send_message', { target: 'bob', message: 'x' })).code).toBeUndefined()
  })
  it('of a call of nobody', async () => {
    const team = await start()
    const result = await team.ctx.tools.execute({ callId: 'x', name: 'followup_task', arguments: { target: 'ada', message: 'x' }, signal: new AbortController().signal })
    expect(result.isError && result.error.info?.code).toBe('NO_AGENT')
  })
})

describe('8.1 mail survives', () => {
  const queued = (team: TeamRig, { id, target, delivery, text }: { readonly id: string; readonly target: string; readonly delivery: 'quiet' | 'waking'; readonly text: string }) =>
    team.lead.session.append({ type: 'team/message/queued', data: { version: 1, teamId: team.lead.id, message: { id, senderId: team.lead.id, senderName: 'lead', targetId: target, delivery, content: [{ type: 'text', text: `Team message ${id} from lead:` }, { type: 'text', text }] } } })

  it('what was queued when the window went is delivered by the next: what wakes at once, what is quiet with it', async () => {
    const team = await start()
    const { id } = await team.spawn('ada')
    const bob = await team.spawn('bob')
    await team.quiet()
    queued(team, { id: 'q1', target: id, delivery: 'quiet', text: 'first' })
    queued(team, { id: 'w1', target: id, delivery: 'waking', text: 'second' })
    queued(team, { id: 'q2', target: bob.id, delivery: 'quiet', text: 'asleep' })
    await team.restart()
    await expect.poll(() => team.asked('ada').length).toBe(2)
    await team.quiet()
    expect([await team.mailOf(id), await team.mailOf(bob.id), team.records().filter((line) => line === 'delivered').length]).toEqual([['first', 'second'], [], 2])
  })
  const kills: readonly [moment: string, what: string, records: readonly string[]][] = [
    ['queued', 'before its target had it durably: it is delivered', ['ada provisioning', 'ada active', 'queued once', 'delivered']],
    ['delivered', 'before its acknowledgement was durable: it is acknowledged, not delivered again', ['ada provisioning', 'ada active', 'queued once', 'delivered']],
    ['active', 'before a teammate that has its task was recorded as active: it is active', ['ada provisioning', 'ada active', 'bob provisioning', 'bob active']],
  ]
  it.each(kills)('a kill of the whole program, %s, %s', async (moment, _what, records) => {
    const home = await realpath(await mkdtemp(join(tmpdir(), 'bosun-killed-')))
    try {
      const { ids, signal } = await new Promise<{ readonly ids: string; readonly signal: string | null }>((resolve) => {
        execFile(process.execPath, [killTeam, home, moment], { timeout: 50_000 }, (error, stdout, stderr) => resolve({ ids: stdout.trim(), signal: error?.signal ?? `none: ${stderr}` }))
      })
      expect(signal).toBe('SIGKILL')
      const [lead = '', ada = ''] = ids.split(' ')
      const team = await start({ home, resume: lead })
      await expect.poll(() => team.records()).toEqual(records)
      await team.quiet()
      expect(await team.mailOf(ada)).toEqual(moment === 'active' ? [] : ['once'])
      await team.dispose()
      rig = undefined
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  })
  it('in a folder that is not trusted nobody is woken, and all is once it is', async () => {
    let isTrusted = true
    const listeners = new Set<() => void>()
    const team = await start({ alter: (world: Capabilities) => ({ ...world, workspace: { ...world.workspace, isTrusted: () => isTrusted, onDidChangeTrust: (listener) => (listeners.add(listener), () => void listeners.delete(listener)) } }) })
    const { id } = await team.spawn('ada')
    await team.quiet()
    isTrusted = false
    queued(team, { id: 'w1', target: id, delivery: 'waking', text: 'work' })
    await team.restart()
    expect(team.asked('ada').length).toBe(1)
    isTrusted = true
    for (const listener of listeners) listener()
    await expect.poll(() => team.asked('ada').length).toBe(2)
    await team.quiet()
  })
})

describe('8.1 wait_agent', () => {
  it.each([9_999, 3_600_001, 0, -1])('%d ms is refused before anything else', async (timeout_ms) => {
    const team = await start()
    expect((await team.exec(team.lead, 'wait_agent', { timeout_ms })).code).toBe('TEAM_INVALID_TIMEOUT')
  })
  it('ends at once where no other member is at work', async () => {
    const team = await start()
    await team.spawn('ada')
    await team.quiet()
    expect((await team.exec(team.lead, 'wait_agent')).value).toEqual({ timedOut: false, noProgress: { reason: 'no-active-peer', message: expect.any(String) as string } })
  })
  it.each(['a status', 'mail', 'a task'] as const)('goes on with %s that changes after it began, and not with what changed before', async (what) => {
    const open = gate()
    const late = gate()
    const team = await start({ minds: { ada: [hanging(open.opened)], bob: [hanging(late.opened)] } })
    const { id } = await team.spawn('ada')
    await team.spawn('bob')
    await team.exec(team.lead, 'team_task_create', { subject: 'before', description: '' })
    let isOver = false
    const waiting = team.exec(team.lead, 'wait_agent', { timeout_ms: 60_000 }).finally(() => (isOver = true))
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(isOver).toBe(false)
    if (what === 'a status') open.open()
    else if (what === 'mail') await team.exec(team.live(id), 'send_message', { target: 'bob', message: 'x' })
    else await team.exec(team.live(id), 'team_task_update', { task_id: 'task-1', expected_revision: 1, action: 'claim' })
    expect((await waiting).value).toEqual({ timedOut: false })
    open.open()
    late.open()
    await team.quiet()
  })
  it('an abort rejects with its reason when that is an error, else with TEAM_WAIT_ABORTED', async () => {
    const open = gate()
    const team = await start({ minds: { ada: [hanging(open.opened)] } })
    await team.spawn('ada')
    const wait = (reason: unknown) => {
      const stop = new AbortController()
      const work = team.ctx.teams.wait(team.lead, { timeoutMs: 10_000, signal: stop.signal })
      stop.abort(reason)
      return work
    }
    await expect(wait(new Error('the person stopped it'))).rejects.toThrow('the person stopped it')
    await expect(wait('because')).rejects.toMatchObject({ code: 'TEAM_WAIT_ABORTED' })
    open.open()
    await team.quiet()
  })
  it('is released when the team goes', async () => {
    const team = await start({ minds: { ada: [[{ type: 'hang' }]] } })
    await team.spawn('ada')
    const waiting = team.ctx.teams.wait(team.lead, { timeoutMs: 60_000, signal: new AbortController().signal })
    await settled()
    await team.lead.dispose()
    expect(await waiting).toEqual({ timedOut: false })
    await expect(team.ctx.teams.send(team.lead, { target: 'ada', message: 'x', delivery: 'quiet', signal: new AbortController().signal })).rejects.toMatchObject({ code: 'TEAM_DISPOSED' })
  })
  it('times out after its time, and not before', async () => {
    const clock = createManualClock()
    const waiters = createWaiters(clock)
    const seen: unknown[] = []
    void waiters.next({ timeoutMs: 10_000, signal: new AbortController().signal }).then((value) => seen.push(value))
    clock.advance(9_999)
    await settled()
    expect(seen).toEqual([])
    clock.advance(1)
    await settled()
    expect(seen).toEqual([{ timedOut: true }])
  })
})
