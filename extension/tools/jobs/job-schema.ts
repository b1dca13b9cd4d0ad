import type { InferValue, ValueSpec } from '../../core/schema/spec.ts'
import type { Job } from '../../features/jobs/service.ts'

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
    ports: { type: 'array', items: { type: 'object', properties: { port: { type: 'integer', required: true }, url: { type: 'string' } }, additionalProperties: false } },
    waitsForInput: { type: 'string', enum: ['known', 'likely'] },
  },
  additionalProperties: false,
} as const satisfies ValueSpec

/** Of what is known of a job, what tools give; the rest is for the person's list. */
export function jobValue({ id, kind, label, status, detail, startedAt, finishedAt, ports, waitsForInput }: Job): InferValue<typeof jobSchema> {
  return {
    id, kind, label, status, startedAt,
    ...(detail !== undefined && { detail }),
    ...(finishedAt !== undefined && { finishedAt }),
    ...(ports && { ports }),
    ...(waitsForInput && { waitsForInput }),
  }
}

/** What stands behind a job's status: how it ended, where it listens, what it waits for. */
export function stateWords({ status, detail, ports = [], waitsForInput }: Pick<Job, 'status' | 'detail' | 'ports' | 'waitsForInput'>): string {
  const facts = [
    status,
    ...(detail === undefined ? [] : [detail]),
    ...(ports.length === 0 ? [] : [`listens at ${ports.map(({ port, url }) => url ?? `port ${port}`).join(', ')}`]),
    ...(waitsForInput === undefined ? [] : [waitsForInput === 'known' ? 'waits for input' : 'likely waits for input']),
  ]
  return facts.join(', ')
}
