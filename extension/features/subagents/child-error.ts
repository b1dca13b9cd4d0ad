import { messageOf } from '../../base/message-of.ts'
import { SubagentError } from './service.ts'

export const duplicate = (id: string) => new SubagentError('DUPLICATE_CHILD', `There is an agent with the id ${id} already. Nothing was started; use another id, or speak to it with send_message.`)
export const unavailable = (cause: unknown) =>
  new SubagentError('PERSISTENCE_UNAVAILABLE', `The agent cannot be kept, so nothing was started or delivered: ${messageOf(cause).replace(/\.?$/, '.')} Free the disk, or start an agent that gives one answer.`, { cause })
export const unauthorized = (id: string) => new SubagentError('UNAUTHORIZED', `Agent ${id} is none that you may direct: only the agent that started it may. List yours with list_agents.`)
export const notResumable = (id: string, why: string, cause?: unknown) => new SubagentError('NOT_RESUMABLE', `Agent ${id} takes no messages: ${why.replace(/\.?$/, '.')} Nothing was delivered; start another agent.`, { cause })
