import type { Json, JsonObject } from '../../base/json.ts'
import type { ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { HarnessError } from '../../base/harness-error.ts'
import type { SandboxMode } from '../log/event.ts'
import type { ToolContent, UserMessage } from '../log/message.ts'
import type { Agent } from '../session/agent.ts'

/**
 * A tool as the registry holds it. Only `name`, `description` and `parameters` reach a model.
 * Made by `defineTool` (typed, validated) or raw (MCP), which then owns its input validation.
 * Source: runtime specification 2.1.
 */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly parameters: JsonObject
  readonly output: ToolOutput
  /**
   * Every violation of the declared schema, before policy and body; absent on raw definitions, which own their validation.
   * `arguments` is lossless JSON.
   */
  validateArguments?(args: Json): readonly string[]
  /** Returns the canonical value only, never content blocks. Throws for what the caller cannot go on without. */
  execute(args: Json, exec: BodyExecution): unknown
  /** Last word on model content; synchronous, runs once. */
  finalizeContent?(exec: Execution, result: ToolResult): readonly ToolContent[] | undefined
  /** Positive and finite; enforced by the time-out guard. */
  readonly timeoutMs?: number
  /** Its body does nothing before the person has answered, so a call whose question a closing window cut off runs again. */
  readonly canAskAgain?: true
  /** The other extension of the editor that it comes from, by its id. */
  readonly from?: string
  /** The MCP server that lends it: as its tools bear the name, and as the person wrote it. */
  readonly mcpServer?: { readonly name: string; readonly title: string }
  /** What one call may take and give, for the catalogue; the bodies enforce it by the same constants. */
  readonly limits?: readonly ToolLimit[]
  /** Only exactly `true` lets calls overlap. */
  isConcurrencySafe?(args: Json): boolean
  presentCall?(args: Json): ToolCallView | undefined
  presentResult?(args: Json, result: PresentedResult): ToolResultView | undefined
}

/** A cap of a tool: of what, how much, in which unit. */
export interface ToolLimit {
  readonly of: string
  readonly max: number
  readonly unit: 'bytes' | 'characters' | 'lines' | 'ms' | 'pixels' | 'items'
}

export interface ToolOutput {
  readonly schema: JsonObject
  render(args: Json, value: Json): readonly ToolContent[]
  presentationMeta?(args: Json, value: Json): Json | undefined
}

/** What a card is drawn from on completion, the same live and on replay. */
export interface PresentedResult {
  readonly content: readonly ToolContent[]
  readonly isError: boolean
  readonly meta?: Json
}

/** Opaque identity of one execution. */
export interface ExecutionToken {
  readonly id: string
}

/** One call on its way through the pipeline; immutable, `arguments` frozen lossless JSON. */
export interface Execution {
  readonly callId: string
  readonly rootCallId: string
  readonly name: string
  readonly arguments: Json
  readonly agent?: Agent
  readonly token: ExecutionToken
  /** Of the enclosing execution: identity only. */
  readonly parent?: ExecutionToken
  readonly signal: AbortSignal
}

/** The view an execute wrapper gets: it may replace the signal and must restore it, never remove it. */
export type MutableExecution = Omit<Execution, 'signal'> & { signal: AbortSignal }

export interface BodyExecution extends Execution {
  /** Context for the model after this call's result. */
  deferContext(message: UserMessage): void
  /** End the turn after this step if the call succeeds. */
  concludeTurn(): void
  /** Shown live in the card, never durable. Text as it arrives; the view keeps a bounded tail. */
  progress(text: string): void
}

export interface ExecutionRequest {
  readonly callId: string
  readonly rootCallId?: string
  readonly name: string
  readonly arguments: unknown
  readonly agent?: Agent
  readonly parent?: ExecutionToken
  /** The person was asked about this call before its window closed and has not answered: they are asked whatever policy says now. */
  readonly wasAsked?: boolean
  readonly signal: AbortSignal
  /** A call inside of another one that a card is drawn of all the same: its card facts are worked out. */
  readonly hasCard?: true
  readonly onProgress?: (text: string) => void
}

export type ToolResult = ToolSuccess | ToolFailure
export interface ToolSuccess {
  readonly isError: false
  readonly value: Json
  readonly content: readonly ToolContent[]
  readonly meta?: Json
  /** Set by the pipeline. */
  readonly policy?: PolicyGrounds
  readonly additionalContexts?: readonly UserMessage[]
  readonly concludesTurn?: true
}
export interface ToolFailure {
  readonly isError: true
  readonly error: { readonly message: string; readonly info?: { readonly name: string; readonly code: string } }
  readonly content: readonly ToolContent[]
  readonly meta?: Json
  /** Set by the pipeline. */
  readonly policy?: PolicyGrounds
  readonly additionalContexts?: readonly UserMessage[]
}

/** Who or what let a call run or stopped it, for people: kept with its result. Left out where reading in the workspace needs no word. */
export interface PolicyGrounds {
  readonly by: 'trust' | 'secret' | 'mode' | 'plan' | 'rule' | 'person' | 'guard' | 'effect'
  readonly why: string
  /** The rules that had a say, as their JSON texts. */
  readonly rules?: readonly string[]
}

/** What a refusal may be called beside `DENIED`. */
export type DenialCode = Extract<ToolErrorCode, 'WORKSPACE_UNTRUSTED' | 'FS_SANDBOX_DENIED' | 'INVALID_ARGS' | `ESCALATION_${string}`>

export type PreExecuteDecision =
  | { readonly kind: 'allow'; readonly grounds?: PolicyGrounds }
  | { readonly kind: 'deny'; readonly reason: string; readonly code?: DenialCode | undefined; readonly grounds?: PolicyGrounds }
  | { readonly kind: 'ask'; readonly reason?: string; readonly details?: ApprovalDetails }

/** What a listener may answer: a decision, or other arguments for the call, which are validated, logged and judged anew. `by` says whose they are, in words for person and model. */
export type PreExecuteAnswer = PreExecuteDecision | { readonly kind: 'rewrite'; readonly arguments: Json; readonly by: string }

/** What the person is shown: the effect first, then the means. Data only. */
export interface ApprovalDetails {
  readonly effect: string
  readonly why: string
  /** What a yes lets happen from then on, in words. */
  readonly covers?: string
  /** What "Always allow…" would mean, in words, and the rule it would make. */
  readonly always?: readonly { readonly label: string; readonly rule: JsonObject }[]
  /** Uncommitted work is at stake, or code of the model would outlive the call: asked even where the policy is never to ask. */
  readonly mustAsk?: true
  /** The call asks for this mode, for itself alone. */
  readonly escalatesTo?: SandboxMode
  /** What the call would change, worked out before: to be looked at before it is allowed. */
  readonly changes?: readonly PlannedChange[]
}

/** One file that a call would change. Texts have `\n` line ends. */
export interface PlannedChange {
  /** Absolute path, or URI text for other schemes than `file`. */
  readonly target: string
  /** For people. */
  readonly path: string
  readonly before: string
  readonly after: string
  /** The regions in which they differ. */
  readonly hunks: readonly { readonly oldStart: number; readonly newStart: number; readonly oldText: string; readonly newText: string }[]
}

export type PostExecuteDecision =
  | {
      readonly kind: 'accept'
      readonly content?: readonly ToolContent[]
      readonly value?: Json
      readonly additionalContexts?: readonly UserMessage[]
    }
  | { readonly kind: 'block'; readonly feedback: string; readonly additionalContexts?: readonly UserMessage[] }

/** Belongs to Code Mode: cannot be registered, shadowed or restricted in any layer. */
export const RESERVED_TOOL_NAME = 'run_code'

/** Of names that say where a tool comes from: what a person allows by such a name is that one's, also while it is not there. */
export const reservedToolPrefixes = ['cordis_', 'mcp__', 'vscode__'] as const

export type ToolErrorCode =
  | 'UNKNOWN_TOOL'
  | 'INVALID_ARGS'
  | 'INVALID_TOOL_OUTPUT'
  | 'UNSUPPORTED_SCHEMA'
  | 'INVALID_DEFINITION'
  | 'DUPLICATE_TOOL'
  | 'RESERVED_NAME'
  | 'INVALID_RESTRICTION'
  | 'ABORTED'
  | 'ABORTED_BEFORE_DISPATCH'
  | 'TOOL_TIMEOUT'
  | 'DENIED'
  | 'WORKSPACE_UNTRUSTED'
  | 'FS_SANDBOX_DENIED'
  | 'ESCALATION_NO_APPROVALS'
  | 'ESCALATION_NO_AGENT'
  | 'ESCALATION_NO_CHANNEL'
  | 'ESCALATION_REJECTED'
  | 'ESCALATION_CANCELLED'
  | 'CODE_RUN_FAILED'
  | 'TOOL_NOT_STARTED'
  | 'TOOL_OUTCOME_UNKNOWN'

export class ToolError extends HarnessError<ToolErrorCode> {}

/** A failure of a tool body with facts for its card: the pipeline puts `meta` on the failed result, as `presentationMeta` does for a success. */
export abstract class PresentedError<Code extends string = string> extends HarnessError<Code> {
  readonly meta: Json

  constructor(code: Code, message: string, meta: Json, options?: ErrorOptions) {
    super(code, message, options)
    this.meta = meta
  }
}
