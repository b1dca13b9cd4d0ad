import type { SandboxedEnd, SandboxReading, SandboxRunner } from '../../../capabilities/sandbox.ts'
import type { ClosedPath, FindClosedPaths } from './closed-paths.ts'

/** macOS: `sandbox-exec` becomes the program, so exit codes and signals are its own. Source: sandbox-exec(1). */
export function createSeatbelt(program: string, findClosedPaths: FindClosedPaths): SandboxRunner {
  return {
    name: 'Seatbelt',
    async wrap(inner, limits) {
      const closed = await findClosedPaths(limits)
      return { ...inner, command: program, args: ['-p', seatbeltProfile({ writable: limits.writable, closed }), inner.command, ...inner.args] }
    },
    read: readSeatbelt,
  }
}

/** The last rule that fits holds. */
export function seatbeltProfile({ writable, closed }: { readonly writable: readonly string[]; readonly closed: readonly ClosedPath[] }): string {
  const devices = ['/dev/null', '/dev/zero', '/dev/tty', '/dev/ptmx', '/dev/dtracehelper'].map((path) => `(literal ${quoted(path)})`)
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* ${[...devices, '(regex #"^/dev/(ttys[0-9]+|fd/)")', ...writable.map((path) => `(subpath ${quoted(path)})`)].join(' ')})`,
    ...closed.map(({ path, isFolder }) => `(deny file-read* file-write* (${isFolder ? 'subpath' : 'literal'} ${quoted(path)}))`),
  ].join('\n')
}

const quoted = (path: string) => `"${path.replaceAll(/["\\]/g, '\\$&')}"`

function readSeatbelt({ exitCode, signal, stderr }: SandboxedEnd): SandboxReading {
  const hasRunnerFailed = exitCode !== 0 && stderr.startsWith('sandbox-exec: ')
  return { exitCode, signal, hasRunnerFailed, isDenied: !hasRunnerFailed && signal === null && exitCode !== 0 && /operation not permitted/i.test(stderr) }
}
