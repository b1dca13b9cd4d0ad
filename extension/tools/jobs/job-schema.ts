import type { ValueSpec } from '../../core/schema/spec.ts'

/** A job as tools give it. */
export const jobSchema = {
  type: 'object',
  properties: {
    id: { type: 'string', required: true },
    kind: { type: 'string', required: true },
    label: { type: 'string', required: true },
    status: { type: 'string', required: true, enum: ['running', 'stopping', 'completed', 'killed', 'failed'] },
    detail: { type: 'string' },
    startedAt: { type: 'number', required: true },
    finishedAt: { type: 'number' },
  },
  additionalProperties: false,
} as const satisfies ValueSpec
