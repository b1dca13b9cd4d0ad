import type { Waterfall } from '../../core/kernel/plugin.ts'
import type { Agent } from '../../core/session/agent.ts'

/** Names and values for a program; null deletes a name. */
export type EnvironmentChanges = Readonly<Record<string, string | null>>

/** What a command of an agent gets beside the scrubbed environment of the host. `quiet`: what its shell sets so that programs ask nothing. */
export type CommandEnvironment = (agent: Agent | undefined, quiet: EnvironmentChanges) => Promise<EnvironmentChanges>

declare module '../../core/kernel/plugin.ts' {
  interface ExtensionPoints {
    /** What a command, job or terminal gets in its environment; names that begin with `BOSUN_` are left out. */
    'shell/environment': Waterfall<[place: { readonly agent?: Agent }], EnvironmentChanges>
  }
}
