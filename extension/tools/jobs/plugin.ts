import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/jobs/service.ts'
import { createJobKill } from './job-kill.ts'
import { createJobList } from './job-list.ts'
import { createJobOutput } from './job-output.ts'

/** Registers `job_list`, `job_output`, `job_kill`. */
export const jobTools: Plugin = {
  name: 'tools-jobs',
  inject: ['tools', 'jobs', 'systemPrompt'],
  apply(ctx) {
    for (const tool of [createJobList(ctx.jobs), createJobOutput(ctx.jobs), createJobKill(ctx.jobs)]) ctx.tools.register(tool)
    ctx.systemPrompt.section({
      name: 'jobs',
      order: 106,
      tools: ['job_list'],
      text: 'Start servers and other long work with run_in_background. You are told when a background job ends; do not poll for it.',
    })
  },
}
