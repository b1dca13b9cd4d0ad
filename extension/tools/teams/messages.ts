import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Teams } from '../../features/teams/service.ts'
import { callerOf } from '../agents/agent-error.ts'
import { compact } from './compact.ts'

const messageTool = (teams: Pick<Teams, 'send' | 'limits'>, { name, delivery, description, title, doneTitle }: { readonly name: string; readonly delivery: 'quiet' | 'waking'; readonly description: string; readonly title: string; readonly doneTitle: string }): ToolDefinition =>
  defineTool({
    name,
    description,
    parameters: { target: { type: 'string', required: true, description: 'Name of a member, or lead.' }, message: { type: 'string', required: true } },
    output: {
      schema: { type: 'object', properties: { messageId: { type: 'string', required: true }, status: { type: 'string', enum: ['accepted', 'queued'], required: true } }, additionalProperties: false },
      render: compact,
      presentationMeta: (_args, { status }) => ({ status }),
    },
    limits: [
      { of: 'one message with its frame', max: teams.limits.maxMessageBytes, unit: 'bytes' },
      { of: 'messages that wait for one member', max: teams.limits.maxPendingMessagesPerMember, unit: 'items' },
    ],
    execute: ({ target, message }, exec) => teams.send(callerOf(exec.agent, name), { target, message, delivery, signal: exec.signal }),
    presentCall: ({ target, message }) => ({ card: 'generic', title: `${title} ${target}`, doneTitle: `${doneTitle} ${target}`, kind: 'other', content: [{ type: 'text', text: message }] }),
  })

/** `send_message` of a member: quiet. Source: agent tools specification 8.1. */
export const createTeamSendMessage = (teams: Pick<Teams, 'send' | 'limits'>): ToolDefinition =>
  messageTool(teams, { name: 'send_message', delivery: 'quiet', description: 'Tell a member something without waking it. accepted and queued both mean that it is kept: never send it again.', title: 'Message to', doneTitle: 'Sent a message to' })

/** `followup_task`: wakes. Source: agent tools specification 8.1. */
export const createFollowupTask = (teams: Pick<Teams, 'send' | 'limits'>): ToolDefinition =>
  messageTool(teams, { name: 'followup_task', delivery: 'waking', description: 'Give a member its next turn, waking it where it sleeps. accepted and queued both mean that it is kept: never send it again.', title: 'Next task for', doneTitle: 'Gave the next task to' })
