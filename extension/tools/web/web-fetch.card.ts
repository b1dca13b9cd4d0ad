import { isJsonObject } from '../../base/json.ts'
import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { asBoolean, asNumber, asString, textContent } from '../card-facts.ts'

/** Arguments as a card needs them. */
export interface WebFetchArgs {
  readonly url: string
}

export function presentCall({ url }: WebFetchArgs): ToolCallView {
  const subject = url.trim()
  return { card: 'generic', title: `Fetch ${subject}`, kind: 'fetch', subject }
}

export function presentResult(_args: WebFetchArgs, { isError, content, meta }: PresentedResult): ToolResultView | undefined {
  if (isError) return { card: 'generic', content: textContent(content) }
  if (!isJsonObject(meta)) return undefined
  const [url, statusCode, truncated] = [asString(meta['url']), asNumber(meta['statusCode']), asBoolean(meta['truncated'])]
  if (url === undefined || statusCode === undefined || truncated === undefined) return undefined
  return { card: 'web', kind: 'fetch', url, statusCode, truncated }
}
