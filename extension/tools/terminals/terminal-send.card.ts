import { isJsonObject } from '../../base/json.ts'
import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { asBoolean, asString } from '../card-facts.ts'

interface SendArgs {
  readonly sessionId: string
  readonly text: string
  readonly submit?: boolean
}

export const presentSend = ({ sessionId, text, submit }: SendArgs): ToolCallView => ({
  card: 'terminal',
  title: text !== '' ? text : submit === false ? 'Wait for output' : 'Press Enter',
  description: sessionId,
  typed: text !== '' ? 'text' : submit === false ? 'nothing' : 'enter',
})

/** What appeared; a terminal that stays has no exit code to show. */
export function presentSent(_args: SendArgs, { meta }: PresentedResult): ToolResultView | undefined {
  if (!isJsonObject(meta)) return undefined
  const output = asString(meta['output'])
  return output === undefined ? undefined : { card: 'terminal', output, ...(asBoolean(meta['isTyped']) === true && { isTyped: true }) }
}
