import * as z from 'zod'
import type { SessionEvent } from '../../core/log/event.ts'
import { TeamError } from './error.ts'
import type { TeamMail, TeamMember, TeamTask } from './events.ts'

/**
 * A team as the log of its Lead tells of it, strictly: what contradicts itself stays a failure for good.
 *
 * Shape:  members and tasks by id, in order of creation; `mail`: what was queued and not delivered yet, oldest first.
 * Source: agent tools specification 8, "Durable events" and "Restart".
 */
export interface TeamLedger {
  readonly teamId: string
  readonly failure: { readonly seq: number; readonly problem: string } | null
  readonly members: ReadonlyMap<string, TeamMember>
  readonly tasks: ReadonlyMap<string, TeamTask>
  readonly mail: readonly TeamMail[]
  /** Ids of all mail there ever was. */
  readonly mailIds: ReadonlySet<string>
}

export const emptyTeam = (teamId: string): TeamLedger => ({ teamId, failure: null, members: new Map(), tasks: new Map(), mail: [], mailIds: new Set() })

/** The team after one event of the Lead's log; the same object where the event is none of its. */
export function teamAfter(team: TeamLedger, event: SessionEvent): TeamLedger {
  if (team.failure !== null) return team
  switch (event.type) {
    case 'team/member':
      return recorded(team, event, ({ member }) => withMember(team, member))
    case 'team/task':
      return recorded(team, event, ({ task }) => withTask(team, task))
    case 'team/message/queued':
      return recorded(team, event, ({ message }) => withMail(team, message))
    case 'team/message/delivered':
      return recorded(team, event, ({ messageId, targetId }) => withoutMail(team, messageId, targetId))
    default:
      return team
  }
}

/** Errors: `TeamError` `TEAM_CORRUPT_LOG`. */
export function soundTeam(team: TeamLedger): TeamLedger {
  if (team.failure === null) return team
  throw new TeamError('TEAM_CORRUPT_LOG', `What the log says of the team contradicts itself at event ${team.failure.seq}: ${team.failure.problem}. Start a new session for the rest of the work.`)
}

type TeamEvent = SessionEvent<'team/member' | 'team/task' | 'team/message/queued' | 'team/message/delivered'>

const member = z.strictObject({
  id: z.string().min(1), name: z.string().min(1), description: z.string(), provider: z.string(), context: z.enum(['fresh', 'fork']), phase: z.enum(['provisioning', 'active', 'failed']), error: z.string().exactOptional(),
})
const task = z.strictObject({
  id: z.string(), revision: z.int().min(1), subject: z.string(), description: z.string(), status: z.enum(['pending', 'in_progress', 'completed', 'deleted']), ownerId: z.string().exactOptional(), blockedBy: z.array(z.string()), writeScopes: z.array(z.string()),
})
const message = z.strictObject({
  id: z.string().min(1), senderId: z.string(), senderName: z.string(), targetId: z.string(), delivery: z.enum(['quiet', 'waking']), content: z.array(z.strictObject({ type: z.literal('text'), text: z.string() })),
})
const head = { version: z.literal(1), teamId: z.string() }
const records: Readonly<Record<TeamEvent['type'], z.ZodType>> = {
  'team/member': z.strictObject({ ...head, member }),
  'team/task': z.strictObject({ ...head, task }),
  'team/message/queued': z.strictObject({ ...head, message }),
  'team/message/delivered': z.strictObject({ ...head, messageId: z.string(), targetId: z.string() }),
}

/** Records of another team came along in a fork: they have to be records, and count for nothing. */
function recorded<Event extends TeamEvent>(team: TeamLedger, { seq, type, data }: Event, step: (data: Event['data']) => TeamLedger | string): TeamLedger {
  if (data.version !== 1) return { ...team, failure: { seq, problem: `version ${String(data.version)} of a record is not known` } }
  const parsed = records[type].safeParse(data)
  if (!parsed.success) return { ...team, failure: { seq, problem: z.prettifyError(parsed.error).replaceAll('\n', ' ') } }
  if (data.teamId !== team.teamId) return team
  const next = step(data)
  return typeof next === 'string' ? { ...team, failure: { seq, problem: next } } : next
}

function withMember(team: TeamLedger, member: TeamMember): TeamLedger | string {
  const before = team.members.get(member.id)
  if ((member.phase === 'failed') !== (member.error !== undefined)) return `${member.name} is ${member.phase}, with ${member.error === undefined ? 'no' : 'an'} error`
  if (before === undefined) {
    if (member.phase !== 'provisioning') return `${member.name} begins as ${member.phase}`
    if ([...team.members.values()].some(({ name }) => name === member.name)) return `the name ${member.name} is used twice`
  } else {
    if (before.phase !== 'provisioning') return `${member.name} is ${before.phase} and changes once more`
    if (member.phase === 'provisioning') return `${member.name} is set up twice`
    if (before.name !== member.name || before.provider !== member.provider || before.context !== member.context) return `${before.name} became another member`
  }
  return { ...team, members: new Map(team.members).set(member.id, member) }
}

function withTask(team: TeamLedger, task: TeamTask): TeamLedger | string {
  const before = team.tasks.get(task.id)
  if (before === undefined) {
    if (task.id !== `task-${team.tasks.size + 1}`) return `${task.id} does not follow ${team.tasks.size} tasks`
    if (task.revision !== 1 || task.status !== 'pending' || task.ownerId !== undefined) return `${task.id} does not begin pending, unowned, at revision 1`
  } else {
    if (before.status === 'deleted') return `${task.id} was deleted and changes`
    if (task.revision !== before.revision + 1) return `revision ${task.revision} of ${task.id} does not follow ${before.revision}`
  }
  if (task.status === 'in_progress' && task.ownerId === undefined) return `${task.id} is in progress and nobody’s`
  const unknown = task.blockedBy.find((id) => !team.tasks.has(id) || id === task.id)
  if (unknown !== undefined) return `${task.id} waits for ${unknown}`
  return { ...team, tasks: new Map(team.tasks).set(task.id, task) }
}

function withMail(team: TeamLedger, message: TeamMail): TeamLedger | string {
  if (team.mailIds.has(message.id)) return `message ${message.id} is queued twice`
  return { ...team, mail: [...team.mail, message], mailIds: new Set(team.mailIds).add(message.id) }
}

function withoutMail(team: TeamLedger, messageId: string, targetId: string): TeamLedger | string {
  const found = team.mail.find(({ id }) => id === messageId)
  if (found === undefined) return `message ${messageId} is delivered and does not wait`
  if (found.targetId !== targetId) return `message ${messageId} went to ${targetId} in the place of ${found.targetId}`
  return { ...team, mail: team.mail.filter((one) => one !== found) }
}
