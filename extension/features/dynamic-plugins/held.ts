import type { Undo } from '../../base/undo.ts'
import type { Fiber } from '../../core/kernel/plugin.ts'
import type { ScriptEffect } from '../../core/policy/tool-effects.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { PlannedChange, ToolDefinition } from '../../core/tools/definition.ts'
import type { Declared } from './declared.ts'
import { DynamicPluginError } from './error.ts'
import type { HostRun } from './host-run.ts'
import type { LoggedPlugin } from './journal.ts'
import type { CordisCode, PackageSource, PluginState } from './service.ts'

/** One version of a plugin's code; the person lets each run for itself. */
export interface Package {
  readonly packageId: string
  readonly name: string
  readonly purpose: string
  readonly code: CordisCode
  isApproved: boolean
  /** The model was told of a failure of its client half. */
  isFailureTold: boolean
  /** Against the package `base`. */
  diff?: { readonly base: string | undefined; readonly changes: readonly PlannedChange[] }
}

/** A package that is asked about before it is defined, under the ids that it gets then. */
export interface Draft {
  readonly agent: Agent
  readonly source: PackageSource
  readonly pluginId: string
  readonly packageId: string
  /** What the person let run when they were asked, and how the code differs from it. */
  readonly base: Package | undefined
  readonly changes: readonly PlannedChange[]
  readonly question: Omit<ScriptEffect, 'plan'>
  isApproved: boolean
}

/** One start of a package, from its host half to what it mounted. */
export interface Run {
  readonly runId: string
  readonly pack: Package
  host?: HostRun
  declared: Declared
  tools: readonly ToolDefinition[]
  fiber?: Fiber
  /** Why its host half ended by itself. */
  endReason?: string
}

/** A start or an update, until it has come to run or has not. */
export interface Transition {
  readonly run: Run
  readonly isUpdate: boolean
  isAwaiting: boolean
  /** It is being put in the place of what ran. */
  isCommitting: boolean
  cancelDraw: Undo
  readonly done: PromiseWithResolvers<void>
}

/** A plugin of a session with its packages and what of it runs. */
export interface Held {
  readonly pluginId: string
  readonly packages: Map<string, Package>
  lastApproved?: Package
  current?: Run
  currentPackageId?: string
  next?: Transition
  stopping?: Promise<{ readonly wasRunning: boolean }>
  failure?: string
}

/** All plugins of one session, and the numbers that were given in it. */
export interface SessionPlugins {
  readonly agent: Agent
  readonly plugins: Map<string, Held>
  /** What the log tells of and nobody holds. */
  readonly lost: Map<string, LoggedPlugin>
  /** The number that was given last, by plugin; also of those that are undefined. */
  readonly lastPackages: Map<string, number>
  lastPlugin: number
  lastRun: number
  lastApproval: number
}

export const stateOf = (held: Held): PluginState => {
  if (held.stopping !== undefined) return 'stopping'
  if (held.current !== undefined) return 'running'
  if (held.next !== undefined) return held.next.isAwaiting ? 'awaiting-client' : 'starting'
  return held.failure === undefined ? 'stopped' : 'failed'
}

/** Those that a chat may show: what runs, and what waits to be shown in its place. */
export const liveRuns = (held: Held): readonly Run[] => [...(held.current === undefined ? [] : [held.current]), ...(held.next?.isAwaiting === true && held.next.run !== held.current ? [held.next.run] : [])]

/** Of its tools. */
export const namesOf = ({ declared }: Run): readonly string[] => declared.tools.map(({ name }) => name)

/** The refusal of a start while the plugin is on its way somewhere. */
export const inFlight = ({ pluginId, next }: Held) =>
  new DynamicPluginError('transition-in-flight', next === undefined ? `The plugin ${pluginId} is being stopped. Wait for that, then run it.` : `The plugin ${pluginId} is on its way to ${next.run.pack.packageId}. Wait for its outcome, or stop it first.`)
