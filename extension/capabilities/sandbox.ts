import { HarnessError } from '../base/harness-error.ts'
import type { ProcessSpec } from './process.ts'

/**
 * Holds programs to writing in some folders, by means of the system: files alone, neither the network nor other programs.
 * Source: capability specification 0.7.
 */
export interface Sandbox {
  /** Looks for the runner of this system when it is first asked, at most 5 s, and keeps what it found. Never rejects. */
  find(): Promise<SandboxVerdict>
}

/** `problem` says in words for people why nothing can be confined here. */
export type SandboxVerdict = { readonly runner: SandboxRunner } | { readonly runner: null; readonly problem: string }

export interface SandboxRunner {
  /** Such as `bubblewrap`. */
  readonly name: string
  /** What to start in the place of `program`. Errors: none of its own; a runner that then fails says so in the output. */
  wrap(program: SandboxedProgram, limits: SandboxLimits): Promise<SandboxedProgram>
  /** What the end of a wrapped program says of the program itself. */
  read(end: SandboxedEnd): SandboxReading
}

export type SandboxedProgram = Pick<ProcessSpec, 'command' | 'args' | 'cwd' | 'env'>

export interface SandboxLimits {
  /** Absolute folders in which it may write; none: nowhere. Those that do not exist are left out. */
  readonly writable: readonly string[]
  /** What looks like a secret in these folders, so many levels down, is closed to reading too, as far as it is found. */
  readonly searched: readonly { readonly folder: string; readonly levels: number }[]
  /** Paths from a searched folder that are secrets wherever they are, such as `.aws/credentials`. */
  readonly secretNames: readonly string[]
  readonly isSecret: (path: string) => boolean
}

export interface SandboxedEnd {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stderr: string
}

export interface SandboxReading {
  readonly exitCode: number | null
  readonly signal: string | null
  /** It failed, and its errors speak of what the sandbox forbids. */
  readonly isDenied: boolean
  /** The program never ran. */
  readonly hasRunnerFailed: boolean
}

export class SandboxError extends HarnessError<'SANDBOX_UNAVAILABLE'> {}

/** Nothing runs unconfined in the place of what should be confined. */
export const sandboxUnavailable = (problem: string) =>
  new SandboxError('SANDBOX_UNAVAILABLE', `The settings want every command confined, and nothing here can do that: ${problem} The person can change bosun.sandbox.use.`)
