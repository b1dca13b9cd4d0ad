import type { Json } from '../../base/json.ts'
import type { Undo } from '../../base/undo.ts'
import type { Emit } from '../../core/kernel/plugin.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Execution, PlannedChange } from '../../core/tools/definition.ts'

/** Where a client half may draw. `row`: the last row of the talk. */
export const clientSlots = ['panel', 'header', 'composer', 'row'] as const
export type ClientSlot = (typeof clientSlots)[number]

/** What a client half needs to be drawn. */
export interface ClientFrame {
  readonly sessionId: string
  readonly pluginId: string
  readonly packageId: string
  readonly runId: string
  /** As the model named the package, for people. */
  readonly name: string
  /** Those whose names stand in the code, as `'panel'` or `.panel`; `panel` where none does. */
  readonly slots: readonly ClientSlot[]
  /** The body of a function. */
  readonly code: string
}

export interface ClientCall {
  readonly sessionId: string
  readonly runId: string
  readonly method: string
  readonly payload: Json
}

export interface FrameReport {
  readonly sessionId: string
  readonly runId: string
  readonly state: 'ready' | 'failed'
  /** Why it failed. */
  readonly message?: string
}

/** `harness.emit(name, payload)` of a host half. */
export interface ClientEvent {
  readonly sessionId: string
  readonly runId: string
  readonly name: string
  readonly payload: Json
}

export type PluginSelector = { readonly kind: 'new'; readonly idPrefix: string } | { readonly kind: 'existing'; readonly pluginId: string }

/** Bodies of functions in plain JavaScript; at least one is there. */
export interface CordisCode {
  readonly host?: string
  readonly client?: string
}

export interface PackageSource {
  readonly plugin: PluginSelector
  readonly name: string
  readonly purpose: string
  readonly code: CordisCode
}

/** What the log says of a run. `replaced`: another version of its plugin took its place. `lost`: the process that held it is gone. */
export type DynamicRunState = 'starting' | 'awaiting-client' | 'running' | 'failed' | 'stopped' | 'replaced' | 'lost'

/** `stopped`: defined and not running. `lost`: the log tells of it, and the process that held it is gone; its files are there. */
export type PluginState = 'stopped' | 'starting' | 'awaiting-client' | 'running' | 'stopping' | 'failed' | 'lost'

export interface PackageFacts {
  readonly packageId: string
  readonly name: string
  readonly purpose: string
  readonly halves: readonly ('host' | 'client')[]
  /** Where its code is kept, to read: `host.js`, `client.js`, `plugin.json`. */
  readonly folder: string
  readonly isApproved: boolean
}

export interface PluginFacts {
  readonly pluginId: string
  readonly state: PluginState
  /** Why it failed or stopped by itself; absent: for no reason of its own. */
  readonly reason?: string
  /** The one that runs, or ran last; absent before the first success. */
  readonly currentPackageId?: string
  /** What a transition leads to. */
  readonly nextPackageId?: string
  readonly runId?: string
  /** Of the plugin that runs, as it declared them. */
  readonly tools: readonly string[]
  readonly handlers: readonly string[]
  /** Oldest first. */
  readonly packages: readonly PackageFacts[]
}

export interface DefinedPackage {
  readonly pluginId: string
  readonly packageId: string
  readonly halves: readonly ('host' | 'client')[]
  readonly folder: string
  /** The person let it run when they were asked whether to define it. */
  readonly isApproved: boolean
  /** A standing rule of the person let it be defined in the place of an answer. */
  readonly isByRule?: true
  /** The package that it was shown to the person against, and how its code differs; absent: they were shown the whole, or nothing. */
  readonly against?: string
  readonly changes?: readonly PlannedChange[]
}

export interface RunRequest {
  readonly pluginId: string
  readonly packageId: string
  readonly mode: 'run' | 'update'
}

/** `awaiting`: its client half is to be drawn; how that went comes as a message. */
export interface RunStarted {
  readonly runId: string
  readonly state: 'running' | 'awaiting'
  readonly tools: readonly string[]
  readonly handlers: readonly string[]
}

export interface InspectMethod {
  readonly name: string
  readonly description: string
  /** JSON Schemas. */
  readonly input: Json
  readonly output: Json
}

export interface InspectProvider {
  readonly platform: 'host' | 'client'
  readonly name: string
  readonly description: string
  readonly methods: readonly InspectMethod[]
}

export interface InspectQuery {
  readonly platform: 'host' | 'client'
  readonly provider: string
  readonly method: string
  readonly input?: Json
}

/**
 * Plugins that a model writes for its own session. They live in the memory of the process; what was defined, asked, run and stopped is in the
 * log, and the code in files. Nothing of it is there while the setting is off or the folder is not trusted.
 *
 * Errors: `DynamicPluginError`, where nothing else is said.
 * Source: runtime specification 22.
 */
export interface DynamicPlugins {
  /** The setting is on and the folder is trusted. */
  readonly isEnabled: boolean
  /** Why it is not, with what to do; undefined while it is. */
  readonly problem: string | undefined
  /** Check the syntax and record it. Nothing runs. `call`: of the model, whose question the person has answered; without one they are asked when it is to run. */
  define(agent: Agent, source: PackageSource, call?: Pick<Execution, 'arguments'>): Promise<DefinedPackage>
  /** Start or replace. The approval is policy's and has been given. An abort stops what starts; what has started stays. */
  run(agent: Agent, request: RunRequest, signal: AbortSignal): Promise<RunStarted>
  /** Resolves when everything of it is gone. `wasRunning` is false for one that did not. */
  stop(agent: Agent, pluginId: string, reason?: string): Promise<{ readonly wasRunning: boolean }>
  undefine(agent: Agent, pluginId: string): Promise<{ readonly wasRunning: boolean }>
  /** Define a package anew from its files, as a new package of the same plugin. */
  restore(agent: Agent, pluginId: string, packageId: string): Promise<DefinedPackage>
  /** Of one session, those that the log tells of and nobody holds any more included. */
  list(agent: Agent): readonly PluginFacts[]
  /** The last lines that a running plugin wrote, oldest first. */
  linesOf(agent: Agent, pluginId: string): readonly string[]
  /** The code of a package. */
  codeOf(agent: Agent, pluginId: string, packageId: string): CordisCode
  /** Every provider that can be asked. */
  inspectors(): readonly InspectProvider[]
  inspect(agent: Agent, query: InspectQuery): Promise<Json>

  /** Client halves that are to be drawn. */
  frames(sessionId: string): readonly ClientFrame[]
  onFramesChanged(listener: (sessionId: string) => void): Undo
  /** A method that the host half declared. Errors: `ClientCallError`. */
  callFromClient(call: ClientCall): Promise<Json>
  /** The view's word on a frame; of a run that is over it is nothing. A failure steers the model once a package. */
  frameReported(report: FrameReport): void
  onClientEvent(listener: (event: ClientEvent) => void): Undo
  onDidChange(listener: (sessionId: string) => void): Undo
  /** They were turned on or off. */
  onDidChangeProblem(listener: () => void): Undo
}

interface RequestNews {
  readonly agent: Agent
  readonly approvalId: string
  readonly pluginId: string
  readonly packageId: string
}

interface PackageNews {
  readonly agent: Agent
  readonly pluginId: string
  readonly packageId: string
  readonly runId: string
}

interface QueryNews {
  readonly agent: Agent
  readonly platform: 'host' | 'client'
  readonly provider: string
  readonly method: string
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    dynamicPlugins: DynamicPlugins
  }
  interface ExtensionPoints {
    /** The person is asked whether a package may run: before it is defined, or before it runs. */
    'cordis/request-run': Emit<[news: RequestNews]>
    'cordis/request-run-resolved': Emit<[news: RequestNews & { readonly outcome: 'allowed' | 'rejected' | 'cancelled' | 'unavailable' }]>
    /** A package runs. */
    'cordis/dynamic-package': Emit<[news: PackageNews]>
    /** It does not any more. */
    'cordis/dynamic-retract': Emit<[news: PackageNews]>
    'cordis/inspect-query': Emit<[news: QueryNews]>
    'cordis/inspect-query-resolved': Emit<[news: QueryNews & { readonly isError: boolean }]>
  }
}
