import type { JsonObject } from '../../base/json.ts'
import type { ToolResult } from '../../core/tools/definition.ts'

/** A call of one of Bosun's tools by the editor's own chat, or by an extension. */
export interface EditorCall {
  /** The chat it belongs to, as the editor names it; null outside of a chat. */
  readonly chat: string | null
  /** Bosun's name of the tool. */
  readonly tool: string
  readonly input: JsonObject
  readonly signal: AbortSignal
}

/** What the person is to be asked before a call, in words as an approval has them. */
export interface CallQuestion {
  readonly effect: string
  readonly why: string
}

/**
 * Calls from the editor's chat. Each chat has a session of its own, in whose turns its calls go through the whole pipeline, so that the
 * log keeps them and their changes can be reviewed.
 */
export interface EditorCalls {
  /**
   * What to ask the person before a call: null when policy lets it through, when it refuses it, and when Bosun asks itself. Whoever
   * asks makes the call only after a yes, which is then the answer to Bosun's own question, once. Nothing is changed.
   *
   * Errors: what keeps the call from being judged; the signal's reason.
   */
  prepare(call: EditorCall): Promise<CallQuestion | null>
  /** Make it. Errors: `EditorCallError`; the signal's reason, after the call has been told to stop. */
  run(call: EditorCall): Promise<ToolResult>
  /** The session of a chat, once it has one. */
  sessionOf(chat: string | null): string | undefined
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    editorCalls: EditorCalls
  }
}

