import { HarnessError } from '../base/harness-error.ts'

/**
 * Start programs, each the leader of its own process group, owned by one small child process (the keeper)
 * so that the caller's thread never waits and nothing outlives the window.
 * Source: design stack row "Processes", capability specification 0.8.
 */
export interface ProcessRunner {
  /** Resolves once the program runs. Errors: `ProcessError` `SPAWN_FAILED`, `ABORTED` (signal already fired), `UNAVAILABLE`. */
  start(spec: ProcessSpec): Promise<RunningProcess>
  /**
   * What has become of a program that an earlier host started. One that still runs is ended with its tree when `birth` says that it
   * is the same; `alive` when it cannot be ended, or nobody can tell whether it is the same.
   */
  endLeftover(program: { readonly pid: number; readonly birth?: string }): Promise<'gone' | 'ended' | 'alive'>
  /** Ends every program it started and waits until they are gone. */
  dispose(): Promise<void>
}

export interface ProcessSpec {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  /** Added to the scrubbed environment of the host; `null` deletes a name. */
  readonly env?: Readonly<Record<string, string | null>>
  /** Text for standard input, which is then closed; absent means the null device; `'pipe'` keeps it open for `write`. */
  readonly stdin?: string | 'pipe'
  /** Output order is kept between the two streams as far as the system allows. Called with raw bytes. */
  readonly onOutput: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void
  /** Fires `terminate` with this grace. */
  readonly signal?: AbortSignal
  /** Time between TERM and KILL, and to drain pipes that descendants hold open. Default 3 000 ms. */
  readonly graceMs?: number
}

export interface RunningProcess {
  readonly pid: number
  /** Settles after the exit and after the pipes were drained, at most `graceMs` later. Never rejects. */
  readonly exit: Promise<ProcessExit>
  write(text: string): Promise<void>
  endInput(): Promise<void>
  /** TERM to the whole group, KILL after the grace. Idempotent. Resolves when the tree is gone. */
  terminate(): Promise<void>
  sendSignal(signal: string): Promise<void>
  /** What the system knows of the tree right now. Costs a look at every process of the machine, so not for each moment. */
  inspect(): Promise<TreeFacts>
  /** Tells the program from any other that has or will have its process id; null where the system does not say. */
  birth(): Promise<string | null>
}

/** Each fact is null where the system does not tell. */
export interface TreeFacts {
  /** Somebody in the tree waits to read from the standard input of the program, or from a terminal. */
  readonly isReadingInput: boolean | null
  /** TCP ports that somebody in the tree listens at, ascending. */
  readonly ports: readonly number[] | null
}

/** Independent facts: a signal death has `exitCode` null. */
export interface ProcessExit {
  readonly exitCode: number | null
  readonly signal: string | null
  /** Ended by `terminate` or by the spec's signal rather than by itself. */
  readonly wasTerminated: boolean
  readonly durationMs: number
  /** Processes that it started and left behind still run. They end by `terminate`, or with the host at the latest. */
  readonly hasSurvivors?: boolean
}

export type ProcessErrorCode = 'SPAWN_FAILED' | 'ABORTED' | 'UNAVAILABLE'

export class ProcessError extends HarnessError<ProcessErrorCode> {}
