import { ToolError, type Execution } from '../core/tools/definition.ts'

/** The folder that relative paths of this call start from. Errors: `ToolError` `INVALID_ARGS` without a session that has one. */
export function sessionFolder({ agent, name }: Pick<Execution, 'agent' | 'name'>): string {
  const cwd = agent?.session.header.cwd
  if (cwd === undefined) throw new ToolError('INVALID_ARGS', `${name} works in the folder of a session, and this call has none.`)
  return cwd
}
