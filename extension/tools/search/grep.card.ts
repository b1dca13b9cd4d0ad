import type { PresentedResult } from '../../core/tools/definition.ts'
import type { EditorQuery, ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { textContent } from '../card-facts.ts'
import { matchesView } from '../match-facts.ts'

/** Arguments as a card needs them. */
export interface GrepCardArgs {
  readonly pattern: string
  readonly path?: string
  readonly include?: string
  readonly ignore_case?: boolean
  readonly include_ignored?: boolean
  readonly multiline?: boolean
}

export function presentCall({ pattern, path, include }: GrepCardArgs): ToolCallView {
  const subject = `${pattern}${path === undefined ? '' : ` in ${path}`}${include === undefined ? '' : ` (${include})`}`
  return { card: 'generic', title: `Search for ${subject}`, kind: 'search', subject }
}

export function presentResult(args: GrepCardArgs, { isError, content, meta }: PresentedResult): ToolResultView | undefined {
  if (isError) return { card: 'generic', content: textContent(content) }
  const view = matchesView(meta)
  return view === undefined ? undefined : { ...view, query: queryOf(args) }
}

/** The same search for the editor's own view. */
function queryOf({ pattern, path, include, ignore_case, include_ignored, multiline }: GrepCardArgs): EditorQuery {
  // An include without a folder matches at any depth, there too.
  const files = path === undefined ? include : include === undefined ? path : `${path.replace(/\/$/, '')}/${include.includes('/') ? '' : '**/'}${include.replace(/^\//, '')}`
  return {
    pattern,
    isCaseSensitive: ignore_case !== true,
    ...(files !== undefined && { files }),
    ...(multiline === true && { isMultiline: true }),
    ...(include_ignored === true && { includesIgnored: true }),
  }
}
