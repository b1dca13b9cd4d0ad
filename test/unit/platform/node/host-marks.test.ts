import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { createHostMarks } from '../../../../extension/platform/node/host-marks.ts'
import { OWNER_VARIABLE } from '../../../../extension/platform/node/owner-mark.ts'
import { isRunning, until } from '../../../contract/process-runner.suite.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

describe.skipIf(!existsSync('/proc/self/environ'))('what a host remembers of its programs', () => {
  let folder: string
  let started: ChildProcess[]
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hosts-'))
    started = []
    return async () => {
      for (const one of started) one.kill('SIGKILL')
      await rm(folder, { recursive: true })
    }
  })
  const program = async (mark?: string): Promise<number> => {
    const child = spawn('sleep', ['1000'], { env: { ...process.env, ...(mark !== undefined && { [OWNER_VARIABLE]: mark }) }, stdio: 'ignore' })
    started.push(child)
    const pid = child.pid ?? 0
    await until(async () => (await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')).startsWith('sleep'))
    return pid
  }
  const marksOf = (pid: number) => createHostMarks({ folder, logger: createRecordingLogger(), pid })
  /** A host that was killed after it had written down its mark. */
  const killedHost = async (mark: string): Promise<void> => {
    const pid = await program()
    await marksOf(pid).note(mark)
    process.kill(pid, 'SIGKILL')
    await until(() => !isRunning(pid))
  }

  it('ends what a killed host left, and forgets it', async () => {
    const [mark, other] = [randomUUID(), randomUUID()]
    const [left, leftByInner, stranger] = [await program(`${mark}/1`), await program(`${mark}/2:${randomUUID()}/1`), await program(`${other}/1`)]
    await killedHost(mark)
    expect(await marksOf(process.pid).endLeft()).toEqual(new Set([left, leftByInner]))
    expect([left, leftByInner, stranger].map(isRunning)).toEqual([false, false, true])
    expect(await readdir(folder)).toEqual([])
  })
  it('leaves the programs of a live host alone', async () => {
    const mark = randomUUID()
    const pid = await program(mark)
    const host = marksOf(await program())
    await host.note(mark)
    expect(await marksOf(process.pid).endLeft()).toEqual(new Set())
    expect(isRunning(pid)).toBe(true)
    expect(await readdir(folder)).toEqual([`${mark}.json`])
    await host.forget()
    expect(await readdir(folder)).toEqual([])
  })
  it('leaves alone what carries the mark around a host that was started by the killed one', async () => {
    const mark = randomUUID()
    const pid = await program(mark)
    await killedHost(mark)
    const before = process.env[OWNER_VARIABLE]
    process.env[OWNER_VARIABLE] = `${mark}/1`
    try {
      await marksOf(process.pid).endLeft()
    } finally {
      if (before === undefined) delete process.env[OWNER_VARIABLE]
      else process.env[OWNER_VARIABLE] = before
    }
    expect(isRunning(pid)).toBe(true)
  })
  it('leaves alone what was written on another machine, until that is old', async () => {
    const mark = randomUUID()
    const pid = await program(mark)
    const note = (startedAt: number) => writeFile(join(folder, 'x.json'), JSON.stringify({ mark, pid: 1, birth: 'b', place: 'elsewhere', startedAt }))
    await note(Date.now())
    await marksOf(process.pid).endLeft()
    expect([isRunning(pid), await readdir(folder)]).toEqual([true, ['x.json']])
    await note(0)
    await marksOf(process.pid).endLeft()
    expect([isRunning(pid), await readdir(folder)]).toEqual([true, []])
  })
  it('passes over what is no note, and a folder that cannot be', async () => {
    await writeFile(join(folder, 'a.json'), '{')
    await writeFile(join(folder, 'b.json'), '{}')
    expect([await marksOf(process.pid).endLeft(), await readdir(folder)]).toEqual([new Set(), []])
    await writeFile(join(folder, 'a.json'), '')
    const none = createHostMarks({ folder: join(folder, 'a.json', 'x'), logger: createRecordingLogger() })
    expect(await none.endLeft()).toEqual(new Set())
    await none.note(randomUUID())
    await none.forget()
  })
  it('keeps nothing where the system shows no environments', async () => {
    const marks = createHostMarks({ folder, logger: createRecordingLogger(), platform: 'win32' })
    await marks.note(randomUUID())
    expect([await marks.endLeft(), await readdir(folder)]).toEqual([new Set(), []])
  })
})
