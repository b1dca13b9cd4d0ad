import { HarnessError } from '../base/harness-error.ts'
import type { JsonObject } from '../base/json.ts'
import type { Undo } from '../base/undo.ts'

/** The tools that extensions have registered with the editor for language models. */
export interface EditorTools {
  /** As they are now, Bosun's own among them. Empty where the editor has none. */
  list(): readonly EditorToolFacts[]
  /**
   * Run one; the editor may ask the person first.
   *
   * Errors: `EditorToolError`; the signal's reason, when the tool has been told to stop.
   */
  invoke(call: { readonly name: string; readonly input: JsonObject; readonly signal: AbortSignal }): Promise<readonly EditorToolPart[]>
  /** Extensions came or went, so the list may be another one. */
  onDidChange(listener: () => void): Undo
}

export interface EditorToolFacts {
  readonly name: string
  readonly description: string
  /** JSON Schema, as its extension wrote it. */
  readonly inputSchema: JsonObject
}

/** What is neither text nor an image has only its kind, such as a media type. */
export type EditorToolPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly bytes: Uint8Array; readonly mediaType: string }
  | { readonly type: 'other'; readonly kind: string; readonly bytes: number }

/** `EDITOR_TOOL_GONE`: the editor has no tool of this name (any more). `EDITOR_TOOL_REFUSED`: the person or the editor said no. `EDITOR_TOOL_FAILED`: in its own words. */
export type EditorToolErrorCode = 'EDITOR_TOOL_GONE' | 'EDITOR_TOOL_REFUSED' | 'EDITOR_TOOL_FAILED'

export class EditorToolError extends HarnessError<EditorToolErrorCode> {}

/** What the names of the tools begin with that Bosun itself registers with the editor. */
export const OWN_TOOL_PREFIX = 'bosun_'
