import type { Undo } from '../../base/undo.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Session } from '../../core/session/session.ts'
import type { TaskChange } from './board.ts'
import type { MailDelivery, TeamMember, TeamTaskStatus } from './events.ts'

/** What an agent of the team composition is. A helper is one that a member started: it has no say in the team. */
export type TeamRole =
  | { readonly kind: 'lead'; readonly teamId: string; readonly name: 'lead' }
  | { readonly kind: 'teammate'; readonly teamId: string; readonly name: string }
  | { readonly kind: 'helper'; readonly teamId: string }

/** `inactive`: it is stored, and a followup wakes it. */
export type MemberStatus = 'running' | 'idle' | 'inactive' | 'provisioning' | 'failed'

export interface RosterRow {
  readonly id: string
  readonly name: string
  readonly role: 'lead' | 'teammate'
  readonly status: MemberStatus
  readonly description?: string
  readonly provider?: string
  readonly context?: TeamMember['context']
  /** While it is live. */
  readonly model?: string
  readonly diagnostics: readonly string[]
}

/** A task as members see it. */
export interface TaskView {
  readonly id: string
  readonly revision: number
  readonly subject: string
  readonly description: string
  readonly status: TeamTaskStatus
  readonly ownerName?: string
  readonly blockedBy: readonly string[]
  readonly writeScopes: readonly string[]
  /** Pending, and every blocker is completed. */
  readonly ready: boolean
  readonly writeScopeWarnings: readonly string[]
}

export interface NewTask {
  readonly subject: string
  readonly description: string
  readonly blockedBy?: readonly string[]
  readonly writeScopes?: readonly string[]
}

export interface TaskUpdate extends Omit<TaskChange, 'ownerId'> {
  /** Of a reassignment: a name; blank or absent takes it from whoever has it. */
  readonly owner?: string
}

export interface TaskFilter {
  readonly status?: Exclude<TeamTaskStatus, 'deleted'>
  /** A name, or `unowned`. */
  readonly owner?: string
  readonly ready?: boolean
  /** Tasks to pass over. */
  readonly cursor?: number
  /** 1 to 100. */
  readonly limit?: number
}

export interface TeammateRequest {
  readonly name: string
  readonly description: string
  readonly prompt: string
  readonly context: TeamMember['context']
  readonly isolation?: 'worktree'
  readonly callId?: string
  /** Before anything is recorded an abort leaves nothing; later it ends in a failed member. */
  readonly signal: AbortSignal
}

export interface MailRequest {
  /** A name, or `lead`. */
  readonly target: string
  readonly message: string
  readonly delivery: MailDelivery
  /** The person speaks, in the place of the Lead. */
  readonly isFromPerson?: true
  /** Counts until it is queued. */
  readonly signal: AbortSignal
}

/** A message between members, for people. */
export interface MailView {
  readonly id: string
  /** Epoch ms. */
  readonly at: number
  readonly from: string
  readonly to: string
  readonly delivery: MailDelivery
  readonly text: string
  readonly isDelivered: boolean
}

/** A whole team, for people. */
export interface TeamOverview {
  readonly teamId: string
  readonly roster: readonly RosterRow[]
  /** Those that are not deleted. */
  readonly tasks: readonly TaskView[]
  /** The newest, oldest first. */
  readonly mail: readonly MailView[]
  /** Why nothing can be done with it any more. */
  readonly problem: string | null
}

/** The write scopes of a task in progress. */
export interface ActiveScopes {
  readonly taskId: string
  readonly ownerId: string
  readonly ownerName: string
  readonly scopes: readonly string[]
}

/** Caps of a team. Source: agent tools specification 8, "Limits". */
export interface TeamLimits {
  /** Every name that ever was counts. */
  readonly maxMembers: number
  readonly maxTasks: number
  readonly maxPendingMessagesPerMember: number
  /** UTF-8 bytes of the framed content as JSON. */
  readonly maxMessageBytes: number
  readonly nameChars: number
  readonly descriptionChars: number
  readonly subjectChars: number
  readonly taskDescriptionChars: number
  readonly minWaitMs: number
  readonly maxWaitMs: number
  readonly pageTasks: number
}

/** Teams of the preset `team`. Errors, everywhere: `TeamError`. Source: agent tools specification 8. */
export interface Teams {
  readonly limits: TeamLimits
  /** Null for an agent whose preset has no teams. */
  roleOf(agent: Agent): TeamRole | null
  spawn(agent: Agent, request: TeammateRequest): Promise<TeamMember>
  roster(agent: Agent): readonly RosterRow[]
  /** Durable once it resolves: `queued` is delivered later. */
  send(agent: Agent, request: MailRequest): Promise<{ readonly messageId: string; readonly status: 'accepted' | 'queued' }>
  /** Ends the current turn of a teammate and keeps all else. */
  interrupt(agent: Agent, target: string): { readonly previousStatus: 'running' | 'idle' | 'inactive' }
  /** Until something of the team changes after this call. */
  wait(agent: Agent, request: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<{ readonly timedOut: boolean; readonly noProgress?: { readonly reason: 'no-active-peer'; readonly message: string } }>
  createTask(agent: Agent, task: NewTask): Promise<TaskView>
  task(agent: Agent, id: string): TaskView
  /** Errors: `RangeError` for a bad cursor or limit. */
  tasks(agent: Agent, filter: TaskFilter): { readonly tasks: readonly TaskView[]; readonly nextCursor?: number }
  updateTask(agent: Agent, change: TaskUpdate): Promise<TaskView>
  /** The person asked for a team, in words of their own. */
  isAskedFor(session: Session): boolean
  /** Null while the session is not live, or has no teams. */
  overview(sessionId: string): TeamOverview | null
  /** What tasks in progress claim, of the team that the agent works for; its own by its id, a helper's by that of the member above. */
  activeScopes(agent: Agent): { readonly memberId: string; readonly active: readonly ActiveScopes[] } | null
  /** Of all teams of this window. */
  allActiveScopes(): readonly (ActiveScopes & { readonly folder: string })[]
  onDidChange(listener: (teamId: string) => void): Undo
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    teams: Teams
  }
}
