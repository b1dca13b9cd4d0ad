import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Terminals } from '../../features/terminals/service.ts'
import { boundResult } from './bounds.ts'
import { infoText, terminalProperties } from './terminal-schema.ts'

/** `terminal_list`: the terminals of this session. Source: capability specification 16. */
export const createTerminalList = (terminals: Pick<Terminals, 'list'>): ToolDefinition =>
  defineTool({
    name: 'terminal_list',
    description: 'List your terminals.',
    parameters: {},
    output: {
      schema: { type: 'array', items: { type: 'object', properties: terminalProperties, additionalProperties: false } },
      render: (_args, list) => [{ type: 'text', text: list.length === 0 ? 'You have no terminals.' : list.map(infoText).join('\n') }],
    },
    execute: (_args, exec) => terminals.list(exec.agent),
    finalizeContent: boundResult,
    presentCall: () => ({ card: 'generic', title: 'List terminals', kind: 'read' }),
  })
