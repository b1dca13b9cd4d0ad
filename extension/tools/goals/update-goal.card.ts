import type { ToolCallView } from '../../protocol/cards.ts'

/** Arguments as a card needs them. */
export interface UpdateGoalArgs {
  readonly goal_id: string
  readonly action: string
  readonly objective?: string
  readonly max_goal_rounds?: number
  readonly blocked_reason?: string
}

const titles: ReadonlyMap<string, string> = new Map([
  ['edit', 'Edit goal'],
  ['pause', 'Pause goal'],
  ['resume', 'Resume goal'],
  ['complete', 'Complete goal'],
  ['blocked', 'Mark goal'],
])

/** The first thing the call says, or which goal it is about. */
export const presentCall = ({ goal_id, action, objective = '', max_goal_rounds = 0, blocked_reason = '' }: UpdateGoalArgs): ToolCallView => ({
  card: 'generic',
  title: titles.get(action) ?? 'Update goal',
  kind: 'other',
  rawInput: [blocked_reason, objective].find((text) => text.trim() !== '') ?? (max_goal_rounds !== 0 ? max_goal_rounds : goal_id),
})
