import type { TeamRole } from './service.ts'

/** What a member is told of its team; the same in every request of a session. Source: agent tools specification 8, `team:policy`. */
export function policyText(role: TeamRole | null): string | undefined {
  if (role === null || role.kind === 'helper') return undefined
  const shared = 'All members share one folder and one board of tasks. Claim a ready task before you work on it, with the revision you read; stay inside its write_scopes; complete it when it is done. A stale revision means that somebody was faster: read the task again. Messages are durable, so never send one twice; send_message waits to be read, followup_task wakes.'
  return role.kind === 'lead'
    ? `You are the Lead (name: lead) of the agent team ${role.teamId}. Create teammates only when the person explicitly asks for a team or teammates; otherwise work alone. Put the work on the board with its dependencies, let teammates claim it, and use wait_agent in the place of asking again and again. Nothing wakes a teammate when a task becomes ready: tell it with followup_task.\n${shared}`
    : `You are the teammate ${role.name} of the agent team ${role.teamId}; the Lead is named lead. You cannot create teammates. When you have nothing to do, end your turn; you are woken when you are needed.\n${shared}`
}
