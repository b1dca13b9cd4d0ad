import { isJsonObject } from '../../base/json.ts'
import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { asBoolean, asNumber, asStrings, textContent } from '../card-facts.ts'

/** Arguments as a card needs them. */
export interface GlobArgs {
  readonly pattern: string
  readonly path?: string
}

export function presentCall({ pattern, path }: GlobArgs): ToolCallView {
  const subject = path === undefined ? pattern : `${pattern} in ${path}`
  return { card: 'generic', title: `Find ${subject}`, kind: 'search', subject }
}

export function presentResult(_args: GlobArgs, { isError, content, meta }: PresentedResult): ToolResultView | undefined {
  if (isError) return { card: 'generic', content: textContent(content) }
  if (!isJsonObject(meta)) return undefined
  const [paths, total, truncated] = [asStrings(meta['paths']), asNumber(meta['total']), asBoolean(meta['truncated'])]
  if (paths === undefined || total === undefined || truncated === undefined) return undefined
  return { card: 'search', shape: 'paths', paths, total, truncated }
}
