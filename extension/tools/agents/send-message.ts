import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Subagents } from '../../features/subagents/service.ts'
import { callerOf } from './agent-error.ts'

/** `send_message`: a task or word for an agent the caller started. Source: agent tools specification 6.5; `mode` is ours, 12.11. */
export const createSendMessage = (subagents: Pick<Subagents, 'send' | 'limits'>, newId: () => string): ToolDefinition =>
  defineTool({
    name: 'send_message',
    description: 'Send an agent you started its next task. It is woken, also from storage.',
    parameters: {
      subagent_id: { type: 'string', required: true },
      message: { type: 'string', required: true },
      mode: { type: 'string', enum: ['next_turn', 'now'], description: 'next_turn (default): a turn of its own, after what waits. now: with its next step, to steer what it does.' },
    },
    output: {
      schema: { type: 'object', properties: { messageId: { type: 'string', required: true } }, additionalProperties: false },
      render: ({ subagent_id, mode }) => [{ type: 'text', text: mode === 'now' ? `${subagent_id} hears it with its next step.` : `Queued as the next turn of ${subagent_id}.` }],
    },
    limits: [{ of: 'message', max: subagents.limits.messageBytes, unit: 'bytes' }],
    async execute({ subagent_id: childId, message: text, mode = 'next_turn' }, exec) {
      const from = callerOf(exec.agent, 'send_message')
      const id = newId()
      await subagents.send({
        from,
        childId,
        message: { id, role: 'user', content: [{ type: 'text', text }], source: { kind: 'coordinator', form: 'relay', senderSessionId: from.id } },
        mode: mode === 'now' ? 'now' : 'next-turn',
        signal: exec.signal,
      })
      return { messageId: id }
    },
    presentCall: ({ subagent_id, message }) => ({ card: 'generic', title: `Message to agent ${subagent_id}`, doneTitle: `Sent a message to agent ${subagent_id}`, kind: 'other', rawInput: message }),
  })
