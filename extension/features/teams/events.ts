import type { TextBlock } from '../../core/log/message.ts'

export type MemberPhase = 'provisioning' | 'active' | 'failed'

/** A teammate. `id` is the session of the child. Source: agent tools specification 8. */
export type TeamMember = {
  readonly id: string
  /** Lower kebab-case, never `lead`; never used again, a failed one's neither. */
  readonly name: string
  readonly description: string
  readonly provider: string
  readonly context: 'fresh' | 'fork'
  readonly phase: MemberPhase
  /** Exactly while it failed. */
  readonly error?: string
}

export type TeamTaskStatus = 'pending' | 'in_progress' | 'completed' | 'deleted'

/** A task of the board. `revision` grows by one with every change. */
export type TeamTask = {
  /** `task-N`; never used again. */
  readonly id: string
  readonly revision: number
  readonly subject: string
  readonly description: string
  readonly status: TeamTaskStatus
  /** Id of a member, or of the Lead's session. */
  readonly ownerId?: string
  readonly blockedBy: readonly string[]
  /** Relative paths with `/`, without `.`, `..` and empty steps. */
  readonly writeScopes: readonly string[]
}

/** `quiet` is put before a live target without waking it; `waking` begins a turn. */
export type MailDelivery = 'quiet' | 'waking'

export type TeamMail = {
  readonly id: string
  readonly senderId: string
  readonly senderName: string
  readonly targetId: string
  readonly delivery: MailDelivery
  /** The first block names message and sender. */
  readonly content: readonly TextBlock[]
}

declare module '../../core/log/event.ts' {
  interface EventMap {
    /** In the log of the Lead alone, as the three below. Records of another team, which a fork brings along, are read and count for nothing. */
    'team/member': { readonly version: 1; readonly teamId: string; readonly member: TeamMember }
    'team/task': { readonly version: 1; readonly teamId: string; readonly task: TeamTask }
    'team/message/queued': { readonly version: 1; readonly teamId: string; readonly message: TeamMail }
    'team/message/delivered': { readonly version: 1; readonly teamId: string; readonly messageId: string; readonly targetId: string }
  }
}

declare module '../../core/log/message.ts' {
  interface UserSources {
    /** Mail between members of a team. */
    'team-message': { readonly teamId: string; readonly messageId: string; readonly senderId: string; readonly senderName: string }
  }
}
