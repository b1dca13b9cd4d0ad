import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { textContent } from '../card-facts.ts'

/** Arguments as a card needs them. */
export interface ReadImageArgs {
  readonly file_path: string
}

export const presentCall = ({ file_path }: ReadImageArgs): ToolCallView => ({
  card: 'generic',
  title: `Read image ${file_path}`,
  kind: 'read',
  subject: file_path,
  locations: [{ path: file_path }],
})

export function presentResult({ file_path }: ReadImageArgs, { isError, content }: PresentedResult): ToolResultView {
  const shown = textContent(content)
  return { card: 'generic', title: `Read image ${file_path}`, content: isError ? shown : shown.filter(({ type }) => type === 'image') }
}
