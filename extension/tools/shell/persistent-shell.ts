import { messageOf } from '../../base/message-of.ts'
import type { SpillFile } from '../../capabilities/blob-store.ts'
import type { Clock } from '../../capabilities/clock.ts'
import { SandboxError, type SandboxedProgram } from '../../capabilities/sandbox.ts'
import { TerminalError, type TerminalHost, type TerminalProcess } from '../../capabilities/terminal.ts'
import type { TerminalViewHandle, TerminalViews } from '../../capabilities/terminal-view.ts'
import { MESSAGE_SEQUENCE } from '../../capabilities/terminal-screen.ts'
import type { ConfinedProgram, ProgramSandbox, SandboxMode } from '../../core/tools/confinement.ts'
import type { PersistentDialect } from './persistent-dialect.ts'
import { MarkedOutput } from './persistent-line.ts'
import { PersistentOutput } from './persistent-output.ts'
import { ShellError, stopped } from './shell-error.ts'

export const PERSISTENT_DEADLINE_MS = 300_000
const INIT_DEADLINE_MS = 10_000
/** Less often the longer it is silent. */
const POLL_MS = 50
const SLOWEST_POLL_MS = 1_000
const BELL = new Uint8Array([7])
/** Silence after which the system is asked whether a program waits for keys. */
const PROBE_AFTER_MS = 150
/** Silence after which a line that looks like a question counts as one, where the system does not tell. */
const INFER_AFTER_MS = 3_000

export interface PersistentShellParts {
  readonly terminals: TerminalHost
  readonly clock: Clock
  readonly dialect: PersistentDialect
  readonly program: () => string
  readonly cwd: string
  /** Asked when a shell starts. */
  readonly env: () => Promise<Readonly<Record<string, string | null>>>
  readonly newNonce: () => string
  readonly openSpill: () => Promise<SpillFile>
  /** Absent where nobody looks. */
  readonly views?: TerminalViews
  /** Absent: the shell runs as it is. */
  readonly confinement?: ShellConfinement
}

/** Holds the shell of one agent to what its session may do. */
export interface ShellConfinement {
  mode(): SandboxMode
  /** Errors: `SandboxError`. */
  confine(program: SandboxedProgram): Promise<ConfinedProgram>
}

/** What the person had to do with it, which the model is told. */
export interface PersonDeeds {
  /** They typed while the command ran. */
  readonly hasTyped?: true
  /** They closed the shell before, so the command ran in a fresh one. */
  readonly hasClosedBefore?: true
  /** They closed the shell while the command ran. */
  readonly hasClosed?: true
  /** What the session may do is other than when the shell was started, so the command ran in a fresh one. */
  readonly hasOtherRights?: true
}

/** The end of a command that had waited for input, between two calls. */
export interface EndMeanwhile {
  readonly meanwhile?: { readonly text: string; readonly exitCode: number }
}

/** How a call came to its end; `text` is what the command wrote. */
export type PersistentEnd =
  | { readonly kind: 'completed'; readonly text: string; readonly exitCode: number; /** The sandbox of this mode stopped it. */ readonly deniedIn?: SandboxMode }
  | { readonly kind: 'waiting'; readonly text: string }
  | { readonly kind: 'deadline'; readonly text: string; readonly timeoutMs: number }
  | { readonly kind: 'ended'; readonly text: string; readonly exitCode: number | null; readonly signal: string | null }

interface Live {
  readonly mode: SandboxMode | undefined
  readonly sandbox: ProgramSandbox | null
  readonly process: TerminalProcess
  readonly view: TerminalViewHandle | undefined
  exit: { readonly exitCode: number | null; readonly signal: string | null } | undefined
}
/** A command that has not ended; it may wait for input over several calls. */
interface Running {
  readonly marked: MarkedOutput
  output: PersistentOutput
  end: { readonly exitCode: number } | undefined
}

/** One shell of one agent: folder, variables, functions and background programs stay from call to call; calls queue. */
export class PersistentShell {
  folder: string
  readonly #parts: PersistentShellParts
  #live: Live | undefined
  #running: Running | undefined
  #hear: (text: string) => void = () => {}
  #lastOutputAt = 0
  #wake: () => void = () => {}
  #queue: Promise<unknown> = Promise.resolve()
  #isDisposed = false
  #view: TerminalViewHandle | undefined
  /** A call waits for the shell. */
  #isBusy = false
  /** What they typed may have changed the shell's folder, and may stand on its line. */
  #hasLinesOfPerson = false
  #person: { hasTyped?: true; hasClosedBefore?: true; hasClosed?: true; hasOtherRights?: true } = {}

  constructor(parts: PersistentShellParts) {
    this.#parts = parts
    this.folder = parts.cwd
  }

  /** A command of an earlier call has not ended and gets what is sent next, or nobody knows what the person made of the shell. */
  get isWaiting(): boolean {
    return (this.#running !== undefined && this.#running.end === undefined) || this.#hasLinesOfPerson
  }

  /** Errors: `ShellError` `ABORTED`, `SHELL_FAILED`; the shell is ended then, and the next call starts a fresh one. */
  run(command: string, options: { readonly timeoutMs: number; readonly signal: AbortSignal; readonly onText: (text: string) => void }): Promise<PersistentEnd & PersonDeeds & EndMeanwhile> {
    const turn = this.#queue.then(async () => {
      this.#isBusy = true
      try {
        const meanwhile = await this.#takeEnded()
        const end = await this.#runNow(command, options)
        return { ...end, ...this.#person, ...(meanwhile && { meanwhile }) }
      } finally {
        this.#isBusy = false
        this.#person = {}
      }
    })
    this.#queue = turn.catch(() => {})
    return turn
  }

  /** End the shell with all that it started. The next call starts a fresh one. */
  async reset(): Promise<void> {
    const live = this.#live
    this.#live = undefined
    this.#running = undefined
    this.#hasLinesOfPerson = false
    this.folder = this.#parts.cwd
    await live?.process.terminate()
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true
    await this.reset()
    this.#view?.dispose()
  }

  async #runNow(command: string, { timeoutMs, signal, onText }: Parameters<PersistentShell['run']>[1]): Promise<PersistentEnd> {
    if (signal.aborted || this.#isDisposed) throw stopped('', null)
    let running = this.#running
    try {
      const mode = this.#parts.confinement?.mode()
      // What is typed to a program that waits is no command of a shell, and stays with that program.
      if (running === undefined && this.#live !== undefined && this.#live.mode !== mode) {
        await this.reset()
        this.#person.hasOtherRights = true
      }
      const live = this.#live ?? (await this.#start())
      if (running === undefined) {
        const nonce = this.#parts.newNonce()
        running = { marked: new MarkedOutput(nonce), output: new PersistentOutput(this.#parts.openSpill), end: undefined }
        this.#listen(running, onText)
        // The shell shows nothing of what it is told, so that the model reads output alone.
        live.view?.write(new TextEncoder().encode(`\u001b[2m$ ${command.replaceAll(/\r?\n/g, '\r\n> ')}\u001b[0m\r\n`))
        const { clearLine, commandKeys } = this.#parts.dialect
        await live.process.write(`${this.#hasLinesOfPerson ? clearLine : ''}${commandKeys(nonce, command)}`)
        this.#hasLinesOfPerson = false
      } else {
        this.#listen(running, onText)
        await live.process.write(`${command.replaceAll(/\r?\n/g, '\r')}\r`)
      }
      this.#running = running
      return await this.#follow(live, running, timeoutMs, signal)
    } catch (error) {
      const text = running === undefined ? '' : await running.output.text()
      await this.reset()
      if (signal.aborted) throw stopped(text, { kind: 'foreground', aborted: true, output: text })
      if (error instanceof ShellError || error instanceof TerminalError || error instanceof SandboxError) throw error
      throw new ShellError('SHELL_FAILED', `The shell failed and was ended; the next call starts a fresh one. ${messageOf(error)}`, null, { cause: error })
    } finally {
      await running?.output.close()
    }
  }

  #listen(running: Running, onText: (text: string) => void): void {
    this.#hear = (text) => {
      const { output, end } = running.marked.push(text)
      running.output.push(output)
      if (output !== '') onText(output)
      if (end === undefined) return
      running.end = end
      this.#wake()
      this.folder = end.folder || this.folder
    }
  }

  async #follow(live: Live, running: Running, timeoutMs: number, signal: AbortSignal): Promise<PersistentEnd> {
    const { clock } = this.#parts
    const startedAt = clock.monotonicMs()
    this.#lastOutputAt = startedAt
    let waitingSince: number | null = null
    for (;;) {
      signal.throwIfAborted()
      if (running.end !== undefined) {
        this.#running = undefined
        const { exitCode } = running.end
        const text = await running.output.text()
        const isDenied = live.sandbox?.read?.({ exitCode, signal: null, stderr: text }).isDenied === true
        return { kind: 'completed', text, exitCode, ...(isDenied && live.sandbox && { deniedIn: live.sandbox.mode }) }
      }
      if (live.exit !== undefined) {
        const text = await running.output.text()
        await this.reset()
        return { kind: 'ended', text, ...live.exit }
      }
      const now = clock.monotonicMs()
      if (now - startedAt >= timeoutMs) {
        const text = await running.output.text()
        await this.reset()
        return { kind: 'deadline', text, timeoutMs }
      }
      if (now - this.#lastOutputAt >= PROBE_AFTER_MS && (await this.#waitsForKeys(live, running, now - this.#lastOutputAt))) {
        // Looked at twice: the end of a command and the next prompt may be on their way.
        if (waitingSince === this.#lastOutputAt) return { kind: 'waiting', text: await this.#takeOutput(running) }
        waitingSince = this.#lastOutputAt
      } else waitingSince = null
      await this.#pause(Math.min(Math.max(POLL_MS, (now - this.#lastOutputAt) / 10), SLOWEST_POLL_MS), signal)
    }
  }

  /** What comes from now on belongs to the next call. */
  async #takeOutput(running: Running): Promise<string> {
    const { output } = running
    running.output = new PersistentOutput(this.#parts.openSpill)
    const text = await output.text()
    await output.close()
    return text
  }

  /** A command that waited for input may have ended since: on a time-out of its own, or by the person's answer. */
  async #takeEnded(): Promise<EndMeanwhile['meanwhile']> {
    const running = this.#running
    if (running?.end === undefined) return undefined
    this.#running = undefined
    const text = await running.output.text()
    await running.output.close()
    return { text, exitCode: running.end.exitCode }
  }

  async #waitsForKeys(live: Live, running: Running, silentMs: number): Promise<boolean> {
    const { isReading } = await live.process.foreground()
    return isReading ?? (silentMs >= INFER_AFTER_MS && /[:?>$#%] ?$/.test(running.output.ending))
  }

  async #start(): Promise<Live> {
    const { terminals, clock, dialect, program, cwd, env, newNonce, confinement } = this.#parts
    const nonce = newNonce()
    const ready = `\u001b]${MESSAGE_SEQUENCE};${nonce};ready\u0007`
    const decoder = new TextDecoder()
    let seen = ''
    let isReady = false
    this.#view?.dispose()
    const view = (this.#view = this.#show())
    this.#hear = (text) => void (seen = (seen + text).slice(-4_000))
    const mode = confinement?.mode()
    const plain = { command: program(), args: dialect.startArguments(nonce), cwd, env: await env() }
    const { program: wrapped, sandbox } = (await confinement?.confine(plain)) ?? { program: plain, sandbox: null }
    const process = await terminals.open({
      ...wrapped,
      size: { columns: 160, rows: 40 },
      onOutput: (chunk) => {
        this.#lastOutputAt = clock.monotonicMs()
        // What sets the shell up is nothing to look at.
        if (isReady) view?.write(chunk)
        this.#hear(decoder.decode(chunk, { stream: true }))
      },
    })
    const live: Live = { process, view, mode, sandbox, exit: undefined }
    void process.exit.then(({ exitCode, signal }) => {
      live.exit = { exitCode, signal }
      view?.end(exitCode)
      this.#wake()
    })
    this.#live = live
    const keys = dialect.initialKeys(nonce)
    if (keys !== '') await process.write(keys)
    const deadline = clock.monotonicMs() + INIT_DEADLINE_MS
    while (!seen.includes(ready)) {
      if (live.exit !== undefined || clock.monotonicMs() > deadline) throw new ShellError('SHELL_FAILED', `${program()} did not start as a shell at a terminal. Check the setting bosun.shell.path.`, null)
      await this.#pause(10)
    }
    isReady = true
    return live
  }

  #show(): TerminalViewHandle | undefined {
    const { views, dialect } = this.#parts
    return views?.show({
      name: `Bosun: ${dialect.name}`,
      onInput: (text) => this.#typeForPerson(text),
      onResize: (size) => void this.#live?.process.resize(size),
      onClose: () => void this.#closeForPerson(),
    })
  }

  /** What runs may be answered. A line of the person's between two commands would change what the next one meets, unseen, so it only rings. */
  #typeForPerson(text: string): void {
    if (!this.#isBusy && this.#running === undefined) return this.#view?.write(BELL)
    this.#person.hasTyped = true
    this.#hasLinesOfPerson = true
    void this.#live?.process.write(text)
  }

  async #closeForPerson(): Promise<void> {
    if (this.#live === undefined || this.#live.exit !== undefined) return
    if (!this.#isBusy) {
      this.#person.hasClosedBefore = true
      return this.reset()
    }
    this.#person.hasClosed = true
    await this.#live.process.terminate()
  }

  /** Until the time is over, the command or the shell ends or the signal fires. Calls queue, so there is one waiter at a time. */
  async #pause(delayMs: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = () => resolve()
    const stop = this.#parts.clock.schedule(delayMs, wake)
    this.#wake = wake
    signal?.addEventListener('abort', wake)
    if (signal?.aborted === true) wake()
    await promise
    stop()
    signal?.removeEventListener('abort', wake)
  }
}
