import { messageOf } from '../../base/message-of.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { ProcessRunner } from '../../capabilities/process.ts'
import type { Hook } from './hook.ts'
import type { HookRun } from './outcome.ts'

/** Bytes kept of each stream; a hook that says more is cut, and JSON that is cut is no answer. */
const maxOutputBytes = 1024 * 1024
const graceMs = 2_000

export interface HookRunnerNeeds {
  readonly processes: ProcessRunner
  readonly clock: Clock
  readonly machine: Pick<Machine, 'platform' | 'bash' | 'pwsh'>
}

/** Where a hook runs. */
export interface HookFolders {
  /** The session's. */
  readonly cwd: string
  /** What the hook's own scripts are found by: the root it is configured in. */
  readonly projectFolder: string
}

/**
 * Run one command through the shell, with JSON on its standard input, to its end, its deadline or the caller's stop.
 *
 * Errors: the signal's reason once it fired; a program that cannot be started is a failed run.
 */
export async function runHook(needs: HookRunnerNeeds, hook: Hook, run: HookFolders & { readonly stdin: string; readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<HookRun> {
  const { cwd, projectFolder, stdin, timeoutMs, signal } = run
  signal.throwIfAborted()
  const shell = shellOf(needs.machine)
  if (shell === null) return failed('There is no shell to run it with. Install bash or PowerShell.')
  const streams = { stdout: new Kept(), stderr: new Kept() }
  let running
  try {
    running = await needs.processes.start({
      command: shell.command,
      args: [...shell.args, hook.command],
      cwd,
      env: { CLAUDE_PROJECT_DIR: projectFolder, BOSUN_PROJECT_DIR: projectFolder },
      stdin,
      graceMs,
      onOutput: (stream, chunk) => streams[stream].push(chunk),
    })
  } catch (error) {
    return failed(`It could not be started: ${messageOf(error)}`)
  }
  let timedOut = false
  const end = () => void running.terminate()
  const stopTimer = needs.clock.schedule(timeoutMs, () => {
    timedOut = true
    end()
  })
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  const exit = await running.exit
  stopTimer()
  signal.removeEventListener('abort', end)
  // What it started and left behind does not outlive it.
  if (exit.hasSurvivors === true) await running.terminate()
  signal.throwIfAborted()
  return { exitCode: exit.exitCode, timedOut, stdout: streams.stdout.text(), stderr: streams.stderr.text(), ...(streams.stdout.isCut && { isCut: true }), durationMs: exit.durationMs }
}

const failed = (stderr: string): HookRun => ({ exitCode: null, timedOut: false, stdout: '', stderr, durationMs: 0 })

const shellOf = ({ bash, pwsh }: Pick<Machine, 'bash' | 'pwsh'>) =>
  bash !== null ? { command: bash, args: ['-c'] } : pwsh !== null ? { command: pwsh, args: ['-NoProfile', '-NonInteractive', '-Command'] } : null

/** The first bytes of a stream, as text. */
class Kept {
  readonly #chunks: Uint8Array[] = []
  #bytes = 0
  isCut = false

  push(chunk: Uint8Array): void {
    const room = maxOutputBytes - this.#bytes
    if (chunk.length > room) this.isCut = true
    if (room <= 0) return
    const kept = chunk.slice(0, room)
    this.#chunks.push(kept)
    this.#bytes += kept.length
  }

  text(): string {
    const decoder = new TextDecoder()
    return this.#chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('') + decoder.decode()
  }
}
