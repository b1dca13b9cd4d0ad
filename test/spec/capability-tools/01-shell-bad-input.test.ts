import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { NodeBlobStore } from '../../../extension/platform/node/blob-store.ts'
import { createDirectRunner } from '../../../extension/platform/node/direct-runner.ts'
import { createKeeperRunner } from '../../../extension/platform/node/keeper-runner.ts'
import { isRunning } from '../../contract/process-runner.suite.ts'
import { runCount } from '../../support/run-count.ts'
import { createShellBench, type ShellBench } from '../../support/shell-bench.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'

/*
 * Commands that behave badly: each ends with the truth, in bounded time and memory. Capability specification 0.8, 1 and 19.
 */

const open: { dispose(): Promise<void> }[] = []
const keep = <T extends { dispose(): Promise<void> }>(one: T): T => {
  open.push(one)
  return one
}
const bench = async (...args: Parameters<typeof createShellBench>): Promise<ShellBench> => keep(await createShellBench(...args))
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.dispose()
})
const pidIn = async ({ folder }: ShellBench, name: string) => Number(await readFile(join(folder, name), 'utf8'))
const isThere = (made: ShellBench, name: string) => expect.poll(() => readFile(join(made.folder, name), 'utf8').catch(() => '')).toMatch(/\n$/)

describe('a command that', () => {
  it('forks a daemon returns at once, and the daemon ends with the host', async () => {
    if (!existsSync('/proc/self/environ')) return
    const runner = createDirectRunner()
    const made = await bench({ processes: runner })
    expect(textOf(await made.bash('setsid -f bash -c "echo \\$\\$ > daemon; exec sleep 1000" >/dev/null 2>&1; echo forked'))).toBe('forked\n')
    await isThere(made, 'daemon')
    const daemon = await pidIn(made, 'daemon')
    expect(isRunning(daemon)).toBe(true)
    await runner.dispose()
    expect(isRunning(daemon)).toBe(false)
  })
  it('closes its output early is waited for until it ends', async () => {
    const made = await bench()
    const result = await made.bash('echo said; exec >&- 2>&-; sleep 0.3; touch late; exit 5')
    expect([textOf(result), existsSync(join(made.folder, 'late'))]).toEqual(['said\n[exit code: 5]', true])
  })
  it('ignores TERM is killed after the grace, with all that ignore it with it', async () => {
    const made = await bench()
    const result = await made.bash('trap "" TERM; (trap "" TERM; echo $BASHPID > child; while :; do sleep 0.05; done) & echo up; while :; do sleep 0.05; done', { timeoutMs: 500 })
    expect(textOf(result)).toBe('up\n[timed out after 500 ms]\n[killed by signal: SIGKILL]')
    expect(isRunning(await pidIn(made, 'child'))).toBe(false)
  })
  it('starts many programs loses all of them when it is stopped', async () => {
    const made = await bench()
    const stop = new AbortController()
    await made.bash('for i in $(seq 40); do sleep 1000 & echo $! >> pids; done; echo up; wait', {}, { signal: stop.signal, onProgress: () => stop.abort() })
    const pids = (await readFile(join(made.folder, 'pids'), 'utf8')).trim().split('\n').map(Number)
    expect([pids.length, pids.filter(isRunning)]).toEqual([40, []])
  })
  it('deletes the folder it runs in ends like any other, and the next one is refused with what to do', async () => {
    const made = await bench()
    expect(outcomeOf(await made.bash('rmdir "$PWD"; exit 3'))).toMatchObject({ exitCode: 3 })
    expect(outcomeOf(await made.bash('true'))).toEqual({ code: 'BAD_WORKDIR', message: expect.stringContaining('does not exist') as string })
  })
  it('holds a NUL is refused before anything runs', async () => {
    const made = await bench()
    expect(outcomeOf(await made.bash('touch a\0b'))).toEqual({ code: 'INVALID_ARGS', message: expect.stringContaining('NUL') as string })
    expect(await readdir(made.folder)).toEqual([])
  })
  it('is longer than the system takes is refused with what to do', async () => {
    const made = await bench()
    expect(outcomeOf(await made.bash(`: ${'x'.repeat(4_000_000)}`))).toEqual({ code: 'SPAWN_FAILED', message: expect.stringContaining('Write it to a file') as string })
  })
  it('writes bytes that are no text is shown with replacement characters', async () => {
    const made = await bench()
    expect(textOf(await made.bash("printf 'a\\xff\\xfeb\\n'"))).toBe('a\u{FFFD}\u{FFFD}b\n')
  })
})

describe('escape sequences without an end', () => {
  const bombs: readonly [string, string][] = [
    ['a title', "printf '\\033]0;'; head -c 60000 /dev/zero | tr '\\0' t"],
    ['parameters', "printf '\\033['; head -c 60000 /dev/zero | tr '\\0' 1"],
    ['a device string', "printf '\\033P'; head -c 60000 /dev/zero | tr '\\0' q"],
    ['many beginnings', "for i in $(seq 5000); do printf '\\033[1;\\033]8;;'; done"],
    ['bare escapes', "head -c 60000 /dev/zero | tr '\\0' '\\033'"],
  ]
  it.each(bombs)('of %s reach the card and not the model', async (_name, command) => {
    const made = await bench()
    const result = await made.bash(command)
    expect(textOf(result)).not.toContain('\u001b')
    expect((result.meta as { output: string }).output).toContain('\u001b')
  })
})

const keeperEntry = new URL('../../../extension/platform/node/keeper-main.ts', import.meta.url).pathname
const runners = [
  ['of this process', 2_000, () => createDirectRunner()],
  ['of the keeper', 1_000, () => createKeeperRunner({ entry: keeperEntry })],
] as const

describe.each(runners)('output without bounds, by the runner %s', (_name, full, createRunner) => {
  const megabytes = runCount({ full, desk: 150 })
  const flood = `head -c ${megabytes}000000 /dev/zero | tr "\\0" "x"`
  /** The most memory this process had in use while `body` ran, over what it had before. */
  const growthDuring = async (body: () => Promise<void>) => {
    const used = () => {
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    }
    const before = used()
    let most = before
    const timer = setInterval(() => (most = Math.max(most, used())), 10)
    await body()
    clearInterval(timer)
    return most - before
  }
  const onDisk = async () => {
    const root = await mkdtemp(join(tmpdir(), 'bosun-flood-'))
    keep({ dispose: () => rm(root, { recursive: true, force: true }) })
    return new NodeBlobStore({ root })
  }
  /** A fraction of the output; the worker may hold memory of other tests that it has not collected yet. */
  const MOST_GROWTH_BYTES = megabytes >= 1_000 ? 300_000_000 : 120_000_000

  it(`of a call keeps both ends, in bounded memory, and no file beyond 64 MiB`, async () => {
    const processes = keep(createRunner())
    const blobs = await onDisk()
    const made = await bench({ processes, blobs })
    const growth = await growthDuring(async () => {
      const result = await made.bash(`echo first; ${flood}; echo; echo last`)
      expect(outcomeOf(result)).toMatchObject({ exitCode: 0, stdout: { truncated: true, totalBytes: megabytes * 1_000_000 + 12, text: expect.stringMatching(/^first\nx+\n\[… \d+ bytes left out …\]\nx+\nlast\n$/) as string } })
      expect(outcomeOf(result)).not.toHaveProperty('stdout.spillPath')
      expect(JSON.stringify(result).length).toBeLessThan(300_000)
    })
    expect(await readdir(blobs.spillFolder('session-1'))).toEqual([])
    expect(growth).toBeLessThan(MOST_GROWTH_BYTES)
  }, 120_000)
  it('of a job of short lines keeps both ends, in bounded memory, while its ports and problems are looked for', async () => {
    const processes = keep(createRunner())
    const made = await bench({ processes, blobs: await onDisk() })
    const growth = await growthDuring(async () => {
      await made.bash(`echo "a.c:1:1: error: no"; yes "http://localhost:3000" | head -c ${megabytes / 5}000000; echo; echo last`, { run_in_background: true })
      expect(textOf(await made.job('output', { wait: true, timeout_ms: 100_000 }))).toContain('last\n[status: completed, exit code: 0, listens at http://localhost:3000]')
      expect(made.jobs.all()).toMatchObject([{ problems: { errors: 1, warnings: 0 } }])
    })
    expect(growth).toBeLessThan(MOST_GROWTH_BYTES)
  }, 120_000)
})
