import { constants } from 'node:os'
import type { SandboxedEnd, SandboxedProgram, SandboxReading, SandboxRunner } from '../../../capabilities/sandbox.ts'
import type { ClosedPath, FindClosedPaths } from './closed-paths.ts'

/**
 * Linux: all of the disk for reading, some folders for writing.
 *
 * The program gets its own view of processes, because `/proc/<id>/root` of one outside would lead out. No session of its own: the keeper
 * finds it by the one it has. Source: bwrap(1); `--die-with-parent` is left out, as it would kill a program that TERM asked to end.
 */
export function createBubblewrap(program: string, findClosedPaths: FindClosedPaths): SandboxRunner {
  return {
    name: 'bubblewrap',
    async wrap(inner, limits) {
      const closed = await findClosedPaths(limits)
      return {
        command: program,
        args: bubblewrapArguments(inner, { writable: limits.writable, closed }),
        cwd: inner.cwd,
        // Shells keep here-documents in files. Where nothing is writable, the sandbox's own memory is.
        env: { ...inner.env, ...(limits.writable.length === 0 && { TMPDIR: '/dev/shm' }) },
      }
    },
    read: readBubblewrap,
  }
}

/** What is mounted later lies over what was mounted before. */
export function bubblewrapArguments({ command, args, cwd }: SandboxedProgram, { writable, closed }: { readonly writable: readonly string[]; readonly closed: readonly ClosedPath[] }): readonly string[] {
  return [
    '--ro-bind', '/', '/',
    ...writable.flatMap((folder) => ['--bind-try', folder, folder]),
    '--unshare-pid', '--dev', '/dev', '--proc', '/proc',
    // A device on a mount that allows none cannot be opened; an empty folder without rights shows nothing.
    ...closed.flatMap(({ path, isFolder }) => (isFolder ? ['--perms', '0000', '--tmpfs', path] : ['--ro-bind', '/dev/null', path])),
    '--chdir', cwd, '--', command, ...args,
  ]
}

const FIRST_SIGNAL_CODE = 129

/**
 * bubblewrap ends with 128 and the signal's number where its program died of a signal, as shells do; so does a program that exits with
 * such a number by itself, which is read as the death it stands for.
 */
function readBubblewrap({ exitCode, signal, stderr }: SandboxedEnd): SandboxReading {
  const died = exitCode === null || exitCode < FIRST_SIGNAL_CODE ? undefined : signalNames.get(exitCode - FIRST_SIGNAL_CODE + 1)
  if (died !== undefined) return { exitCode: null, signal: died, isDenied: false, hasRunnerFailed: false }
  const hasRunnerFailed = exitCode === 1 && stderr.startsWith('bwrap: ')
  const isDenied = !hasRunnerFailed && signal === null && exitCode !== 0 && /read-only file system/i.test(stderr)
  return { exitCode, signal, isDenied, hasRunnerFailed }
}

/** Those that end a program. */
const fatal: readonly NodeJS.Signals[] = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGKILL', 'SIGUSR1', 'SIGSEGV', 'SIGUSR2', 'SIGPIPE', 'SIGALRM', 'SIGTERM', 'SIGXCPU', 'SIGXFSZ']
const signalNames: ReadonlyMap<number, string> = new Map(fatal.map((name) => [constants.signals[name], name]))
