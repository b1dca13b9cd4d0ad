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
  ['codeActions', 'List code actions'],
])

export function presentCall({ operation, file_path, line, symbol, query, new_name, title: action }: LspArgs): ToolCallView {
  const locations = [{ path: file_path, line }]
  if (operation === 'rename') return { card: 'generic', title: `Rename ${symbol ?? `what stands at ${file_path}:${line}`} to ${new_name ?? ''}`, kind: 'edit', locations }
  if (operation === 'applyCodeAction') return { card: 'generic', title: `${action ?? 'Apply a code action'} in ${file_path}`, kind: 'edit', locations }
  const what = operation === 'workspaceSymbols' ? (query ?? symbol ?? '') : symbol === undefined ? '' : symbol
  const title = [verbs.get(operation) ?? operation, what, operation === 'workspaceSymbols' ? '' : `in ${file_path}`].filter((part) => part !== '').join(' ')
  return { card: 'generic', title, kind: 'search', locations }
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
