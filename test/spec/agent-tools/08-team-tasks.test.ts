import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { TeamMember } from '../../../extension/features/teams/events.ts'
import type { TaskView } from '../../../extension/features/teams/service.ts'
import { gate } from '../../support/loop-rig.ts'
import { sayText, type ScriptedAnswer } from '../../support/scripted-adapter.ts'
import { createTeamRig, type TeamRig } from '../../support/team-rig.ts'

let rig: TeamRig
afterEach(() => rig.dispose())
const hanging = (until: Promise<unknown>): ScriptedAnswer => [{ type: 'wait', until }, ...sayText('done')]

/** A team with two teammates at work, until the end of the test. */
async function start(settings: Record<string, unknown> = {}) {
  const open = gate()
  rig = await createTeamRig({ settings, minds: { ada: [hanging(open.opened)], bob: [hanging(open.opened)] } })
  const [ada, bob] = [await rig.spawn('ada'), await rig.spawn('bob')]
  const as = (member?: TeamMember) => (member === undefined ? rig.lead : rig.live(member.id))
  const call = async (name: string, args: object, member?: TeamMember) => {
    const { value, code } = await rig.exec(as(member), name, args)
    return code ?? (value as TaskView)
  }
  return {
    ada, bob, as,
    create: (subject: string, more: object = {}, member?: TeamMember) => call('team_task_create', { subject, description: '', ...more }, member),
    update: (task_id: string, expected_revision: number, action: string, more: object = {}, member?: TeamMember) => call('team_task_update', { task_id, expected_revision, action, ...more }, member),
    list: async (args: object = {}) => ((await rig.exec(rig.lead, 'team_task_list', args)) as { value: { tasks: readonly TaskView[]; nextCursor?: number } }).value,
    end: async () => {
      open.open()
      await rig.quiet()
    },
  }
}

describe('8.2 the tools of the board', () => {
  it('show a task as compact JSON, pending and unowned at revision 1', async () => {
    const { create, end } = await start()
    expect(await create('Parse', { write_scopes: ['./src/'] })).toEqual({ id: 'task-1', revision: 1, subject: 'Parse', description: '', status: 'pending', blockedBy: [], writeScopes: ['src'], ready: true, writeScopeWarnings: [] })
    expect((await rig.exec(rig.lead, 'team_task_get', { task_id: 'task-1' })).text).toBe('{"id":"task-1","revision":1,"subject":"Parse","description":"","status":"pending","blockedBy":[],"writeScopes":["src"],"ready":true,"writeScopeWarnings":[]}')
    await end()
  })
  it('two members claim one task at once: one gets it, the other hears that it is stale', async () => {
    const { ada, bob, create, update, end } = await start()
    await create('Parse')
    const members = { ada, bob }
    const both = await Promise.all([ada, bob].map((member) => update('task-1', 1, 'claim', {}, member)))
    // Which one gets it is left to who comes first to the log.
    const [winner, loser] = both[0] === 'TEAM_TASK_STALE_REVISION' ? (['bob', 'ada'] as const) : (['ada', 'bob'] as const)
    expect(both).toHaveLength(2)
    expect(both).toEqual(expect.arrayContaining([expect.objectContaining({ status: 'in_progress', ownerName: winner, revision: 2 }), 'TEAM_TASK_STALE_REVISION']))
    expect(await update('task-1', 2, 'claim', {}, members[loser])).toBe('TEAM_TASK_ALREADY_CLAIMED')
    expect(rig.records().slice(-2)).toEqual(['task-1@1 pending', 'task-1@2 in_progress'])
    await end()
  })
  it('a completed blocker makes ready and wakes nobody', async () => {
    const { ada, create, update, list, end } = await start()
    await create('A')
    await create('B', { blocked_by: ['task-1'] })
    await end()
    const asked = rig.asked('ada').length + rig.asked('bob').length + rig.asked('lead').length
    await update('task-1', 1, 'claim')
    expect(await update('task-2', 1, 'claim')).toBe('TEAM_TASK_BLOCKED')
    await update('task-1', 2, 'complete')
    expect((await list({ ready: true })).tasks.map(({ id }) => id)).toEqual(['task-2'])
    await rig.quiet()
    expect([rig.asked('ada').length + rig.asked('bob').length + rig.asked('lead').length, rig.ctx.agents.live(ada.id)]).toEqual([asked, undefined])
  })
  it('rest, an interruption and an end release nothing', async () => {
    const { ada, create, update, end } = await start()
    await create('A')
    await update('task-1', 1, 'claim', {}, ada)
    await end()
    expect(rig.tasks().get('task-1')).toMatchObject({ status: 'in_progress', ownerId: ada.id })
    await rig.restart()
    expect((await rig.exec(rig.lead, 'team_task_get', { task_id: 'task-1' })).value).toMatchObject({ status: 'in_progress', ownerName: 'ada' })
  })
  it('the list filters, pages, hides what is deleted, and refuses a bad page plainly', async () => {
    const { ada, create, update, list, end } = await start()
    for (const subject of ['A', 'B', 'C', 'D']) await create(subject)
    await update('task-1', 1, 'claim', {}, ada)
    await update('task-2', 1, 'delete')
    const ids = async (args: object) => (await list(args)).tasks.map(({ id }) => id)
    expect([await ids({}), await ids({ owner: 'ada' }), await ids({ owner: 'unowned' }), await ids({ status: 'pending' }), await ids({ ready: false })]).toEqual([['task-1', 'task-3', 'task-4'], ['task-1'], ['task-3', 'task-4'], ['task-3', 'task-4'], ['task-1']])
    expect(await list({ limit: 2 })).toMatchObject({ tasks: [{ id: 'task-1' }, { id: 'task-3' }], nextCursor: 2 })
    expect(await list({ limit: 2, cursor: 2 })).toEqual({ tasks: [expect.objectContaining({ id: 'task-4' })] })
    for (const args of [{ limit: 0 }, { limit: 101 }, { cursor: -1 }]) expect(await rig.exec(rig.lead, 'team_task_list', args)).toEqual({ code: undefined, text: expect.stringMatching(/must be a whole number/) as string })
    expect((await rig.exec(rig.lead, 'team_task_get', { task_id: 'task-2' })).value).toMatchObject({ status: 'deleted' })
    await end()
  })
  it('only the Lead reassigns, to who is active, and blank takes away', async () => {
    const { ada, bob, create, update, end } = await start()
    await create('A')
    expect(await update('task-1', 1, 'reassign', { owner: 'bob' }, ada)).toBe('TEAM_TASK_UNAUTHORIZED')
    expect(await update('task-1', 9, 'reassign', { owner: 'eve' })).toBe('TEAM_TASK_STALE_REVISION')
    expect(await update('task-1', 1, 'reassign', { owner: 'eve' })).toBe('TEAM_MEMBER_NOT_FOUND')
    expect(await update('task-1', 1, 'reassign', { owner: 'bob' })).toMatchObject({ ownerName: 'bob', status: 'in_progress' })
    expect(await update('task-1', 2, 'reassign', { owner: 'lead' })).toMatchObject({ ownerName: 'lead' })
    expect(await update('task-1', 3, 'reassign', { owner: ' ' })).not.toHaveProperty('ownerName')
    expect(await update('task-1', 4, 'claim', {}, bob)).toMatchObject({ ownerName: 'bob' })
    await end()
  })
  it('two tasks in progress whose scopes overlap warn of each other', async () => {
    const { ada, bob, create, update, list, end } = await start()
    await create('A', { write_scopes: ['src/a'] })
    await create('B', { write_scopes: ['src'] })
    await update('task-1', 1, 'claim', {}, ada)
    await update('task-2', 1, 'claim', {}, bob)
    expect((await list()).tasks.map(({ writeScopeWarnings }) => writeScopeWarnings)).toEqual([['src/a is also written by task-2'], ['src is also written by task-1']])
    await end()
  })
})

describe('12.7 write scopes are enforced', () => {
  const shell = (command: string) => ['bash', { command, description: 'Do it' }] as const
  const write = (file_path: string) => ['write', { file_path, content: 'x' }] as const
  const rows: readonly [what: string, who: 'ada' | 'bob' | 'lead', call: readonly [string, object], isAllowed: boolean][] = [
    ['the owner inside of its scope', 'ada', write('src/a/new.txt'), true],
    ['the owner at the file that is its scope', 'ada', write('notes.md'), true],
    ['the owner elsewhere', 'ada', write('docs/x.txt'), false],
    ['the owner in what begins alike', 'ada', write('src/ab/x.txt'), false],
    ['the owner by way of a parent folder', 'ada', write('src/a/../b.txt'), false],
    ['another member in a claimed scope', 'bob', write('src/a/other.txt'), false],
    ['another member elsewhere', 'bob', write('docs/y.txt'), true],
    ['the Lead in a claimed scope', 'lead', write('src/a/lead.txt'), false],
    ['a redirect into a claimed scope', 'bob', shell('echo x > src/a/f.txt'), false],
    ['a removal in a claimed scope', 'bob', shell('cd src && rm -f a/keep.txt'), false],
    ['a copy into a claimed scope', 'bob', shell('cp notes.md src/a/n.md'), false],
    ['a stream editor in a claimed scope', 'lead', shell("sed -i 's/x/y/' src/a/keep.txt"), false],
    ['a copy out of it', 'bob', shell('cp src/a/keep.txt docs/'), true],
    ['a command that reads in it', 'bob', shell('cat src/a/keep.txt'), true],
    ['a command of the owner inside', 'ada', shell('echo x > src/a/g.txt'), true],
    ['a file outside of the folder, for the policy', 'ada', shell('echo x > /tmp/bosun-scope-test'), true],
  ]
  it('by deny: inside of the own ones, and not in those of others', async () => {
    const { ada, as, bob, create, update, end } = await start()
    const folder = rig.whole.folder
    for (const path of ['src/a', 'src/ab', 'docs']) await mkdir(join(folder, path), { recursive: true })
    await writeFile(join(folder, 'src/a/keep.txt'), 'x')
    await writeFile(join(folder, 'notes.md'), 'n')
    await rig.exec(as(ada), 'read', { file_path: 'notes.md' })
    await create('A', { write_scopes: ['src/a', 'notes.md'] })
    await update('task-1', 1, 'claim', {}, ada)
    for (const [what, who, [name, args], isAllowed] of rows) {
      const { code, text } = await rig.exec(as({ ada, bob, lead: undefined }[who]), name, args)
      expect([what, code ?? 'fine']).toEqual([what, isAllowed ? 'fine' : 'DENIED'])
      if (!isAllowed) expect(text).toMatch(/write scopes of task-1|belongs to task-1, which ada works on/)
    }
    expect(await readFile(join(folder, 'src/a/keep.txt'), 'utf8')).toBe('x')
    await update('task-1', 2, 'complete', {}, ada)
    expect((await rig.exec(rig.lead, ...write('src/a/after.txt'))).code).toBeUndefined()
    await end()
  })
  it('by warn: the board says so alone', async () => {
    const { ada, create, update, end } = await start({ 'teams.writeScopes': 'warn' })
    await mkdir(join(rig.whole.folder, 'src'))
    await create('A', { write_scopes: ['src'] })
    await update('task-1', 1, 'claim', {}, ada)
    expect((await rig.exec(rig.lead, ...write('src/a.txt'))).code).toBeUndefined()
    await end()
  })
  it('hold who a member starts, too, and a member with a task of no scope only keeps out of others’', async () => {
    const { ada, as, bob, create, update, end } = await start()
    await mkdir(join(rig.whole.folder, 'src'))
    await create('A', { write_scopes: ['src'] })
    await create('B')
    await update('task-1', 1, 'claim', {}, ada)
    await update('task-2', 1, 'claim', {}, bob)
    expect([(await rig.exec(as(bob), ...write('src/x.txt'))).code, (await rig.exec(as(bob), ...write('other.txt'))).code]).toEqual(['DENIED', undefined])
    const { childId } = await rig.ctx.subagents.start({ parent: rig.lead, provider: 'spawn', label: 'help', prompt: 'x', purpose: { kind: 'subagent' }, signal: new AbortController().signal })
    expect((await rig.exec(rig.live(childId), ...write('src/y.txt'))).code).toBe('DENIED')
    await end()
  })
})
