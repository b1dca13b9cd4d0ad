import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type ToolDefinition } from '../../core/tools/definition.ts'
import type { Jobs } from '../../features/jobs/service.ts'
import { stripAnsi } from '../../base/strip-ansi.ts'
import { jobSchema, jobValue, stateWords } from './job-schema.ts'

const DEFAULT_WAIT_MS = 30_000
const MAX_WAIT_MS = 600_000

/** `job_output`: what a job wrote since the last read, and its state. Source: capability specification 12.2. */
export const createJobOutput = (jobs: Pick<Jobs, 'output'>): ToolDefinition =>
  defineTool({
    name: 'job_output',
    description: 'Read what a background job wrote since your last read. With wait, return when it ends or timeout_ms is over.',
    parameters: {
      job_id: { type: 'string', required: true },
      wait: { type: 'boolean' },
      timeout_ms: { type: 'number', description: `Default ${DEFAULT_WAIT_MS}, at most ${MAX_WAIT_MS}.` },
    },
    output: {
      schema: {
        type: 'object',
        properties: { text: { type: 'string', required: true }, job: { ...jobSchema, required: true } },
        additionalProperties: false,
      },
      render: (_args, { text, job }) => [
        {
          type: 'text',
          text: `${text === '' ? '(no new output)' : stripAnsi(text).replace(/\n$/, '')}\n[status: ${stateWords(job)}]`,
        },
      ],
    },
    async execute({ job_id, wait = false, timeout_ms = DEFAULT_WAIT_MS }, exec) {
      if (job_id === '') throw new ToolError('INVALID_ARGS', 'job_id is empty. List the jobs there are with job_list.')
      if (wait && !(timeout_ms > 0)) throw new ToolError('INVALID_ARGS', `timeout_ms must be more than 0, not ${timeout_ms}.`)
      const { text, job } = await jobs.output(exec.agent, job_id, { ...(wait && { waitMs: Math.min(timeout_ms, MAX_WAIT_MS) }), signal: exec.signal })
      return { text, job: jobValue(job) }
    },
    presentCall: ({ job_id, wait }) => ({ card: 'generic', title: wait === true ? `Wait for ${job_id}` : `Read output of ${job_id}`, kind: 'read' }),
  })
