import { createKernel } from '../../extension/core/kernel/kernel.ts'
import type { Kernel, ScopeKey } from '../../extension/core/kernel/plugin.ts'
import type { Approvals, ApprovalAnswer, ApprovalRequest } from '../../extension/core/policy/approval.ts'
import type { Agent } from '../../extension/core/session/agent.ts'
import { defineTool } from '../../extension/core/tools/define-tool.ts'
import type { ExecutionRequest, ToolDefinition } from '../../extension/core/tools/definition.ts'
import { createToolsPlugin } from '../../extension/core/tools/registry.ts'
import type { Tools } from '../../extension/core/tools/service.ts'
import { createRecordingLogger } from './quiet-logger.ts'

export interface PipelineBench {
  readonly kernel: Kernel
  readonly tools: Tools
  readonly logger: ReturnType<typeof createRecordingLogger>
  /** An agent that is nothing but a layer. */
  agent(scope: ScopeKey): Agent
  request(name: string, args?: unknown, more?: Partial<ExecutionRequest>): ExecutionRequest
}

/** The real kernel and the real pipeline, with nothing registered. */
export function createPipelineBench(): PipelineBench {
  const logger = createRecordingLogger()
  const kernel = createKernel({ logger })
  let count = 0
  kernel.root.plugin(createToolsPlugin({ dispatch: kernel.dispatch, randomId: () => `token-${++count}` }))
  return {
    kernel,
    logger,
    tools: kernel.root.tools,
    agent: (scope) => ({ id: 'agent', scope }) as unknown as Agent,
    request: (name, args = {}, more = {}) => ({
      callId: 'call-1',
      name,
      arguments: args,
      signal: new AbortController().signal,
      ...more,
    }),
  }
}

/** A tool that says back what it was told. */
export const echoTool = (more: Partial<ToolDefinition> = {}): ToolDefinition => ({
  ...defineTool({
    name: 'echo',
    description: 'Say it back.',
    parameters: { word: { type: 'string', required: true } },
    output: {
      schema: { type: 'object', properties: { word: { type: 'string', required: true } }, additionalProperties: false },
      render: (_args, { word }) => [{ type: 'text', text: word }],
      presentationMeta: (_args, { word }) => ({ length: word.length }),
    },
    execute: ({ word }) => ({ word }),
  }),
  ...more,
})

/** Answers every question at once and keeps what was asked. */
export function answeringApprovals(answer: (request: Omit<ApprovalRequest, 'id'>) => ApprovalAnswer | Promise<ApprovalAnswer>) {
  const asked: Omit<ApprovalRequest, 'id'>[] = []
  const approvals = {
    async request(request) {
      asked.push(request)
      return answer(request)
    },
    pending: () => [],
    answer: () => false,
    onDidChange: () => () => {},
  } satisfies Partial<Approvals> as unknown as Approvals
  return { asked, approvals }
}
