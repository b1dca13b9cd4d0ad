import { isJsonObject } from '../../base/json.ts'
import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { asNumber, asString, textContent } from '../card-facts.ts'

export interface WorkflowCardArgs {
  readonly script: string
  readonly meta: { readonly name: string }
}
export interface RalphCardArgs {
  readonly objective: string
}

export const presentWorkflow = ({ script, meta }: WorkflowCardArgs): ToolCallView => ({ card: 'generic', title: `Workflow ${meta.name}`, kind: 'other', rawInput: script })
export const presentRalph = ({ objective }: RalphCardArgs): ToolCallView => ({ card: 'generic', title: 'ralph', kind: 'other', rawInput: objective })

export function presentWorkflowResult(_args: unknown, { content, isError, meta }: PresentedResult): ToolResultView | undefined {
  if (isError) return undefined
  const facts = meta !== undefined && isJsonObject(meta) ? meta : {}
  const name = asString(facts['name'])
  const started = asNumber(facts['agentsStarted'])
  return { card: 'generic', ...(name !== undefined && started !== undefined && { title: `Workflow ${name}: ${started} ${started === 1 ? 'agent' : 'agents'}` }), content: textContent(content) }
}

export function presentRalphResult(_args: unknown, { content, isError, meta }: PresentedResult): ToolResultView | undefined {
  if (isError) return undefined
  const facts = meta !== undefined && isJsonObject(meta) ? meta : {}
  const status = asString(facts['status'])
  const rounds = asNumber(facts['rounds'])
  return { card: 'generic', ...(status !== undefined && rounds !== undefined && { title: `ralph: ${status} after ${rounds} ${rounds === 1 ? 'round' : 'rounds'}` }), content: textContent(content) }
}
