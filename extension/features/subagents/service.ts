import type { JsonObject } from '../../base/json.ts'
import { HarnessError } from '../../base/harness-error.ts'
import type { Undo } from '../../base/undo.ts'
import type { Emit } from '../../core/kernel/plugin.ts'
import type { UserMessage } from '../../core/log/message.ts'
import type { Agent } from '../../core/session/agent.ts'

export type SubagentErrorCode =
  | 'NO_PROVIDER'
  | 'UNSUPPORTED_CAPABILITY'
  | 'DEPTH_EXCEEDED'
  | 'FAN_OUT_EXCEEDED'
  | 'PERSISTENCE_UNAVAILABLE'
  | 'DUPLICATE_CHILD'
  | 'DRAINING'
  | 'ACTIVATION_CLOSING'
  | 'CONTINUATION_UNAVAILABLE'
  | 'NOT_RESUMABLE'
  | 'UNAUTHORIZED'
  | 'PARENT_UNAVAILABLE'
  | 'CANCELLED'
  /** Ours: what a child reported waits in its parent's inbox, and no more fits. */
  | 'REPORT_LIMIT'
  /** Ours. */
  | 'MESSAGE_TOO_LONG'
  | 'EMPTY_MESSAGE'
  | 'SUBAGENT_CONTROL_PROJECTIONS_UNAVAILABLE'
  | 'SUBAGENT_CONTROL_SESSION_STORE_UNAVAILABLE'

export class SubagentError extends HarnessError<SubagentErrorCode> {}

/** Why a child's run is over. */
export type ChildStopReason = 'completed' | 'aborted' | 'error' | 'max-tokens' | 'refusal'

/** What a run of a child gave. Source: agent tools specification 6.1, the rule of the final output. */
export interface ChildOutcome {
  readonly stopReason: ChildStopReason
  /** The newest answer with content, else what was streamed so far, else empty. */
  readonly output: string
  /** What `structured_output` took, when a schema was asked for and the run completed. */
  readonly structured?: JsonObject
  /** Of the transport, for the person and the caller: at most 4,096 UTF-8 bytes, no secrets. */
  readonly diagnostic?: string
}

/** What the log of a child says it is, so that it can be made live again. Source: agent tools specification 6.1. */
export type SubagentDescriptor =
  | { readonly version: 2; readonly mode: 'one-shot'; readonly provider: string; readonly label?: string }
  | {
      readonly version: 2
      readonly mode: 'continuable'
      readonly provider: string
      readonly label: string
      readonly agentProvider?: string
      readonly agentModel?: string
      readonly persona?: string
      readonly toolFilter?: ToolFilter
    }

export interface ToolFilter {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
}

/** Which feature a child works for: the tree groups by it, the governor counts all alike. */
export type ChildPurpose =
  | { readonly kind: 'subagent' }
  | { readonly kind: 'workflow'; readonly runId: string; readonly name: string; readonly phase?: string }
  | { readonly kind: 'ralph'; readonly runId: string; readonly round: number }
  | { readonly kind: 'team'; readonly name: string }

/** What a child is started with. */
export interface ChildRequest {
  readonly parent: Agent
  /** Name of a registered provider, such as `spawn`. */
  readonly provider: string
  /** For people: what the child is for. */
  readonly label: string
  readonly prompt: string
  readonly purpose: ChildPurpose
  /** The call that started it, so that the card shows it. */
  readonly callId?: string
  /** The background job that it is. */
  readonly jobId?: string
  /** Object-rooted; the child then ends its run with `structured_output`. */
  readonly schema?: JsonObject
  /** In the place of the parent's. */
  readonly model?: { readonly provider?: string; readonly model?: string; readonly maxTokens?: number; readonly reasoningEffort?: string }
  readonly persona?: string
  /** Of what it would see; a filter names tools that are there. */
  readonly toolFilter?: ToolFilter
  /** In the place of the governor's cap where it is smaller. `provider-managed`: the provider counts by itself. */
  readonly maxDepth?: number | 'provider-managed'
  /** A git worktree of its own, which file tools and shell cannot leave. */
  readonly isolation?: 'worktree'
  /** Covers starting and running. */
  readonly signal: AbortSignal
}

/** A one-shot child under way. */
export interface RunningChild {
  readonly runId: string
  /** The session of the child; of a provider without sessions a name of its own. */
  readonly childId: string
  /** Settles once the child is released; never rejects. */
  readonly outcome: Promise<ChildOutcome>
}

/** A named way to run a child. */
export interface SubagentProvider {
  readonly name: string
  readonly supports: {
    readonly outputSchema: boolean
    readonly depthLimit: boolean
    readonly toolFilter: boolean
    readonly persona: boolean
    readonly continuable: boolean
  }
  readonly inheritsParentContext: boolean
  /** It runs in this process as a session of ours. */
  readonly isLocal: boolean
  /** Resolves once the child runs; a rejection has left nothing. Only for providers that are not local: the runtime runs those itself. */
  start?(request: ChildRequest & { readonly runId: string; readonly cwd: string; readonly onText: (text: string) => void }): Promise<Pick<RunningChild, 'childId' | 'outcome'>>
}

export type ChildStatus = 'queued' | 'running' | 'waiting' | 'idle' | 'ready' | 'completed' | 'failed' | 'aborted'

/** A child as trees and cards show it; of this process, and of stored sessions where it can be resumed. */
export interface ChildFacts {
  readonly id: string
  /** The session that started it. */
  readonly parentId: string
  readonly label: string
  readonly provider: string
  readonly mode: 'one-shot' | 'continuable'
  readonly status: ChildStatus
  readonly depth: number
  readonly purpose: ChildPurpose
  readonly callId?: string
  /** The background job that it is. */
  readonly jobId?: string
  /** When the session was made. */
  readonly createdAt?: number
  /** The newest line of text or the tool it uses now. */
  readonly lastLine?: string
  readonly startedAt?: number
  readonly endedAt?: number
  /** Where it works, when in a worktree of its own. */
  readonly worktree?: { readonly path: string; readonly branch: string }
}

/** How many agents may be at work, over subagents, workflows, ralph and teams together. */
export interface Governor {
  /**
   * Wait for a place, in order of asking; behind a rate limit of `provider` (of models), until that is over.
   * Errors: `SubagentError` `DEPTH_EXCEEDED`, `FAN_OUT_EXCEEDED`; the signal's reason. Returns the release.
   * `start` does this itself; it is for children that are run in another way.
   */
  enter(request: { readonly parent: Agent; readonly signal: AbortSignal; readonly provider?: string; readonly maxDepth?: ChildRequest['maxDepth'] }): Promise<Undo>
  /**
   * While `work` waits for children of its own, the place of `agent` is lent, so that a tree cannot wait for itself. Every tool whose
   * call waits for children runs them inside. Afterwards a place is waited for again, until `signal` fires.
   */
  lend<T>(agent: Agent, work: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** How deep `agent` is: 0 for one that no agent started. */
  depthOf(agent: Agent): number
  /** Errors: `SubagentError` `DEPTH_EXCEEDED`, naming the attempted and the greatest depth; `RangeError` for a cap that is no whole number. */
  checkDepth(parent: Agent, maxDepth?: ChildRequest['maxDepth']): void
  readonly running: number
  readonly queued: number
  readonly limits: { readonly maxConcurrent: number; readonly maxDepth: number; readonly maxTotal: number }
  onDidChange(listener: () => void): Undo
}

/** What `list_agents` tells of one child. */
export type CatalogueEntry = { readonly id: string; readonly parent: string; readonly depth: number } & (
  | { readonly kind: 'child'; readonly label: string; readonly status: 'running' | 'idle' | 'ready' }
  | { readonly kind: 'diagnostic'; readonly reason: 'corrupt' | 'unsupported' | 'unavailable' }
)

/** What one call may take and give. Bytes are UTF-8. */
export interface SubagentLimits {
  /** Of the task of a child. Errors of a start: `MESSAGE_TOO_LONG`. */
  readonly promptBytes: number
  /** Of one message between agents, as it was written. */
  readonly messageBytes: number
  /** Reports of one child that may wait in its parent's inbox. */
  readonly waitingReports: number
  readonly diagnosticBytes: number
  /** Stored children whose notes are read at once. */
  readonly coldReads: number
}

/** Runs children of agents. Source: agent tools specification 6, design 6.1. */
export interface Subagents {
  readonly governor: Governor
  readonly limits: SubagentLimits
  registerProvider(provider: SubagentProvider): Undo
  provider(name: string): SubagentProvider | undefined
  onDidChangeProviders(listener: () => void): Undo
  /** A child with one run and one result, released by itself. Errors: `SubagentError`; the signal's reason. Nothing is left behind then. */
  start(request: ChildRequest): Promise<RunningChild>
  /** A child that stays: later messages wake it. `childId` names the session before it exists, for what must be durable first. */
  startContinuable(request: Omit<ChildRequest, 'schema'> & { readonly childId?: string }): Promise<{ readonly childId: string }>
  /**
   * To a continuable child, woken or made live again as needed. `now`: with its next step; else a turn of its own.
   * `ahead`: put quietly before it, together with it. `purpose`: of one that is made live again, whose log does not say it.
   * Errors: `SubagentError`, and nothing was delivered; the signal counts until the child's inbox took the message.
   */
  send(request: {
    readonly from: Agent
    readonly childId: string
    readonly message: UserMessage
    readonly mode: 'now' | 'next-turn' | 'quiet'
    readonly ahead?: readonly UserMessage[]
    readonly purpose?: ChildPurpose
    readonly signal?: AbortSignal
  }): Promise<void>
  /** End the child's turn, keep its inbox. False when it does not run. Errors: `UNAUTHORIZED` unless `from` is a live ancestor or the person. */
  interrupt(request: { readonly from: Agent | 'person'; readonly childId: string }): boolean
  /** From a live continuable child to its parent. Errors: `UNAUTHORIZED`, `PARENT_UNAVAILABLE`, `DRAINING`, `ACTIVATION_CLOSING`, `REPORT_LIMIT`. */
  report(request: { readonly from: Agent; readonly message: UserMessage }): Promise<void>
  /** Children of a session, live and stored, in order of creation. */
  children(sessionId: string): Promise<readonly ChildFacts[]>
  /** Continuable children, live and stored, in order of creation; descendants in pre-order. Errors: `SUBAGENT_CONTROL_…`, `CANCELLED`. */
  catalogue(request: { readonly sessionId: string; readonly scope: 'children' | 'descendants'; readonly signal: AbortSignal }): Promise<readonly CatalogueEntry[]>
  /** Some that `parent` started has not come to its end, or is being started. */
  hasAtWork(parent: Agent): boolean
  /** Live ones and the newest that ended in this process, of all sessions, without reading any file. */
  known(): readonly ChildFacts[]
  /** One of `known`. */
  facts(childId: string): ChildFacts | undefined
  /** Let a continuable child, or one that gave its answer, go on as a session of its own, which the person drives. Errors: `NOT_RESUMABLE`. */
  promote(childId: string): Promise<void>
  onDidChange(listener: () => void): Undo
}

declare module '../../core/log/event.ts' {
  interface EventMap {
    /** The first one in a child's own part of the log, behind what it began with, says what it is. */
    'subagent/descriptor': SubagentDescriptor
    /** Ours: the person took the child over; no agent may speak to it any more. `ignorable`. */
    'subagent/promoted': Record<never, never>
  }
}
declare module '../../core/log/message.ts' {
  interface UserSources {
    /** An agent speaks to one that it started. */
    coordinator: { readonly form: 'relay'; readonly senderSessionId: string }
    'subagent-report': { readonly form: 'relay'; readonly senderSessionId: string }
    'subagent-settled': { readonly form: 'notice'; readonly summary: string; readonly senderSessionId: string }
  }
}
declare module '../../core/kernel/plugin.ts' {
  interface Services {
    subagents: Subagents
  }
  interface ExtensionPoints {
    'subagent/start': Emit<[news: { readonly parent: Agent; readonly runId: string; readonly provider: string; readonly id: string; readonly local: boolean }]>
    'subagent/end': Emit<[news: { readonly parent: Agent; readonly runId: string; readonly provider: string; readonly id: string; readonly stopReason: ChildStopReason; readonly lastAssistantMessage?: string }]>
  }
}
