import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Subagents } from '../../features/subagents/service.ts'
import { callerOf } from './agent-error.ts'

/** `report`: words of a child for the agent that started it, while it works. In the layer of that child alone. Source: agent tools specification 6.7. */
export const createReport = (subagents: Pick<Subagents, 'report' | 'facts' | 'limits'>, newId: () => string): ToolDefinition =>
  defineTool({
    name: 'report',
    description: 'Tell the agent that started you something before you are done. Your turn goes on.',
    parameters: { output: { type: 'string', required: true } },
    output: {
      schema: { type: 'object', properties: { messageId: { type: 'string', required: true } }, additionalProperties: false },
      render: (_args, { messageId }) => [{ type: 'text', text: `Delivered as ${messageId}.` }],
    },
    limits: [
      { of: 'one report', max: subagents.limits.messageBytes, unit: 'bytes' },
      { of: 'reports that wait to be read', max: subagents.limits.waitingReports, unit: 'items' },
    ],
    async execute({ output }, exec) {
      const from = callerOf(exec.agent, 'report')
      const id = newId()
      const label = subagents.facts(from.id)?.label ?? ''
      await subagents.report({
        from,
        message: { id, role: 'user', content: [{ type: 'text', text: `Report of your agent ${from.id} (${label}), which works on:\n${output}` }], source: { kind: 'subagent-report', form: 'relay', senderSessionId: from.id } },
      })
      return { messageId: id }
    },
    presentCall: ({ output }) => ({ card: 'generic', title: 'Report to the agent above', doneTitle: 'Reported to the agent above', kind: 'other', content: [{ type: 'text', text: output }] }),
  })
