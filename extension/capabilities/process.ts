import { HarnessError } from '../base/harness-error.ts'

/**
 * Start programs, each the leader of its own process group, owned by one small child process (the keeper)
 * so that the caller's thread never waits and nothing outlives the window.
 * Source: design stack row "Processes", capability specification 0.8.
 */
export interface ProcessRunner {
  /** Resolves once the program runs. Errors: `ProcessError` `SPAWN_FAILED`, `ABORTED` (signal already fired), `UNAVAILABLE`. */
  start(spec: ProcessSpec): Promise<RunningProcess>
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
