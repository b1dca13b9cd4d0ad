import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Schedules } from '../../features/schedule/service.ts'
import { compact, failureSchema, viewSchema } from './schedule-schema.ts'

/** `schedule_list`: the reminders of this session, in order of creation. Source: agent tools specification 5.2. */
export const createScheduleList = (schedules: Pick<Schedules, 'list' | 'limits'>): ToolDefinition =>
  defineTool({
    name: 'schedule_list',
    description: 'List the active reminders of this session.',
    parameters: {},
    output: { schema: { oneOf: [{ type: 'array', items: viewSchema }, failureSchema] }, render: compact },
    limits: [{ of: 'active reminders of a session', max: schedules.limits.active, unit: 'items' }],
    execute: (_args, exec) => schedules.list(exec.agent, exec.signal),
    presentCall: () => ({ card: 'generic', title: 'List reminders', doneTitle: 'Listed reminders', kind: 'read' }),
  })
