import type { Json } from '../../base/json.ts'

/** One piece of a message. Source: runtime specification 16.1. */
export type ContentBlock = TextBlock | ReasoningBlock | ImageBlock | ToolCallBlock | ToolResultBlock
export interface TextBlock {
  readonly type: 'text'
  readonly text: string
  /** Of a message that waits: this part becomes a message of its own with this source once it is taken up. Never of one in the talk. */
  readonly source?: UserSource
}
export interface ReasoningBlock {
  readonly type: 'reasoning'
  readonly text: string
}
export interface ImageBlock {
  readonly type: 'image'
  readonly attachment: AttachmentRef
}
export interface ToolCallBlock {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  /** As the model wrote it: JSON text, or text that is not. */
  readonly arguments: string
}
export interface ToolResultBlock {
  readonly type: 'tool-result'
  readonly callId: string
  readonly content: readonly (TextBlock | ImageBlock)[]
  readonly isError: boolean
}

/** What a tool may hand to the model. */
export type ToolContent = TextBlock | ImageBlock

export interface AttachmentRef {
  /** `sha256:` and 64 hex digits. */
  readonly attachmentId: string
  readonly mediaType: string
  readonly bytes: number
  readonly width?: number
  readonly height?: number
  readonly name?: string
}

export interface UserMessage {
  readonly id: string
  readonly role: 'user'
  readonly content: readonly (TextBlock | ImageBlock)[]
  readonly source: UserSource
}

export interface AssistantMessage {
  readonly id: string
  readonly role: 'assistant'
  readonly content: readonly (TextBlock | ReasoningBlock | ToolCallBlock)[]
  readonly source: { readonly kind: 'model'; readonly provider: string; readonly model: string; readonly replayState?: ReplayState }
}

/** What an adapter wants back on later requests to the same provider, as it gave it on `block-end` and `finish`. */
export type ReplayState = {
  /** One entry for each block of `content`, null where the adapter gave none; absent when it gave none at all. */
  readonly blocks?: readonly Json[]
  readonly message?: Json
}

export interface ToolMessage {
  readonly id: string
  readonly role: 'tool'
  readonly content: readonly [ToolResultBlock]
  readonly source: { readonly kind: 'tool'; readonly callId: string }
}

export type Message = UserMessage | AssistantMessage | ToolMessage

/** Who speaks in a user-role message; only `user` looks like a prompt. Features merge their own kinds in. */
export interface UserSources {
  user: object
  plugin: {
    readonly plugin: string
    readonly form?: 'instructions' | 'catalog' | 'snapshot' | 'notice' | 'relay' | 'recall'
    /** Of a notice, at most 120 characters: `noticeSummary` cuts, the log refuses more. */
    readonly summary?: string
    /** Of a snapshot. */
    readonly sections?: readonly string[]
  }
}
export type UserSource = {
  [Kind in keyof UserSources]: { readonly kind: Kind } & UserSources[Kind]
}[keyof UserSources]
