import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Teams } from '../../features/teams/service.ts'
import { callerOf } from '../agents/agent-error.ts'
import { compact } from './compact.ts'

/** `list_agents` of a member: the roster, Lead first. Source: agent tools specification 8.1. */
export const createTeamListAgents = (teams: Pick<Teams, 'roster'>): ToolDefinition =>
  defineTool({
    name: 'list_agents',
    description: 'List the members of the team with their status. inactive: stored, woken by followup_task.',
    parameters: {},
    output: {
      schema: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: { type: 'string', required: true },
            name: { type: 'string', required: true },
            role: { type: 'string', enum: ['lead', 'teammate'], required: true },
            status: { type: 'string', enum: ['running', 'idle', 'inactive', 'provisioning', 'failed'], required: true },
            description: { type: 'string' },
            provider: { type: 'string' },
            context: { type: 'string', enum: ['fresh', 'fork'] },
            model: { type: 'string' },
            diagnostics: { type: 'array', items: { type: 'string' }, required: true },
          },
          additionalProperties: false,
        },
      },
      render: compact,
    },
    execute: (_args, exec) => teams.roster(callerOf(exec.agent, 'list_agents')).map((row) => ({ ...row, diagnostics: [...row.diagnostics] })),
    presentCall: () => ({ card: 'generic', title: 'List the team', doneTitle: 'Listed the team', kind: 'read' }),
  })
