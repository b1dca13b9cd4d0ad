import { isJsonObject, type Json } from '../../base/json.ts'
import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { asBoolean, asList, asNumber, asString, textContent } from '../card-facts.ts'

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
  if (!isJsonObject(meta)) return undefined
  const [files, total, truncated] = [asList(meta['files'], fileFrom), asNumber(meta['total']), asBoolean(meta['truncated'])]
  if (files === undefined || total === undefined || truncated === undefined) return undefined
  return { card: 'search', shape: 'matches', files, total, truncated }
}

function fileFrom(meta: Json) {
  if (!isJsonObject(meta)) return undefined
  const [path, matches] = [asString(meta['path']), asList(meta['matches'], matchFrom)]
  return path === undefined || matches === undefined ? undefined : { path, matches }
}

function matchFrom(meta: Json) {
  if (!isJsonObject(meta)) return undefined
  const [lineNumber, line] = [asNumber(meta['lineNumber']), asString(meta['line'])]
  return lineNumber === undefined || line === undefined ? undefined : { lineNumber, line }
}
