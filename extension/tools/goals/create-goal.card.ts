import type { ToolCallView } from '../../protocol/cards.ts'

/** Arguments as a card needs them. */
export interface CreateGoalArgs {
  readonly objective: string
}

export const presentCall = ({ objective }: CreateGoalArgs): ToolCallView => ({ card: 'generic', title: 'Set a goal', kind: 'other', rawInput: objective })
