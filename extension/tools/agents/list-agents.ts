import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Subagents } from '../../features/subagents/service.ts'
import { callerOf } from './agent-error.ts'

const place = { id: { type: 'string', required: true }, parent: { type: 'string' }, depth: { type: 'integer' } } as const

/** `list_agents`: the agents the caller started and may speak to. Source: agent tools specification 6.4. */
export const createListAgents = (subagents: Pick<Subagents, 'catalogue' | 'limits'>): ToolDefinition =>
  defineTool({
    name: 'list_agents',
    description: 'List the agents you started that take messages: at work, at rest, or stored and ready to go on.',
    parameters: { scope: { type: 'string', enum: ['children', 'descendants'], description: 'Default: children.' } },
    output: {
      schema: {
        type: 'array',
        items: {
          oneOf: [
            { type: 'object', properties: { kind: { type: 'string', const: 'child', required: true }, label: { type: 'string', required: true }, status: { type: 'string', enum: ['running', 'idle', 'ready'], required: true }, ...place }, additionalProperties: false },
            { type: 'object', properties: { kind: { type: 'string', const: 'diagnostic', required: true }, reason: { type: 'string', enum: ['corrupt', 'unsupported', 'unavailable'], required: true }, ...place }, additionalProperties: false },
          ],
        },
      },
      render: (_args, agents) => [
        {
          type: 'text',
          text:
            agents.length === 0
              ? 'You have no agents that take messages.'
              : agents
                  .map((agent) => {
                    const where = agent.parent === undefined ? '' : ` (parent ${agent.parent}, depth ${agent.depth})`
                    return agent.kind === 'child' ? `${agent.id} [${agent.status}]${where} - ${agent.label}` : `${agent.id} [${agent.reason}]${where} - cannot be read`
                  })
                  .join('\n'),
        },
      ],
    },
    limits: [{ of: 'stored agents that are read at once', max: subagents.limits.coldReads, unit: 'items' }],
    async execute({ scope = 'children' }, exec) {
      const entries = await subagents.catalogue({ sessionId: callerOf(exec.agent, 'list_agents').id, scope, signal: exec.signal })
      if (scope === 'descendants') return entries
      return entries.map(({ parent: _parent, depth: _depth, ...entry }) => entry)
    },
    presentCall: () => ({ card: 'generic', title: 'List agents', doneTitle: 'Listed agents', kind: 'read' }),
  })
