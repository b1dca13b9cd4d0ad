import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Schedules } from '../../features/schedule/service.ts'
import { compact, failureSchema } from './schedule-schema.ts'

/** `schedule_delete`: take a reminder away. Source: agent tools specification 5.2. */
export const createScheduleDelete = (schedules: Pick<Schedules, 'remove'>): ToolDefinition =>
  defineTool({
    name: 'schedule_delete',
    description: 'Delete a reminder of this session.',
    parameters: { id: { type: 'string', required: true, description: 'As schedule_list shows it.' } },
    output: {
      schema: {
        oneOf: [
          { type: 'object', properties: { id: { type: 'string', required: true }, deleted: { type: 'boolean', required: true, const: true } }, additionalProperties: false },
          {
            type: 'object',
            properties: { id: { type: 'string', required: true }, deleted: { type: 'boolean', required: true, const: false }, code: { type: 'string', required: true, const: 'schedule_not_found' } },
            additionalProperties: false,
          },
          failureSchema,
        ],
      },
      render: compact,
    },
    execute: ({ id }, exec) => schedules.remove(exec.agent, id, exec.signal),
    presentCall: ({ id }) => ({ card: 'generic', title: 'Delete a reminder', doneTitle: 'Deleted a reminder', kind: 'other', rawInput: id }),
  })
