import { isJsonObject, type Json } from '../../base/json.ts'
import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { asBoolean, asList, asString, textContent } from '../card-facts.ts'

/** Arguments as a card needs them. */
export interface WebSearchArgs {
  readonly queries: readonly string[]
}

export function presentCall({ queries }: WebSearchArgs): ToolCallView {
  const subject = queries.map((query) => query.replace(/\s+/g, ' ').trim()).join(', ')
  return { card: 'generic', title: `Search the web for ${subject}`, kind: 'search', subject }
}

export function presentResult(_args: WebSearchArgs, { isError, content, meta }: PresentedResult): ToolResultView | undefined {
  if (isError) return { card: 'generic', content: textContent(content) }
  if (!isJsonObject(meta)) return undefined
  const [sources, truncated, answer] = [asList(meta['sources'], sourceFrom), asBoolean(meta['truncated']), asString(meta['answer'])]
  if (sources === undefined || truncated === undefined) return undefined
  return { card: 'web', kind: 'search', sources, ...(answer !== undefined && { answer }), truncated }
}

function sourceFrom(value: Json) {
  if (!isJsonObject(value)) return undefined
  const [url, title, snippet, publishedAt] = [asString(value['url']), asString(value['title']), asString(value['snippet']), asString(value['publishedAt'])]
  if (url === undefined) return undefined
  return { url, ...(title !== undefined && { title }), ...(snippet !== undefined && { snippet }), ...(publishedAt !== undefined && { publishedAt }) }
}
