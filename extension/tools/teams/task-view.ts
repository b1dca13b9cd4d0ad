import type { TaskView } from '../../features/teams/service.ts'

const texts = { type: 'array', items: { type: 'string' }, required: true } as const

/** A task in results. Source: agent tools specification 8.2, "View". */
export const taskSchema = {
  type: 'object',
  properties: {
    id: { type: 'string', required: true },
    revision: { type: 'integer', required: true },
    subject: { type: 'string', required: true },
    description: { type: 'string', required: true },
    status: { type: 'string', enum: ['pending', 'in_progress', 'completed', 'deleted'], required: true },
    ownerName: { type: 'string' },
    blockedBy: texts,
    writeScopes: texts,
    ready: { type: 'boolean', required: true },
    writeScopeWarnings: texts,
  },
  additionalProperties: false,
} as const

/** For a card: what kind of task it is now, small. */
export const taskMeta = (_args: unknown, { id, subject, status, revision }: Pick<TaskView, 'id' | 'subject' | 'status' | 'revision'>) => ({ id, subject, status, revision })
