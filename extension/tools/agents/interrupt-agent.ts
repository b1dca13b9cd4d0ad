import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Subagents } from '../../features/subagents/service.ts'
import { callerOf } from './agent-error.ts'

/** `interrupt_agent`: end the turn of an agent below the caller; it stays, with what waits for it. Source: agent tools specification 6.6. */
export const createInterruptAgent = (subagents: Pick<Subagents, 'interrupt'>): ToolDefinition =>
  defineTool({
    name: 'interrupt_agent',
    description: 'End the current turn of an agent below you. It stays: what waits for it is kept until your next message.',
    parameters: { agent_id: { type: 'string', required: true } },
    output: {
      schema: { type: 'object', properties: { accepted: { type: 'boolean', const: true, required: true } }, additionalProperties: false },
      render: ({ agent_id }) => [{ type: 'text', text: `Agent ${agent_id} is told to stop its turn.` }],
    },
    execute({ agent_id: childId }, exec) {
      subagents.interrupt({ from: callerOf(exec.agent, 'interrupt_agent'), childId })
      return { accepted: true as const }
    },
    presentCall: ({ agent_id }) => ({ card: 'generic', title: `Interrupt agent ${agent_id}`, doneTitle: `Interrupted agent ${agent_id}`, kind: 'other' }),
  })
