import type { ValueSpec } from '../../core/schema/spec.ts'
import type { TerminalInfo, TerminalStatus } from '../../features/terminals/service.ts'

export const statusSchema = {
  oneOf: [
    { type: 'object', properties: { kind: { type: 'string', required: true, const: 'running' } }, additionalProperties: false },
    {
      type: 'object',
      properties: {
        kind: { type: 'string', required: true, const: 'exited' },
        exitCode: { oneOf: [{ type: 'integer' }, { type: 'null' }], required: true },
        signal: { oneOf: [{ type: 'string' }, { type: 'null' }], required: true },
      },
      additionalProperties: false,
    },
  ],
} as const satisfies ValueSpec

/** A terminal as tools give it. */
export const terminalProperties = {
  sessionId: { type: 'string', required: true },
  name: { type: 'string' },
  type: { type: 'string', required: true },
  pid: { type: 'integer', required: true },
  status: { ...statusSchema, required: true },
} as const

/** Keys that are no text are shown as codes, so that the model reads what was pressed. */
export const typedNotice = (personTyped: string | undefined) => (personTyped === undefined ? [] : [`[the person typed here: ${JSON.stringify(personTyped)}]`])

export function statusText(status: TerminalStatus): string {
  if (status.kind === 'running') return 'running'
  return status.signal === null ? `exited with ${status.exitCode ?? 'no code'}` : `killed by ${status.signal}`
}

export const infoText = ({ sessionId, name, type, status }: Pick<TerminalInfo, 'sessionId' | 'name' | 'type' | 'status'>) =>
  `${sessionId} [${type}] ${statusText(status)}${name === undefined ? '' : ` — ${name}`}`
