import { isJsonObject } from '../../base/json.ts'
import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'

export interface SubagentArgs {
  readonly description: string
  readonly prompt: string
}

export const presentCall = ({ description, prompt }: SubagentArgs): ToolCallView => ({ card: 'generic', title: `Agent: ${description}`, kind: 'other', face: 'agent', rawInput: prompt })

export function presentResult({ description }: SubagentArgs, { content, isError, meta }: PresentedResult): ToolResultView | undefined {
  if (isError) return undefined
  const facts = meta !== undefined && isJsonObject(meta) ? meta : {}
  const texts = content.flatMap((block) => (block.type === 'text' && block.text !== '' ? [block] : []))
  if (typeof facts['jobId'] === 'string') return { card: 'generic', title: `Started agent: ${description}`, jobId: facts['jobId'] }
  if (typeof facts['subagentId'] === 'string') return { card: 'generic', title: `Started agent: ${description}`, agentId: facts['subagentId'] }
  return { card: 'generic', title: `Agent: ${description}`, content: texts }
}
