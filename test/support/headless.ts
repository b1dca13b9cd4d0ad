import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { headlessBundle } from './build-headless.ts'

export interface HeadlessOutcome {
  readonly code: number | null
  readonly signal: string | null
  /** Standard output, one parsed JSON value a line; the last one may be missing when the program was killed. */
  readonly lines: readonly Record<string, unknown>[]
  readonly stderr: string
}

export interface HeadlessOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Stop reading its output after so many lines, as `head` does. */
  readonly readsLines?: number
  /** Called with its process id. */
  readonly onStart?: (pid: number) => void
  /** Called with each line as it comes; may kill. */
  readonly onLine?: (line: Record<string, unknown>, count: number, kill: (signal: NodeJS.Signals) => void) => void
}

/** Start the headless root as a program of its own and wait for its end. */
export function runHeadless(args: readonly string[], { cwd, env, onLine, onStart, readsLines }: HeadlessOptions = {}): Promise<HeadlessOutcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [headlessBundle, ...args], {
      cwd,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: process.env['TMPDIR'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    if (child.pid !== undefined) onStart?.(child.pid)
    const lines: Record<string, unknown>[] = []
    let rest = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n')
      rest = parts.pop() ?? ''
      for (const part of parts) {
        const line = JSON.parse(part) as Record<string, unknown>
        lines.push(line)
        onLine?.(line, lines.length, (signal) => void child.kill(signal))
        if (lines.length === readsLines) child.stdout.destroy()
      }
    })
    if (readsLines === 0) child.stdout.destroy()
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => void (stderr += chunk))
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, lines, stderr }))
  })
}

/** Fresh folders that go with `remove`. */
export function createFolders(...names: readonly string[]) {
  const root = mkdtempSync(join(tmpdir(), 'bosun-headless-'))
  return {
    paths: names.map((name) => join(root, name)),
    root,
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}
