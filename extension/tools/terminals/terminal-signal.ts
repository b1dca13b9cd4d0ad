import { terminalSignals } from '../../capabilities/terminal.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Terminals } from '../../features/terminals/service.ts'
import { boundResult, resultLimit } from './bounds.ts'

/** `terminal_signal`: a signal for the program in the foreground. Source: capability specification 16. */
export const createTerminalSignal = (terminals: Pick<Terminals, 'signal'>): ToolDefinition =>
  defineTool({
    name: 'terminal_signal',
    description: 'Send a signal to the program in the foreground of a terminal.',
    parameters: { sessionId: { type: 'string', required: true }, signal: { type: 'string', required: true, enum: terminalSignals } },
    output: {
      schema: {
        type: 'object',
        properties: { delivered: { type: 'boolean', required: true, const: true }, targetPgid: { oneOf: [{ type: 'integer' }, { type: 'null' }], required: true } },
        additionalProperties: false,
      },
      render: ({ sessionId, signal }, { targetPgid }) => [{ type: 'text', text: `Sent ${signal} to ${targetPgid === null ? 'the foreground' : `process group ${targetPgid}`} of ${sessionId}.` }],
    },
    execute: async ({ sessionId, signal }, exec) => ({ delivered: true as const, targetPgid: await terminals.signal(exec.agent, sessionId, signal) }),
    limits: [resultLimit],
    finalizeContent: boundResult,
    presentCall: ({ sessionId, signal }) => ({ card: 'generic', title: `Send ${signal} to ${sessionId}`, doneTitle: `Sent ${signal} to ${sessionId}`, kind: 'execute' }),
  })
