import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { textContent } from '../card-facts.ts'

/** Arguments as a card needs them. */
export interface SkillArgs {
  readonly name: string
}

export const presentCall = ({ name }: SkillArgs): ToolCallView => ({ card: 'generic', title: `Load skill ${name}`, kind: 'read' })

export const presentResult = ({ name }: SkillArgs, { isError, content }: PresentedResult): ToolResultView => ({
  card: 'generic',
  ...(!isError && { title: `Loaded skill ${name}` }),
  content: textContent(content),
})
