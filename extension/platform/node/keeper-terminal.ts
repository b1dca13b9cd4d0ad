import { TerminalError, terminalEnded, type Foreground, type KeyEcho, type TerminalErrorCode, type TerminalExit, type TerminalProcess, type TerminalSignal, type TerminalSize, type TerminalSpec } from '../../capabilities/terminal.ts'
import { keeperLost } from './keeper-protocol.ts'
import type { Kept, Reply, Request } from './keeper-runner.ts'
import type { ProcessTree } from './process-tree.ts'

interface Door {
  readonly resolve: (terminal: TerminalProcess) => void
  readonly reject: (error: TerminalError) => void
  readonly request: (message: Request) => Promise<Reply>
}

/** The host's end of one terminal. */
export class KeptTerminal implements TerminalProcess, Kept {
  pid = 0
  readonly exit: Promise<TerminalExit>
  readonly #spec: TerminalSpec
  readonly #door: Door
  #settle: (exit: TerminalExit) => void = () => {}
  #hasEnded = false
  #termination: Promise<void> | undefined

  constructor(spec: TerminalSpec, door: Door) {
    this.#spec = spec
    this.#door = door
    this.exit = new Promise((resolve) => (this.#settle = resolve))
  }

  async write(text: string): Promise<void> {
    await this.#door.request({ op: 'write', text })
  }

  async resize(size: TerminalSize): Promise<void> {
    await this.#door.request({ op: 'resize', size })
  }

  pauseOutput(): void {
    void this.#door.request({ op: 'hold-output', isHeld: true })
  }

  resumeOutput(): void {
    void this.#door.request({ op: 'hold-output', isHeld: false })
  }

  async signalForeground(signal: TerminalSignal): Promise<number | null> {
    if (this.#hasEnded) throw terminalEnded()
    const { result, error } = await this.#door.request({ op: 'signal-foreground', signal })
    if (error) throw new TerminalError(error.code, error.message)
    return typeof result === 'number' ? result : null
  }

  async foreground(): Promise<Foreground> {
    const { result } = await this.#door.request({ op: 'foreground' })
    // The keeper is the same build and answers this request with these facts, or with nothing when it is gone.
    return (result as unknown as Foreground | undefined) ?? { group: null, isShell: null, isReading: null }
  }

  async keyEcho(): Promise<KeyEcho | null> {
    const { result } = await this.#door.request({ op: 'key-echo' })
    // As for the foreground.
    return (result as KeyEcho | null | undefined) ?? null
  }

  terminate(): Promise<void> {
    this.#termination ??= this.#door.request({ op: 'terminate' }).then(() => {})
    return this.#termination
  }

  output(_stream: 'stdout' | 'stderr', chunk: Uint8Array): void {
    this.#spec.onOutput(chunk)
  }

  started(pid: number): void {
    this.pid = pid
    this.#door.resolve(this)
  }

  failed({ code, message }: Parameters<Kept['failed']>[0]): void {
    // The keeper's answer to an open terminal has the codes of terminals.
    this.#door.reject(new TerminalError(code as TerminalErrorCode, message))
  }

  ended(exit: Parameters<Kept['ended']>[0]): void {
    this.#hasEnded = true
    this.#settle({ exitCode: exit.exitCode, signal: exit.signal, wasTerminated: exit.wasTerminated })
  }

  /** The keeper died without ending it: what was started at it still runs, and nobody else knows of it. */
  lost(tree: ProcessTree, diagnostics: string): void {
    if (this.pid === 0) return this.failed({ code: 'UNAVAILABLE', message: keeperLost(diagnostics) })
    void tree.signal(this.pid, 'SIGKILL')
    this.ended({ exitCode: null, signal: 'SIGKILL', wasTerminated: true })
  }
}
