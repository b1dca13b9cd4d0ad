import { deepFreeze } from '../../base/json.ts'
import type { Message } from '../log/message.ts'
import type { RequestHeader } from '../log/event.ts'
import type { CallConfiguration, ModelAdapter, ModelInfo, ModelRequest } from '../model/contract.ts'
import { resolveChecked } from '../model/checked-info.ts'
import type { AgentLog } from './agent-log.ts'

export interface RequestParts {
  readonly config: CallConfiguration
  readonly system: string
  readonly tools: NonNullable<RequestHeader['tools']>
  readonly contextWindow: number | undefined
}

/**
 * What the requests of one agent have in common, told to the log when it is new or changed.
 *
 * An unchanged header keeps its objects, so that two requests in a row are byte for byte the same up to what was added.
 * Source: runtime specification 10.2, 10.4.
 */
export class RequestHistory {
  readonly #log: AgentLog
  readonly #hasHeader: boolean
  #header: RequestHeader | null = null
  #told: Told | null = null
  #contextText = ''
  #lastSeq = -1

  /** `hasHeader`: the log holds a header already, from before this agent. */
  constructor(log: AgentLog, { hasHeader }: { readonly hasHeader: boolean }) {
    this.#log = log
    this.#hasHeader = hasHeader
  }

  /** `seq` of the newest event written here; -1 before the first. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  /** Write what changed. Gives the header that holds. */
  record(parts: RequestParts): RequestHeader {
    this.#recordHeader(parts)
    this.#recordContext(parts)
    return this.#header as RequestHeader
  }

  #recordHeader({ config, system, tools }: RequestParts): void {
    const before = this.#told
    // The list is long, and the very same as long as nothing in it changes.
    const told = { configText: JSON.stringify(config), system, tools, toolsText: before?.tools === tools ? before.toolsText : JSON.stringify(tools) }
    if (before?.configText !== told.configText || before.system !== system || before.toolsText !== told.toolsText) {
      const header: RequestHeader = { config, ...(system !== '' && { system }), ...(tools.length > 0 && { tools }) }
      const reason = before !== null ? 'change' : this.#hasHeader ? 'resume' : 'initial'
      const written = this.#log.append<'request/header'>({ type: 'request/header', data: { header, reason } })
      this.#header = written.data.header
      this.#lastSeq = written.seq
    }
    this.#told = told
  }

  #recordContext({ config: { provider, model }, contextWindow }: RequestParts): void {
    const data = { provider, model, ...(contextWindow !== undefined && { contextWindow }) }
    const text = JSON.stringify(data)
    if (text === this.#contextText) return
    this.#lastSeq = this.#log.append({ type: 'request/context', data }).seq
    this.#contextText = text
  }
}

/** What the newest header says, to be compared. */
interface Told {
  readonly configText: string
  readonly system: string
  readonly tools: RequestParts['tools']
  readonly toolsText: string
}

/** A frozen request over a header and the messages of the log. */
export function requestFrom(parts: {
  readonly header: RequestHeader
  readonly messages: readonly Message[]
  readonly sessionId: string
  readonly signal: AbortSignal
  readonly loadAttachment: (attachmentId: string) => Promise<Uint8Array>
}): ModelRequest {
  const { header, messages, sessionId, signal, loadAttachment } = parts
  return Object.freeze({
    ...(header.system !== undefined && { system: header.system }),
    tools: deepFreeze(header.tools ?? []),
    // Messages are frozen by the log; the list is the session's own when that is frozen too.
    messages: Object.isFrozen(messages) ? messages : Object.freeze([...messages]),
    config: deepFreeze(header.config),
    sessionId,
    purpose: 'turn',
    signal,
    loadAttachment,
  })
}

/** Facts about the model in use, asked for once while adapter and model stay the same. */
export class ModelFacts {
  #known: { readonly adapter: ModelAdapter; readonly model: string; readonly info: ModelInfo } | null = null

  /** Undefined for a route without an adapter, which a middleware may serve. Errors: `ModelError` `UNKNOWN_MODEL`. */
  async of(adapter: ModelAdapter | undefined, model: string): Promise<ModelInfo | undefined> {
    if (!adapter) return undefined
    if (this.#known?.adapter === adapter && this.#known.model === model) return this.#known.info
    const info = await resolveChecked(adapter, model)
    this.#known = { adapter, model, info }
    return info
  }
}
