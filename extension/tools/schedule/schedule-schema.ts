import type { ValueSpec } from '../../core/schema/spec.ts'

const text = { type: 'string', required: true } as const

/** A reminder as `ScheduleView` has it. */
export const viewSchema = {
  type: 'object',
  properties: {
    id: text,
    kind: { type: 'string', required: true, enum: ['after', 'at', 'every', 'calendar'] },
    prompt: text,
    scheduledAt: text,
    state: { type: 'string', required: true, enum: ['scheduled', 'overdue'] },
    deliveryMode: { type: 'string', required: true, enum: ['session-local'] },
    afterSeconds: { type: 'integer' },
    everySeconds: { type: 'integer' },
    calendar: { type: 'object', properties: { rule: text, timeZone: text, start: text }, additionalProperties: false },
    action: { type: 'string', enum: ['do'] },
    catchUp: { type: 'string', enum: ['skip'] },
    isPaused: { type: 'boolean' },
    snoozedUntil: { type: 'string' },
  },
  additionalProperties: false,
} as const satisfies ValueSpec

export const failureSchema = {
  type: 'object',
  properties: {
    code: {
      type: 'string',
      required: true,
      enum: ['invalid_prompt', 'invalid_selector', 'invalid_rule', 'invalid_time_zone', 'not_future', 'time_out_of_range', 'frequency_too_high', 'corrupt_schedule_log', 'persistence_uncertain', 'internal_error', 'not_approved', 'too_many_schedules', 'schedule_not_found'],
    },
    message: text,
    operation: { type: 'string', enum: ['create', 'list', 'delete', 'change'] },
    id: { type: 'string' },
  },
  additionalProperties: false,
} as const satisfies ValueSpec

/** The value on one line, for the model. */
export const compact = (_args: unknown, value: unknown) => [{ type: 'text' as const, text: JSON.stringify(value) }]
