import { isJsonObject, type Json } from '../base/json.ts'
import type { SearchResultView } from '../protocol/cards.ts'
import { asBoolean, asList, asNumber, asString } from './card-facts.ts'

/** A card of matches by file, from the durable facts of a search; undefined when they are foreign, broken or older. */
export function matchesView(meta: Json | undefined): Extract<SearchResultView, { shape: 'matches' }> | undefined {
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
  const [lineNumber, line, column] = [asNumber(meta['lineNumber']), asString(meta['line']), asNumber(meta['column'])]
  return lineNumber === undefined || line === undefined ? undefined : { lineNumber, line, ...(column !== undefined && { column }) }
}
