import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'

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

export const presentResult = ({ todos }: TodoWriteArgs, { isError }: PresentedResult): ToolResultView | undefined => {
  if (isError) return undefined
  const done = todos.filter(({ status }) => status === 'completed').length
  const list = todos.map(({ content, status }) => `${marks.get(status) ?? '○'} ${content}`).join('\n')
  return { card: 'generic', title: `Updated the task list, ${done} of ${todos.length} done`, content: list === '' ? [] : [{ type: 'text', text: list }] }
}

const marks: ReadonlyMap<string, string> = new Map([
  ['completed', '✓'],
  ['in_progress', '●'],
])
