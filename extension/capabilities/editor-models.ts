import type { Json, JsonObject } from '../base/json.ts'
import type { Undo } from '../base/undo.ts'
import { HarnessError } from '../base/harness-error.ts'

/** The language models that the editor itself offers, from whatever extensions the person has. */
export interface EditorModels {
  /** Never asks the person anything. An empty list where the editor has none. */
  list(): Promise<readonly EditorModel[]>
  /**
   * One answer, part by part. The editor may ask the person for consent with the first one.
   *
   * Errors: `EditorModelError`, also in the middle of an answer. When `signal` fires the editor is told to stop.
   */
  ask(request: EditorModelRequest): AsyncIterable<EditorModelPart>
  onDidChange(listener: () => void): Undo
}

export interface EditorModel {
  /** Unique among all of them: `vendor/id`. */
  readonly id: string
  readonly name: string
  readonly vendor: string
  /** Tokens of one request. */
  readonly maxInputTokens: number
  readonly canReadImages: boolean
  /** Null where the editor does not say. */
  readonly canCallTools: boolean | null
}

export interface EditorModelRequest {
  /** As in the list. */
  readonly modelId: string
  readonly messages: readonly EditorModelMessage[]
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: JsonObject }[]
  /** Options by the vendor's names. */
  readonly options: Readonly<Record<string, Json>>
  readonly signal: AbortSignal
}

/** The editor knows no system role: what holds for the whole talk is the person's first message. */
export interface EditorModelMessage {
  readonly role: 'user' | 'assistant'
  readonly parts: readonly EditorMessagePart[]
}

export type EditorMessagePart =
  | EditorContent
  | { readonly type: 'call'; readonly callId: string; readonly name: string; readonly input: JsonObject }
  | { readonly type: 'result'; readonly callId: string; readonly content: readonly EditorContent[] }
export type EditorContent = { readonly type: 'text'; readonly text: string } | { readonly type: 'image'; readonly bytes: Uint8Array; readonly mediaType: string }

/** What is neither text nor a call has only its kind, such as a media type. */
export type EditorModelPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly callId: string; readonly name: string; readonly input: unknown }
  | { readonly type: 'other'; readonly kind: string }

/** `NO_PERMISSION`: the person or the editor does not let Bosun use it. `BLOCKED`: the quota is used up. `NOT_FOUND`: it is gone. */
export type EditorModelErrorCode = 'NO_PERMISSION' | 'BLOCKED' | 'NOT_FOUND' | 'UNKNOWN'

/** The message is the editor's own words. */
export class EditorModelError extends HarnessError<EditorModelErrorCode> {}
