import type { ValueSpec } from '../../core/schema/spec.ts'
import { HIDDEN_KEYS } from '../../capabilities/terminal-view.ts'
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
        closedBy: { type: 'string', const: 'person' },
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
  isAdopted: { type: 'boolean', const: true },
} as const

/** Keys that are no text are shown as codes, so that the model reads what was pressed. */
export const typedNotice = (personTyped: string | undefined) => {
  if (personTyped === undefined) return []
  const isPartial = personTyped.includes(HIDDEN_KEYS)
  return [`[the person typed here: ${JSON.stringify(personTyped)}${isPartial ? `; ${HIDDEN_KEYS} stands for what the terminal does not show, such as a password` : ''}]`]
}

export function statusText(status: TerminalStatus): string {
  if (status.kind === 'running') return 'running'
  if (status.closedBy === 'person') return 'closed by the person'
  return status.signal === null ? `exited with ${status.exitCode ?? 'no code'}` : `killed by ${status.signal}`
}

export const infoText = ({ sessionId, name, type, status, isAdopted }: Pick<TerminalInfo, 'sessionId' | 'name' | 'type' | 'status' | 'isAdopted'>) =>
  `${sessionId} [${type}] ${statusText(status)}${isAdopted ? ', the person’s' : ''}${name === undefined ? '' : ` — ${name}`}`
