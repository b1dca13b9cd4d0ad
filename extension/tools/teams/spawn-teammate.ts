import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Teams } from '../../features/teams/service.ts'
import { callerOf } from '../agents/agent-error.ts'
import { compact } from './compact.ts'

/** `spawn_teammate`: a named agent that stays in the team. Source: agent tools specification 8.1. */
export const createSpawnTeammate = (teams: Pick<Teams, 'spawn' | 'limits'>): ToolDefinition =>
  defineTool({
    name: 'spawn_teammate',
    description: 'Create a teammate. Only when the person asks for a team; its name is never used again.',
    parameters: {
      name: { type: 'string', required: true, description: 'Lower-case words with hyphens.' },
      description: { type: 'string', required: true, description: 'What it is for, in one line.' },
      prompt: { type: 'string', required: true, description: 'Its first task, with all it has to know.' },
      context: { type: 'string', enum: ['fresh', 'fork'], description: 'fork: it begins with this talk as it was before the current turn. Default: fresh.' },
      isolation: { type: 'string', enum: ['worktree'], description: 'Its own git worktree; the person merges.' },
    },
    output: {
      schema: {
        type: 'object',
        properties: {
          member: {
            type: 'object',
            required: true,
            properties: {
              id: { type: 'string', required: true },
              name: { type: 'string', required: true },
              description: { type: 'string', required: true },
              provider: { type: 'string', required: true },
              context: { type: 'string', enum: ['fresh', 'fork'], required: true },
              phase: { type: 'string', enum: ['provisioning', 'active', 'failed'], required: true },
              error: { type: 'string' },
            },
            additionalProperties: false,
          },
        },
        additionalProperties: false,
      },
      render: compact,
    },
    limits: [
      { of: 'teammates, failed ones too', max: teams.limits.maxMembers, unit: 'items' },
      { of: 'name', max: teams.limits.nameChars, unit: 'characters' },
      { of: 'description', max: teams.limits.descriptionChars, unit: 'characters' },
    ],
    async execute({ context = 'fresh', ...request }, exec) {
      return { member: await teams.spawn(callerOf(exec.agent, 'spawn_teammate'), { ...request, context, callId: exec.rootCallId, signal: exec.signal }) }
    },
    presentCall: ({ name, description, prompt }) => ({ card: 'generic', title: `Create the teammate ${name}`, doneTitle: `Created the teammate ${name}`, kind: 'other', content: [{ type: 'text', text: `${description}\n\n${prompt}` }] }),
  })
