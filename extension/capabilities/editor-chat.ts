import type { JsonObject } from '../base/json.ts'
import type { EditorToolPart } from './editor-tools.ts'

/** Bosun's tools as the editor's own chat calls them. */
export interface OfferedTools {
  /**
   * What the editor shows while the call runs, and what it asks the person before; null: nothing. Whoever asks makes the call only after
   * a yes. Errors: what keeps the call from being looked at; the signal's reason.
   */
  prepare(call: OfferedCall): Promise<PreparedOffer>
  /** Errors: `Error` with the reason, in words for the model; the signal's reason. */
  invoke(call: OfferedCall): Promise<readonly EditorToolPart[]>
}

export interface OfferedCall {
  /** Bosun's name of the tool. */
  readonly tool: string
  /** As the model wrote it; the editor has held it to the schema. */
  readonly input: JsonObject
  /** The chat it belongs to, as the editor names it; null outside of one, or where the editor does not say. */
  readonly chat: string | null
  readonly signal: AbortSignal
}

export interface PreparedOffer {
  readonly message: string
  /** As Markdown. */
  readonly question: { readonly title: string; readonly text: string } | null
}

/** Bosun behind `@bosun` in the editor's own chat: each thread there is one session here. */
export interface EditorChatTalk {
  /** One message of the person, until what it began has ended. Errors: none that a person can mend: those are the result's `problem`. */
  answer(request: TalkRequest, stream: TalkStream): Promise<TalkResult>
}

export interface TalkRequest {
  readonly text: string
  readonly references: readonly TalkReference[]
  /** What the last answer of the thread gave; null for the first message, and where the person begins anew. */
  readonly sessionId: string | null
  /** The model that is picked in the chat, as `EditorModel.id`; null where none is. */
  readonly model: string | null
  readonly signal: AbortSignal
}

/** What the person points at; `range`: where it stands in the text, as UTF-16 offsets with the end exclusive. */
export type TalkReference = { readonly range: readonly [start: number, end: number] | null } & (
  | { readonly kind: 'file'; readonly path: string; /** 1-based, ends inclusive. */ readonly lines: readonly [first: number, last: number] | null }
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  | { readonly kind: 'image'; readonly bytes: Uint8Array; readonly mediaType: string }
  /** Nothing that can be handed on. */
  | { readonly kind: 'other'; readonly name: string }
)

/** Where an answer is shown as it comes. */
export interface TalkStream {
  /** Markdown, a piece. */
  text(markdown: string): void
  /** One line of what happens now. */
  progress(words: string): void
  /** A button that opens the session in Bosun's own view. */
  open(sessionId: string, label: string): void
}

export interface TalkResult {
  readonly sessionId: string | null
  /** Why there is no answer, or none to its end, in words for the person. */
  readonly problem: string | null
}
