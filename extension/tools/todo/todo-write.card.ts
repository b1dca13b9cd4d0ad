import type { ToolCallView } from '../../protocol/cards.ts'

/** Arguments as a card needs them. */
export interface TodoWriteArgs {
  readonly todos: readonly { readonly content: string; readonly status: string }[]
}

export const presentCall = ({ todos }: TodoWriteArgs): ToolCallView => ({
  card: 'generic',
  title: 'Update the task list',
  kind: 'other',
  rawInput: todos.map(({ content, status }) => ({ content, status })),
})
