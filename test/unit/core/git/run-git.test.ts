import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { GitError, runGit, type GitNeeds } from '../../../../extension/core/git/run-git.ts'
import { createDirectRunner } from '../../../../extension/platform/node/direct-runner.ts'
import { realClock } from '../../../support/real-clock.ts'

const processes = createDirectRunner()
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'run-git-'))
  execFileSync('git', ['init', '-q', folder])
})
afterAll(async () => {
  await processes.dispose()
  await rm(folder, { recursive: true, force: true })
  vi.unstubAllEnvs()
})

/** Every git is this program. */
const played = (command: string, args: readonly string[] = []): GitNeeds => ({ clock: realClock, processes: { start: (spec) => processes.start({ ...spec, command, args }) } })
const ask = async (needs: GitNeeds, question: Partial<Parameters<typeof runGit>[1]> = {}) => {
  const { bytes, ...rest } = await runGit(needs, { args: ['status'], cwd: folder, maxBytes: 1_000, deadlineMs: 5_000, signal: new AbortController().signal, ...question })
  return { ...rest, text: new TextDecoder().decode(bytes) }
}
const failing = (work: Promise<unknown>) => work.then(() => 'no failure', (error: unknown) => (error instanceof GitError ? error.code : error))

describe('git', () => {
  it('gives what it says', async () => {
    expect(await ask({ processes, clock: realClock }, { args: ['rev-parse', '--is-inside-work-tree'] })).toEqual({ exitCode: 0, isCut: false, complaint: '', text: 'true\n' })
  })

  it('is not led elsewhere by what a git around this host has set', async () => {
    vi.stubEnv('GIT_DIR', '/nowhere')
    expect((await ask({ processes, clock: realClock }, { args: ['rev-parse', '--is-inside-work-tree'] })).text).toBe('true\n')
  })

  it('is stopped once it has said enough', async () => {
    const { text, ...rest } = await ask(played('sh', ['-c', 'while :; do echo 0123456789; done']), { maxBytes: 25 })
    expect([text, rest]).toEqual(['0123456789\n0123456789\n012', { exitCode: null, isCut: true, complaint: '' }])
  })

  it('tells its complaint in one line, cut', async () => {
    const { complaint, exitCode } = await ask(played('sh', ['-c', `printf 'fatal: one\n  two\n%0600d' 0 >&2; exit 128`]))
    expect([exitCode, complaint.startsWith('fatal: one; two; 000'), complaint.length <= 500]).toEqual([128, true, true])
  })

  it('that is silent ends at its deadline', async () => expect(await failing(ask(played('sleep', ['60']), { deadlineMs: 100 }))).toBe('GIT_SILENT'))
  it('that is not there is told apart', async () => expect(await failing(ask(played('/nowhere/git')))).toBe('GIT_MISSING'))
  it('ends with who asks', async () => {
    const stop = new AbortController()
    const asked = failing(ask(played('sleep', ['60']), { signal: stop.signal }))
    stop.abort('stopped')
    expect(await asked).toBe('stopped')
  })
})
