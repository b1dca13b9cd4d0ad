import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { textContent } from '../card-facts.ts'
import { changeFrom } from './change-card.ts'

/** Arguments as a card needs them. */
export interface WriteArgs {
  readonly file_path: string
  readonly content: string
}

/** What the file had before is unknown to the arguments, so the pending card shows the new text. */
export const presentCall = ({ file_path, content }: WriteArgs): ToolCallView => ({
  card: 'diff',
  title: `Write ${file_path}`,
  diffs: [{ path: file_path, oldText: null, newText: content }],
  locations: [{ path: file_path }],
})

/** The changed regions; the whole text for a new file, for one that was written as it was, and where the facts cannot be read. */
export function presentResult({ file_path, content: newText }: WriteArgs, { isError, content, meta }: PresentedResult): ToolResultView | undefined {
  if (isError) return { card: 'generic', title: `Write ${file_path}`, content: textContent(content) }
  const change = changeFrom(file_path, meta)
  const isWhole = change === undefined || change.operation === 'create' || change.diffs.length === 0
  return {
    card: 'diff',
    title: change?.operation === 'create' ? `Created ${file_path}` : `Wrote ${file_path}`,
    diffs: isWhole ? [{ path: file_path, oldText: null, newText }] : change.diffs,
    ...(change?.note !== undefined && { note: change.note }),
  }
}
