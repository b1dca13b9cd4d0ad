import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { AdoptableTerminal, TerminalInfo, Terminals } from '../../features/terminals/service.ts'
import { boundResult, resultLimit } from './bounds.ts'
import { infoText, terminalProperties } from './terminal-schema.ts'

/** `terminal_list`: the terminals of this session. Source: capability specification 16. */
export const createTerminalList = (terminals: Pick<Terminals, 'list' | 'adoptable'>): ToolDefinition =>
  defineTool({
    name: 'terminal_list',
    description: 'List your terminals.',
    parameters: {},
    output: {
      schema: { type: 'array', items: { type: 'object', properties: { ...terminalProperties, adoptable: { type: 'boolean', const: true }, cwd: { type: 'string' } }, additionalProperties: false } },
      render: (_args, list) => [{ type: 'text', text: list.length === 0 ? 'You have no terminals.' : list.map(rowOf).join('\n') }],
    },
    execute: (_args, exec) => [...terminals.list(exec.agent), ...terminals.adoptable().map(toRow)],
    limits: [resultLimit],
    finalizeContent: boundResult,
    presentCall: () => ({ card: 'generic', title: 'List terminals', doneTitle: 'Listed terminals', kind: 'read' }),
  })

const toRow = ({ id, name, type, folder }: AdoptableTerminal) => ({ sessionId: id, name, type, pid: 0, status: { kind: 'running' as const }, adoptable: true as const, ...(folder !== undefined && { cwd: folder }) })

type Row = TerminalInfo & { readonly adoptable?: true; readonly cwd?: string }

const rowOf = ({ adoptable, cwd, ...info }: Row) =>
  adoptable ? `${info.sessionId} [${info.type}] the person’s${info.name === undefined ? '' : ` — ${info.name}`}${cwd === undefined ? '' : `, in ${cwd}`}. Ask for it with terminal_open and adopt.` : infoText(info)
