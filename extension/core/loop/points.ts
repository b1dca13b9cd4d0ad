import type { Emit, Parallel, Serial, Waterfall } from '../kernel/plugin.ts'
import type { CallConfiguration, Failure, ModelRequest, RetryPolicy, StreamChunk } from '../model/contract.ts'
import type { EventDraft } from '../log/event.ts'
import type { UserMessage } from '../log/message.ts'
import type { Agent } from '../session/agent.ts'

export interface StepPlace {
  readonly agent: Agent
  readonly turn: number
  readonly step: number
  readonly signal: AbortSignal
}
export type PreStepDecision = { readonly kind: 'enter'; readonly messages: readonly UserMessage[] } | { readonly kind: 'reject' }

/** Live, non-durable news for the view: what a stream or a running body says between two events. */
export interface LiveNews {
  readonly agent: Agent
  readonly callId: string
  readonly progress: string
}

declare module '../kernel/plugin.ts' {
  interface Services {
    agents: Agents
  }
  interface ExtensionPoints {
    /** `config`: what the request of the step is made with, unless a listener of `agent/request` changes it. */
    'agent/pre-step': Waterfall<[place: StepPlace & { readonly messages: readonly UserMessage[]; readonly config: CallConfiguration }], PreStepDecision>
    'agent/request': Waterfall<[place: StepPlace], CallConfiguration>
    'agent/request-error': Waterfall<
      [place: StepPlace & { readonly provider: string; readonly failure: Failure; readonly retryPolicy?: RetryPolicy }],
      RequestErrorDecision
    >
    'agent/turn-stopping': Serial<[place: Omit<StepPlace, 'step'>]>
    'llm/stream': Waterfall<[request: ModelRequest], AsyncIterable<StreamChunk>>
    'llm/adapters-updated': Emit<[]>
    'agent/created': Emit<[agent: Agent]>
    /** Awaited before an agent goes: end and wait for what it owns (jobs, terminals). `isDisposed` is true already. */
    'agent/disposing': Parallel<[agent: Agent]>
    'agent/disposed': Emit<[agent: Agent]>
    'agent/session-start': Emit<[agent: Agent, source: 'startup' | 'resume' | 'clear' | 'compact']>
    'agent/status': Emit<[agent: Agent, status: 'idle' | 'running']>
    'agent/inbox/inserted': Emit<[news: { readonly agent: Agent; readonly message: UserMessage }]>
    'agent/inbox/claimed': Emit<[news: { readonly agent: Agent; readonly message: UserMessage; readonly turn: number }]>
    'agent/inbox/discarded': Emit<[news: { readonly agent: Agent; readonly message: UserMessage }]>
    'agent/error': Emit<[news: { readonly agent: Agent; readonly turn: number; readonly step: number; readonly error: Failure }]>
    'agent/progress': Emit<[news: LiveNews]>
    /** A stored session could not be made live again. */
    'agent-loop/config-start-failed': Emit<[news: { readonly sessionId: string; readonly error: unknown }]>
  }
}

/** `failure`: what the turn ends with in the place of the request's own. */
export type RequestErrorDecision = { readonly kind: 'retry' } | { readonly kind: 'fail'; readonly failure?: Failure }

export interface AgentOptions {
  readonly provider?: string
  readonly model?: string
  /** Positive safe integer. */
  readonly maxTokens?: number
  readonly reasoningEffort?: string
}

/** A stored child that goes on under the agent that started it, with what its own log says it was last asked with, else with `agent`; no cap of tokens is taken over. */
export interface ResumedAs {
  readonly owner: Agent
  readonly agent: AgentOptions
}

/** Runs before anybody else hears of the agent; a throw takes the whole agent back. */
export type AgentSetUp = (agent: Agent) => void | Promise<void>

/** The live agents. A failed set-up rolls everything back. */
export interface Agents {
  /** Errors: `PresetError` `UNKNOWN_PRESET`, `PRESET_BROKEN`. */
  create(options: {
    readonly cwd: string
    readonly preset?: string
    readonly agent?: AgentOptions
    readonly owner?: Agent
    /**
     * Whose session it is and how deep, as its header says; needs an owner. With `boundary` it begins with the talk of the owner's
     * session up to and with that event, which is the end of a turn. `opening` is the first of its own, on the disk as soon as
     * anything of the session is.
     */
    readonly child?: { readonly id?: string; readonly delegationDepth: number; readonly boundary?: number; readonly opening: EventDraft }
    readonly setUp?: AgentSetUp
    /** The person cleared another session to begin this one. */
    readonly isCleared?: true
  }): Promise<Agent>
  /** The live agent of a session, made when there is none and anew when it could only read. What waited when its host went waits again. Errors: as `Sessions.open`. */
  resume(sessionId: string, setUp?: AgentSetUp, as?: ResumedAs): Promise<Agent>
  /** The application is about to go: turns that wait for the person stand open in their logs from here, to be gone on with by the next. */
  suspend(): void
  live(sessionId: string): Agent | undefined
  list(): readonly Agent[]
  /** The agent whose turn or maintenance the caller runs in, through all that it awaits. Undefined in work that no agent began. */
  initiator(): Agent | undefined
  /** Model, effort and limits for the next request, in the place of all earlier ones. Errors: `RangeError` for a bad `maxTokens`. */
  configure(sessionId: string, options: AgentOptions): void
  optionsOf(sessionId: string): AgentOptions
  /** What the next request is made with: the choice for this agent over the settings. */
  configurationOf(sessionId: string): CallConfiguration
  /** The preset a session runs on. */
  presetOf(sessionId: string): string
  /** Why the preset of a live session cannot be changed any more, for people; null while it can. */
  presetLock(sessionId: string): string | null
  /** Errors: `PresetError` `UNKNOWN_PRESET`, `PRESET_BROKEN`; `agent-preset-locked` once a turn has begun. */
  selectPreset(sessionId: string, preset: string): void
}
