import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { messageOf } from '../../../base/message-of.ts'
import type { ProcessRunner } from '../../../capabilities/process.ts'
import type { Sandbox, SandboxRunner, SandboxVerdict } from '../../../capabilities/sandbox.ts'
import { createBubblewrap } from './bubblewrap.ts'
import { createClosedPaths } from './closed-paths.ts'
import { createSeatbelt } from './seatbelt.ts'

/** For the first look, which starts one program. */
const FIND_LIMIT_MS = 5_000

export interface NodeSandboxOptions {
  readonly processes: Pick<ProcessRunner, 'start'>
  /** For tests. */
  readonly platform?: NodeJS.Platform
  readonly path?: string
}

/** bubblewrap on Linux, Seatbelt on macOS, where they really run: many containers have the program and forbid what it does. */
export function createNodeSandbox({ processes, platform = process.platform, path = process.env['PATH'] ?? '' }: NodeSandboxOptions): Sandbox {
  let verdict: Promise<SandboxVerdict> | undefined
  return {
    find() {
      verdict ??= look(processes, platform, path)
      return verdict
    },
  }
}

async function look(processes: NodeSandboxOptions['processes'], platform: NodeJS.Platform, path: string): Promise<SandboxVerdict> {
  const closedPaths = createClosedPaths()
  switch (platform) {
    case 'linux': {
      const program = await onPath('bwrap', path)
      return program === null ? none('bubblewrap (bwrap) is not installed.') : tried(processes, createBubblewrap(program, closedPaths), '/bin/sh', ['-c', ':'])
    }
    case 'darwin':
      return tried(processes, createSeatbelt('/usr/bin/sandbox-exec', closedPaths), '/usr/bin/true', [])
    default:
      return none('There is no sandbox for this system.')
  }
}

const none = (problem: string): SandboxVerdict => ({ runner: null, problem })

async function tried(processes: NodeSandboxOptions['processes'], runner: SandboxRunner, command: string, args: readonly string[]): Promise<SandboxVerdict> {
  try {
    const wrapped = await runner.wrap({ command, args, cwd: '/' }, { writable: [], searched: [], secretNames: [], isSecret: () => false })
    let output = ''
    const { exit } = await processes.start({ ...wrapped, signal: AbortSignal.timeout(FIND_LIMIT_MS), graceMs: 0, onOutput: (_stream, chunk) => void (output += Buffer.from(chunk).toString('latin1')) })
    const { exitCode, wasTerminated } = await exit
    if (exitCode === 0) return { runner }
    return none(`${runner.name} does not run here (${wasTerminated ? `it took longer than ${FIND_LIMIT_MS} ms` : (output.trim().split('\n')[0] ?? '')}).`)
  } catch (error) {
    return none(`${runner.name} does not run here (${messageOf(error)}).`)
  }
}

async function onPath(name: string, path: string): Promise<string | null> {
  for (const folder of path.split(delimiter)) {
    if (folder === '') continue
    const program = join(folder, name)
    const isThere = await access(program, constants.X_OK).then(() => true, () => false)
    if (isThere) return program
  }
  return null
}
