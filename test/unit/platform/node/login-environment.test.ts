import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDirectRunner } from '../../../../extension/platform/node/direct-runner.ts'
import { createLoginEnvironment } from '../../../../extension/platform/node/login-environment.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'login-'))
})
afterAll(() => rm(folder, { recursive: true }))

const setup = async (script: string) => {
  const shell = join(folder, 'shell')
  await writeFile(shell, `#!/bin/bash\n${script}\n`)
  await chmod(shell, 0o755)
  const clock = createManualClock()
  const logger = createRecordingLogger()
  const processes = createDirectRunner()
  const login = createLoginEnvironment({ processes, clock, logger, homeFolder: folder, shell, environment: { PATH: '/usr/bin:/bin', HOST_ONLY: '1' } })
  return { login, clock, logger, processes }
}

describe.skipIf(process.platform === 'win32')('the environment of a login', () => {
  it("is the host's until the shell answers, then what a login adds, whatever start-up files print", async () => {
    const { login, logger, processes } = await setup('[ "$1 $2 $3" = "-l -i -c" ] || exit 9; echo "Wélcome {}"; export PATH=/opt/bin:$PATH LAND=ü; exec bash -c "$4; echo bye"')
    expect(login.current()).toEqual({ PATH: '/usr/bin:/bin', HOST_ONLY: '1' })
    await login.resolved
    expect(login.current()).toMatchObject({ HOST_ONLY: '1', LAND: 'ü', PATH: expect.stringMatching(/^\/opt\/bin:/) })
    expect(Object.keys(login.current())).not.toEqual(expect.arrayContaining(['SHLVL']))
    expect(login.current()).not.toHaveProperty('ELECTRON_RUN_AS_NODE')
    expect(logger.lines).toEqual([])
    await processes.dispose()
  })
  it.each([
    ['that says nothing', 'exit 3'],
    ['that answers half', 'bash -c "$4" | head -c 50'],
  ])('stays that of the host with a shell %s', async (_, script) => {
    const { login, logger, processes } = await setup(script)
    await login.resolved
    expect(login.current()).toEqual({ PATH: '/usr/bin:/bin', HOST_ONLY: '1' })
    expect(logger.lines).toMatchObject([{ level: 'warn' }])
    await processes.dispose()
  })
  it('stays that of the host after ten seconds, and the shell is ended', async () => {
    const { login, clock, logger, processes } = await setup('sleep 1000')
    // The program must run before its time can run out.
    await new Promise((resolve) => setTimeout(resolve, 50))
    clock.advance(10_000)
    await login.resolved
    expect(logger.lines).toMatchObject([{ facts: { timedOut: true, signal: 'SIGTERM' } }])
    await processes.dispose()
  })
  it('stays that of the host without a shell', async () => {
    const logger = createRecordingLogger()
    const processes = createDirectRunner()
    const options = { processes, clock: createManualClock(), logger, homeFolder: folder, environment: { A: '1' } }
    const none = createLoginEnvironment(options)
    const missing = createLoginEnvironment({ ...options, shell: '/no/such/shell' })
    await Promise.all([none.resolved, missing.resolved])
    expect([none.current(), missing.current(), logger.lines.length]).toEqual([{ A: '1' }, { A: '1' }, 1])
  })
})
