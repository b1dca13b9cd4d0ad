import { spawn, type ChildProcess } from 'node:child_process'
import { dirname } from 'node:path'
import type { Socket } from 'node:net'
import { ProcessError, type ProcessErrorCode, type ProcessExit, type ProcessRunner, type ProcessSpec, type RunningProcess, type TreeFacts } from '../../capabilities/process.ts'
import { TerminalError, type TerminalHost, type TerminalProcess, type TerminalSpec } from '../../capabilities/terminal.ts'
import { runnerDisposed, startAborted } from './direct-runner.ts'
import { terminalProblem } from './direct-terminals.ts'
import { scrubEnvironment, type Environment } from './environment.ts'
import { frameKind, FrameReader, keeperLost, messageFrame, type Frame, type ToHost, type ToKeeper } from './keeper-protocol.ts'
import type { HostMarks } from './host-marks.ts'
import { createOwnerMark, OWNER_VARIABLE } from './owner-mark.ts'
import { KeptTerminal } from './keeper-terminal.ts'
import { createProcessTree, type ProcessTree } from './process-tree.ts'
import { birthOf, endLeftover } from './tree-facts.ts'

export interface KeeperRunnerOptions {
  /** The keeper's program: `dist/keeper.js`, or `keeper-main.ts` where the sources run as they are. */
  readonly entry: string
  /** Asked at each start; scrubbed here. Default: the environment of this process. */
  readonly environment?: () => Environment
  /** Set last, so that no `spec.env` can speak in their place. */
  readonly managed?: Readonly<Record<string, string>>
  /** The Node that runs the keeper. Default: the one that runs this process. */
  readonly nodePath?: string
  readonly tree?: ProcessTree
  /** Where the marks of keepers are remembered, for the case that host and keeper are killed at once. */
  readonly hosts?: HostMarks
}

/**
 * Starts programs through a keeper, which is itself started with the first program, once, and again should it die.
 *
 * A keeper that dies takes its programs with it: each of them settles as killed, and the next start gets a new keeper.
 */
export function createKeeperRunner(options: KeeperRunnerOptions): KeeperRunner {
  let keeper: Keeper | undefined
  let disposal: Promise<void> | undefined
  const current = () => (keeper?.isOpen ? keeper : (keeper = new Keeper(options)))
  const problem = terminalProblem(options.entry)
  return {
    terminals: {
      problem,
      async open(spec) {
        if (disposal) throw new TerminalError('UNAVAILABLE', 'The host is shutting down; no terminal is opened any more.')
        if (problem !== null) throw new TerminalError('NO_BACKEND', problem)
        return current().openTerminal(spec)
      },
    },
    warmUp: () => void current(),
    async start(spec) {
      if (disposal) throw runnerDisposed()
      if (spec.signal?.aborted) throw startAborted(spec.command)
      return current().start(spec)
    },
    endLeftover: async (program) => ((await options.hosts?.endLeft())?.has(program.pid) === true ? 'ended' : endLeftover(program, options.tree ?? createProcessTree())),
    dispose() {
      disposal ??= Promise.resolve(keeper?.dispose()).then(() => options.hosts?.forget())
      return disposal
    },
  }
}

export interface KeeperRunner extends ProcessRunner {
  /** Start the keeper ahead of the first program, which then does not wait for it. */
  warmUp(): void
  /** Terminals of the same keeper, which ends them as it ends programs. */
  readonly terminals: TerminalHost
}

/** For what a keeper that died left behind. */
const lostGraceMs = 1_000

class Keeper {
  readonly #child: ChildProcess
  readonly #channel: Socket
  readonly #options: KeeperRunnerOptions
  readonly #tree: ProcessTree
  readonly #reader = new FrameReader()
  readonly #owner = createOwnerMark()
  readonly #programs = new Map<number, Kept>()
  readonly #replies = new Map<number, (reply: Reply) => void>()
  readonly #closed: Promise<void>
  #nextId = 1
  #sentEnvironment = ''
  #diagnostics = ''
  #isLeaving = false
  isOpen = true

  constructor(options: KeeperRunnerOptions) {
    this.#options = options
    this.#tree = options.tree ?? createProcessTree()
    void options.hosts?.note(this.#owner.environment[OWNER_VARIABLE] ?? '')
    this.#child = spawn(options.nodePath ?? process.execPath, [options.entry], {
      cwd: dirname(options.entry),
      // In the editor this process is Electron, which runs a script as Node only when told so.
      env: { ...scrubEnvironment(process.env), ...this.#owner.environment, ELECTRON_RUN_AS_NODE: '1' },
      // Out of reach of the terminal's Ctrl-C, so that it can end its programs in order.
      detached: process.platform !== 'win32',
      windowsHide: true,
      stdio: ['ignore', 'ignore', 'pipe', 'overlapped'],
    })
    this.#channel = this.#child.stdio[3] as Socket
    this.#child.unref()
    this.#child.on('error', (error) => this.#note(error.message))
    this.#child.stderr?.on('data', (chunk: Buffer) => this.#note(chunk.toString()))
    ;(this.#child.stderr as Socket | null)?.unref?.()
    this.#channel.on('error', (error) => this.#note(error.message))
    this.#channel.on('data', (chunk) => {
      for (const frame of this.#reader.push(chunk)) this.#receive(frame)
    })
    this.#closed = new Promise((resolve) => {
      this.#channel.once('close', () => {
        this.#onClose()
        resolve()
      })
    })
    this.#holdHost()
  }

  start(spec: ProcessSpec): Promise<RunningProcess> {
    this.#sendEnvironment()
    const id = this.#nextId++
    const { command, args, cwd, env, stdin, graceMs } = spec
    this.#send(id, {
      op: 'start',
      command,
      args,
      cwd,
      ...(env && { env }),
      ...(stdin !== undefined && { stdin }),
      ...(graceMs !== undefined && { graceMs }),
    })
    return new Promise((resolve, reject) => {
      this.#programs.set(id, new KeptProcess(spec, { resolve, reject, request: (message) => this.#request(id, message) }))
      this.#holdHost()
    })
  }

  openTerminal(spec: TerminalSpec): Promise<TerminalProcess> {
    this.#sendEnvironment()
    const id = this.#nextId++
    const { command, args, cwd, env, size, graceMs } = spec
    this.#send(id, { op: 'open-terminal', command, args, cwd, size, ...(env && { env }), ...(graceMs !== undefined && { graceMs }) })
    return new Promise((resolve, reject) => {
      this.#programs.set(id, new KeptTerminal(spec, { resolve, reject, request: (message) => this.#request(id, message) }))
      this.#holdHost()
    })
  }

  async dispose(): Promise<void> {
    if (this.isOpen) void this.#request(0, { op: 'dispose' })
    this.#isLeaving = true
    this.#holdHost()
    await this.#closed
  }

  /** Resolves with the keeper's reply, or when there is no keeper any more to do it. */
  #request(id: number, message: Request): Promise<Reply> {
    if (!this.isOpen) return Promise.resolve({})
    const request = this.#nextId++
    const reply = new Promise<Reply>((resolve) => this.#replies.set(request, resolve))
    this.#send(id, { ...message, request })
    this.#holdHost()
    return reply
  }

  #send(id: number, message: ToKeeper): void {
    this.#channel.write(messageFrame(id, message))
  }

  #sendEnvironment(): void {
    const environment = scrubEnvironment((this.#options.environment ?? (() => process.env))())
    const text = JSON.stringify(environment)
    if (text === this.#sentEnvironment) return
    this.#sentEnvironment = text
    this.#send(0, { op: 'environment', environment, managed: this.#options.managed ?? {} })
  }

  #receive({ kind, id, body }: Frame): void {
    const program = this.#programs.get(id)
    if (kind === frameKind.stdout) return program?.output('stdout', body)
    if (kind === frameKind.stderr) return program?.output('stderr', body)
    const message = JSON.parse(body.toString()) as ToHost
    switch (message.op) {
      case 'started':
        return program?.started(message.pid)
      case 'failed':
        program?.failed(message)
        return this.#forget(id)
      case 'exit':
        program?.ended(message.exit)
        return this.#forget(id)
      case 'reply':
        this.#replies.get(message.request)?.(message)
        this.#replies.delete(message.request)
        this.#holdHost()
    }
  }

  #forget(id: number): void {
    this.#programs.delete(id)
    this.#holdHost()
  }

  /** An idle keeper does not keep its host alive. */
  #holdHost(): void {
    if (this.#isLeaving || this.#programs.size + this.#replies.size > 0) this.#channel.ref()
    else this.#channel.unref()
  }

  #onClose(): void {
    this.isOpen = false
    for (const program of this.#programs.values()) program.lost(this.#tree, this.#diagnostics.trim())
    // Nobody else knows any more of what it left behind.
    if (!this.#isLeaving) void this.#owner.endAll(lostGraceMs)
    this.#programs.clear()
    for (const resolve of this.#replies.values()) resolve({})
    this.#replies.clear()
  }

  #note(text: string): void {
    this.#diagnostics = (this.#diagnostics + text).slice(-2000)
  }
}

/** What the keeper does for us, seen from its socket. */
export interface Kept {
  output(stream: 'stdout' | 'stderr', chunk: Uint8Array): void
  started(pid: number): void
  failed(failure: Pick<Extract<ToHost, { op: 'failed' }>, 'code' | 'message'>): void
  ended(exit: Extract<ToHost, { op: 'exit' }>['exit']): void
  lost(tree: ProcessTree, diagnostics: string): void
}

/** Empty also when the keeper is gone. */
export type Reply = Pick<Extract<ToHost, { op: 'reply' }>, 'result' | 'error'>
export type Request = DistributiveOmit<Extract<ToKeeper, { request: number }>, 'request'>
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

interface Door {
  readonly resolve: (process: RunningProcess) => void
  readonly reject: (error: ProcessError) => void
  readonly request: (message: Request) => Promise<Reply>
}

/** The host's end of one program. */
class KeptProcess implements RunningProcess, Kept {
  pid = 0
  readonly exit: Promise<ProcessExit>
  readonly #spec: ProcessSpec
  readonly #door: Door
  readonly #startedAt = performance.now()
  #settle: (exit: ProcessExit) => void = () => {}
  #termination: Promise<void> | undefined
  readonly #onAbort = () => void this.terminate()

  constructor(spec: ProcessSpec, door: Door) {
    this.#spec = spec
    this.#door = door
    this.exit = new Promise((resolve) => (this.#settle = resolve))
    // A signal that fires while the keeper starts it finds the program by its id all the same: messages keep their order.
    spec.signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  async write(text: string): Promise<void> {
    await this.#door.request({ op: 'write', text })
  }

  async endInput(): Promise<void> {
    await this.#door.request({ op: 'end-input' })
  }

  async sendSignal(signal: string): Promise<void> {
    await this.#door.request({ op: 'signal', signal })
  }

  async inspect(): Promise<TreeFacts> {
    const { result } = await this.#door.request({ op: 'inspect' })
    // The keeper's answer to this request; nothing of what has ended.
    return (result as TreeFacts | undefined) ?? { isReadingInput: null, ports: null }
  }

  birth(): Promise<string | null> {
    return birthOf(this.pid)
  }

  terminate(): Promise<void> {
    this.#termination ??= this.#door.request({ op: 'terminate' }).then(() => {})
    return this.#termination
  }

  output(stream: 'stdout' | 'stderr', chunk: Uint8Array): void {
    this.#spec.onOutput(stream, chunk)
  }

  started(pid: number): void {
    this.pid = pid
    this.#door.resolve(this)
  }

  failed({ code, message }: Parameters<Kept['failed']>[0]): void {
    this.#spec.signal?.removeEventListener('abort', this.#onAbort)
    // The keeper's answer to a start has the codes of programs.
    this.#door.reject(new ProcessError(code as ProcessErrorCode, message))
  }

  ended(exit: Parameters<Kept['ended']>[0]): void {
    this.#spec.signal?.removeEventListener('abort', this.#onAbort)
    this.#settle(exit as ProcessExit)
  }

  /** The keeper died without ending it: its group still runs, and nobody else knows of it. */
  lost(tree: ProcessTree, diagnostics: string): void {
    if (this.pid === 0) {
      return this.failed({ code: 'UNAVAILABLE', message: keeperLost(diagnostics) })
    }
    tree.signalNow(this.pid, 'SIGKILL')
    this.ended({ exitCode: null, signal: 'SIGKILL', wasTerminated: true, durationMs: performance.now() - this.#startedAt })
  }
}
