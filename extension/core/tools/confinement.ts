import type { Undo } from '../../base/undo.ts'
import type { SandboxedEnd, SandboxedProgram, SandboxReading } from '../../capabilities/sandbox.ts'
import type { SandboxMode } from '../log/event.ts'
import type { Execution, ToolDefinition } from './definition.ts'

export type { SandboxMode }

/** Holds what tools start to what the session may write. Source: capability specification 0.7. */
export interface Confinement {
  /** Look for a way to confine, at most once; calls may ask for wider rights from then on where there is one. Never rejects. */
  settle(): Promise<void>
  /**
   * The tool with the arguments for wider rights in its declaration whenever they are offered. It is registered again when that changes,
   * and stays the same object.
   */
  offering(definition: ToolDefinition): ToolDefinition
  /** Calls of this very tool may ask for wider rights now. */
  isOfferedBy(definition: ToolDefinition | undefined): boolean
  /** What is offered is other now. */
  onDidChange(listener: () => void): Undo
  /** What a call may do: its own grant, else what the session may now. */
  modeOf(call: Pick<Execution, 'agent' | 'token'>): SandboxMode
  /** A command in this mode would run confined. */
  willConfine(mode: SandboxMode): Promise<boolean>
  /** For what cannot be confined. Errors: `SandboxError` `SANDBOX_UNAVAILABLE` where the person wants nothing to run unconfined. */
  checkUnconfined(call: Pick<Execution, 'agent' | 'token'>, what: string): void
  /** What to start for a call. Errors: `SandboxError` `SANDBOX_UNAVAILABLE` where the person wants nothing to run unconfined. */
  confine(call: Pick<Execution, 'agent' | 'token'>, program: SandboxedProgram): Promise<ConfinedProgram>
}

export interface ConfinedProgram {
  readonly program: SandboxedProgram
  /** Null where nothing can be confined. */
  readonly sandbox: ProgramSandbox | null
}

export interface ProgramSandbox {
  readonly mode: SandboxMode
  /** The next wider mode, where a call may ask for it. */
  readonly wider: SandboxMode | null
  /** Absent: it runs as it is. */
  readonly read?: (end: SandboxedEnd) => SandboxReading
}

/** What the sandbox did to a command, as a durable fact. */
export type SandboxFacts = {
  readonly mode: SandboxMode
  readonly denied: boolean
  /** The program never ran. */
  readonly runnerFailed?: boolean
  /** What a second try may ask for. */
  readonly wider?: SandboxMode
}

/** The lines that tell a model of a denial, and of the one way on. */
export const denialLines = ({ mode, wider }: { readonly mode: SandboxMode; readonly wider?: SandboxMode | null }, what: 'command' | 'call'): readonly string[] => [
  `[sandbox: denied in ${mode} mode]`,
  ...(wider ? [`[You may repeat the very same ${what} once with sandbox_permissions "${wider}" and a justification; the person is asked.]`] : []),
]

declare module '../kernel/plugin.ts' {
  interface Services {
    confinement: Confinement
  }
}
