import { HarnessError } from '../base/harness-error.ts'

/**
 * Programs at a terminal of their own: what they write is one stream, what is typed reaches whoever reads it, and keys
 * such as Ctrl-C go to the group in the foreground.
 * Source: capability specification 16.
 */
export interface TerminalHost {
  /** Why no terminal can be opened here, in words for people; null where one can. */
  readonly problem: string | null
  /** Resolves once the program runs. Errors: `TerminalError` `NO_BACKEND`, `SPAWN_FAILED`, `UNAVAILABLE`. */
  open(spec: TerminalSpec): Promise<TerminalProcess>
}

/** In characters. */
export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

export interface TerminalSpec {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  /** Added to the scrubbed environment of the host; `null` deletes a name. */
  readonly env?: Readonly<Record<string, string | null>>
  readonly size: TerminalSize
  /** Raw bytes as the terminal's screen gets them; a character may be cut between two chunks. */
  readonly onOutput: (chunk: Uint8Array) => void
  /** Time between asking the tree to end and KILL. Default 3 000 ms. */
  readonly graceMs?: number
}

export interface TerminalProcess {
  readonly pid: number
  /** Settles when the program has ended and its terminal is closed. Never rejects. */
  readonly exit: Promise<TerminalExit>
  /** As if it were typed; a carriage return is the Enter key. */
  write(text: string): Promise<void>
  resize(size: TerminalSize): Promise<void>
  /** Stop reading, so that the program waits when it writes more. */
  pauseOutput(): void
  resumeOutput(): void
  /** To the group in the foreground. Resolves with that group, null when it is not known which one that is. Errors: `TerminalError` `SHELL_PROTECTED`, `UNSUPPORTED_SIGNAL`, `ENDED`. */
  signalForeground(signal: TerminalSignal): Promise<number | null>
  foreground(): Promise<Foreground>
  /** What becomes of a key that is typed right now; null where the system does not tell. */
  keyEcho(): Promise<KeyEcho | null>
  /** Ends everything that was started at this terminal, whatever it ignores. Idempotent. Resolves when it is gone. */
  terminate(): Promise<void>
}

export const terminalSignals = ['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGTSTP', 'SIGHUP'] as const
export type TerminalSignal = (typeof terminalSignals)[number]

/** Who has the keyboard. Each fact is null where the system does not tell. */
export interface Foreground {
  readonly group: number | null
  /** The program that was started has it, not one of its children. */
  readonly isShell: boolean | null
  /** Somebody in the group waits for keys right now. */
  readonly isReading: boolean | null
}

/**
 * `shown`: the terminal writes typed lines as they are typed. `hidden`: it reads lines and writes nothing of them, as for a password.
 * `program`: the program takes each key and draws what it wants of it, as shells with line editing and full-screen programs do.
 */
export type KeyEcho = 'shown' | 'hidden' | 'program'

/** A signal death has `exitCode` null. */
export interface TerminalExit {
  readonly exitCode: number | null
  readonly signal: string | null
  /** Ended by `terminate` rather than by itself. */
  readonly wasTerminated: boolean
}

export type TerminalErrorCode = 'NO_BACKEND' | 'SPAWN_FAILED' | 'UNAVAILABLE' | 'SHELL_PROTECTED' | 'UNSUPPORTED_SIGNAL' | 'ENDED'

export class TerminalError extends HarnessError<TerminalErrorCode> {}

export const shellProtected = () =>
  new TerminalError('SHELL_PROTECTED', 'No program runs in the foreground, and SIGKILL would end the shell itself. Close the terminal with terminal_close instead.')
export const terminalEnded = () => new TerminalError('ENDED', 'The program of this terminal has ended. Open a new terminal.')
