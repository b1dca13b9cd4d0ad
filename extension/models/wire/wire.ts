import type { Clock } from '../../capabilities/clock.ts'
import type { Http } from '../../capabilities/http.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Secrets } from '../../capabilities/secrets.ts'
import type { Failure, Message, ModelInfo, ModelRequest, StreamChunk } from '../../core/model/contract.ts'
import type { ModelFacts, ProviderConfig } from '../../core/model/provider-config.ts'
import type { BodyPiece } from './body.ts'

/** One protocol between Bosun and a model server: all that differs from server kind to server kind. */
export interface Wire {
  /** The headers that say who asks. */
  headers(key: string | null): Readonly<Record<string, string>>
  /** Errors: `ModelError` for what the model or the protocol cannot carry. */
  write(request: ModelRequest, context: WriteContext): Promise<WireRequest>
  createReader(context: ReadContext): WireReader
  readonly models: {
    /** Below the base URL. */
    readonly path: string
    /** Null when it is no list of models. What is odd in it is left out. */
    read(list: unknown): readonly ListedModel[] | null
  }
}

export interface WireRequest {
  /** Below the base URL. */
  readonly path: string
  /** Beside those that say who asks. */
  readonly headers?: Readonly<Record<string, string>>
  /** JSON in pieces. What is the same in each request of a talk comes first, the messages last. */
  readonly body: readonly BodyPiece[]
}

/** By message: the JSON of its parts. */
export type Written = WeakMap<Message, readonly Uint8Array<ArrayBuffer>[]>

export interface WriteContext {
  readonly config: ProviderConfig
  readonly info: ModelInfo
  /**
   * JSON of messages already written for this model, those with images left out: each is written once, so that two requests
   * share their beginning byte for byte and a long talk costs no more than a short one.
   */
  readonly written: Written
}

export interface ReadContext {
  /** What an error told inside of the stream means. */
  readonly failureFrom: (error: unknown) => Failure
}

/** Reads the events of one answer. After a `finish` it is not asked again. */
export interface WireReader {
  /** Errors: `MalformedEvent` for what is no event of this protocol; events of an unknown kind are passed over. */
  take(event: unknown): readonly StreamChunk[]
  /** The stream is over. Without a `finish` it was cut off. */
  end(): readonly StreamChunk[]
}

export class MalformedEvent extends Error {
  override readonly name = 'MalformedEvent'
}

export interface ListedModel {
  readonly id: string
  readonly facts: ModelFacts
}

export interface AdapterParts {
  readonly config: ProviderConfig
  readonly http: Http
  readonly secrets: Secrets
  readonly clock: Clock
  readonly logger: Logger
  /** Milliseconds a stream may be silent. Source: setting `llm.idleTimeoutMs`. */
  readonly idleTimeoutMs: () => number
}
