import { HarnessError } from '../../base/harness-error.ts'
import type { Agent } from '../../core/session/agent.ts'

/** What the tools themselves refuse; the rest is the service's. */
export class AgentToolError extends HarnessError<'NO_AGENT' | 'NO_JOBS' | 'NO_BACKGROUND' | 'UNSUPPORTED_CAPABILITY'> {}

/** The agent that calls. Errors: `AgentToolError` `NO_AGENT` for a call of nobody. */
export function callerOf(agent: Agent | undefined, tool: string): Agent {
  if (agent === undefined) throw new AgentToolError('NO_AGENT', `${tool} was called outside of a session, so there is no agent it could act for.`)
  return agent
}
