import type { Json, JsonObject } from '../../base/json.ts'
import type { Undo } from '../../base/undo.ts'
import { HarnessError } from '../../base/harness-error.ts'
import type { ScopeKey } from '../kernel/plugin.ts'
import type { Message } from '../log/message.ts'

// What an adapter reads and writes; adapters know nothing else of the log.
export type { ImageBlock, Message, TextBlock, ToolCallBlock } from '../log/message.ts'

/**
 * A way to reach models, registered under a route (provider id).
 *
 * Errors: `stream` throws only before its first part (the caller normalises the throw); afterwards a failure is
 *         the last part, `finish` with reason `error` or `aborted`.
 * Source: runtime specification 16.1.
 */
export interface ModelAdapter {
  readonly provider: ProviderInfo
  readonly retryPolicy?: RetryPolicy
  /** Advisory: a model that is not listed may exist. */
  listModels(signal: AbortSignal): Promise<readonly ModelInfo[]>
  /** Facts about one model; defaults where the provider says nothing. Errors: `ModelError` `UNKNOWN_MODEL`. */
  resolveModel(model: string): Promise<ModelInfo>
  stream(request: ModelRequest): AsyncIterable<StreamChunk>
  /** Say in plain words whether it works (for `model`, when named) and, if not, what is wrong and what to do next. Never throws. */
  check(signal: AbortSignal, model?: string): Promise<ConnectionReport>
}

export interface ProviderInfo {
  /** The route, such as `deepseek-official`. */
  readonly id: string
  readonly name: string
  /** Not a model at all but a written script; the view says so plainly. */
  readonly isScripted?: true
  /** Name of the key in the secrets, when it needs one. */
  readonly keyName?: string
  /** Offered once it has a key, and not before. */
  readonly isPreset?: true
  /** Runs on this machine. */
  readonly isLocal?: true
}

export interface ModelInfo {
  readonly id: string
  readonly name: string
  /** Tokens. */
  readonly contextWindow: number
  readonly maxOutputTokens: number
  readonly input: readonly ('text' | 'image')[]
  /** Empty: the model knows no efforts. */
  readonly reasoningEfforts: readonly string[]
  /** Absent: what it costs is unknown. */
  readonly price?: ModelPrice
}

/** Money per million tokens. */
export interface ModelRates {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Reasoning too. */
  readonly output: number
}

export interface ModelPrice extends ModelRates {
  readonly currency: 'USD'
  /** Holds for the whole of a request whose input, cached or not, is longer. */
  readonly long?: ModelRates & { readonly aboveTokens: number }
  /** Outside the peak hours (UTC, end exclusive) of the peak days (0: Sunday) everything costs `factor` times as much. */
  readonly offPeak?: { readonly factor: number; readonly peakHours: readonly (readonly [from: number, to: number])[]; readonly peakDays: readonly number[] }
}

export interface ToolDeclaration {
  readonly name: string
  readonly description: string
  readonly parameters: JsonObject
}

/** What a call is made with; every part can be rebuilt from the log. */
export interface CallConfiguration {
  readonly provider: string
  readonly model: string
  readonly reasoningEffort?: string
  readonly temperature?: number
  readonly maxTokens?: number
  readonly stop?: readonly string[]
}

export interface ModelRequest {
  readonly system?: string
  readonly tools: readonly ToolDeclaration[]
  readonly messages: readonly Message[]
  readonly config: CallConfiguration
  readonly sessionId?: string
  readonly purpose?: 'turn' | 'title' | 'compaction'
  readonly signal: AbortSignal
  /** Bytes of an attachment the messages refer to. */
  readonly loadAttachment: (attachmentId: string) => Promise<Uint8Array>
}

/** Disjoint counts of tokens: `inputTokens` does not hold the cached ones, `outputTokens` not the reasoning. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
  /** Nobody counted: the numbers are Bosun's own estimate. */
  readonly isEstimate?: true
}

/** Parts of a streamed answer. `index` names a block; the first `block-end` of a block wins. */
export type StreamChunk =
  | { readonly type: 'block-start'; readonly index: number; readonly block: 'text' | 'reasoning' | 'tool-call' }
  | { readonly type: 'text-delta'; readonly index: number; readonly delta: string }
  | { readonly type: 'reasoning-delta'; readonly index: number; readonly delta: string }
  | {
      readonly type: 'tool-call-delta'
      readonly index: number
      readonly id?: string
      readonly name?: string
      readonly argumentsDelta: string
    }
  | { readonly type: 'block-end'; readonly index: number; readonly replayState?: Json }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly replayState?: Json }

export type FinishReason =
  | { readonly kind: 'stop' }
  | { readonly kind: 'tool-calls' }
  | { readonly kind: 'max-tokens' }
  | { readonly kind: 'aborted'; readonly failure: Failure }
  | { readonly kind: 'error'; readonly failure: Failure }

/** Why a request failed. `message` says what to do next. */
export interface Failure {
  readonly message: string
  readonly code: FailureCode
  readonly status?: number
  /** As the provider asks for it, as far as it is believed (`believedWait`). */
  readonly providerRetryAfterMs?: number
  readonly requestId?: string
}

export type FailureCode =
  | 'AUTH'
  | 'QUOTA'
  | 'RATE_LIMIT'
  | 'CONTEXT_WINDOW_EXCEEDED'
  | 'INVALID_REQUEST'
  | 'SERVER'
  | `HTTP_${number}`
  | 'TRANSPORT'
  | 'CERTIFICATE'
  | 'TIMEOUT'
  | 'ABORTED'
  | 'STREAM_CLOSED'
  | 'MALFORMED_RESPONSE'
  | 'EMPTY_RESPONSE'
  | 'MISSING_CREDENTIAL'
  | 'INVALID_CREDENTIAL'
  | 'NO_ADAPTER'
  | 'UNKNOWN_MODEL'
  | 'UNSUPPORTED_REASONING_EFFORT'
  | 'UNSUPPORTED_CONTENT'
  | 'DUPLICATE_ADAPTER'
  | 'INVALID_PREPARED_CALL'
  | 'INVALID_MODEL_ID'
  | 'INVALID_MODEL_WINDOW'
  | 'INVALID_MODEL_OUTPUT'
  | 'INVALID_MODEL_INPUT'
  | 'INVALID_MODEL_EFFORTS'
  | 'UNKNOWN'

export interface RetryPolicy {
  readonly mode: 'normal' | 'always'
  readonly maxRetries: number
  readonly initialDelayMs: number
  readonly maxDelayMs: number
  /** Share of the delay that is spread evenly to both sides, 0 to 1. */
  readonly jitter: number
}

export interface ConnectionReport {
  readonly isOk: boolean
  readonly code?: FailureCode
  /** Plain words, with what to do next when it is not ok. */
  readonly message: string
}

export class ModelError extends HarnessError<FailureCode> {
  readonly failure: Failure

  constructor(failure: Failure, options?: ErrorOptions) {
    super(failure.code, failure.message, options)
    this.failure = failure
  }
}

/** The routes there are. Emits `llm/adapters-updated` on every change. */
export interface ModelRegistry {
  /** Errors: `ModelError` `DUPLICATE_ADAPTER`. */
  register(adapter: ModelAdapter): Undo
  get(provider: string): ModelAdapter | undefined
  list(): readonly ModelAdapter[]
  /**
   * Bind one adapter for exactly one stream, through the `llm/stream` waterfall (`scope`: the agent's layer).
   * A throw of the adapter becomes a `finish` part, a throw of a listener stays one. For a route nobody registered the
   * stream ends with `NO_ADAPTER`, unless a listener serves it. Errors: `stream` throws `INVALID_PREPARED_CALL` on reuse.
   */
  prepareCall(provider: string, scope?: ScopeKey | null): PreparedCall
}

export interface PreparedCall {
  readonly adapter: ModelAdapter
  stream(request: ModelRequest): AsyncIterable<StreamChunk>
}

declare module '../kernel/plugin.ts' {
  interface Services {
    models: ModelRegistry
  }
}
