import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { textContent } from '../card-facts.ts'
import { matchesView } from '../match-facts.ts'

/** Arguments as a card needs them. */
export interface GrepCardArgs {
  readonly pattern: string
  readonly path?: string
  readonly include?: string
}

export function presentCall({ pattern, path, include }: GrepCardArgs): ToolCallView {
  const subject = `${pattern}${path === undefined ? '' : ` in ${path}`}${include === undefined ? '' : ` (${include})`}`
  return { card: 'generic', title: `Search for ${subject}`, kind: 'search', subject }
}

export function presentResult(_args: GrepCardArgs, { isError, content, meta }: PresentedResult): ToolResultView | undefined {
  if (isError) return { card: 'generic', content: textContent(content) }
  return matchesView(meta)
}
