import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createOwnerMark } from '../../../../extension/platform/node/owner-mark.ts'
import { isRunning } from '../../../contract/process-runner.suite.ts'

describe.skipIf(process.platform !== 'linux')('programs that are known by their mark', () => {
  it('are found also while they become another program', async () => {
    for (let round = 0; round < 5; round += 1) {
      const mark = createOwnerMark('')
      // Each does nothing but to become itself again.
      const pids = Array.from({ length: 10 }, () => {
        const child = spawn('/bin/bash', ['-c', 'exec /bin/bash -c "$AGAIN"'], { env: { ...mark.environment, AGAIN: 'exec /bin/bash -c "$AGAIN"' }, stdio: 'ignore', detached: true })
        child.unref()
        return child.pid ?? 0
      })
      await delay(40)
      const found = await mark.endAll(2_000)
      const left = pids.filter(isRunning)
      for (const pid of left) process.kill(pid, 'SIGKILL')
      expect({ found: [...found].toSorted((a, b) => a - b), left }).toEqual({ found: pids.toSorted((a, b) => a - b), left: [] })
    }
  })
  it('are killed at once by a host that exits', async () => {
    const mark = createOwnerMark('')
    const child = spawn('/bin/bash', ['-c', 'trap "" TERM; while :; do read -t 1 < <(:); done'], { env: mark.environment, stdio: 'ignore', detached: true })
    await new Promise((resolve) => child.once('spawn', resolve))
    mark.killAllNow()
    await new Promise((resolve) => child.once('exit', resolve))
    expect(child.signalCode).toBe('SIGKILL')
  })
})
