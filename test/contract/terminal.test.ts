import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll as after, describe, expect, it } from 'vitest'
import { createDirectTerminals, terminalProblem } from '../../extension/platform/node/direct-terminals.ts'
import { createKeeperRunner } from '../../extension/platform/node/keeper-runner.ts'
import { isRunning, until } from './process-runner.suite.ts'
import { terminalContract } from './terminal.suite.ts'

const entry = fileURLToPath(new URL('../../extension/platform/node/keeper-main.ts', import.meta.url))
const cannotRun = process.platform === 'win32' || terminalProblem(entry) !== null

describe.skipIf(cannotRun)('terminals of this process', () => {
  terminalContract({
    describe, it, after,
    create(environment) {
      const terminals = createDirectTerminals({ environment: () => environment })
      return { terminals, dispose: () => terminals.dispose() }
    },
  })
})

describe.skipIf(cannotRun)('terminals of the keeper', () => {
  terminalContract({ describe, it, after, create: (environment) => createKeeperRunner({ entry, environment: () => environment }) })

  it('end with everything at them when the keeper dies', async () => {
    const runner = createKeeperRunner({ entry })
    let output = ''
    const terminal = await runner.terminals.open({ command: '/bin/bash', args: ['--norc', '--noprofile'], cwd: '/', size: { columns: 80, rows: 24 }, onOutput: (chunk) => void (output += Buffer.from(chunk).toString()) })
    await terminal.write("(trap '' HUP; echo pid=$BASHPID.; exec sleep 1000) &\r")
    await until(() => /pid=\d+\./.test(output))
    const [, job = ''] = /pid=(\d+)\./.exec(output) ?? []
    const keeper = Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(terminal.pid)]).toString().trim())
    process.kill(keeper, 'SIGKILL')
    expect(await terminal.exit).toEqual({ exitCode: null, signal: 'SIGKILL', wasTerminated: true })
    await until(() => !isRunning(terminal.pid) && !isRunning(Number(job)))
    await runner.dispose()
  })
})

describe('where the native part is missing', () => {
  it('says so, for which machine, and opens nothing', async () => {
    const problem = terminalProblem(import.meta.url, { platform: 'plan9', arch: 'mips' })
    expect(problem).toBe('Terminals need a native part that this build does not have for plan9 on mips.')
    const terminals = createDirectTerminals({ problem })
    await expect(terminals.open({ command: '/bin/bash', args: [], cwd: '/', size: { columns: 80, rows: 24 }, onOutput: () => {} })).rejects.toMatchObject({ code: 'NO_BACKEND', message: problem })
  })
})
