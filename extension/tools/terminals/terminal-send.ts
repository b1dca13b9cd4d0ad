import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type ToolDefinition } from '../../core/tools/definition.ts'
import type { Jobs } from '../../features/jobs/service.ts'
import type { Terminals } from '../../features/terminals/service.ts'
import { withoutEscalation } from '../without-escalation.ts'
import { boundResult, resultLimit } from './bounds.ts'
import { presentSend, presentSent } from './terminal-send.card.ts'
import { statusSchema, statusText, typedNotice } from './terminal-schema.ts'

/** Characters typed in one call. */
export const MAX_TEXT_CHARS = 100_000

/** `terminal_send`: type at a terminal and see what comes. Source: capability specification 16. */
export const createTerminalSend = ({ terminals, jobs }: { readonly terminals: Pick<Terminals, 'send' | 'sendInBackground' | 'check' | 'sendDeadlineMs'>; readonly jobs: Pick<Jobs, 'start'> }): ToolDefinition =>
  withoutEscalation(defineTool({
    name: 'terminal_send',
    description: 'Type at a terminal, press Enter, and get what appears until it waits for keys again, at most 30 s; the program goes on then. Empty text without submit only waits.',
    parameters: {
      sessionId: { type: 'string', required: true },
      text: { type: 'string', required: true },
      submit: { type: 'boolean', description: 'Press Enter after it. Default true.' },
      run_in_background: { type: 'boolean', description: 'Return a job id at once.' },
    },
    output: {
      schema: {
        oneOf: [
          {
            type: 'object',
            properties: {
              kind: { type: 'string', required: true, const: 'foreground' },
              viewport: { type: 'string', required: true },
              waitReason: { type: 'string', required: true, enum: ['stdin_read', 'inferred_idle', 'timeout', 'session_exit'] },
              sessionStatus: { ...statusSchema, required: true },
              truncated: { type: 'boolean', required: true },
              personTyped: { type: 'string' },
              isTyped: { type: 'boolean', const: true },
            },
            additionalProperties: false,
          },
          {
            type: 'object',
            properties: { kind: { type: 'string', required: true, const: 'background' }, jobId: { type: 'string', required: true } },
            additionalProperties: false,
          },
        ],
      },
      render: (_args, value) => [
        {
          type: 'text',
          text:
            value.kind === 'background'
              ? `Sent; waiting goes on as job ${value.jobId}. Read its output with job_output; you are told when it ends.`
              : [value.viewport === '' ? '(nothing appeared)' : value.viewport, `[wait: ${value.waitReason}]`, `[session: ${statusText(value.sessionStatus)}]`, ...(value.truncated ? ['[the beginning is gone; only the end is shown]'] : []), ...typedNotice(value.personTyped)].join('\n'),
        },
      ],
      presentationMeta: (_args, value) => (value.kind === 'background' ? { kind: value.kind, jobId: value.jobId } : { kind: value.kind, output: value.viewport, waitReason: value.waitReason, ...(value.isTyped === true && { isTyped: true }) }),
    },
    async execute({ sessionId, text, submit = true, run_in_background }, exec) {
      if (text.length > MAX_TEXT_CHARS) throw new ToolError('INVALID_ARGS', `text has ${text.length} characters; at most ${MAX_TEXT_CHARS} can be typed in one call. Write a file instead.`)
      terminals.check(exec.agent, sessionId)
      if (run_in_background !== true) {
        const result = await terminals.send(exec.agent, sessionId, { text, submit, signal: exec.signal, onText: (shown) => exec.progress(shown) })
        return { kind: 'foreground' as const, ...result }
      }
      const job = jobs.start({
        kind: 'pty-send',
        label: `${sessionId}: ${text}`,
        ...(exec.agent && { owner: exec.agent }),
        run: () => terminals.sendInBackground(exec.agent, sessionId, { text, submit }),
      })
      return { kind: 'background' as const, jobId: job.id }
    },
    limits: [resultLimit, { of: 'text', max: MAX_TEXT_CHARS, unit: 'characters' }, { of: 'wait', max: terminals.sendDeadlineMs, unit: 'ms' }],
    finalizeContent: boundResult,
    presentCall: presentSend,
    presentResult: presentSent,
  }))
