import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { createKeeperRunner, type KeeperRunner } from '../../../../extension/platform/node/keeper-runner.ts'
import { isRunning, until } from '../../../contract/process-runner.suite.ts'

const sources = new URL('../../../../extension/platform/node/', import.meta.url)
const entry = fileURLToPath(new URL('keeper-main.ts', sources))

const runners: KeeperRunner[] = []
const create = (options: object = {}) => {
  const runner = createKeeperRunner({ entry, ...options })
  runners.push(runner)
  return runner
}
afterEach(async () => {
  await Promise.all(runners.splice(0).map((runner) => runner.dispose()))
})

const startSleeper = async (runner: KeeperRunner, script = 'sleep 1000 & echo $!; wait') => {
  let stdout = ''
  const running = await runner.start({ command: 'bash', args: ['-c', script], cwd: tmpdir(), onOutput: (_, chunk) => (stdout += Buffer.from(chunk).toString()) })
  await until(() => stdout.includes('\n'))
  return { running, child: Number(stdout.split('\n')[0]) }
}

/** Where the system shows what a program was started with, and has a program that starts daemons. */
const isMarkSeen = process.platform === 'linux'

describe.skipIf(process.platform === 'win32')('the keeper', () => {
  it('ends every tree when its host is killed, also what ignores TERM and what left group and session', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keeper-'))
    const host = join(folder, 'host.ts')
    await writeFile(
      host,
      `import { createKeeperRunner } from ${JSON.stringify(new URL('keeper-runner.ts', sources).href)}
       const runner = createKeeperRunner({ entry: ${JSON.stringify(entry)} })
       const script = 'trap "" TERM; sleep 1000 & echo $!; (trap "" TERM; while :; do sleep 0.05; done) & echo $!; ${isMarkSeen ? 'setsid -f bash -c "echo \\$BASHPID; exec sleep 1000"' : 'echo $$'}; echo $$; wait'
       await runner.start({ command: 'bash', args: ['-c', script], cwd: '/', onOutput: (_, chunk) => process.stdout.write(chunk) })
       setInterval(() => {}, 1000)`,
    )
    const child = spawn(process.execPath, [host], { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    await until(() => output.split('\n').length > 4)
    const pids = output.trim().split('\n').map(Number)
    const keeper = Number((await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(child.pid)])).stdout.trim())
    expect([...pids, keeper].map(isRunning)).toEqual([true, true, true, true, true])
    child.kill('SIGKILL')
    await until(() => ![...pids, keeper].some(isRunning))
    await rm(folder, { recursive: true })
  })

  it('does not keep an idle host alive', async () => {
    const script = `import { createKeeperRunner } from ${JSON.stringify(new URL('keeper-runner.ts', sources).href)}
      const runner = createKeeperRunner({ entry: ${JSON.stringify(entry)} })
      const one = await runner.start({ command: 'true', args: [], cwd: '/', onOutput() {} })
      const { exitCode } = await one.exit
      console.log(exitCode)`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { timeout: 15_000 })
    expect(stdout).toBe('0\n')
  })

  it('that dies takes its programs with it, and a new one serves the next start', async () => {
    const runner = create()
    const { running, child } = await startSleeper(runner)
    const keeper = parentOf(running.pid)
    process.kill(keeper, 'SIGKILL')
    expect(await running.exit).toMatchObject({ exitCode: null, signal: 'SIGKILL', wasTerminated: true })
    await until(() => !isRunning(child) && !isRunning(running.pid))
    await running.terminate()
    const { running: next } = await startSleeper(runner)
    await next.terminate()
    expect((await next.exit).wasTerminated).toBe(true)
  })

  it.skipIf(!isMarkSeen)('that dies takes daemons with it that left group and session, and none of the keeper after it', async () => {
    const runner = create()
    const daemon = async () => {
      let output = ''
      const one = await runner.start({ command: 'bash', args: ['-c', 'setsid -f bash -c "echo \\$BASHPID; exec sleep 1000"; read a'], cwd: '/', stdin: 'pipe', onOutput: (_, chunk) => (output += Buffer.from(chunk).toString()) })
      await until(() => output.endsWith('\n'))
      return { shell: one.pid, daemon: Number(output) }
    }
    const first = await daemon()
    process.kill(parentOf(first.shell), 'SIGKILL')
    await until(() => !isRunning(first.daemon))
    const second = await daemon()
    expect(isRunning(second.daemon)).toBe(true)
    await runner.dispose()
    expect(isRunning(second.daemon)).toBe(false)
  })

  it('that cannot be started is an error of the start', async () => {
    const runner = create({ entry: '/no/such/keeper.js' })
    await expect(startSleeper(runner)).rejects.toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('ended unexpectedly') })
    const other = create({ nodePath: '/no/such/node' })
    await expect(startSleeper(other)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })

  it('stays small and alive when the terminal sends Ctrl-C', async () => {
    const runner = create()
    const { running } = await startSleeper(runner)
    const keeper = parentOf(running.pid)
    process.kill(keeper, 'SIGINT')
    process.kill(keeper, 'SIGHUP')
    await delay(50)
    expect(isRunning(keeper)).toBe(true)
  })

  it('gives its programs the environment as it is at each start', async () => {
    let value = '1'
    const runner = create({ environment: () => ({ PATH: process.env['PATH'], A: value }) })
    const read = async () => {
      let stdout = ''
      const one = await runner.start({ command: 'bash', args: ['-c', 'echo $A$ELECTRON_RUN_AS_NODE'], cwd: '/', onOutput: (_, chunk) => (stdout += Buffer.from(chunk).toString()) })
      await one.exit
      return stdout
    }
    expect(await read()).toBe('1\n')
    value = '2'
    expect(await read()).toBe('2\n')
  })

  it('lets programs wait while the host is behind, and loses nothing of what they wrote', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keeper-'))
    const runner = create()
    let bytes = 0
    const one = await runner.start({
      command: 'bash',
      args: ['-c', `head -c 30000000 /dev/zero; echo done > ${folder}/done`],
      cwd: '/',
      graceMs: 50,
      onOutput: (_, chunk) => {
        // The host is stuck for longer than the grace, several times.
        if (bytes === 0) blockFor(300)
        bytes += chunk.length
      },
    })
    await one.exit
    expect(bytes).toBe(30_000_000)
    expect(await readFile(join(folder, 'done'), 'utf8')).toBe('done\n')
    await rm(folder, { recursive: true })
  })

  it('ends a program whose start was stopped on the way', async () => {
    const runner = create()
    const stop = new AbortController()
    const starting = runner.start({ command: 'sleep', args: ['1000'], cwd: '/', signal: stop.signal, onOutput: () => {} })
    stop.abort()
    const running = await starting
    expect(await running.exit).toMatchObject({ wasTerminated: true })
    expect(isRunning(running.pid)).toBe(false)
  })
})

function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

const parentOf = (pid: number) => Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ')[1])
