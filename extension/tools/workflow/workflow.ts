import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type ToolDefinition } from '../../core/tools/definition.ts'
import type { WorkflowRequest, Workflows } from '../../features/workflow/service.ts'
import { WorkflowToolError } from './error.ts'
import { presentWorkflow, presentWorkflowResult } from './workflow.card.ts'

/** `workflow`: run a script that starts agents. Source: agent tools specification 7.1. */
export function createWorkflow(workflows: Pick<Workflows, 'run' | 'start' | 'textOf' | 'limits'>): ToolDefinition {
  const { limits } = workflows
  return defineTool({
    name: 'workflow',
    description:
      'Run a script that starts agents. It finds agent(prompt, {label?, phase?, schema?, provider?, model?}) (text, or the object of the schema; null when it failed), ' +
      'parallel(functions), pipeline(items, ...stages) with stage(previous, item, index), phase(title), log(text), args; no files, timers or modules.',
    parameters: {
      script: { type: 'string', required: true, description: 'Body of an async function in JavaScript; returns JSON.' },
      meta: {
        type: 'object',
        required: true,
        properties: {
          name: { type: 'string', required: true },
          description: { type: 'string', required: true },
          whenToUse: { type: 'string' },
          phases: {
            type: 'array',
            items: {
              type: 'object',
              properties: { title: { type: 'string', required: true }, detail: { type: 'string' }, provider: { type: 'string' }, model: { type: 'string' } },
              additionalProperties: true,
            },
          },
        },
        additionalProperties: true,
      },
      args: { type: 'object', properties: {}, additionalProperties: true },
      resume_run_id: { type: 'string', description: 'Reuse finished agents.' },
      run_in_background: { type: 'boolean' },
    },
    output: {
      schema: {
        type: 'object',
        properties: { runId: { type: 'string', required: true }, agentsStarted: { type: 'integer', required: true }, result: { type: 'json', required: true }, isBackground: { type: 'boolean' } },
        additionalProperties: false,
      },
      render: ({ meta }, value) => [{ type: 'text', text: value.isBackground === true ? `Workflow ${meta.name} runs in the background as ${value.runId}. You are told when it ends.` : workflows.textOf(meta.name, value) }],
      presentationMeta: ({ meta }, { agentsStarted, isBackground }) => (isBackground === true ? {} : { name: meta.name, agentsStarted }),
    },
    limits: [
      { of: 'script', max: limits.scriptChars, unit: 'characters' },
      { of: 'a text of meta, a label or a phase', max: limits.textChars, unit: 'characters' },
      { of: 'result text', max: limits.resultChars, unit: 'characters' },
      { of: 'agents of one run', max: limits.totalAgents, unit: 'items' },
      { of: 'items of one parallel() or pipeline()', max: limits.itemsPerCall, unit: 'items' },
    ],
    async execute({ script, meta, args, resume_run_id: resumeRunId, run_in_background: isBackground = false }, exec) {
      if (exec.agent === undefined) throw new WorkflowToolError('NO_AGENT', 'A workflow belongs to a session, and this call has none.')
      const isRecorded = exec.parent === undefined
      // A program reads what its calls give, and its runs leave no record that could tell of an end later.
      if (isBackground && !isRecorded) throw new ToolError('INVALID_ARGS', 'A program waits for its workflows. Leave run_in_background out.')
      const request: WorkflowRequest = {
        kind: 'workflow',
        agent: exec.agent,
        script,
        meta,
        args,
        resumeRunId,
        mayResume: isRecorded,
        ...(isRecorded && { callId: exec.callId }),
        isRecorded,
        signal: exec.signal,
      }
      if (!isBackground) return workflows.run(request)
      const { runId } = await workflows.start(request)
      return { runId, agentsStarted: 0, result: null, isBackground }
    },
    presentCall: presentWorkflow,
    presentResult: presentWorkflowResult,
  })
}
