import { isJsonObject, type Json } from '../../base/json.ts'
import type { LanguageOperation } from '../../capabilities/languages.ts'
import { ToolError } from '../../core/tools/definition.ts'

/** For one call; working out what a change would do has as long again. */
export const TIMEOUT_MS = 60_000

const questions = [
  'goToDefinition',
  'findReferences',
  'goToImplementation',
  'hover',
  'goToTypeDefinition',
  'documentSymbols',
  'workspaceSymbols',
  'incomingCalls',
  'outgoingCalls',
  'supertypes',
  'subtypes',
  'diagnostics',
] as const satisfies readonly LanguageOperation[]
const changes = ['rename', 'applyCodeAction'] as const
export const operations = [...questions, 'codeActions', ...changes] as const
export type LspOperation = (typeof operations)[number]
/** About a file or the workspace, not about a place. */
export const placelessOperations: ReadonlySet<LspOperation> = new Set(['documentSymbols', 'workspaceSymbols', 'diagnostics'])
/** They change files. */
export const changingOperations: ReadonlySet<LspOperation> = new Set(changes)

/** The arguments of one call, checked. */
export interface LspCall {
  readonly operation: LspOperation
  readonly file_path: string
  readonly line: number
  readonly character: number
  readonly symbol?: string
  readonly near_line?: number
  readonly query?: string
  readonly new_name?: string
  readonly title?: string
}

/** Errors: `ToolError` `INVALID_ARGS`. */
export function checkArguments(args: LspCall): void {
  if (args.file_path.trim() === '') throw invalid('file_path is blank. Give the path of a file.')
  for (const name of ['line', 'character', 'near_line'] as const) {
    const value = args[name]
    if (value !== undefined && (!Number.isInteger(value) || value < 1)) throw invalid(`${name} must be a whole number of 1 or more, not ${value}.`)
  }
  if (args.operation === 'rename' && (args.new_name ?? '').trim() === '') throw invalid('rename needs new_name, the name to give.')
  if (args.operation === 'applyCodeAction' && (args.title ?? '').trim() === '') throw invalid('applyCodeAction needs title, as codeActions lists it for this place.')
}

/** What checked arguments are, with numbers in the place of those that a symbol spares. */
export function withPlace(args: Json): Json {
  if (!isJsonObject(args)) return args
  const isSpared = typeof args['symbol'] === 'string' || placelessOperations.has(args['operation'] as LspOperation)
  return isSpared ? { line: 1, character: 1, ...args } : args
}

/** The line was named, not filled in. */
export const isLineGiven = (args: Json) => isJsonObject(args) && typeof args['line'] === 'number'

const invalid = (message: string) => new ToolError('INVALID_ARGS', message)
