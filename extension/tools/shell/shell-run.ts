import type { SpillFile } from '../../capabilities/blob-store.ts'
import type { ProcessExit, ProcessRunner, ProcessSpec, RunningProcess } from '../../capabilities/process.ts'
import type { ProgramSandbox, SandboxFacts } from '../../core/tools/confinement.ts'
import type { EndLeft } from './left-programs.ts'
import { StreamCollector, type CollectedStream } from './stream-collector.ts'

export const MAX_STREAM_BYTES = 64_000
export const MAX_SPILL_BYTES = 64 * 1024 * 1024
export const GRACE_MS = 3_000
/** Of what is kept of a long stream, so much is its beginning; the rest is its end. */
const HEAD_BYTES = 16_000
/** Typed at the end of an input, as at a terminal: nothing more comes. */
const END_OF_INPUT = '\u0004'

export type OpenSpill = (name: string) => Promise<SpillFile>
export type ShellProgram = Pick<ProcessSpec, 'command' | 'args' | 'cwd' | 'env'>

export interface ShellRunSpec {
  readonly program: ShellProgram
  /** Its standard input stays open to type to; else it is the null device, and whatever reads it sees its end at once. */
  readonly isInteractive: boolean
  readonly openSpill: OpenSpill | undefined
  /** How it is confined; absent where nothing is. */
  readonly sandbox?: ProgramSandbox
  /** It is over, and programs that it started are not; called with what ends them. */
  readonly onLeft?: (end: EndLeft) => void
}

/** One command with all that it writes, whoever waits for it: a call, and later perhaps a job. */
export class ShellRun {
  readonly spec: ShellRunSpec
  readonly stdout: StreamCollector
  readonly stderr: StreamCollector
  /** Both streams in the order they came. */
  readonly transcript = new StreamCollector({ maxBytes: MAX_STREAM_BYTES, headBytes: HEAD_BYTES, maxSpillBytes: 0 })
  readonly #processes: ProcessRunner
  readonly #live = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  #follow: (text: string) => void = () => {}
  #started: Promise<RunningProcess> | undefined
  #isEnded = false

  constructor(processes: ProcessRunner, spec: ShellRunSpec) {
    this.spec = spec
    this.#processes = processes
    const { openSpill } = spec
    const collect = (name: string) =>
      new StreamCollector({ maxBytes: MAX_STREAM_BYTES, headBytes: HEAD_BYTES, maxSpillBytes: MAX_SPILL_BYTES, ...(openSpill && { openSpill: () => openSpill(`${name}.log`) }) })
    this.stdout = collect('stdout')
    this.stderr = collect('stderr')
  }

  /** Gets decoded output from now on, in the place of whoever did before. */
  follow(onText: (text: string) => void): void {
    this.#follow = onText
  }

  /** Starts it the first time. Errors: those of `ProcessRunner.start`. */
  start(): Promise<RunningProcess> {
    this.#started ??= this.#begin()
    return this.#started
  }

  /** Ends it with its tree, also while it starts. Resolves when that is gone. */
  async terminate(): Promise<void> {
    this.#isEnded = true
    // A start that failed is told to whoever waits for it; there is nothing to end then.
    await this.#started?.then((running) => running.terminate(), () => {})
  }

  async sendInput(text: string): Promise<void> {
    const running = await this.start()
    const isLast = text.endsWith(END_OF_INPUT)
    const typed = isLast ? text.slice(0, -1) : text
    if (typed !== '') await running.write(typed)
    if (isLast) await running.endInput()
  }

  /** Resolves when it has ended and its files are complete. */
  async end(): Promise<{ readonly exit: ProcessExit; readonly stdout: CollectedStream; readonly stderr: CollectedStream; readonly sandbox?: SandboxFacts }> {
    const running = await this.start()
    const exit = await running.exit
    const [stdout, stderr] = await Promise.all([this.stdout.finish(), this.stderr.finish()])
    return { ...readEnd(exit, stderr.text, this.spec.sandbox), stdout, stderr }
  }

  /** What came since the last call, one stream after the other, with a word for what has left the memory. */
  takeOutput(): string {
    return `${deltaOf(this.stdout, 'stdout')}${deltaOf(this.stderr, 'stderr')}`
  }

  async #begin(): Promise<RunningProcess> {
    const { program, isInteractive } = this.spec
    const running = await this.#processes.start({
      ...program,
      graceMs: GRACE_MS,
      ...(isInteractive && { stdin: 'pipe' }),
      onOutput: (stream, chunk) => {
        this[stream].push(chunk)
        this.transcript.push(chunk)
        const text = this.#live[stream].decode(chunk, { stream: true })
        if (text !== '') this.#follow(text)
      },
    })
    if (this.#isEnded) void running.terminate()
    void running.exit.then(({ hasSurvivors }) => {
      if (hasSurvivors === true && !this.#isEnded) this.spec.onLeft?.(() => running.terminate())
    })
    return running
  }
}

/** Its own end, out of what the runner of the sandbox ended with, and what the sandbox did to it. */
function readEnd(exit: ProcessExit, stderr: string, sandbox: ProgramSandbox | undefined): { readonly exit: ProcessExit; readonly sandbox?: SandboxFacts } {
  if (sandbox === undefined) return { exit }
  const { mode, wider, read } = sandbox
  if (read === undefined) return { exit, sandbox: { mode, denied: false } }
  const { exitCode, signal, isDenied, hasRunnerFailed } = read({ exitCode: exit.exitCode, signal: exit.signal, stderr })
  return {
    exit: { ...exit, exitCode, signal },
    sandbox: { mode, denied: isDenied, ...(hasRunnerFailed && { runnerFailed: true }), ...(isDenied && wider !== null && { wider }) },
  }
}

function deltaOf(stream: StreamCollector, name: 'stdout' | 'stderr'): string {
  const { text, lostBytes, spillPath } = stream.readDelta()
  if (text === '' && lostBytes === 0) return ''
  const lost = lostBytes === 0 ? '' : `[${lostBytes} bytes of ${name} are left out here. All of it: ${spillPath ?? 'not available'}]\n`
  return `${name === 'stderr' ? '[stderr]\n' : ''}${lost}${text}${text === '' || text.endsWith('\n') ? '' : '\n'}`
}
