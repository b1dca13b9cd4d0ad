import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { run, startProgram, stopProgram } from '../../../scripts/child-process.ts'
import { root } from '../../../scripts/root.ts'

describe.skipIf(process.platform === 'win32')('programs of the scripts', () => {
  let folder: string
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'bosun-child-'))))
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('end with everything they started, even what ignores a polite word', async () => {
    const pids = join(folder, 'pids')
    const script = `trap '' TERM; echo $$ >> ${pids}; (trap '' TERM; echo $BASHPID >> ${pids}; while :; do sleep 0.05; done) & while :; do sleep 0.05; done`
    const child = startProgram('bash', ['-c', script], { stdio: 'pipe', graceMs: 100 })
    const started = await pidsIn(pids, 2)
    await stopProgram(child)
    await untilDead(started)
  })

  it('end with the process that started them, on a signal', async () => {
    const pids = join(folder, 'pids')
    const owner = join(folder, 'owner.ts')
    await writeFile(
      owner,
      `import { startProgram } from ${JSON.stringify(join(root, 'scripts/child-process.ts'))}
       startProgram('bash', ['-c', ${JSON.stringify(`echo $$ > ${pids}; while :; do sleep 0.05; done`)}], { stdio: 'pipe' })`,
    )
    const running = promisify(execFile)(process.execPath, [owner])
    const ended = running.catch((error: unknown) => (error as { code: unknown }).code)
    const started = await pidsIn(pids, 1)
    running.child.kill('SIGTERM')
    expect(await ended).toBe(143)
    await untilDead(started)
  })

  it('say what they printed when they fail', () =>
    expect(run('bash', ['-c', 'echo on its last legs >&2; exit 3'])).rejects.toThrow(/ended with 3:\non its last legs/))
  it('fail when there is no such program', () => expect(run('no-such-program-here', [])).rejects.toThrow(/ENOENT/))
  it('get the variables they are given, and lose those that are undefined', async () => {
    process.env['BOSUN_TEST_DROPPED'] = 'kept'
    await run('bash', ['-c', '[ "$BOSUN_TEST_GIVEN" = 1 ] && [ -z "${BOSUN_TEST_DROPPED+x}" ]'], {
      env: { BOSUN_TEST_GIVEN: '1', BOSUN_TEST_DROPPED: undefined },
    }).finally(() => delete process.env['BOSUN_TEST_DROPPED'])
  })
})

async function pidsIn(file: string, count: number): Promise<readonly number[]> {
  for (;;) {
    const found = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')
    if (found.length === count) return found.map(Number)
    await sleep(20)
  }
}

/** The test's own time limit ends the wait for a process that lives on. */
async function untilDead(pids: readonly number[]): Promise<void> {
  while (pids.some(isAlive)) await sleep(20)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
