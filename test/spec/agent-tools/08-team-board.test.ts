import { describe, expect, it } from 'vitest'
import type { SessionEvent } from '../../../extension/core/log/event.ts'
import { changedTask, createdTask, isReady, scopeWarnings, taskMoves, type Actor, type TaskAction, type TaskChange } from '../../../extension/features/teams/board.ts'
import type { TeamErrorCode } from '../../../extension/features/teams/error.ts'
import type { TeamMember, TeamTask, TeamTaskStatus } from '../../../extension/features/teams/events.ts'
import { receivedProjection } from '../../../extension/features/teams/received.ts'
import { emptyTeam, foldTeam, soundTeam, teamAfter } from '../../../extension/features/teams/ledger.ts'
import { normalisedScopes, scopesOverlap } from '../../../extension/features/teams/write-scopes.ts'

const lead: Actor = { id: 'lead', isLead: true }
const ada: Actor = { id: 'ada', isLead: false }
const bob: Actor = { id: 'bob', isLead: false }

const task = (id: string, more: Partial<TeamTask> = {}): TeamTask => ({ id, revision: 1, subject: `Do ${id}`, description: '', status: 'pending', blockedBy: [], writeScopes: [], ...more })
const boardOf = (...tasks: readonly TeamTask[]) => new Map(tasks.map((one) => [one.id, one]))
const codeOf = (work: () => unknown): TeamErrorCode | 'fine' => {
  try {
    work()
    return 'fine'
  } catch (error) {
    return (error as { code: TeamErrorCode }).code
  }
}

/** Of each status one, whose owner is Ada where it has one. */
const inStatus: Readonly<Record<TeamTaskStatus, TeamTask>> = {
  pending: task('task-1'),
  in_progress: task('task-1', { status: 'in_progress', ownerId: 'ada' }),
  completed: task('task-1', { status: 'completed', ownerId: 'ada' }),
  deleted: task('task-1', { status: 'deleted' }),
}
const extra: Readonly<Record<TaskAction, Partial<TaskChange>>> = {
  claim: {}, release: {}, complete: {}, reopen: {}, delete: {}, edit: { subject: 'Other words' }, set_dependencies: { blockedBy: [] }, reassign: { ownerId: 'bob' },
}

describe('8.2 every move of the board, by who makes it and where the task stands', () => {
  const stops = { gone: 'TEAM_TASK_DELETED', whose: 'TEAM_TASK_UNAUTHORIZED', when: 'TEAM_TASK_INVALID_TRANSITION', taken: 'TEAM_TASK_ALREADY_CLAIMED', blocked: 'TEAM_TASK_BLOCKED' } as const
  /** By action and status: what comes of it for the Lead, the owner (Ada), another member (Bob). A status is the one it ends in. */
  const rows: readonly (readonly [action: TaskAction, from: TeamTaskStatus, lead: string, owner: string, other: string])[] = [
    ['claim', 'pending', 'in_progress', 'in_progress', 'in_progress'],
    ['claim', 'in_progress', stops.taken, stops.blocked, stops.taken],
    ['claim', 'completed', stops.taken, stops.blocked, stops.taken],
    ['release', 'pending', stops.when, stops.whose, stops.whose],
    ['release', 'in_progress', 'pending', 'pending', stops.whose],
    ['release', 'completed', stops.when, stops.when, stops.whose],
    ['edit', 'pending', 'pending', stops.whose, stops.whose],
    ['edit', 'in_progress', 'in_progress', 'in_progress', stops.whose],
    ['edit', 'completed', 'completed', 'completed', stops.whose],
    ['set_dependencies', 'pending', 'pending', stops.whose, stops.whose],
    ['set_dependencies', 'in_progress', 'in_progress', 'in_progress', stops.whose],
    ['set_dependencies', 'completed', 'completed', 'completed', stops.whose],
    ['complete', 'pending', stops.when, stops.whose, stops.whose],
    ['complete', 'in_progress', 'completed', 'completed', stops.whose],
    ['complete', 'completed', stops.when, stops.when, stops.whose],
    ['reopen', 'pending', stops.when, stops.whose, stops.whose],
    ['reopen', 'in_progress', stops.when, stops.when, stops.whose],
    ['reopen', 'completed', 'pending', 'pending', stops.whose],
    ['reassign', 'pending', 'in_progress', stops.whose, stops.whose],
    ['reassign', 'in_progress', 'in_progress', stops.whose, stops.whose],
    ['reassign', 'completed', stops.when, stops.whose, stops.whose],
    ['delete', 'pending', 'deleted', stops.whose, stops.whose],
    ['delete', 'in_progress', 'deleted', 'deleted', stops.whose],
    ['delete', 'completed', 'deleted', 'deleted', stops.whose],
    ...(Object.keys(taskMoves) as TaskAction[]).map((action) => [action, 'deleted', stops.gone, stops.gone, stops.gone] as const),
  ]
  it('has a row for each of them', () => expect(rows).toHaveLength(Object.keys(taskMoves).length * 4))
  it.each(rows)('%s of a task that is %s', (action, from, ...outcomes) => {
    const before = inStatus[from]
    const attempt = (actor: Actor) => {
      try {
        const after = changedTask(boardOf(before), actor, { taskId: 'task-1', expectedRevision: 1, action, ...extra[action] })
        expect(after.revision).toBe(2)
        return after.status
      } catch (error) {
        return (error as { code: string }).code
      }
    }
    expect([lead, ada, bob].map(attempt)).toEqual(outcomes)
  })

  const owners: readonly [what: string, from: TeamTaskStatus, actor: Actor, change: Partial<TaskChange> & { readonly action: TaskAction }, owner: string | undefined][] = [
    ['a claim is the caller’s', 'pending', bob, { action: 'claim' }, 'bob'],
    ['a release is nobody’s', 'in_progress', ada, { action: 'release' }, undefined],
    ['what is completed keeps its owner', 'in_progress', lead, { action: 'complete' }, 'ada'],
    ['what is opened again is nobody’s', 'completed', ada, { action: 'reopen' }, undefined],
    ['an edit keeps its owner', 'in_progress', lead, { action: 'edit', subject: 'x' }, 'ada'],
    ['a reassignment is the new owner’s', 'in_progress', lead, { action: 'reassign', ownerId: 'bob' }, 'bob'],
    ['a reassignment to nobody is pending', 'in_progress', lead, { action: 'reassign' }, undefined],
  ]
  it.each(owners)('%s', (_what, from, actor, change, owner) => {
    const after = changedTask(boardOf(inStatus[from]), actor, { taskId: 'task-1', expectedRevision: 1, ...change })
    expect([after.ownerId, after.status === 'pending']).toEqual([owner, owner === undefined])
  })

  it('of two who claim at once one wins, and the other hears that the task changed', () => {
    const won = changedTask(boardOf(task('task-1')), ada, { taskId: 'task-1', expectedRevision: 1, action: 'claim' })
    expect(codeOf(() => changedTask(boardOf(won), bob, { taskId: 'task-1', expectedRevision: 1, action: 'claim' }))).toBe('TEAM_TASK_STALE_REVISION')
    expect(codeOf(() => changedTask(boardOf(won), bob, { taskId: 'task-1', expectedRevision: 2, action: 'claim' }))).toBe('TEAM_TASK_ALREADY_CLAIMED')
  })
})

describe('8.2 what is wrong first is told first', () => {
  const board = boardOf(task('task-1', { revision: 4, status: 'deleted' }), task('task-2', { status: 'in_progress', ownerId: 'ada' }), task('task-3', { blockedBy: ['task-2'] }))
  const rows: readonly [what: string, actor: Actor, change: TaskChange, code: TeamErrorCode][] = [
    ['not found before all', bob, { taskId: 'task-9', expectedRevision: 99, action: 'edit' }, 'TEAM_TASK_NOT_FOUND'],
    ['a stale revision before deleted', bob, { taskId: 'task-1', expectedRevision: 3, action: 'claim' }, 'TEAM_TASK_STALE_REVISION'],
    ['deleted before authority', bob, { taskId: 'task-1', expectedRevision: 4, action: 'reassign' }, 'TEAM_TASK_DELETED'],
    ['authority before transition', bob, { taskId: 'task-2', expectedRevision: 1, action: 'reopen' }, 'TEAM_TASK_UNAUTHORIZED'],
    ['transition before dependencies', lead, { taskId: 'task-3', expectedRevision: 1, action: 'complete' }, 'TEAM_TASK_INVALID_TRANSITION'],
    ['a blocked task cannot be claimed', bob, { taskId: 'task-3', expectedRevision: 1, action: 'claim' }, 'TEAM_TASK_BLOCKED'],
    ['nor given to anybody', lead, { taskId: 'task-3', expectedRevision: 1, action: 'reassign', ownerId: 'bob' }, 'TEAM_TASK_BLOCKED'],
    ['what others wait for cannot go', lead, { taskId: 'task-2', expectedRevision: 1, action: 'delete' }, 'TEAM_TASK_HAS_DEPENDENTS'],
    ['an edit of nothing', lead, { taskId: 'task-3', expectedRevision: 1, action: 'edit' }, 'TEAM_INVALID_ARGUMENT'],
    ['dependencies that are not said', lead, { taskId: 'task-3', expectedRevision: 1, action: 'set_dependencies' }, 'TEAM_INVALID_ARGUMENT'],
    ['a blocker twice', lead, { taskId: 'task-3', expectedRevision: 1, action: 'set_dependencies', blockedBy: ['task-2', 'task-2'] }, 'TEAM_INVALID_ARGUMENT'],
    ['an unknown blocker', lead, { taskId: 'task-3', expectedRevision: 1, action: 'set_dependencies', blockedBy: ['task-8'] }, 'TEAM_TASK_NOT_FOUND'],
    ['a deleted blocker', lead, { taskId: 'task-3', expectedRevision: 1, action: 'set_dependencies', blockedBy: ['task-1'] }, 'TEAM_TASK_DELETED'],
    ['itself', lead, { taskId: 'task-3', expectedRevision: 1, action: 'set_dependencies', blockedBy: ['task-3'] }, 'TEAM_TASK_DEPENDENCY_CYCLE'],
    ['a circle', ada, { taskId: 'task-2', expectedRevision: 1, action: 'set_dependencies', blockedBy: ['task-3'] }, 'TEAM_TASK_DEPENDENCY_CYCLE'],
    ['an empty subject', lead, { taskId: 'task-3', expectedRevision: 1, action: 'edit', subject: ' ' }, 'TEAM_INVALID_ARGUMENT'],
    ['a long subject', lead, { taskId: 'task-3', expectedRevision: 1, action: 'edit', subject: 'x'.repeat(201) }, 'TEAM_INVALID_ARGUMENT'],
    ['a long description', lead, { taskId: 'task-3', expectedRevision: 1, action: 'edit', description: 'x'.repeat(16_385) }, 'TEAM_INVALID_ARGUMENT'],
    ['a scope that leads out', lead, { taskId: 'task-3', expectedRevision: 1, action: 'edit', writeScopes: ['../x'] }, 'TEAM_INVALID_WRITE_SCOPE'],
  ]
  it.each(rows)('%s', (_what, actor, change, code) => expect(codeOf(() => changedTask(board, actor, change))).toBe(code))
})

describe('8.2 dependencies', () => {
  it('a task is ready once every blocker is completed, and a new blocker does not send an active one back', () => {
    const wait = task('task-3', { blockedBy: ['task-1', 'task-2'] })
    const states: readonly [TeamTaskStatus, TeamTaskStatus, boolean][] = [['pending', 'completed', false], ['in_progress', 'completed', false], ['completed', 'completed', true], ['deleted', 'completed', false]]
    for (const [one, two, isIt] of states) expect(isReady(boardOf(task('task-1', { status: one }), task('task-2', { status: two }), wait), wait)).toBe(isIt)
    const active = task('task-2', { status: 'in_progress', ownerId: 'ada' })
    expect(changedTask(boardOf(task('task-1'), active), ada, { taskId: 'task-2', expectedRevision: 1, action: 'set_dependencies', blockedBy: ['task-1'] })).toMatchObject({ status: 'in_progress', ownerId: 'ada', blockedBy: ['task-1'] })
  })
  it('ids go on counting over what was deleted', () =>
    expect(createdTask(boardOf(task('task-1', { status: 'deleted' }), task('task-2')), { subject: ' Next ', description: 'd', writeScopes: ['./src/', 'src'] })).toEqual({
      id: 'task-3', revision: 1, subject: 'Next', description: 'd', status: 'pending', blockedBy: [], writeScopes: ['src'],
    }))
  it('256 tasks that are not deleted are the most', () => {
    const full = boardOf(...Array.from({ length: 256 }, (_, index) => task(`task-${index + 1}`)))
    const one = { subject: 'x', description: '' }
    expect(codeOf(() => createdTask(full, one))).toBe('TEAM_TASK_LIMIT')
    expect(createdTask(full.set('task-1', task('task-1', { status: 'deleted' })), one).id).toBe('task-257')
  })
})

describe('8.2 write scopes', () => {
  const good: readonly [given: string, kept: string][] = [['src', 'src'], ['./src/', 'src'], ['././a', 'a'], ['src\\parser\\', 'src/parser'], [' a b ', 'a b'], ['.github', '.github']]
  it.each(good)('%j is kept as %j', (given, kept) => expect(normalisedScopes([given])).toEqual([kept]))
  it.each(['', '/', '/etc', 'C:\\a', 'c:a', '.', '..', './', '../a', 'a/../b', 'a//b', 'a/./b', '\\a', 'x'.repeat(1_025)])('%j is refused', (given) =>
    expect(codeOf(() => normalisedScopes([given]))).toBe('TEAM_INVALID_WRITE_SCOPE'))
  it('more than 64 are refused', () => expect(codeOf(() => normalisedScopes(Array.from({ length: 65 }, (_, index) => `d${index}`)))).toBe('TEAM_INVALID_WRITE_SCOPE'))
  it.each([['src', 'src', true], ['src', 'src/a', true], ['src/a', 'src', true], ['src', 'src2', false], ['a/b', 'a/c', false]] as const)('%s and %s overlap: %s', (one, other, isIt) => expect(scopesOverlap(one, other)).toBe(isIt))
  it('warn of tasks in progress alone', () => {
    const mine = task('task-1', { writeScopes: ['src/a', 'docs'] })
    const board = boardOf(mine, task('task-2', { status: 'in_progress', ownerId: 'ada', writeScopes: ['src'] }), task('task-3', { writeScopes: ['docs'] }))
    expect(scopeWarnings(board, mine)).toEqual(['src/a is also written by task-2'])
  })
})

describe('8 the log of the Lead tells the team, strictly', () => {
  const member = (more: Partial<TeamMember> = {}): TeamMember => ({ id: 'ada', name: 'ada', description: 'd', provider: 'spawn', context: 'fresh', phase: 'provisioning', ...more })
  const failed = member({ phase: 'failed', error: 'no' })
  const mail = { id: 'm1', senderId: 'lead', senderName: 'lead', targetId: 'ada', delivery: 'quiet', content: [{ type: 'text', text: 'hi' }] } as const
  const head = { version: 1, teamId: 'lead' } as const
  const of = (member: unknown) => ['team/member', { ...head, member }] as const
  const to = (one: unknown) => ['team/task', { ...head, task: one }] as const
  const queued = ['team/message/queued', { ...head, message: mail }] as const
  const ledger = (...events: readonly (readonly [type: string, data: unknown])[]) =>
    events.map(([type, data], seq) => ({ seq, type, data }) as unknown as SessionEvent).reduce(teamAfter, emptyTeam('lead'))

  it('members, tasks, and mail until it is delivered', () => {
    const team = ledger(of(member()), of(member({ phase: 'active' })), to(task('task-1')), to(task('task-1', { revision: 2, status: 'in_progress', ownerId: 'ada' })), queued)
    expect([team.failure, [...team.members.values()], team.tasks.get('task-1')?.ownerId, team.mail]).toEqual([null, [member({ phase: 'active' })], 'ada', [mail]])
    expect(teamAfter(team, { seq: 9, type: 'team/message/delivered', data: { ...head, messageId: 'm1', targetId: 'ada' } } as SessionEvent).mail).toEqual([])
  })
  it('records of another team have to be records, and count for nothing', () => {
    const other = { ...head, teamId: 'other' }
    expect(ledger(['team/member', { ...other, member: failed }], ['team/task', { ...other, task: task('task-7') }])).toEqual(emptyTeam('lead'))
    expect(ledger(['team/member', { ...other, member: { id: 'x' } }]).failure?.seq).toBe(0)
  })

  const broken: readonly [what: string, events: readonly (readonly [string, unknown])[]][] = [
    ['another version', [['team/member', { ...head, version: 2, member: member() }]]],
    ['a field nobody knows', [of({ ...member(), role: 'x' })]],
    ['a member that is nothing', [of(null)]],
    ['a member that begins active', [of(member({ phase: 'active' }))]],
    ['a name twice', [of(member()), of(member({ id: 'bob' }))]],
    ['a terminal member that changes', [of(member()), of(failed), of(member({ phase: 'active' }))]],
    ['a member that becomes another', [of(member()), of(member({ name: 'eve', phase: 'active' }))]],
    ['a failure without its error', [of(member()), of(member({ phase: 'failed' }))]],
    ['a task out of order', [to(task('task-2'))]],
    ['a task that begins at another revision', [to(task('task-1', { revision: 2 }))]],
    ['a revision left out', [to(task('task-1')), to(task('task-1', { revision: 3 }))]],
    ['a deleted task that changes', [to(task('task-1')), to(task('task-1', { revision: 2, status: 'deleted' })), to(task('task-1', { revision: 3 }))]],
    ['work of nobody', [to(task('task-1')), to(task('task-1', { revision: 2, status: 'in_progress' }))]],
    ['an unknown blocker', [to(task('task-1', { blockedBy: ['task-5'] }))]],
    ['mail twice', [queued, queued]],
    ['mail that nobody queued', [['team/message/delivered', { ...head, messageId: 'm1', targetId: 'ada' }]]],
    ['mail to another', [queued, ['team/message/delivered', { ...head, messageId: 'm1', targetId: 'bob' }]]],
  ]
  it('a long log is told at once as it is told event by event, and what was told before stays as it was', () => {
    const talk = Array.from({ length: 40 }, (_, at) => [
      ['team/message/queued', { ...head, message: { ...mail, id: `m${at + 5}` } }] as const,
      ...(at % 3 === 0 ? [['team/message/delivered', { ...head, messageId: `m${at + 5}`, targetId: 'ada' }] as const] : []),
    ]).flat()
    const before = ledger(of(member()), to(task('task-1')), queued)
    const kept = structuredClone(before)
    const events = [...talk, to(task('task-1', { revision: 2 }))].map(([type, data], at) => ({ seq: at + 3, type, data }) as unknown as SessionEvent)
    expect(foldTeam(before, events)).toEqual(events.reduce(teamAfter, before))
    expect(foldTeam(before, events).mail.length).toBe(27)
    expect(before).toEqual(kept)
    expect(foldTeam(before, [{ seq: 9, type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } } as unknown as SessionEvent])).toBe(before)
  })
  it('what a session received long ago is not kept for good', () => {
    const messages = Array.from({ length: 3_000 }, (_, at) => ({ seq: at, type: 'user/message', data: { source: { kind: 'team-message', teamId: 'lead', messageId: `m${at}` } } }) as unknown as SessionEvent)
    const { mail: kept } = messages.reduce(receivedProjection.step, receivedProjection.start())
    expect([kept.length, kept.at(-1)]).toEqual([1_000, 'm2999'])
  })

  it.each(broken)('%s is a corrupt log, for good', (_what, events) => {
    const team = ledger(...events, to(task('task-1')))
    expect(team.failure?.seq).toBe(events.length - 1)
    expect(codeOf(() => soundTeam(team))).toBe('TEAM_CORRUPT_LOG')
  })
})
