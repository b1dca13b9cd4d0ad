import { HarnessError } from '../base/harness-error.ts'

/**
 * The language services that the editor has for its files, asked about the text as it stands in the editor. One question, one raw answer:
 * whether to ask again is the caller's to decide.
 *
 * Source: capability specification 17.
 */
export interface Languages {
  /** Errors: `LanguageError`; the signal's reason once it fired, a late answer is dropped. */
  ask(question: LanguageQuestion, signal: AbortSignal): Promise<LanguageAnswer>
}

export type LanguageOperation =
  | 'goToDefinition'
  | 'findReferences'
  | 'goToImplementation'
  | 'hover'
  | 'goToTypeDefinition'
  | 'documentSymbols'
  | 'workspaceSymbols'
  | 'incomingCalls'
  | 'outgoingCalls'
  | 'supertypes'
  | 'subtypes'
  | 'diagnostics'

export interface LanguageQuestion {
  readonly operation: LanguageOperation
  /** Absolute path, or URI text for other schemes than `file`. */
  readonly path: string
  /** Zero-based, UTF-16 units. Of the operations about a place. */
  readonly position: Position
  /** Of `workspaceSymbols`. */
  readonly query?: string
}

export type Position = { readonly line: number; readonly character: number }
export type LanguageRange = { readonly start: Position; readonly end: Position }
export type LanguageLocation = { readonly uri: string; readonly range: LanguageRange }

export interface LanguageSymbol extends LanguageLocation {
  readonly name: string
  /** Word of the protocol for its kind, such as `function`. */
  readonly kind: string
  /** What it stands in. */
  readonly container?: string
}

export interface LanguageProblem {
  readonly range: LanguageRange
  readonly severity: 'error' | 'warning' | 'information' | 'hint'
  readonly message: string
  readonly source?: string
}

export type LanguageAnswer =
  | { readonly kind: 'locations'; readonly locations: readonly LanguageLocation[] }
  | { readonly kind: 'hover'; readonly contents: string | null; readonly range?: LanguageRange }
  | { readonly kind: 'symbols'; readonly symbols: readonly LanguageSymbol[] }
  | { readonly kind: 'problems'; readonly problems: readonly LanguageProblem[] }

export type LanguageErrorCode =
  | 'LSP_WORKSPACE_REQUIRED'
  | 'LSP_UNAVAILABLE'
  | 'LSP_UNSUPPORTED_OPERATION'
  | 'LSP_MALFORMED_RESPONSE'

export class LanguageError extends HarnessError<LanguageErrorCode> {}
