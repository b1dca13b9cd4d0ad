import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Terminals } from '../../features/terminals/service.ts'
import { boundResult, resultLimit } from './bounds.ts'

/** `terminal_close`: end a terminal with everything that runs at it. Source: capability specification 16. */
export const createTerminalClose = (terminals: Pick<Terminals, 'close'>): ToolDefinition =>
  defineTool({
    name: 'terminal_close',
    description: 'Close a terminal and end everything that runs at it.',
    parameters: { sessionId: { type: 'string', required: true } },
    output: {
      schema: {
        type: 'object',
        properties: { sessionId: { type: 'string', required: true }, outcome: { type: 'string', required: true, enum: ['closed', 'already-closing', 'given-back'] } },
        additionalProperties: false,
      },
      render: (_args, { sessionId, outcome }) => [{ type: 'text', text: words[outcome](sessionId) }],
    },
    execute: async ({ sessionId }, exec) => ({ sessionId, outcome: await terminals.close(exec.agent, sessionId) }),
    limits: [resultLimit],
    finalizeContent: boundResult,
    presentCall: ({ sessionId }) => ({ card: 'generic', title: `Close terminal ${sessionId}`, doneTitle: `Closed terminal ${sessionId}`, kind: 'delete' }),
  })

const words = {
  closed: (id: string) => `Closed ${id}.`,
  'already-closing': (id: string) => `${id} was being closed already.`,
  'given-back': (id: string) => `Gave ${id} back to the person. What runs there goes on.`,
}
