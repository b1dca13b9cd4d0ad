import { spawn, type ChildProcess } from 'node:child_process'

export type RunOptions = {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** What happens to the command's output; `collect` shows it only when the command fails. */
  readonly output?: 'show' | 'collect'
}

type Running = { readonly child: ChildProcess; readonly closed: Promise<void>; readonly graceMs: number }

const running = new Set<Running>()
let isWatchingSignals = false

/**
 * Start a program in a process group of its own, so that stopping it also ends what it started.
 *
 * Whatever ends this process (its last line, Ctrl-C, a signal, an uncaught error) ends the group too. Asked to end,
 * the program has `graceMs` before it is killed.
 */
export function startProgram(
  command: string,
  args: readonly string[],
  { cwd, env, stdio, graceMs = 3_000 }: { cwd?: string; env?: RunOptions['env']; stdio: 'inherit' | 'pipe'; graceMs?: number },
): ChildProcess {
  stopProgramsAtExit()
  const child = spawn(command, [...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: [stdio === 'inherit' ? 'inherit' : 'ignore', stdio, stdio],
    detached: process.platform !== 'win32',
  })
  const entry: Running = {
    child,
    graceMs,
    closed: new Promise((resolve) => {
      child.once('close', () => resolve())
      child.once('error', () => resolve())
    }),
  }
  running.add(entry)
  void entry.closed.then(() => running.delete(entry))
  return child
}

/** Ask a program and everything in its group to end; after its grace they are killed. Resolves when it is gone. */
export async function stopProgram(child: ChildProcess): Promise<void> {
  const entry = [...running].find((candidate) => candidate.child === child)
  if (entry === undefined) return
  signalGroup(child, 'SIGTERM')
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), entry.graceMs)
  await entry.closed
  clearTimeout(timer)
  // Children that outlive the leader still belong to its group.
  signalGroup(child, 'SIGKILL')
}

/** Run a program to its end. Fails with the tail of its output when it does not exit with 0. */
export async function run(command: string, args: readonly string[], { cwd, env, output = 'collect' }: RunOptions = {}): Promise<void> {
  const child = startProgram(command, args, {
    stdio: output === 'show' ? 'inherit' : 'pipe',
    // It may be a script of ours that first has to stop what it started.
    graceMs: 10_000,
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
  })
  let tail = ''
  const collect = (chunk: Buffer) => (tail = (tail + chunk.toString()).slice(-8_000))
  child.stdout?.on('data', collect)
  child.stderr?.on('data', collect)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${String(code)}${tail === '' ? '' : `:\n${tail}`}`)
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') spawn('taskkill', ['/pid', String(child.pid), '/T', '/F'], { stdio: 'ignore' })
    else process.kill(-child.pid, signal)
  } catch {
    // The group is already gone, which is what was asked for.
  }
}

function stopProgramsAtExit(): void {
  if (isWatchingSignals) return
  isWatchingSignals = true
  process.once('exit', () => {
    for (const { child } of running) signalGroup(child, 'SIGKILL')
  })
  let isStopping = false
  // A second signal, as when a terminal and a parent both pass Ctrl-C on, must not cut the stopping short.
  const stopAll = (code: number) => {
    if (isStopping) return
    isStopping = true
    void Promise.all([...running].map(({ child }) => stopProgram(child))).then(() => process.exit(code))
  }
  for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]] as const) process.on(signal, () => stopAll(code))
  // Under npm, a parent that has died without a word counts as a signal.
  const parent = process.ppid
  if (process.env['npm_lifecycle_event'] !== undefined && process.platform !== 'win32') {
    setInterval(() => {
      if (process.ppid !== parent) stopAll(143)
    }, 500).unref()
  }
}
