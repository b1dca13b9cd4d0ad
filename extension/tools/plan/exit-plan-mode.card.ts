import { firstHeading } from '../../base/first-heading.ts'
import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { textContent } from '../card-facts.ts'

/** Arguments as a card needs them. */
export interface ExitPlanModeArgs {
  readonly plan: string
}

export const presentCall = ({ plan }: ExitPlanModeArgs): ToolCallView => ({
  card: 'generic',
  title: firstHeading(plan) ?? 'Plan',
  kind: 'other',
  face: 'plan',
  content: [{ type: 'text', text: plan }],
})

export const presentResult = (_args: ExitPlanModeArgs, { content }: PresentedResult): ToolResultView => ({
  card: 'generic',
  title: 'Plan review',
  face: 'plan',
  content: textContent(content),
})
