import type { Context } from '../../core/kernel/plugin.ts'
import type {} from '../../core/policy/permissions.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Child } from './child-book.ts'
import { SubagentError, type ChildRequest, type ToolFilter } from './service.ts'
import { offerStructuredOutput, STRUCTURED_OUTPUT } from './structured-output.ts'

/** What is a child's own: words on its scope, its persona, its filter of tools, the way to give its result. All of it goes with its agent. */
export function outfit(ctx: Context, child: Child, agent: Agent, { persona, toolFilter, schema }: Pick<ChildRequest, 'persona' | 'toolFilter' | 'schema'>): void {
  const own = ctx.scoped(agent.scope)
  own.systemPrompt.runtimeContext({ name: 'delegation', order: 45, text: () => scopeWords })
  if (persona !== undefined) own.systemPrompt.section({ name: 'persona of this agent', order: 1, text: persona })
  if (toolFilter !== undefined) own.tools.restrict(toolFilter)
  if (schema === undefined) return
  child.capture = offerStructuredOutput(own, schema)
  const permissions = ctx.get('permissions')
  if (permissions) own.effect(permissions.declare(STRUCTURED_OUTPUT, () => ({ kind: 'none' }), agent.scope))
}

/** For the model of a child, behind its prefix. */
const scopeWords =
  'You are an agent that another agent started. It gave you your task, and what you say last is what it gets; nobody reads along, and you cannot ask the person. Your permissions are fixed: where something is refused, work within them or report what you could not do, instead of trying again.'

/** Errors: `SubagentError` `UNSUPPORTED_CAPABILITY` for a filter that filters nothing. */
export function checkFilter(filter: ToolFilter | undefined): void {
  if (filter === undefined || (filter.allow?.length ?? 0) + (filter.deny?.length ?? 0) > 0) return
  throw new SubagentError('UNSUPPORTED_CAPABILITY', 'The filter of tools names no tool. Name those to allow or to deny, or leave it out.')
}
