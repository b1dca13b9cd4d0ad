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

/** The ledger while events are folded into it: one copy serves a whole log, so that its cost does not grow with its square. */
interface Draft {
  readonly teamId: string
  failure: TeamLedger['failure']
  readonly members: Map<string, TeamMember>
  readonly tasks: Map<string, TeamTask>
  readonly mail: Map<string, TeamMail>
  readonly mailIds: Set<string>
}

/** The team after one event of the Lead's log; the same object where the event is none of its. */
export const teamAfter = (team: TeamLedger, event: SessionEvent): TeamLedger => foldTeam(team, [event])

/** The team after more events of the Lead's log; the same object where none of them is its. */
export function foldTeam(team: TeamLedger, events: readonly SessionEvent[]): TeamLedger {
  const own = team.failure === null ? events.filter(isOfTeam) : []
  if (own.length === 0) return team
  const draft: Draft = { teamId: team.teamId, failure: null, members: new Map(team.members), tasks: new Map(team.tasks), mail: new Map(team.mail.map((one) => [one.id, one])), mailIds: new Set(team.mailIds) }
  let hasChanged = false
  for (const event of own) {
    hasChanged = step(draft, event) || hasChanged
    // The cursor stays at the first contradiction.
    if (draft.failure !== null) break
  }
  return hasChanged ? { ...draft, mail: [...draft.mail.values()] } : team
}

const isOfTeam = (event: SessionEvent): event is TeamEvent => Object.hasOwn(records, event.type)

/** Whether it says anything of this team. */
function step(team: Draft, event: TeamEvent): boolean {
  switch (event.type) {
    case 'team/member':
      return recorded(team, event, ({ member }) => withMember(team, member))
    case 'team/task':
      return recorded(team, event, ({ task }) => withTask(team, task))
    case 'team/message/queued':
      return recorded(team, event, ({ message }) => withMail(team, message))
    case 'team/message/delivered':
      return recorded(team, event, ({ messageId, targetId }) => withoutMail(team, messageId, targetId))
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

/** Records of another team came along in a fork: they have to be records, and count for nothing. `change` gives what is wrong, or null. */
function recorded<Event extends TeamEvent>(team: Draft, { seq, type, data }: Event, change: (data: Event['data']) => string | null): boolean {
  const fail = (problem: string) => ((team.failure = { seq, problem }), true)
  if (data.version !== 1) return fail(`version ${String(data.version)} of a record is not known`)
  const parsed = records[type].safeParse(data)
  if (!parsed.success) return fail(z.prettifyError(parsed.error).replaceAll('\n', ' '))
  if (data.teamId !== team.teamId) return false
  const problem = change(data)
  return problem === null ? true : fail(problem)
}

function withMember({ members }: Draft, member: TeamMember): string | null {
  const before = members.get(member.id)
  if ((member.phase === 'failed') !== (member.error !== undefined)) return `${member.name} is ${member.phase}, with ${member.error === undefined ? 'no' : 'an'} error`
  if (before === undefined) {
    if (member.phase !== 'provisioning') return `${member.name} begins as ${member.phase}`
    if ([...members.values()].some(({ name }) => name === member.name)) return `the name ${member.name} is used twice`
  } else {
    if (before.phase !== 'provisioning') return `${member.name} is ${before.phase} and changes once more`
    if (member.phase === 'provisioning') return `${member.name} is set up twice`
    if (before.name !== member.name || before.provider !== member.provider || before.context !== member.context) return `${before.name} became another member`
  }
  members.set(member.id, member)
  return null
}

function withTask({ tasks }: Draft, task: TeamTask): string | null {
  const before = tasks.get(task.id)
  if (before === undefined) {
    if (task.id !== `task-${tasks.size + 1}`) return `${task.id} does not follow ${tasks.size} tasks`
    if (task.revision !== 1 || task.status !== 'pending' || task.ownerId !== undefined) return `${task.id} does not begin pending, unowned, at revision 1`
  } else {
    if (before.status === 'deleted') return `${task.id} was deleted and changes`
    if (task.revision !== before.revision + 1) return `revision ${task.revision} of ${task.id} does not follow ${before.revision}`
  }
  if (task.status === 'in_progress' && task.ownerId === undefined) return `${task.id} is in progress and nobody’s`
  const unknown = task.blockedBy.find((id) => !tasks.has(id) || id === task.id)
  if (unknown !== undefined) return `${task.id} waits for ${unknown}`
  tasks.set(task.id, task)
  return null
}

function withMail({ mail, mailIds }: Draft, message: TeamMail): string | null {
  if (mailIds.has(message.id)) return `message ${message.id} is queued twice`
  mail.set(message.id, message)
  mailIds.add(message.id)
  return null
}

function withoutMail({ mail }: Draft, messageId: string, targetId: string): string | null {
  const found = mail.get(messageId)
  if (found === undefined) return `message ${messageId} is delivered and does not wait`
  if (found.targetId !== targetId) return `message ${messageId} went to ${targetId} in the place of ${found.targetId}`
  mail.delete(messageId)
  return null
}
