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
  /**
   * The changes that giving a name another one would make. Nothing is changed. Null where nobody answers, as while a service starts.
   * Errors: `LanguageError` `LSP_REFUSED` with the words of the service, such as that this cannot be renamed.
   */
  rename(request: RenameRequest, signal: AbortSignal): Promise<LanguageEdit | null>
  /** What could be done about a range: quick fixes, refactorings, source actions. Empty where nobody answers. */
  codeActions(request: CodeActionRequest, signal: AbortSignal): Promise<readonly LanguageCodeAction[]>
  /** The changes of the action with that title. Null where there is no such action. */
  codeActionEdit(request: CodeActionRequest & { readonly title: string }, signal: AbortSignal): Promise<LanguageEdit | null>
}

export interface RenameRequest {
  readonly path: string
  readonly position: Position
  readonly newName: string
}

export interface CodeActionRequest {
  readonly path: string
  readonly range: LanguageRange
}

export interface LanguageCodeAction {
  readonly title: string
  /** Word of the protocol, such as `quickfix` or `refactor.extract`. */
  readonly kind?: string
  /** Why it cannot be done here. */
  readonly disabled?: string
  readonly isPreferred?: true
  /** It does its work by a command of the editor, so what it changes is not known before. */
  readonly isCommand?: true
}

/** Changes to texts that a service proposes. Ranges are of the text as it stood while it was asked. */
export interface LanguageEdit {
  readonly files: readonly { readonly path: string; readonly edits: readonly { readonly range: LanguageRange; readonly newText: string }[] }[]
  /** What it would do besides, in words: "create src/new.ts". */
  readonly others: readonly string[]
  /** A command that would run after the changes. */
  readonly command?: string
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
  | 'LSP_REFUSED'
  | 'LSP_TOO_MANY_CHANGES'
  /** The server was stopped with the window, or by its settings. */
  | 'LSP_DISPOSED'
  | 'WORKSPACE_UNTRUSTED'

export class LanguageError extends HarnessError<LanguageErrorCode> {}
