import { HarnessError } from '../base/harness-error.ts'
import type { Json } from '../base/json.ts'

export type CodeErrorCode =
  /** The program does not parse. */
  | 'CODE_SYNTAX'
  /** It threw; `message` is what it threw, with the place in the program. */
  | 'CODE_THROWN'
  | 'CODE_TIME'
  | 'CODE_MEMORY'
  | 'CODE_STACK'
  | 'CODE_OUTPUT'
  | 'CODE_CALLS'
  /** What it returned is no lossless JSON. */
  | 'CODE_RESULT'
  | 'CODE_CANCELLED'
  /** The isolate died. */
  | 'CODE_CRASHED'
  | 'CODE_UNAVAILABLE'

export class CodeError extends HarnessError<CodeErrorCode> {}

/** Caps of one run. Each ends it with its own code. */
export interface CodeLimits {
  /** Of any slice in which the program does not wait. */
  readonly sliceMs: number
  /** Of all slices together; absent: none. */
  readonly computeMs?: number
  readonly memoryBytes: number
  readonly stackBytes: number
  /** UTF-8 bytes of what it prints and returns together, 64 more for each line, since the host takes up each of them; the arguments of one call may be as much, and more is thrown in the program. */
  readonly outputBytes: number
  /** Host calls in all, 0 is none; and at once, what is more waits. */
  readonly calls: number
  readonly callsAtOnce: number
}

/** What a program may reach: nothing else of the host is there. */
export interface CodeProgram {
  /** The body of an async function: awaits at its top level, ends with `return`. */
  readonly source: string
  /** `typescript`: its types are taken out before it runs, and it is strict. Absent: plain JavaScript. */
  readonly language?: 'typescript'
  /** For error places. */
  readonly name: string
  /**
   * JavaScript, the body of a function in strict mode, that runs before it in the same context and gives the program its names. It alone
   * can reach `host(name, ...json)`, which gives a promise of the answer; it keeps the built-in functions it needs, since the program may replace them.
   * It may return `(name, message) => text`: what to say more, behind its message, of an error that ends the program.
   */
  readonly prelude: string
  readonly limits: CodeLimits
  readonly signal: AbortSignal
  /** Answers `host(name, ...args)`; a rejection is thrown in the program as `{ name, message, code }` of the error. */
  readonly call: (name: string, args: readonly Json[], signal: AbortSignal) => Promise<Json>
  /**
   * What the program prints, as it comes, one line a call of `console`. It may not throw.
   *
   * Texts stand as they are, with a space between two values. All else is compact JSON where it is such, with words for what is not:
   * `undefined`, `NaN`, `-0`, `1n`, `Symbol(a)`, `[Function f]`, `Map(1) {"a" => 1}`, `Set(1) {1}`, `Date …`, `/a/g`, `Uint8Array(1) [0]`,
   * `Name {…}` for an object of a class, `TypeError: no`, `empty` for a hole, `[Getter]` for an accessor, which is never read, `[Circular]`
   * for a value within itself, `[Throws]` for one that lets nobody look. Shown are 4 levels (deeper: `[Object]`, `[Array]`), 100 items of each list,
   * 10,000 characters of each text in a value and 10,000 values in all; what is left out is told by its number.
   */
  readonly print?: (level: 'log' | 'info' | 'warn' | 'error' | 'debug', text: string) => void
}

/**
 * Runs programs of a model where they can act through `call` alone, off the host's thread, in a fresh context each.
 *
 * A program has the language, `console` and what the prelude gave it: no timers, files, network or modules. A promise that it waits for and
 * nothing will ever settle ends it as thrown; a rejection that nobody waits for is nothing.
 */
export interface CodeRuntime {
  /** What it returns is lossless JSON, an error within it as `{ name, message }`, with `toolName` where it has one; nothing returned is null, and `isNothing` tells it from a null that was returned. `hasLeftCalls`: it ended before all of its calls were answered. Errors: `CodeError` with the cap or failure; the run and its calls have ended then. */
  run(program: CodeProgram): Promise<{ readonly value: Json; readonly isNothing?: true; readonly hasLeftCalls?: true; readonly calls: number }>
  /** Does it parse? Undefined when it does, else the reason with its line. */
  check(source: string): Promise<string | undefined>
  /** Ends every run and the worker. */
  dispose(): Promise<void>
}
