import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Teams } from '../../features/teams/service.ts'
import { callerOf } from '../agents/agent-error.ts'
import { compact } from './compact.ts'

/** `interrupt_agent` of the Lead. Source: agent tools specification 8.1. */
export const createTeamInterruptAgent = (teams: Pick<Teams, 'interrupt'>): ToolDefinition =>
  defineTool({
    name: 'interrupt_agent',
    description: 'End the current turn of a teammate. Its mail and its tasks stay.',
    parameters: { target: { type: 'string', required: true, description: 'Name of a teammate.' } },
    output: {
      schema: { type: 'object', properties: { previousStatus: { type: 'string', enum: ['running', 'idle', 'inactive'], required: true } }, additionalProperties: false },
      render: compact,
    },
    execute: ({ target }, exec) => teams.interrupt(callerOf(exec.agent, 'interrupt_agent'), target),
    presentCall: ({ target }) => ({ card: 'generic', title: `Interrupt ${target}`, doneTitle: `Interrupted ${target}`, kind: 'other' }),
  })

/** `wait_agent`. Source: agent tools specification 8.1. */
export const createWaitAgent = (teams: Pick<Teams, 'wait' | 'limits'>): ToolDefinition =>
  defineTool({
    name: 'wait_agent',
    description: 'Wait for the next change of the team: a status, mail, or a task. What changed before counts for nothing.',
    parameters: { timeout_ms: { type: 'integer', description: `Default: 30000; ${teams.limits.minWaitMs} to ${teams.limits.maxWaitMs}.` } },
    output: {
      schema: {
        type: 'object',
        properties: {
          timedOut: { type: 'boolean', required: true },
          noProgress: { type: 'object', properties: { reason: { type: 'string', const: 'no-active-peer', required: true }, message: { type: 'string', required: true } }, additionalProperties: false },
        },
        additionalProperties: false,
      },
      render: compact,
      presentationMeta: (_args, { timedOut }) => ({ timedOut }),
    },
    limits: [
      { of: 'the shortest wait', max: teams.limits.minWaitMs, unit: 'ms' },
      { of: 'the longest wait', max: teams.limits.maxWaitMs, unit: 'ms' },
    ],
    execute: ({ timeout_ms: timeoutMs = 30_000 }, exec) => teams.wait(callerOf(exec.agent, 'wait_agent'), { timeoutMs, signal: exec.signal }),
    presentCall: () => ({ card: 'generic', title: 'Wait for the team', doneTitle: 'Waited for the team', kind: 'other' }),
  })
