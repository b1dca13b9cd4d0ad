import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { textContent } from '../card-facts.ts'
import { changeFrom } from './change-card.ts'

/** Arguments as a card needs them. */
export interface EditArgs {
  readonly file_path: string
  readonly old_string: string
  readonly new_string: string
}

export const presentCall = ({ file_path, old_string, new_string }: EditArgs): ToolCallView => ({
  card: 'diff',
  title: `Edit ${file_path}`,
  diffs: [{ path: file_path, oldText: old_string === '' ? null : old_string, newText: new_string }],
  locations: [{ path: file_path }],
})

export function presentResult({ file_path }: EditArgs, { isError, content, meta }: PresentedResult): ToolResultView | undefined {
  const change = isError ? undefined : changeFrom(file_path, meta)
  if (change === undefined) return { card: 'generic', title: `Edit ${file_path}`, content: textContent(content) }
  return { card: 'diff', title: `Edited ${file_path}`, diffs: change.diffs, ...(change.note !== undefined && { note: change.note }) }
}
