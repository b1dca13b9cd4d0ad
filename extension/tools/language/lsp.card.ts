import { isJsonObject, type Json } from '../../base/json.ts'
import type { PresentedResult } from '../../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { textContent } from '../card-facts.ts'
import { matchesView } from '../match-facts.ts'
import { shownUri } from './shown-uri.ts'
import type { LspValue } from './lsp-value.ts'

/** Arguments as a card needs them. */
export interface LspArgs {
  readonly operation: string
  readonly file_path: string
  readonly line: number
  readonly character: number
  readonly symbol?: string
  readonly query?: string
}

/** Places that a card may add to the log. */
const MAX_META_PLACES = 100

const verbs: ReadonlyMap<string, string> = new Map([
  ['goToDefinition', 'Go to definition'],
  ['findReferences', 'Find references'],
  ['goToImplementation', 'Find implementations'],
  ['goToTypeDefinition', 'Go to type definition'],
  ['hover', 'Hover'],
  ['documentSymbols', 'List symbols'],
  ['workspaceSymbols', 'Find symbols'],
  ['incomingCalls', 'Find callers'],
  ['outgoingCalls', 'Find calls'],
  ['supertypes', 'Find supertypes'],
  ['subtypes', 'Find subtypes'],
  ['diagnostics', 'Look at problems'],
])

/** Durable facts of the card: places by file. */
export function lspMeta(value: LspValue): Json | undefined {
  if (value.kind !== 'locations' && value.kind !== 'symbols') return undefined
  const places =
    value.kind === 'locations'
      ? value.locations.map(({ uri, range, text }) => ({ uri, line: range.start.line + 1, text: text ?? '' }))
      : value.symbols.map(({ uri, range, name, kind }) => ({ uri, line: range.start.line + 1, text: `${kind} ${name}` }))
  const files = new Map<string, { lineNumber: number; line: string }[]>()
  for (const { uri, line, text } of places.slice(0, MAX_META_PLACES)) {
    const path = shownUri(uri, value.resolvedWorkspaceUri)
    files.set(path, [...(files.get(path) ?? []), { lineNumber: line, line: text }])
  }
  return { files: [...files].map(([path, matches]) => ({ path, matches })), total: value.total, truncated: value.total > places.length }
}

export function presentCall({ operation, file_path, line, symbol, query }: LspArgs): ToolCallView {
  const what = operation === 'workspaceSymbols' ? (query ?? symbol ?? '') : symbol === undefined ? '' : symbol
  const title = [verbs.get(operation) ?? operation, what, operation === 'workspaceSymbols' ? '' : `in ${file_path}`].filter((part) => part !== '').join(' ')
  return { card: 'generic', title, kind: 'search', locations: [{ path: file_path, line }] }
}

export function presentResult(_args: LspArgs, { isError, content, meta }: PresentedResult): ToolResultView | undefined {
  if (isError || !isJsonObject(meta)) return { card: 'generic', content: textContent(content) }
  return matchesView(meta)
}
