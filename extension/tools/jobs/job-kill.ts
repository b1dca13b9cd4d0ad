import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Jobs } from '../../features/jobs/service.ts'
import { jobSchema, jobValue } from './job-schema.ts'

/** `job_kill`: ask a job to stop; its output can still be read. Source: capability specification 12.3. */
export const createJobKill = (jobs: Pick<Jobs, 'kill'>): ToolDefinition =>
  defineTool({
    name: 'job_kill',
    description: 'Stop a background job. Its output can still be read.',
    parameters: { job_id: { type: 'string', required: true }, reason: { type: 'string' } },
    output: {
      schema: {
        type: 'object',
        properties: {
          outcome: { type: 'string', required: true, enum: ['cancellation-requested', 'already-finished'] },
          job: { ...jobSchema, required: true },
        },
        additionalProperties: false,
      },
      render: (_args, { outcome, job }) => [
        {
          type: 'text',
          text: outcome === 'already-finished' ? `Job ${job.id} had ended already (${job.status}).` : `Job ${job.id} is being stopped.`,
        },
      ],
    },
    execute({ job_id, reason }, exec) {
      const { outcome, job } = jobs.kill(exec.agent, job_id, reason)
      return { outcome, job: jobValue(job) }
    },
    presentCall: ({ job_id }) => ({ card: 'generic', title: `Stop ${job_id}`, doneTitle: `Stopped ${job_id}`, kind: 'execute' }),
  })
