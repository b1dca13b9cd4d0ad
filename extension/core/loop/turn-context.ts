import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Budgets } from '../cost/budgets.ts'
import type { CancelCause } from '../log/event.ts'
import type { OpenStep } from '../log/invariants.ts'
import type { Dispatcher } from '../kernel/plugin.ts'
import type { ModelRegistry } from '../model/contract.ts'
import type { RuntimeContextWatch } from '../prompt/runtime-context.ts'
import type { SystemPrompt } from '../prompt/system-prompt.ts'
import type { Agent } from '../session/agent.ts'
import type { Inbox } from '../session/inbox.ts'
import type { Tools } from '../tools/service.ts'
import type { AgentLog } from './agent-log.ts'
import type { CallIds } from './answer.ts'
import type { DurableBarrier } from './durable-barrier.ts'
import type { AgentOptions } from './points.ts'
import type { ModelFacts, RequestHistory } from './request.ts'

/** What all agents of the application share. */
export interface LoopServices {
  readonly dispatch: Dispatcher
  readonly clock: Clock
  readonly logger: Logger
  readonly newId: () => string
  readonly tools: Tools
  readonly models: ModelRegistry
  readonly systemPrompt: SystemPrompt
  readonly loadAttachment: (sessionId: string, attachmentId: string) => Promise<Uint8Array>
  /** Settings, read when they are needed. */
  readonly maxParallelToolCalls: () => number
  /** 0: no cap. */
  readonly maxStepsPerTurn: () => number
  /** 0: no cap. */
  readonly maxMinutesPerTurn: () => number
  /** Undefined where nothing is metered. */
  readonly budgets: () => Budgets | undefined
  readonly defaults: () => RequestDefaults
}

/** What a request uses where the agent's own options say nothing. */
export interface RequestDefaults extends AgentOptions {
  readonly temperature?: number
}

/** One agent as its turns see it. */
export interface TurnContext {
  readonly loop: LoopServices
  readonly agent: Agent
  readonly log: AgentLog
  readonly inbox: Inbox
  readonly history: RequestHistory
  readonly facts: ModelFacts
  readonly callIds: CallIds
  readonly barrier: DurableBarrier
  readonly runtimeContext: RuntimeContextWatch
  readonly options: () => AgentOptions
  readonly turn: number
  readonly signal: AbortSignal
  /** Ms that were none of its turns' own, from when the agent was made. */
  readonly untimedMs: () => number
  /** Why the signal fired, and whether what waits is to be kept. */
  readonly cancellation: () => { readonly cause: CancelCause; readonly keepsInbox: boolean }
  /** The turn stands in the log. */
  readonly onStarted: () => void
  /** The outcome stands and is about to be written: what arrives from now on belongs to later turns. */
  readonly onEnding: () => void
  /** The first step may do without a message: the talk is gone on with as it stands. */
  readonly isContinuation: boolean
  /** The step of this very turn that waited for the person when the session was opened; null for a turn that begins. */
  readonly unfinished: OpenStep | null
}
