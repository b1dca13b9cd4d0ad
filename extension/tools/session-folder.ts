import type { Json } from '../base/json.ts'
import { isJsonObject } from '../base/json.ts'
import { ToolError, type Execution } from '../core/tools/definition.ts'

/** The folder that relative paths of this call start from. Errors: `ToolError` `INVALID_ARGS` without a session that has one. */
export function sessionFolder({ agent, name }: Pick<Execution, 'agent' | 'name'>): string {
  const cwd = agent?.session.header.cwd
  if (cwd === undefined) throw new ToolError('INVALID_ARGS', `${name} works in the folder of a session, and this call has none.`)
  return cwd
}

const ESCALATION_FIELDS = ['sandbox_permissions', 'justification']

/** Refuse arguments that ask for wider rights where none are offered: they are never dropped in silence. */
export function refuseEscalation({ name, arguments: args }: Pick<Execution, 'name' | 'arguments'>): void {
  const field = isJsonObject(args) ? ESCALATION_FIELDS.find((each) => hasOwn(args, each)) : undefined
  if (field !== undefined) throw new ToolError('INVALID_ARGS', `${name} does not offer ${field} here. Call it without; the person is asked when it is needed.`)
}

const hasOwn = (value: { readonly [key: string]: Json }, key: string) => Object.hasOwn(value, key)
