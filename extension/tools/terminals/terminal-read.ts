import { SCROLLBACK_LINES } from '../../capabilities/terminal-screen.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type ToolDefinition } from '../../core/tools/definition.ts'
import type { Terminals } from '../../features/terminals/service.ts'
import { boundResult, resultLimit } from './bounds.ts'
import { typedNotice } from './terminal-schema.ts'

const DEFAULT_COUNT = 500

/** `terminal_read`: lines a terminal keeps, or its screen. Source: capability specification 16, 20.15. */
export const createTerminalRead = (terminals: Pick<Terminals, 'read' | 'screen'>): ToolDefinition =>
  defineTool({
    name: 'terminal_read',
    description: 'Read lines of a terminal, counted from the newest, or, with mode "screen", what is on its screen now, as for full-screen programs.',
    parameters: {
      sessionId: { type: 'string', required: true },
      offset: { type: 'number', description: 'Newest lines to leave out. Default 0.' },
      count: { type: 'number', description: `Default ${DEFAULT_COUNT}.` },
      mode: { type: 'string', enum: ['lines', 'screen'] },
    },
    output: {
      schema: {
        oneOf: [
          {
            type: 'object',
            properties: {
              text: { type: 'string', required: true },
              totalLines: { type: 'integer', required: true },
              lineBegin: { type: 'integer', required: true },
              lineEnd: { type: 'integer', required: true },
              truncated: { type: 'boolean', required: true },
              personTyped: { type: 'string' },
            },
            additionalProperties: false,
          },
          {
            type: 'object',
            properties: { text: { type: 'string', required: true }, isFullScreen: { type: 'boolean', required: true }, personTyped: { type: 'string' } },
            additionalProperties: false,
          },
        ],
      },
      render: (_args, value) => [{ type: 'text', text: rendered(value) }],
    },
    async execute({ sessionId, offset = 0, count = DEFAULT_COUNT, mode }, exec) {
      if (!Number.isInteger(offset) || offset < 0) throw new ToolError('INVALID_ARGS', `offset must be a whole number from 0, not ${offset}.`)
      if (!Number.isInteger(count) || count < 1) throw new ToolError('INVALID_ARGS', `count must be a whole number from 1, not ${count}.`)
      return mode === 'screen' ? terminals.screen(exec.agent, sessionId) : terminals.read(exec.agent, sessionId, { offset, count })
    },
    limits: [resultLimit, { of: 'what is kept above the screen', max: SCROLLBACK_LINES, unit: 'lines' }],
    finalizeContent: boundResult,
    presentCall: ({ sessionId, mode }) => ({
      card: 'generic',
      ...(mode === 'screen' ? { title: `Look at the screen of ${sessionId}`, doneTitle: `Looked at the screen of ${sessionId}` } : { title: `Read terminal ${sessionId}` }),
      kind: 'read',
    }),
  })

type ReadValue =
  | { readonly text: string; readonly totalLines: number; readonly lineBegin: number; readonly lineEnd: number; readonly truncated: boolean; readonly personTyped?: string }
  | { readonly text: string; readonly isFullScreen: boolean; readonly personTyped?: string }

function rendered(value: ReadValue): string {
  const text = value.text === '' ? '(nothing)' : value.text
  if ('isFullScreen' in value) return [text, `[screen${value.isFullScreen ? ' of a full-screen program' : ''}]`, ...typedNotice(value.personTyped)].join('\n')
  return [text, `[lines: ${value.lineBegin}-${value.lineEnd} of ${value.totalLines}]`, ...(value.truncated ? ['[older lines are gone]'] : []), ...typedNotice(value.personTyped)].join('\n')
}
