import { spawn, type ChildProcess } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { ProcessError, type ProcessExit, type ProcessRunner, type ProcessSpec, type RunningProcess, type TreeFacts } from '../../capabilities/process.ts'
import { mergeEnvironment, scrubEnvironment, type Environment } from './environment.ts'
import type { HostMarks } from './host-marks.ts'
import { createOwnerMark, OWNER_VARIABLE, type Marks, type OwnerMark } from './owner-mark.ts'
import { createProcessTree, isOverWithin, type ProcessTree } from './process-tree.ts'
import { birthOf, endLeftover, inspectTree } from './tree-facts.ts'

/**
 * Starts programs as children of this very process: used as it is by hosts whose process is small, and inside the keeper.
 *
 * Built on `child_process`, not on execa: execa waits for the pipes of a program that has exited, ends only the program
 * and not its group, and costs 2.5 ms a start on top of 14 ms, 100 ms to load and 20 MB (measured 2026-11-30, Node 24).
 */
export interface DirectRunner extends ProcessRunner {
  start(spec: ProcessSpec): Promise<DirectProcess>
  /** `maxGraceMs` shortens the grace of every program, for a host that must be gone soon. */
  dispose(maxGraceMs?: number): Promise<void>
}

export interface DirectProcess extends RunningProcess {
  /** Stop reading, so that the program waits when it writes more; the time to drain stands still meanwhile. */
  pauseOutput(): void
  resumeOutput(): void
}

export interface DirectRunnerOptions {
  /** Asked at each start; scrubbed here. Default: the environment of this process. */
  readonly environment?: () => Environment
  /** Set last, so that no `spec.env` can speak in their place. */
  readonly managed?: Readonly<Record<string, string>>
  readonly tree?: ProcessTree
  /** Set last of all. Default: one of its own. */
  readonly owner?: OwnerMark
  /** Where the mark is remembered; absent where somebody else sees to what a killed host leaves. */
  readonly hosts?: HostMarks
}

export function createDirectRunner(options: DirectRunnerOptions = {}): DirectRunner {
  const { environment = () => process.env, managed = {}, tree = createProcessTree(), owner = createOwnerMark(), hosts } = options
  const owned = new Set<OwnedProcess>()
  let disposal: Promise<void> | undefined
  let sweep: NodeJS.Timeout | undefined
  let hasStarted = false

  // What a program left running stays owned until the host ends. Looked at often enough that the system cannot have given
  // the id of a dead group to a stranger in between.
  const keepWatch = () => {
    sweep ??= setInterval(() => {
      for (const one of owned) if (one.isOver()) owned.delete(one)
      if (owned.size > 0) return
      clearInterval(sweep)
      sweep = undefined
    }, 1000).unref()
  }
  const killAllNow = () => {
    for (const one of owned) one.killNow()
    if (hasStarted) owner.killAllNow()
  }
  process.on('exit', killAllNow)

  const endEverything = async (maxGraceMs = Infinity) => {
    const all = [...owned]
    const graceMs = Math.min(maxGraceMs, Math.max(defaultGraceMs, ...all.map((one) => one.graceMs)))
    // What left its group and session may hold the pipes of a program, so it does not wait for the programs to end.
    const outside = hasStarted ? owner.endAll(graceMs, new Set(all.map(({ pid }) => pid))) : undefined
    await Promise.all([...all.map((one) => one.endWithHost(maxGraceMs)), outside])
    if (hasStarted) await owner.endAll(graceMs)
  }

  return {
    async start(spec) {
      if (disposal) throw runnerDisposed()
      if (spec.signal?.aborted) throw startAborted(spec.command)
      const marks = owner.ofProgram()
      const env = mergeEnvironment(mergeEnvironment(scrubEnvironment(environment()), spec.env ?? {}), { ...managed, ...marks.environment })
      hasStarted = true
      await hosts?.note(owner.environment[OWNER_VARIABLE] ?? '')
      const child = await spawnChild(spec, env)
      const one = new OwnedProcess(child, spec, { tree, marks })
      owned.add(one)
      void one.exit.then(() => (one.isOver() ? owned.delete(one) : keepWatch()))
      return one
    },
    endLeftover: async (program) => ((await hosts?.endLeft())?.has(program.pid) === true ? 'ended' : endLeftover(program, tree)),
    dispose(maxGraceMs) {
      disposal ??= endEverything(maxGraceMs).then(() => {
        clearInterval(sweep)
        process.off('exit', killAllNow)
      })
      return disposal
    },
  }
}

const defaultGraceMs = 3000
/** After KILL; what is still there then hangs in the system itself. */
const killPatienceMs = 2000

class OwnedProcess implements DirectProcess {
  readonly pid: number
  readonly exit: Promise<ProcessExit>
  readonly #child: ChildProcess
  readonly #tree: ProcessTree
  readonly #marks: Marks
  readonly graceMs: number
  #hasExited = false
  #isGone = false
  #wasTerminated = false
  #termination: Promise<void> | undefined
  #isPaused = false
  #onResume: () => void = () => {}

  constructor(child: ChildProcess, spec: ProcessSpec, { tree, marks }: { readonly tree: ProcessTree; readonly marks: Marks }) {
    this.pid = child.pid!
    this.#child = child
    this.#tree = tree
    this.#marks = marks
    this.graceMs = spec.graceMs ?? defaultGraceMs
    this.exit = this.#run(spec)
  }

  /** Nothing of it runs any more. */
  isOver(): boolean {
    if (this.#hasExited && !this.#isGone) this.#isGone = !this.#tree.mayLive(this.pid)
    return this.#isGone
  }

  killNow(): void {
    if (!this.#isGone) this.#tree.signalNow(this.pid, 'SIGKILL')
  }

  write(text: string): Promise<void> {
    const input = this.#child.stdin
    if (!input?.writable) return Promise.resolve()
    // A program that stopped reading is no failure of the writer.
    return new Promise((resolve) => void input.write(text, () => resolve()))
  }

  endInput(): Promise<void> {
    const input = this.#child.stdin
    if (!input?.writable) return Promise.resolve()
    return new Promise((resolve) => void input.end(() => resolve()))
  }

  async sendSignal(signal: string): Promise<void> {
    if (!this.isOver()) await this.#tree.signal(this.pid, signal as NodeJS.Signals)
  }

  inspect(): Promise<TreeFacts> {
    return inspectTree(this.pid)
  }

  birth(): Promise<string | null> {
    return birthOf(this.pid)
  }

  terminate(): Promise<void> {
    this.#termination ??= this.#endTree(this.graceMs, true)
    return this.#termination
  }

  /** What left its group and session is looked for once, for all programs. */
  endWithHost(maxGraceMs: number): Promise<void> {
    this.#termination ??= this.#endTree(Math.min(maxGraceMs, this.graceMs), false)
    return this.#termination
  }

  pauseOutput(): void {
    this.#isPaused = true
    this.#child.stdout?.pause()
    this.#child.stderr?.pause()
  }

  resumeOutput(): void {
    this.#isPaused = false
    this.#child.stdout?.resume()
    this.#child.stderr?.resume()
    this.#onResume()
  }

  async #run(spec: ProcessSpec): Promise<ProcessExit> {
    const startedAt = performance.now()
    const onAbort = () => void this.terminate()
    spec.signal?.addEventListener('abort', onAbort, { once: true })
    if (spec.signal?.aborted) onAbort()
    const [exitCode, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      this.#child.once('exit', (...facts) => resolve(facts))
    })
    this.#hasExited = true
    const durationMs = performance.now() - startedAt
    spec.signal?.removeEventListener('abort', onAbort)
    const wasTerminated = this.#wasTerminated
    await this.#drain()
    // What only waits to be reaped is no survivor; that takes a closer look, which is worth it only where something is left.
    return { exitCode, signal, wasTerminated, durationMs, hasSurvivors: !this.isOver() && (await this.#tree.isAlive(this.pid)) }
  }

  /** Wait for the ends of the pipes; who still holds them after the grace is not waited for. */
  async #drain(): Promise<void> {
    const pipes = [this.#child.stdout, this.#child.stderr].filter((pipe) => pipe !== null)
    const ends = Promise.all(pipes.map((pipe) => new Promise<void>((resolve) => (pipe.closed ? resolve() : pipe.once('close', () => resolve())))))
    const limit = new AbortController()
    void this.#graceWhileReading(limit.signal).then((isOver) => {
      if (isOver) for (const pipe of pipes) pipe.destroy()
    })
    await ends
    limit.abort()
  }

  /** True after the grace, counted anew after each pause: output that nobody was allowed to read is not lost. */
  async #graceWhileReading(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      const resumed = new Promise<'resumed'>((resolve) => (this.#onResume = () => resolve('resumed')))
      const wait = this.#isPaused ? new Promise<never>(() => {}) : delay(this.graceMs, 'late' as const, { signal })
      const aborted = new Promise<'ended'>((resolve) => signal.addEventListener('abort', () => resolve('ended'), { once: true }))
      const outcome = await Promise.race([resumed, wait.catch(() => 'ended' as const), aborted])
      if (outcome === 'late' && !this.#isPaused) return true
      if (outcome === 'ended') return false
    }
  }

  async #endTree(graceMs: number, takesOutside: boolean): Promise<void> {
    if (this.isOver()) return
    if (!this.#hasExited) this.#wasTerminated = true
    // What left its group and session may hold its pipes, so that does not wait for it to end.
    const outside = takesOutside ? this.#marks.endAll(graceMs, new Set([this.pid])) : Promise.resolve()
    await Promise.all([this.#endGroup(graceMs), outside])
    // What left while it was being ended.
    if (takesOutside) await this.#marks.endAll(graceMs)
    if (this.#hasExited) await this.exit
  }

  async #endGroup(graceMs: number): Promise<void> {
    await this.#tree.signal(this.pid, 'SIGTERM')
    if (await this.#goneWithin(graceMs)) return
    await this.#tree.signal(this.pid, 'SIGKILL')
    await this.#goneWithin(killPatienceMs)
  }

  #goneWithin(ms: number): Promise<boolean> {
    return isOverWithin(ms, async () => {
      if (!this.#hasExited || (await this.#tree.isAlive(this.pid))) return false
      this.#isGone = true
      return true
    })
  }
}

async function spawnChild(spec: ProcessSpec, env: Readonly<Record<string, string>>): Promise<ChildProcess> {
  let child: ChildProcess
  try {
    child = spawn(spec.command, spec.args, {
      cwd: spec.cwd,
      env,
      // A group and session of its own, so that signals reach everything it starts.
      detached: process.platform !== 'win32',
      windowsHide: true,
      stdio: [spec.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
  } catch (error) {
    // What the system refuses in unusual ways, and arguments that no system call takes, such as text with NUL.
    throw new ProcessError('SPAWN_FAILED', await spawnFailure(spec, error as NodeJS.ErrnoException), { cause: error })
  }
  if (child.pid === undefined) {
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => child.once('error', resolve))
    throw new ProcessError('SPAWN_FAILED', await spawnFailure(spec, error), { cause: error })
  }
  // Later errors are those of `kill`, which has its own answer.
  child.on('error', () => {})
  child.stdout?.on('data', (chunk: Uint8Array) => spec.onOutput('stdout', chunk))
  child.stderr?.on('data', (chunk: Uint8Array) => spec.onOutput('stderr', chunk))
  for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe?.on('error', () => {})
  if (spec.stdin !== undefined && spec.stdin !== 'pipe') child.stdin?.end(spec.stdin)
  return child
}

/** The system says ENOENT both for a missing program and for a missing folder; the person needs to know which. */
async function spawnFailure({ command, cwd }: ProcessSpec, error: NodeJS.ErrnoException): Promise<string> {
  const folder = await stat(cwd).catch((reason: NodeJS.ErrnoException) => reason)
  if (folder instanceof Error) return `The working folder ${cwd} cannot be used (${folder.code}). Name a folder that exists.`
  if (!folder.isDirectory()) return `The working folder ${cwd} is not a folder (ENOTDIR). Name a folder that exists.`
  if (error.code === 'ENOENT') return `The program "${command}" was not found (ENOENT). Check its name and that it is on PATH.`
  if (error.code === 'EACCES') return `The program "${command}" may not be executed (EACCES).`
  if (error.code === 'E2BIG') return `The command is longer than the system takes (E2BIG). Write it to a file and run that.`
  return `"${command}" could not be started: ${error.message}`
}

export const runnerDisposed = () => new ProcessError('UNAVAILABLE', 'The host is shutting down; no program is started any more.')
export const startAborted = (command: string) => new ProcessError('ABORTED', `"${command}" was not started, because the call was stopped before.`)
