import type { ToolCallView } from '../../protocol/cards.ts'

/** What the model says it does, with the program under it. Its calls are drawn from the log. */
export const presentRunCode = ({ code, description }: { readonly code: string; readonly description: string }): ToolCallView => ({
  card: 'generic',
  title: description,
  kind: 'execute',
  rawInput: code,
})
