import type { BodyExecution } from '../../core/tools/definition.ts'
import { DynamicToolError } from './error.ts'

/** Errors: `DynamicToolError` `NO_AGENT`. */
export function agentOf({ agent }: BodyExecution, tool: string): NonNullable<BodyExecution['agent']> {
  if (agent === undefined) throw new DynamicToolError('NO_AGENT', `${tool} is about the plugins of a session, and this call has none.`)
  return agent
}
