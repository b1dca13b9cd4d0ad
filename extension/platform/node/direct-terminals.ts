import { constants, accessSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { constants as osConstants } from 'node:os'
import { delimiter, isAbsolute, join } from 'node:path'
import type { IPty, spawn as spawnPty } from '@lydell/node-pty'
import { messageOf } from '../../base/message-of.ts'
import { shellProtected, terminalEnded, TerminalError, type Foreground, type KeyEcho, type TerminalExit, type TerminalHost, type TerminalProcess, type TerminalSignal, type TerminalSize, type TerminalSpec } from '../../capabilities/terminal.ts'
import { mergeEnvironment, scrubEnvironment, type Environment } from './environment.ts'
import type { HostMarks } from './host-marks.ts'
import { createOwnerMark, OWNER_VARIABLE, type OwnerMark } from './owner-mark.ts'
import { createProcessTree, isOverWithin, type ProcessTree } from './process-tree.ts'
import { findKeyEcho } from './terminal-echo.ts'
import { findForeground } from './terminal-foreground.ts'

/** Terminals of this very process: used as they are by hosts whose process is small, and inside the keeper. */
export interface DirectTerminals extends TerminalHost {
  /** Ends every terminal and waits; `maxGraceMs` is for a host that must be gone soon. */
  dispose(maxGraceMs?: number): Promise<void>
}

export interface DirectTerminalsOptions {
  /** Asked at each start; scrubbed here. Default: the environment of this process. */
  readonly environment?: () => Environment
  /** Set last, so that no `spec.env` can speak in their place. */
  readonly managed?: Readonly<Record<string, string>>
  readonly tree?: ProcessTree
  /** Set last of all. Default: one of its own. */
  readonly owner?: OwnerMark
  /** As for programs. */
  readonly hosts?: HostMarks
  readonly problem?: string | null
}

export function createDirectTerminals(options: DirectTerminalsOptions = {}): DirectTerminals {
  const { environment = () => process.env, managed = {}, tree = createProcessTree(), owner = createOwnerMark(), hosts, problem = terminalProblem(import.meta.url) } = options
  const open = new Set<OwnedTerminal>()
  let disposal: Promise<void> | undefined
  let hasOpened = false
  const killAllNow = () => {
    for (const one of open) one.killNow()
    if (hasOpened) owner.killAllNow()
  }
  process.on('exit', killAllNow)
  const endEverything = async (maxGraceMs?: number) => {
    await Promise.all([...open].map((one) => one.terminate(maxGraceMs)))
    if (hasOpened) await owner.endAll(Math.min(maxGraceMs ?? Infinity, defaultGraceMs))
  }
  return {
    problem,
    async open(spec) {
      if (disposal) throw new TerminalError('UNAVAILABLE', 'The host is shutting down; no terminal is opened any more.')
      if (problem !== null) throw new TerminalError('NO_BACKEND', problem)
      const env = mergeEnvironment(mergeEnvironment(scrubEnvironment(environment()), spec.env ?? {}), { ...managed, ...owner.environment })
      hasOpened = true
      await hosts?.note(owner.environment[OWNER_VARIABLE] ?? '')
      const one = new OwnedTerminal(await spawnTerminal(spec, env), spec, tree)
      open.add(one)
      void one.exit.then(() => one.terminate()).then(() => open.delete(one))
      return one
    },
    dispose(maxGraceMs) {
      disposal ??= endEverything(maxGraceMs).then(() => void process.off('exit', killAllNow))
      return disposal
    },
  }
}

/** Why there is no program that opens terminals beside the code at `from`, without loading it. */
export function terminalProblem(from: string | URL, target: { readonly platform: string; readonly arch: string } = process): string | null {
  try {
    createRequire(from).resolve(`@lydell/node-pty-${target.platform}-${target.arch}/package.json`)
    return null
  } catch {
    return `Terminals need a native part that this build does not have for ${target.platform} on ${target.arch}.`
  }
}

const defaultGraceMs = 3000
/** After KILL; what is still there then hangs in the system itself. */
const killPatienceMs = 2000

class OwnedTerminal implements TerminalProcess {
  readonly pid: number
  readonly exit: Promise<TerminalExit>
  readonly #pty: IPty
  readonly #tree: ProcessTree
  readonly #graceMs: number
  #hasExited = false
  #wasTerminated = false
  #termination: Promise<void> | undefined

  constructor(pty: IPty, spec: TerminalSpec, tree: ProcessTree) {
    this.pid = pty.pid
    this.#pty = pty
    this.#tree = tree
    this.#graceMs = spec.graceMs ?? defaultGraceMs
    // With no encoding asked for it gives bytes, which its types do not say.
    pty.onData((chunk: string | Uint8Array) => spec.onOutput(typeof chunk === 'string' ? Buffer.from(chunk) : chunk))
    this.exit = new Promise((resolve) => {
      pty.onExit(({ exitCode, signal }) => {
        this.#hasExited = true
        const name = signalName(signal)
        resolve({ exitCode: name === null ? exitCode : null, signal: name, wasTerminated: this.#wasTerminated })
      })
    })
  }

  async write(text: string): Promise<void> {
    if (!this.#hasExited) this.#pty.write(text)
  }

  async resize({ columns, rows }: TerminalSize): Promise<void> {
    try {
      if (!this.#hasExited) this.#pty.resize(columns, rows)
    } catch {
      // Its program ended in this very moment, and its end is on the way: nobody sees its size any more.
    }
  }

  pauseOutput(): void {
    this.#pty.pause()
  }

  resumeOutput(): void {
    this.#pty.resume()
  }

  async signalForeground(signal: TerminalSignal): Promise<number | null> {
    if (this.#hasExited) throw terminalEnded()
    const { group, isShell } = await this.foreground()
    if (signal === 'SIGKILL' && isShell !== false) throw shellProtected()
    if (group === null) {
      // Nobody says which group it is: the key that the terminal turns into the signal reaches the right one.
      const key = typedSignals[signal]
      if (key === undefined) throw new TerminalError('UNSUPPORTED_SIGNAL', `${signal} cannot be sent on this system. Use SIGINT, or close the terminal with terminal_close.`)
      this.#pty.write(key)
      return null
    }
    try {
      process.kill(-group, signal)
    } catch (error) {
      // It ended in this very moment, which is what was wanted.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
    return group
  }

  foreground(): Promise<Foreground> {
    return this.#hasExited ? Promise.resolve({ group: null, isShell: null, isReading: null }) : findForeground(this.pid)
  }

  keyEcho(): Promise<KeyEcho | null> {
    // Its types leave out the path of the device, which it has on every system but Windows.
    const { ptsName } = this.#pty as IPty & { readonly ptsName?: string }
    return this.#hasExited || ptsName === undefined ? Promise.resolve(null) : findKeyEcho(ptsName)
  }

  killNow(): void {
    this.#tree.signalNow(this.pid, 'SIGKILL')
  }

  terminate(maxGraceMs = this.#graceMs): Promise<void> {
    this.#termination ??= this.#endTree(Math.min(maxGraceMs, this.#graceMs))
    return this.#termination
  }

  async #endTree(graceMs: number): Promise<void> {
    if (!this.#hasExited) this.#wasTerminated = true
    // What is paused could not write its last words and would hold the terminal open.
    this.#pty.resume()
    if (process.platform === 'win32') {
      if (!this.#hasExited) this.#pty.kill()
      await this.exit
      return
    }
    // A shell at a terminal ignores TERM and ends on HUP; what was stopped has to go on to hear either.
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGCONT'] as const) await this.#tree.signal(this.pid, signal)
    if (!(await this.#goneWithin(graceMs))) {
      await this.#tree.signal(this.pid, 'SIGKILL')
      await this.#goneWithin(killPatienceMs)
    }
    if (this.#hasExited) await this.exit
  }

  #goneWithin(ms: number): Promise<boolean> {
    return isOverWithin(ms, async () => this.#hasExited && !(await this.#tree.isAlive(this.pid)))
  }
}

const typedSignals: Partial<Readonly<Record<TerminalSignal, string>>> = { SIGINT: '\u0003' }

const signalName = (signal: number | undefined): string | null =>
  signal === undefined || signal === 0 ? null : (Object.entries(osConstants.signals).find(([, number]) => number === signal)?.[0] ?? `signal ${signal}`)

async function spawnTerminal({ command, args, cwd, size }: TerminalSpec, env: Readonly<Record<string, string>>): Promise<IPty> {
  // The native part starts first and fails later, so what can be known is looked at before.
  const folder = await stat(cwd).catch(() => null)
  if (!folder?.isDirectory()) throw new TerminalError('SPAWN_FAILED', `The working folder ${cwd} ${folder === null ? 'does not exist' : 'is not a folder'}. Name a folder that exists.`)
  if (process.platform !== 'win32' && !isExecutable(command, env['PATH'])) throw new TerminalError('SPAWN_FAILED', `The program "${command}" was not found, or may not be executed. Check its name and that it is on PATH.`)
  let spawn: typeof spawnPty
  try {
    ;({ spawn } = await import('@lydell/node-pty'))
  } catch (error) {
    throw new TerminalError('NO_BACKEND', `The native part that terminals need cannot be loaded here: ${messageOf(error)}`, { cause: error })
  }
  try {
    return spawn(command, [...args], { cwd, env, cols: size.columns, rows: size.rows, encoding: null, ...(env['TERM'] !== undefined && { name: env['TERM'] }) })
  } catch (error) {
    throw new TerminalError('SPAWN_FAILED', `"${command}" could not be started at a terminal: ${messageOf(error)}`, { cause: error })
  }
}

function isExecutable(command: string, path = ''): boolean {
  const places = isAbsolute(command) || command.includes('/') ? [command] : path.split(delimiter).map((folder) => join(folder, command))
  return places.some((place) => {
    try {
      accessSync(place, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
