import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type ToolDefinition } from '../../core/tools/definition.ts'
import type { Jobs } from '../../features/jobs/service.ts'
import { stripAnsi } from '../../base/strip-ansi.ts'
import { clipped, utf8Length } from '../../base/text.ts'
import { jobSchema, jobValue, stateWords } from './job-schema.ts'

const DEFAULT_WAIT_MS = 30_000
const MAX_WAIT_MS = 600_000
const MAX_INPUT_BYTES = 64_000
/** After typing, so that what the program answers at once is there. */
const ANSWER_WAIT_MS = 1_000

/** `job_output`: what a job wrote since the last read, and its state. Source: capability specification 12.2. */
export const createJobOutput = (jobs: Pick<Jobs, 'output' | 'sendInput'>): ToolDefinition =>
  defineTool({
    name: 'job_output',
    description: 'Read what a background job wrote since your last read. With wait, return when it ends or timeout_ms is over.',
    parameters: {
      job_id: { type: 'string', required: true },
      wait: { type: 'boolean' },
      input: { type: 'string', description: 'A line to type first.' },
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
    limits: [{ of: 'wait', max: MAX_WAIT_MS, unit: 'ms' }, { of: 'input', max: MAX_INPUT_BYTES, unit: 'bytes' }],
    async execute({ job_id, wait = false, input, timeout_ms = DEFAULT_WAIT_MS }, exec) {
      if (job_id === '') throw new ToolError('INVALID_ARGS', 'job_id is empty. List the jobs there are with job_list.')
      if (wait && !(timeout_ms > 0)) throw new ToolError('INVALID_ARGS', `timeout_ms must be more than 0, not ${timeout_ms}.`)
      if (input !== undefined) {
        if (utf8Length(input) > MAX_INPUT_BYTES) throw new ToolError('INVALID_ARGS', `input has more than ${MAX_INPUT_BYTES} bytes. Write it to a file and let the program read that.`)
        await jobs.sendInput(exec.agent, job_id, /[\n\u0004]$/.test(input) ? input : `${input}\n`)
      }
      const waitMs = wait ? Math.min(timeout_ms, MAX_WAIT_MS) : input === undefined ? undefined : ANSWER_WAIT_MS
      const { text, job } = await jobs.output(exec.agent, job_id, { ...(waitMs !== undefined && { waitMs }), signal: exec.signal })
      return { text, job: jobValue(job) }
    },
    presentCall: ({ job_id, wait, input }) => ({
      card: 'generic',
      ...(input !== undefined
        ? { title: `Type to ${job_id}: ${clipped(input, 60)}`, doneTitle: `Typed to ${job_id}: ${clipped(input, 60)}` }
        : wait === true
          ? { title: `Wait for ${job_id}`, doneTitle: `Waited for ${job_id}` }
          : { title: `Read output of ${job_id}` }),
      kind: input === undefined ? 'read' : 'execute',
    }),
  })
