import type { Json } from '../../base/json.ts'
import type { AssistantMessage, TextBlock, ToolMessage, UserMessage } from './message.ts'
import type { PolicyGrounds } from '../tools/definition.ts'
import type { CallConfiguration, Failure, StreamChunk, ToolDeclaration, Usage } from '../model/contract.ts'

/**
 * Durable events by type, with their payload. Features merge theirs in. A state-carrying event holds the whole new value.
 * Source: runtime specification 11.9.
 */
export interface EventMap {
  'turn/start': { readonly turn: number }
  'turn/end': { readonly turn: number; readonly reason: TurnEndReason }
  'step/start': { readonly turn: number; readonly step: number }
  'step/end': { readonly turn: number; readonly step: number }
  'user/message': UserMessage
  'assistant/chunk': { readonly turn: number; readonly step: number; readonly chunk: StreamChunk }
  'assistant/message': {
    readonly turn: number
    readonly step: number
    readonly message: AssistantMessage
    readonly usage?: Usage
    readonly interrupted?: true
  }
  'tool/call': {
    readonly turn: number
    readonly step: number
    readonly callId: string
    readonly name: string
    readonly arguments: string
    /** Ours: the id of the other extension whose tool it is, which its card says also when that is gone. */
    readonly from?: string
  }
  'tool/result': {
    readonly turn: number
    readonly step: number
    readonly message: ToolMessage
    readonly error?: { readonly name: string; readonly code: string }
    readonly meta?: Json
    /** Ours: why it was allowed or refused. */
    readonly policy?: PolicyGrounds
  }
  /** Ours: the call runs with other arguments than the model gave. `ignorable`. */
  'tool/rewritten': { readonly turn: number; readonly step: number; readonly callId: string; readonly arguments: string; readonly by: string }
  'request/header': { readonly header: RequestHeader; readonly reason: 'initial' | 'resume' | 'change' }
  'request/context': { readonly provider: string; readonly model: string; readonly contextWindow?: number }
  'session/end-seed': Record<never, never>
  'session/title': {
    readonly title: string
    readonly messageSeqs: readonly number[]
    readonly source: { readonly kind: 'fallback' } | { readonly kind: 'provider'; readonly provider: string } | { readonly kind: 'user' }
  }
  /** Ours: the list shows it among the archived ones, or no longer. `ignorable`. */
  'session/archived': { readonly isArchived: boolean }
  /** What a model was asked for a title with; the answer is the `session/title` after it, or nothing when that failed. */
  'session/title-llm-request': {
    readonly titleProvider: string
    readonly messageSeqs: readonly number[]
    readonly route: { readonly provider: string; readonly model: string }
    readonly system: string
    readonly messages: readonly UserMessage[]
    readonly maxTokens: number
  }
  'agent/inbox/spliced': {
    readonly target: InboxTarget
    readonly start: number
    readonly removedCount?: number
    readonly inserted: readonly UserMessage[]
    readonly outcome?: 'canceled'
  }
  'agent-preset/selected': { readonly agentPreset: string }
  /** Ours: the person chose what answers from the next request on; a field that is absent is as the settings say. `ignorable`. */
  'agent/configured': { readonly provider?: string; readonly model?: string; readonly maxTokens?: number; readonly reasoningEffort?: string }
  'approval/asked': { readonly id: string; readonly toolName: string; readonly callId?: string; readonly reason?: string }
  'approval/decided': { readonly id: string; readonly outcome: ApprovalOutcome; readonly rule?: string; readonly note?: string }
  'approval/policy': { readonly policy: 'ask' | 'never'; readonly source?: 'delegation' }
  'sandbox/mode': { readonly mode: SandboxMode; readonly source?: 'delegation' }
  'permission/preset': { readonly preset: string }
  /** Ours: the person allowed it to all agents of this session, asked for one of them; `rule` is the choice as JSON text. `ignorable`. */
  'permission/rule-granted': { readonly rule: string }
  /** Ours: a standing answer of this session was taken back; `rule` is its JSON text. Never skipped: that would allow again. */
  'permission/rule-revoked': { readonly rule: string }
  'command/run': { readonly commandId: string; readonly name: string; readonly args?: string; readonly source: string }
  'command/done': {
    readonly commandId: string
    readonly kind: 'success' | 'error'
    readonly text?: string
    readonly sourceEventSeq?: number
  }
  'llm/retry': {
    readonly retryId: string
    readonly turn: number
    readonly step: number
    readonly provider: string
    readonly mode: 'normal' | 'always'
    readonly policyKey: string
    readonly retry: number
    readonly maxRetries?: number
    readonly delayMs: number
    readonly failure: Failure
  }
  'llm/retry-started': { readonly retryId: string; readonly turn: number; readonly step: number; readonly retry: number }
  /** `turn` is null when a person asked for it between two turns. */
  'compaction/start': { readonly compactionId: string; readonly sourceCommandId?: string; readonly turn: number | null }
  'compaction/summary': {
    readonly compactionId: string
    readonly sourceCommandId?: string
    /** What the model wrote. */
    readonly summary: readonly TextBlock[]
    /** Positions on the surface, inclusive, with the events that stood there. */
    readonly shadowedRange: SurfaceRange
    readonly shadowedSeqs: readonly number[]
    readonly shadowedTokenCount: number
    readonly provider: string
    readonly model: string
    readonly maxTokens?: number
    /** Of all requests it took. */
    readonly usage?: Usage
    /** Requests it took, when the range did not fit one. */
    readonly pieces?: number
  }
  'compaction/prune': { readonly shadowedRange: SurfaceRange; readonly shadowedSeqs: readonly number[]; readonly shadowedTokenCount: number }
  'compaction/end': {
    readonly compactionId: string
    readonly sourceCommandId?: string
    readonly turn: number | null
    readonly error?: { readonly code: CompactionErrorCode; readonly message: string }
  }
  /** Ours: the rest of the turn is asked of another model, after `failure` or because the person chose it in a wait. `ignorable`. */
  'llm/route': {
    readonly turn: number
    readonly step: number
    readonly from?: { readonly provider: string; readonly model: string }
    readonly to: { readonly provider: string; readonly model: string }
    readonly failure?: Failure
  }
  /** Ours: the opening of a log found a torn or corrupt tail. `ignorable`. */
  'log/repaired': { readonly cutBytes: number; readonly keptAs: string; readonly reason: string }
  /** Ours: the person was asked to go on at a cap. `ignorable`. */
  'turn/paused': { readonly turn: number; readonly step: number } & PauseCause
}

export type EventType = keyof EventMap & string

/** Positions on the surface a message takes: at its end, or in the place of the inclusive range. */
export type SurfaceOp = 'append' | { readonly op: 'replace'; readonly start: number; readonly end: number }

/** One line of the log. `seq` is contiguous from 0, `time` epoch ms, `data` lossless JSON, all frozen. */
export type SessionEvent<T extends EventType = EventType> = {
  [Type in T]: {
    readonly type: Type
    readonly seq: number
    readonly time: number
    readonly data: EventMap[Type]
    /** A reader that does not know the type skips the event instead of refusing the session. */
    readonly ignorable?: true
    /** Only and always on `user/message`, `assistant/message`, `tool/result`. */
    readonly surfaceOp?: SurfaceOp
    readonly sourceEventSeqs?: readonly number[]
  }
}[T]

/** An event before the log gives it `seq` and `time`. */
export type EventDraft<T extends EventType = EventType> = {
  [Type in T]: Omit<SessionEvent<Type>, 'seq' | 'time'>
}[T]

/** First line of a log; not an event. `version` 0 is the only one. */
export interface SessionHeader {
  readonly version: 0
  readonly id: string
  readonly createdAt: number
  readonly cwd?: string
  readonly parentSession?: string
  readonly seedLength?: number
  readonly origin?: 'subagent'
  readonly delegationDepth?: number
  readonly agentPreset?: string
}

export interface RequestHeader {
  readonly config: CallConfiguration
  readonly adapterDefaults?: Json
  readonly system?: string
  readonly tools?: readonly ToolDeclaration[]
}

export interface SurfaceRange {
  readonly start: number
  readonly end: number
}
export type CompactionErrorCode = 'busy' | 'cancelled' | 'changed' | 'summary' | 'commit' | 'persistence'

export type InboxTarget = 'next-turn' | 'next-step'
export type ApprovalOutcome = 'allowed-once' | 'rejected' | 'cancelled' | 'unavailable'
export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access'

export type CancelCause =
  | { readonly kind: 'user' }
  | { readonly kind: 'parent' }
  | { readonly kind: 'hook'; readonly reason: string }
  | { readonly kind: 'disposed' }

export type TurnEndReason =
  | { readonly kind: 'completed' }
  | { readonly kind: 'aborted'; readonly reason: CancelCause }
  | { readonly kind: 'blocked' }
  | { readonly kind: 'error'; readonly failure: Failure }
  | { readonly kind: 'max-tokens' }
  | { readonly kind: 'interrupted' }
  /** Ours: a cap paused the turn; Continue starts the next one. */
  | ({ readonly kind: 'paused' } & PauseCause)

/** `steps` counts those of the turn, `minutes` its time; `cost` is in dollars, `tokens` in tokens. `next`: what the next request alone would add, when that is what passes the limit. */
export interface PauseCause {
  readonly cap: 'steps' | 'minutes' | 'cost' | 'tokens'
  readonly limit: number
  readonly per?: 'turn' | 'session' | 'day'
  readonly used?: number
  readonly next?: number
}
