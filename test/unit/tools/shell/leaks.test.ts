import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createDirectRunner } from '../../../../extension/platform/node/direct-runner.ts'
import { createKeeperRunner } from '../../../../extension/platform/node/keeper-runner.ts'
import { runCount } from '../../../support/run-count.ts'
import { createShellBench, type ShellBench } from '../../../support/shell-bench.ts'
import { outcomeOf, textOf } from '../../../support/tool-bench.ts'

const entry = fileURLToPath(new URL('../../../../extension/platform/node/keeper-main.ts', import.meta.url))
const runners = [
  ['that headless uses', () => createDirectRunner()],
  ['that the editor uses, with a keeper', () => createKeeperRunner({ entry })],
] as const

/** Programs of the session that run, found by what each of them has in its environment. */
function livingOf(sessionId: string): readonly string[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      if (!readFileSync(`/proc/${name}/environ`, 'latin1').includes(`BOSUN_SESSION_ID=${sessionId}\0`)) return []
      return [readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ').trim()]
    } catch {
      // It ended meanwhile, or belongs to another user.
      return []
    }
  })
}

const leavesProgram = ['sleep 1000 > /dev/null 2>&1 & echo left one', 'setsid -f sleep 1000 > /dev/null 2>&1; echo left a daemon']
const ordinary = ['seq 1000 | sort -rn | head -1', '(echo e >&2; kill -KILL $BASHPID) || true', 'exit 3', 'echo $(echo inner)']

/** What a call runs, by its number: pipes, deaths, failures, and in each forty one that leaves a program and one that leaves a daemon. */
const commandOf = (number: number): string => leavesProgram[number % 40] ?? ordinary[number % ordinary.length] ?? 'true'

const CALLS = runCount({ full: 500, desk: 200 })
const KILLS = runCount({ full: 100, desk: 40 })

describe.skipIf(!existsSync('/proc/self/environ')).each(runners)('the runner %s', (_name, createRunner) => {
  it(`leaves no program behind after ${CALLS} calls and ${KILLS} kills through the pipeline`, async () => {
    const processes = createRunner()
    const sessionId = randomUUID()
    const bench = await createShellBench({ processes, sessionId })
    for (let number = 0; number < CALLS; number += 10) {
      const results = await Promise.all(Array.from({ length: 10 }, (_none, index) => bench.bash(commandOf(number + index))))
      expect(results.filter(({ isError }) => isError)).toEqual([])
    }
    for (let number = 0; number < KILLS; number += 10) {
      await Promise.all(Array.from({ length: 10 }, (_none, index) => (index % 2 === 0 ? stopCall(bench) : killJob(bench))))
    }
    // Nothing is there but what calls left on purpose, however the others ended.
    const left = Array.from({ length: CALLS }, (_none, number) => number % 40).filter((place) => place < leavesProgram.length)
    await expect.poll(() => livingOf(sessionId)).toEqual(left.map(() => 'sleep 1000'))
    await bench.dispose()
    await processes.dispose()
    expect(livingOf(sessionId)).toEqual([])
  }, 120_000)
})

async function stopCall(bench: ShellBench): Promise<void> {
  const stop = new AbortController()
  const result = await bench.bash('(sleep 1000 & sleep 1000) & echo up; wait', {}, { signal: stop.signal, onProgress: () => stop.abort() })
  expect(outcomeOf(result)).toMatchObject({ code: 'ABORTED' })
}

async function killJob(bench: ShellBench): Promise<void> {
  const started = outcomeOf(await bench.bash('(sleep 1000 & sleep 1000) & echo up; wait', { run_in_background: true }))
  const { jobId } = started as { readonly jobId: string }
  await bench.job('kill', { job_id: jobId })
  expect(textOf(await bench.job('output', { job_id: jobId, wait: true }))).toContain('[status: killed')
}
