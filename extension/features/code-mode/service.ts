import type { Json } from '../../base/json.ts'
import type { ScopeKey } from '../../core/kernel/plugin.ts'
import type { BodyExecution, ToolLimit } from '../../core/tools/definition.ts'

/** What a program printed and returned. */
export interface ProgramOutcome {
  /** One a call of the console, in order. */
  readonly logs: readonly string[]
  /** Absent where it returned nothing; null where it returned that. */
  readonly result?: Json
}

export interface CallsWithin {
  /** The canonical value. `over` stops all of them. Errors: whatever the call failed with. */
  call(name: string, args: Json, over: AbortSignal): Promise<Json>
  /** Stop what runs; resolves when every call has ended and all is written down. */
  end(): Promise<void>
}

/** Programs of a model that act through tools alone. Source: runtime specification 7, 8. */
export interface CodeMode {
  /**
   * Run a program inside of a call, in a fresh world with the tools that its agent sees.
   *
   * Errors: `ToolError` `CODE_RUN_FAILED` with what happened, what it means and what was printed before. Every call has ended by then.
   */
  run(code: string, exec: BodyExecution): Promise<ProgramOutcome>
  /** Calls inside of a call, as those of its program are made: judged, shown below it and logged. Who asks for them ends them. */
  callsWithin(exec: BodyExecution): CallsWithin
  /** What programs of a scope can call, as TypeScript declarations: the same bytes as long as its tools are the same. */
  declarations(scope: ScopeKey | null): string
  /** What holds for each program now. */
  readonly limits: readonly ToolLimit[]
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    codeMode: CodeMode
  }
}
