import { HarnessError } from '../../base/harness-error.ts'
import { joinBytes } from '../../base/join-bytes.ts'
import { fitBytes } from '../../base/text.ts'
import type { Clock } from '../../capabilities/clock.ts'
import { ProcessError, type ProcessRunner } from '../../capabilities/process.ts'

/** `GIT_SILENT`: no answer in time. `GIT_FAILED`: an answer that cannot be used. `GIT_MISSING`: it could not be started. */
export class GitError extends HarnessError<'GIT_SILENT' | 'GIT_FAILED' | 'GIT_MISSING'> {}

export interface GitNeeds {
  readonly processes: Pick<ProcessRunner, 'start'>
  readonly clock: Pick<Clock, 'schedule'>
}

export interface GitQuestion {
  readonly args: readonly string[]
  readonly cwd: string
  readonly stdin?: string
  /** Laid over what keeps git quiet, such as an index of one's own. */
  readonly env?: Readonly<Record<string, string | null>>
  /** Bytes to keep; git is stopped once there are more. */
  readonly maxBytes: number
  readonly deadlineMs: number
  readonly signal: AbortSignal
}

export interface GitAnswer {
  /** Null when git was stopped because it said too much, or ended by a signal. */
  readonly exitCode: number | null
  /** At most `maxBytes`. */
  readonly bytes: Uint8Array
  readonly isCut: boolean
  /** What git said of a failure, in one line. */
  readonly complaint: string
}

const MAX_COMPLAINT_BYTES = 500
const graceMs = 500
/** Nothing that a repository's own settings name is started. */
const WITHOUT_SIDE_EFFECTS = ['-c', 'core.quotePath=false', '-c', 'core.fsmonitor=false']
/** What a host that was started by git itself has in its environment would speak of another repository. */
const QUIET = { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', GIT_EXTERNAL_DIFF: null, GIT_PAGER: 'cat', GIT_DIR: null, GIT_WORK_TREE: null, GIT_INDEX_FILE: null, GIT_COMMON_DIR: null, GIT_OBJECT_DIRECTORY: null, GIT_PREFIX: null }

/**
 * Ask git once: no pager, no prompt, no lock that can be left out, no program that a repository names.
 *
 * Errors: `GitError` `GIT_SILENT`, `GIT_MISSING`; the signal's reason once it fired. An exit other than 0 is an answer.
 */
export async function runGit({ processes, clock }: GitNeeds, { args, cwd, stdin, env, maxBytes, deadlineMs, signal }: GitQuestion): Promise<GitAnswer> {
  const enough = new AbortController()
  const late = new AbortController()
  const stopClock = clock.schedule(deadlineMs, () => late.abort(new GitError('GIT_SILENT', `git ${args[0] ?? ''} did not answer within ${deadlineMs} ms. Look whether git works in ${cwd}, then try again.`)))
  const chunks: Uint8Array[] = []
  let size = 0
  let complaint = ''
  try {
    const running = await processes.start({
      command: 'git',
      args: [...WITHOUT_SIDE_EFFECTS, ...args],
      cwd,
      env: { ...QUIET, ...env },
      ...(stdin !== undefined && { stdin }),
      onOutput(stream, chunk) {
        if (stream === 'stderr') complaint = fitBytes(complaint + new TextDecoder().decode(chunk), MAX_COMPLAINT_BYTES).text
        if (stream === 'stderr' || enough.signal.aborted) return
        chunks.push(chunk.slice())
        size += chunk.length
        if (size > maxBytes) enough.abort()
      },
      signal: AbortSignal.any([signal, enough.signal, late.signal]),
      graceMs,
    })
    const { exitCode } = await running.exit
    signal.throwIfAborted()
    late.signal.throwIfAborted()
    const isCut = enough.signal.aborted
    return { exitCode: isCut ? null : exitCode, bytes: joinBytes(chunks).subarray(0, maxBytes), isCut, complaint: complaint.trim().replaceAll(/\s*\n\s*/g, '; ') }
  } catch (cause) {
    if (cause instanceof ProcessError && cause.code === 'SPAWN_FAILED') throw new GitError('GIT_MISSING', `git could not be started in ${cwd}. Install git, or see that it is on PATH, then try again.`, { cause })
    throw cause
  } finally {
    stopClock()
  }
}
