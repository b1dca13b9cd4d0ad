import { clipped } from '../../base/text.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Jobs } from '../../features/jobs/service.ts'
import { jobSchema, jobValue, stateWords } from './job-schema.ts'

const MAX_LABEL_CHARS = 200
/** A script that was given as a command is known by its beginning. */
const shownLabel = (label: string) => clipped(label.replaceAll(/\s+/g, ' '), MAX_LABEL_CHARS)

/** `job_list`: the background jobs the agent may see. Source: capability specification 12.1. */
export const createJobList = (jobs: Pick<Jobs, 'list' | 'maxLive' | 'maxConsecutiveWakes'>): ToolDefinition =>
  defineTool({
    name: 'job_list',
    description: 'List your background jobs.',
    parameters: {},
    output: {
      schema: { type: 'array', items: jobSchema },
      render: (_args, list) => [
        {
          type: 'text',
          text:
            list.length === 0
              ? 'There are no background jobs.'
              : list.map((job) => `${job.id} [${job.kind}] ${stateWords(job)} — ${shownLabel(job.label)}`).join('\n'),
        },
      ],
    },
    limits: [
      { of: 'running jobs of a session', max: jobs.maxLive, unit: 'items' },
      { of: 'turns in a row that ends of jobs start', max: jobs.maxConsecutiveWakes, unit: 'items' },
      { of: 'one label', max: MAX_LABEL_CHARS, unit: 'characters' },
    ],
    execute: (_args, exec) => jobs.list(exec.agent).map(jobValue),
    presentCall: () => ({ card: 'generic', title: 'List background jobs', doneTitle: 'Listed background jobs', kind: 'read' }),
  })
