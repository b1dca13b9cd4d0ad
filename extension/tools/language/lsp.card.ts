import { isJsonObject, type JsonObject } from '../../base/json.ts'
import type { PresentedResult } from '../../core/tools/definition.ts'
import type { FileDiff, ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { asList, asNumber, asString, textContent } from '../card-facts.ts'
import { diffFrom } from '../files/change-card.ts'
import { matchesView } from '../match-facts.ts'

/** Arguments as a card needs them. */
export interface LspArgs {
  readonly operation: string
  readonly file_path: string
  readonly line: number
  readonly character: number
  readonly symbol?: string
  readonly query?: string
  readonly new_name?: string
  readonly title?: string
}

/** What is asked about a place, and the word before the name that stands there. */
const askedFor: ReadonlyMap<string, readonly [what: string, word: string]> = new Map([
  ['goToDefinition', ['the definition', 'of']],
  ['findReferences', ['references', 'to']],
  ['goToImplementation', ['implementations', 'of']],
  ['goToTypeDefinition', ['the type', 'of']],
  ['incomingCalls', ['callers', 'of']],
  ['outgoingCalls', ['calls', 'from']],
  ['supertypes', ['supertypes', 'of']],
  ['subtypes', ['subtypes', 'of']],
])

export function presentCall({ operation, file_path, line, symbol, query, new_name, title: action }: LspArgs): ToolCallView {
  const locations = [{ path: file_path, line }]
  if (operation === 'rename') return { card: 'generic', title: `Rename ${symbol ?? `what stands at ${file_path}:${line}`} to ${new_name ?? ''}`, kind: 'edit', locations }
  if (operation === 'applyCodeAction') return { card: 'generic', title: `${action ?? 'Apply a code action'} in ${file_path}`, kind: 'edit', locations }
  const [now, past, what] = questionWords({ operation, file_path, symbol: symbol ?? '', query })
  return { card: 'generic', title: `${now} ${what}`, doneTitle: `${past} ${what}`, kind: 'search', locations }
}

/** The verb of a question now and in the past, and what it is about. */
function questionWords({ operation, file_path, symbol, query }: { readonly operation: string; readonly file_path: string; readonly symbol: string; readonly query: string | undefined }): readonly [now: string, past: string, what: string] {
  const [asked, word] = askedFor.get(operation) ?? []
  if (asked !== undefined) return ['Look for', 'Looked for', symbol === '' ? `${asked} in ${file_path}` : `${asked} ${word} ${symbol} in ${file_path}`]
  switch (operation) {
    case 'hover':
      return ['Look up', 'Looked up', symbol === '' ? `a place in ${file_path}` : `${symbol} in ${file_path}`]
    case 'documentSymbols':
      return ['List', 'Listed', `symbols in ${file_path}`]
    case 'workspaceSymbols':
      return ['Look for', 'Looked for', `symbols like ${query ?? symbol}`]
    case 'diagnostics':
      return ['Look at', 'Looked at', `problems in ${file_path}`]
    case 'codeActions':
      return ['List', 'Listed', `code actions in ${file_path}`]
    default:
      return ['Ask for', 'Asked for', `${operation} in ${file_path}`]
  }
}

export function presentResult(_args: LspArgs, { isError, content, meta }: PresentedResult): ToolResultView | undefined {
  if (isError || !isJsonObject(meta)) return { card: 'generic', content: textContent(content) }
  return 'made' in meta ? changesView(meta) : matchesView(meta)
}

function changesView(meta: JsonObject): ToolResultView | undefined {
  const made = asString(meta['made'])
  const diffs = asList(meta['files'], (file) => (isJsonObject(file) ? diffsOf(file) : undefined))?.flat()
  if (made === undefined || diffs === undefined) return undefined
  const omitted = asNumber(meta['omittedHunks'])
  const unsaved = asList(meta['unsaved'], asString)
  const newProblems = asString(meta['newProblems'])
  const notes = [
    ...(unsaved === undefined || unsaved.length === 0 ? [] : [`Not saved, because of unsaved changes of yours: ${unsaved.join(', ')}.`]),
    ...(newProblems === undefined ? [] : [newProblems]),
    ...(omitted === undefined ? [] : [`${omitted} more changed regions are not shown here.`]),
  ]
  return { card: 'diff', title: made, diffs, ...(notes.length > 0 && { note: notes.join(' ') }) }
}

function diffsOf(file: JsonObject): readonly FileDiff[] | undefined {
  const path = asString(file['path'])
  return path === undefined ? undefined : asList(file['hunks'], (hunk) => diffFrom(path, hunk))
}
