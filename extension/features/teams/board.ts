import { TeamError } from './error.ts'
import type { TeamTask, TeamTaskStatus } from './events.ts'
import { normalisedScopes, scopesOverlap } from './write-scopes.ts'

export const taskLimits = { maxTasks: 256, subjectChars: 200, descriptionChars: 16_384 } as const

export type TaskAction = 'claim' | 'release' | 'edit' | 'set_dependencies' | 'complete' | 'reopen' | 'reassign' | 'delete'

/** Who asks for a change of the board. */
export interface Actor {
  readonly id: string
  readonly isLead: boolean
}

export interface TaskChange {
  readonly taskId: string
  readonly expectedRevision: number
  readonly action: TaskAction
  readonly subject?: string
  readonly description?: string
  readonly blockedBy?: readonly string[]
  readonly writeScopes?: readonly string[]
  /** Of a reassignment: id of the new owner; absent takes it from whoever has it. */
  readonly ownerId?: string
}

interface Move {
  readonly who: 'any member' | 'owner or Lead' | 'Lead'
  readonly from: readonly Exclude<TeamTaskStatus, 'deleted'>[]
  readonly to: TeamTaskStatus | 'as it was' | 'by owner'
}

const every = ['pending', 'in_progress', 'completed'] as const

/** The moves of a task. Source: agent tools specification 8.2. */
export const taskMoves: Readonly<Record<TaskAction, Move>> = {
  claim: { who: 'any member', from: ['pending'], to: 'in_progress' },
  release: { who: 'owner or Lead', from: ['in_progress'], to: 'pending' },
  edit: { who: 'owner or Lead', from: every, to: 'as it was' },
  set_dependencies: { who: 'owner or Lead', from: every, to: 'as it was' },
  complete: { who: 'owner or Lead', from: ['in_progress'], to: 'completed' },
  reopen: { who: 'owner or Lead', from: ['completed'], to: 'pending' },
  reassign: { who: 'Lead', from: ['pending', 'in_progress'], to: 'by owner' },
  delete: { who: 'owner or Lead', from: every, to: 'deleted' },
}

export type Tasks = ReadonlyMap<string, TeamTask>

/** The first record of a task. Errors: `TeamError` for each bad argument; nothing is kept then. */
export function createdTask(tasks: Tasks, wanted: { readonly subject: string; readonly description: string; readonly blockedBy?: readonly string[]; readonly writeScopes?: readonly string[] }): TeamTask {
  const alive = [...tasks.values()].filter(({ status }) => status !== 'deleted').length
  if (alive >= taskLimits.maxTasks) throw new TeamError('TEAM_TASK_LIMIT', `The board has ${alive} tasks, and no more than ${taskLimits.maxTasks} fit. Complete or delete some first.`)
  const id = `task-${tasks.size + 1}`
  const blockedBy = checkedBlockers(tasks, id, wanted.blockedBy ?? [])
  return { id, revision: 1, ...checkedWords(wanted), status: 'pending', blockedBy, writeScopes: normalisedScopes(wanted.writeScopes ?? []) }
}

/**
 * The next record of a task.
 *
 * Errors: `TeamError`, looked for in this order: not found, stale revision, deleted, authority, transition, dependencies.
 */
export function changedTask(tasks: Tasks, actor: Actor, change: TaskChange): TeamTask {
  const task = tasks.get(change.taskId)
  if (task === undefined) throw new TeamError('TEAM_TASK_NOT_FOUND', `There is no task ${change.taskId}. List the board and use an id from there.`)
  if (task.revision !== change.expectedRevision) throw new TeamError('TEAM_TASK_STALE_REVISION', `${task.id} is at revision ${task.revision}, not ${change.expectedRevision}: somebody changed it. Read it again and decide anew.`)
  if (task.status === 'deleted') throw new TeamError('TEAM_TASK_DELETED', `${task.id} was deleted. Create another task instead.`)
  checkAuthority(task, actor, change.action)
  checkTransition(tasks, task, actor, change)
  const next = { ...task, revision: task.revision + 1 }
  const { ownerId: _, ...unowned } = next
  switch (change.action) {
    case 'claim':
      return { ...next, status: 'in_progress', ownerId: actor.id }
    case 'release':
    case 'reopen':
      return { ...unowned, status: 'pending' }
    case 'complete':
      return { ...next, status: 'completed' }
    case 'delete':
      return { ...next, status: 'deleted' }
    case 'set_dependencies':
      if (change.blockedBy === undefined) throw new TeamError('TEAM_INVALID_ARGUMENT', 'set_dependencies needs blocked_by, the whole new list; an empty one takes all away.')
      return { ...next, blockedBy: checkedBlockers(tasks, task.id, change.blockedBy) }
    case 'edit':
      return edited(next, change)
    case 'reassign':
      return change.ownerId === undefined ? { ...unowned, status: 'pending' } : { ...next, status: 'in_progress', ownerId: change.ownerId }
  }
}

/** Every blocker of it is completed. */
const isUnblocked = (tasks: Tasks, { blockedBy }: TeamTask): boolean => blockedBy.every((id) => tasks.get(id)?.status === 'completed')

/** A member may begin it now. */
export const isReady = (tasks: Tasks, task: TeamTask): boolean => task.status === 'pending' && isUnblocked(tasks, task)

/** Scopes of a task that tasks in progress claim too, each with the other task. */
export function scopeWarnings(tasks: Tasks, task: TeamTask): readonly string[] {
  return [...tasks.values()].flatMap((other) =>
    other.id === task.id || other.status !== 'in_progress'
      ? []
      : task.writeScopes.filter((scope) => other.writeScopes.some((its) => scopesOverlap(scope, its))).map((scope) => `${scope} is also written by ${other.id}`),
  )
}

function checkAuthority(task: TeamTask, actor: Actor, action: TaskAction): void {
  const { who } = taskMoves[action]
  if (who === 'any member' || actor.isLead || (who === 'owner or Lead' && task.ownerId === actor.id)) return
  const whose = who === 'Lead' ? 'the Lead' : task.ownerId === undefined ? 'the Lead, as nobody owns it' : 'its owner and the Lead'
  throw new TeamError('TEAM_TASK_UNAUTHORIZED', `Only ${whose} may ${wordOf[action]} ${task.id}. Ask by a message.`)
}

function checkTransition(tasks: Tasks, task: TeamTask, actor: Actor, { action, ownerId }: TaskChange): void {
  if (action === 'claim') {
    if (task.ownerId !== undefined && task.ownerId !== actor.id) throw new TeamError('TEAM_TASK_ALREADY_CLAIMED', `${task.id} ${task.status === 'completed' ? 'was done by another member' : 'has an owner'}. Take another ready task, or ask its owner.`)
    if (!isReady(tasks, task)) throw new TeamError('TEAM_TASK_BLOCKED', `${task.id} cannot be claimed: ${whyNotReady(tasks, task)}. List the tasks that are ready.`)
  }
  // The status of a live task is one of the three that the table names.
  if (!(taskMoves[action].from as readonly TeamTaskStatus[]).includes(task.status))
    throw new TeamError('TEAM_TASK_INVALID_TRANSITION', `${task.id} is ${task.status}, and can be ${pastOf[action]} only while it is ${taskMoves[action].from.join(' or ')}.`)
  if (action === 'reassign' && ownerId !== undefined && !isUnblocked(tasks, task)) throw new TeamError('TEAM_TASK_BLOCKED', `${task.id} cannot be given to anybody yet: ${whyNotReady(tasks, task)}.`)
  if (action !== 'delete') return
  const dependents = [...tasks.values()].filter(({ status, blockedBy }) => status !== 'deleted' && blockedBy.includes(task.id))
  if (dependents.length > 0) throw new TeamError('TEAM_TASK_HAS_DEPENDENTS', `${dependents.map(({ id }) => id).join(', ')} waits for ${task.id}. Change those dependencies first.`)
}

function whyNotReady(tasks: Tasks, task: TeamTask): string {
  if (task.status !== 'pending') return `it is ${task.status}`
  return `it waits for ${task.blockedBy.filter((id) => tasks.get(id)?.status !== 'completed').join(', ')}`
}

function edited(next: TeamTask, { subject, description, writeScopes }: TaskChange): TeamTask {
  if (subject === undefined && description === undefined && writeScopes === undefined) throw new TeamError('TEAM_INVALID_ARGUMENT', 'An edit needs a new subject, description or write_scopes.')
  const words = checkedWords({ subject: subject ?? next.subject, description: description ?? next.description })
  return { ...next, ...words, ...(writeScopes !== undefined && { writeScopes: normalisedScopes(writeScopes) }) }
}

function checkedWords({ subject, description }: { readonly subject: string; readonly description: string }): { readonly subject: string; readonly description: string } {
  const short = subject.trim()
  if (short === '') throw new TeamError('TEAM_INVALID_ARGUMENT', 'The subject of a task cannot be empty.')
  if (short.length > taskLimits.subjectChars) throw new TeamError('TEAM_INVALID_ARGUMENT', `The subject has ${short.length} characters; ${taskLimits.subjectChars} is the most. Put the rest into the description.`)
  if (description.length > taskLimits.descriptionChars) throw new TeamError('TEAM_INVALID_ARGUMENT', `The description has ${description.length} characters; ${taskLimits.descriptionChars} is the most. Put it into a file and name the file.`)
  return { subject: short, description }
}

/** Errors: `TEAM_INVALID_ARGUMENT` for one named twice, `TEAM_TASK_NOT_FOUND`, `TEAM_TASK_DELETED`, `TEAM_TASK_DEPENDENCY_CYCLE` (itself, too). */
function checkedBlockers(tasks: Tasks, id: string, blockers: readonly string[]): readonly string[] {
  const twice = blockers.find((blocker, index) => blockers.indexOf(blocker) !== index)
  if (twice !== undefined) throw new TeamError('TEAM_INVALID_ARGUMENT', `blocked_by names ${twice} twice.`)
  for (const blocker of blockers) {
    if (blocker === id) throw new TeamError('TEAM_TASK_DEPENDENCY_CYCLE', `${id} cannot wait for itself.`)
    const task = tasks.get(blocker)
    if (task === undefined) throw new TeamError('TEAM_TASK_NOT_FOUND', `blocked_by names ${blocker}, which is not on the board.`)
    if (task.status === 'deleted') throw new TeamError('TEAM_TASK_DELETED', `blocked_by names ${blocker}, which was deleted.`)
    if (waitsFor(tasks, blocker, id)) throw new TeamError('TEAM_TASK_DEPENDENCY_CYCLE', `${blocker} waits for ${id} already, so ${id} cannot wait for it.`)
  }
  return [...blockers]
}

function waitsFor(tasks: Tasks, start: string, target: string): boolean {
  const seen = new Set<string>()
  const open = [start]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === target) return true
    if (seen.has(id)) continue
    seen.add(id)
    open.push(...(tasks.get(id)?.blockedBy ?? []))
  }
  return false
}

const wordOf: Readonly<Record<TaskAction, string>> = { claim: 'claim', release: 'release', edit: 'edit', set_dependencies: 'change what blocks', complete: 'complete', reopen: 'reopen', reassign: 'reassign', delete: 'delete' }
const pastOf: Readonly<Record<TaskAction, string>> = { claim: 'claimed', release: 'released', edit: 'edited', set_dependencies: 'changed', complete: 'completed', reopen: 'reopened', reassign: 'reassigned', delete: 'deleted' }
