import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/subagents/service.ts'
import type {} from '../../features/workflow/service.ts'
import { createRalph } from './ralph.ts'
import { createWorkflow } from './workflow.ts'

export interface WorkflowToolsNeeds {
  readonly maxRounds: () => number
}

/** Registers `workflow` and `ralph`. */
export const workflowTools = ({ maxRounds }: WorkflowToolsNeeds): Plugin => ({
  name: 'tools-workflow',
  inject: ['tools', 'workflows', 'subagents', 'systemPrompt'],
  apply(ctx) {
    ctx.tools.register(createWorkflow(ctx.workflows))
    ctx.tools.register(createRalph({ workflows: ctx.workflows, subagents: ctx.subagents, maxRounds }))
    ctx.systemPrompt.section({ name: 'tool:workflow', order: 115, tools: ['workflow'], text: 'Use workflow only when the person asks for a workflow or for work spread over many agents.' })
    ctx.systemPrompt.section({ name: 'tool:ralph', order: 116, tools: ['ralph'], text: 'Use ralph only when the person asks for Ralph, or for fresh agents that take turns at one objective.' })
  },
})
