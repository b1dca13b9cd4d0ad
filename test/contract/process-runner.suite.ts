import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ProcessError, type ProcessExit, type ProcessRunner, type ProcessSpec } from '../../extension/capabilities/process.ts'
import { statFacts } from '../../extension/platform/node/process-tree.ts'
import { runCount } from '../support/run-count.ts'

export interface ProcessRunnerEnv {
  readonly describe: (name: string, body: () => void) => void
  readonly it: (name: string, body: () => Promise<void>, timeoutMs?: number) => void
  readonly after: (body: () => Promise<void>) => void
  /** `environment` stands for that of the host. */
  readonly create: (options: { readonly environment: Record<string, string>; readonly managed?: Record<string, string> }) => ProcessRunner
}

/** What every `ProcessRunner` does, on a system with bash. */
export function processRunnerContract({ describe, it, after, create }: ProcessRunnerEnv): void {
  const host = { PATH: process.env['PATH'] ?? '', HOME: '/nowhere', MY_API_KEY: 'x', db_password: 'x', BOSUN_HOME: 'x', VSCODE_PID: '1' }

  // Most tests share a runner; those that dispose or need other options have their own.
  let shared: ProcessRunner | undefined
  const withRunner = async (body: (runner: ProcessRunner) => Promise<void>) => body((shared ??= create({ environment: host })))
  after(async () => shared?.dispose())

  const withOwnRunner = async (body: (runner: ProcessRunner) => Promise<void>, managed?: Record<string, string>) => {
    const runner = create({ environment: host, ...(managed && { managed }) })
    try {
      await body(runner)
    } finally {
      await runner.dispose()
    }
  }

  const start = async (runner: ProcessRunner, script: string, spec: Partial<ProcessSpec> = {}) => {
    const output = { stdout: '', stderr: '', order: '' }
    const running = await runner.start({
      command: 'bash',
      args: ['-c', script],
      cwd: tmpdir(),
      onOutput: (stream, chunk) => {
        const text = Buffer.from(chunk).toString('latin1')
        output[stream] += text
        output.order += text
      },
      ...spec,
    })
    return { running, output }
  }

  const run = async (runner: ProcessRunner, script: string, spec: Partial<ProcessSpec> = {}) => {
    const { running, output } = await start(runner, script, spec)
    return { ...facts(await running.exit), ...output, pid: running.pid }
  }

  const check = (script: string, expected: object, spec: Partial<ProcessSpec> = {}) =>
    withRunner(async (runner) => {
      const { pid: _, order: __, ...result } = await run(runner, script, spec)
      assert.deepEqual(result, { exitCode: 0, signal: null, wasTerminated: false, stdout: '', stderr: '', ...expected })
    })

  const failsToStart = (spec: Partial<ProcessSpec>, code: string, message: RegExp) =>
    withRunner(async (runner) => {
      await assert.rejects(run(runner, 'true', spec), (error: unknown) => {
        assert.ok(error instanceof ProcessError)
        assert.equal(error.code, code)
        assert.match(error.message, message)
        return true
      })
    })

  describe('exit facts', () => {
    it('exit 0', () => check('echo out; echo err >&2', { stdout: 'out\n', stderr: 'err\n' }))
    it('exit 3', () => check('exit 3', { exitCode: 3 }))
    it('a program that kills itself has a signal, no exit code, and was not terminated', () => check('kill -KILL $$', { exitCode: null, signal: 'SIGKILL' }))
    it('time goes by', () =>
      withRunner(async (runner) => {
        const { running } = await start(runner, 'sleep 0.05')
        const { durationMs } = await running.exit
        assert.ok(durationMs >= 45 && durationMs < 5000, String(durationMs))
      }))
  })

  describe('starting', () => {
    it('runs in the folder it is told', () =>
      withRunner(async (runner) => {
        const folder = await realpath(await mkdtemp(join(tmpdir(), 'runner-')))
        assert.equal((await run(runner, 'pwd -P', { cwd: folder })).stdout, `${folder}\n`)
        await rm(folder, { recursive: true })
      }))
    it('a missing program', () => failsToStart({ command: 'no-such-program' }, 'SPAWN_FAILED', /no-such-program.*not found.*ENOENT/))
    it('a missing folder', () => failsToStart({ cwd: '/no/such/folder' }, 'SPAWN_FAILED', /folder \/no\/such\/folder.*ENOENT/))
    it('a folder that is a file', () => failsToStart({ cwd: '/etc/passwd' }, 'SPAWN_FAILED', /not a folder/))
    it('a program that may not be executed', () => failsToStart({ command: '/etc/passwd' }, 'SPAWN_FAILED', /may not be executed/))
    it('an argument that no program can get', () => failsToStart({ args: ['a\0b'] }, 'SPAWN_FAILED', /could not be started/))
    it('a signal that fired before', () => failsToStart({ signal: AbortSignal.abort() }, 'ABORTED', /was not started/))
    it('after disposal', () =>
      withOwnRunner(async (runner) => {
        await runner.dispose()
        await assert.rejects(run(runner, 'true'), { code: 'UNAVAILABLE' })
      }))
  })

  describe('the environment', () => {
    const env = (spec: Partial<ProcessSpec>, managed?: Record<string, string>) => {
      let names: Record<string, string> = {}
      return (managed ? withOwnRunner : withRunner)(async (runner) => {
        const { stdout } = await run(runner, '', { ...spec, command: 'env', args: [] })
        const { BOSUN_OWNER, ...rest } = Object.fromEntries(stdout.trim().split('\n').map((line) => line.split('=', 2) as [string, string])) as Record<string, string>
        assert.ok(BOSUN_OWNER)
        names = rest
      }, managed).then(() => names)
    }
    it("is the host's without secrets and without the names of the host's machinery", async () =>
      assert.deepEqual(await env({}), { PATH: host.PATH, HOME: '/nowhere' }))
    it('takes what the call adds, secrets too, and drops what it deletes', async () =>
      assert.deepEqual(await env({ env: { HOME: null, MY_API_KEY: 'y', A: '1' } }), { PATH: host.PATH, MY_API_KEY: 'y', A: '1' }))
    it('keeps managed entries from being spoofed', async () => assert.equal((await env({ env: { BOSUN_SHELL: '0' } }, { BOSUN_SHELL: '1' }))['BOSUN_SHELL'], '1'))
  })

  describe('standard input', () => {
    it('is the null device', () => check('cat', {}))
    it('is the given text', () => check('cat', { stdout: 'x\ny' }, { stdin: 'x\ny' }))
    it('may be large', () =>
      withRunner(async (runner) => assert.equal((await run(runner, 'wc -c', { stdin: 'x'.repeat(5_000_000) })).stdout.trim(), '5000000')))
    it('is swallowed when the program does not read it', () => check('exec 0<&-; sleep 0.02', {}, { stdin: 'x'.repeat(1_000_000) }))
    it('stays open when asked', () =>
      withRunner(async (runner) => {
        const { running, output } = await start(runner, 'read a; read b; echo "$a$b"', { stdin: 'pipe' })
        await running.write('x\n')
        await running.write('y\n')
        await running.exit
        await running.write('nobody reads this')
        assert.equal(output.stdout, 'xy\n')
      }))
    it('can be ended', () =>
      withRunner(async (runner) => {
        const { running, output } = await start(runner, 'cat; echo end', { stdin: 'pipe' })
        await running.write('x\n')
        await running.endInput()
        await running.exit
        assert.equal(output.stdout, 'x\nend\n')
      }))
  })

  describe('output', () => {
    it('of 10 MB arrives whole', () =>
      withRunner(async (runner) => assert.equal((await run(runner, 'head -c 10000000 /dev/zero | tr "\\0" x')).stdout, 'x'.repeat(10_000_000))))
    it('arrives while the program runs', () =>
      withRunner(async (runner) => {
        const { running, output } = await start(runner, 'echo first; read a', { stdin: 'pipe' })
        await until(() => output.stdout === 'first\n')
        await running.endInput()
        await running.exit
      }))
    it('of both streams keeps its order when it comes apart', () =>
      withRunner(async (runner) => {
        // The program writes on only once the last piece has come.
        const script = 'for i in 1 2 3; do echo -n o$i; read a; echo -n e$i >&2; read a; done'
        const { running, output } = await start(runner, script, { stdin: 'pipe' })
        for (const soFar of ['o1', 'o1e1', 'o1e1o2', 'o1e1o2e2', 'o1e1o2e2o3', 'o1e1o2e2o3e3']) {
          await until(() => output.order === soFar)
          await running.write('\n')
        }
        await running.exit
      }))
    it('passes bytes on as they are', () => check("printf '\\xff\\x00\\xe9'", { stdout: '\u{FF}\0\u{E9}' }))
    it('of several programs at once stays apart', () =>
      withRunner(async (runner) => {
        const results = await Promise.all(['a', 'b', 'c', 'd'].map((letter) => run(runner, `for i in 1 2 3 4 5 6 7 8 9; do echo ${letter}; done`)))
        assert.deepEqual(results.map(({ stdout }) => stdout), ['a', 'b', 'c', 'd'].map((letter) => `${letter}\n`.repeat(9)))
      }))
  })

  describe('ending', () => {
    it('a stop ends the whole tree', () =>
      withRunner(async (runner) => {
        const stop = new AbortController()
        const { running, output } = await start(runner, 'sleep 1000 & echo $!; sleep 1000', { signal: stop.signal })
        await until(() => output.stdout.endsWith('\n'))
        stop.abort()
        assert.deepEqual(facts(await running.exit), { exitCode: null, signal: 'SIGTERM', wasTerminated: true })
        await running.terminate()
        assert.equal(isRunning(Number(output.stdout)), false)
      }))
    it('takes along what it started that left the group and the session, also what holds its output and ignores TERM, and nothing of others', () =>
      withRunner(async (runner) => {
        if (!existsSync('/proc/self/environ')) return
        const folder = await mkdtemp(join(tmpdir(), 'runner-'))
        const daemon = (name: string, trap: string) => `setsid -f bash -c 'trap "" ${trap}; echo $$ > ${name}; while :; do sleep 0.05; done'`
        const pidIn = async (name: string) => {
          await until(() => existsSync(join(folder, name)) && readFileSync(join(folder, name), 'utf8').endsWith('\n'))
          return Number(readFileSync(join(folder, name), 'utf8'))
        }
        await run(runner, `${daemon('earlier', '')} > /dev/null 2>&1`, { cwd: folder })
        const { running } = await start(runner, `${daemon('holding', 'TERM')}; ${daemon('plain', '')} > /dev/null 2>&1; sleep 1000`, { cwd: folder, graceMs: 100 })
        const [earlier, ...own] = [await pidIn('earlier'), await pidIn('holding'), await pidIn('plain')]
        await running.terminate()
        assert.deepEqual([earlier, ...own].map(isRunning), [true, false, false])
        process.kill(earlier, 'SIGKILL')
        await rm(folder, { recursive: true })
      }))
    it('a program that traps TERM and exits by itself was terminated all the same', () =>
      withRunner(async (runner) => {
        const { running, output } = await start(runner, 'trap "exit 0" TERM; echo ready; while :; do sleep 0.01; done')
        await until(() => output.stdout === 'ready\n')
        await running.terminate()
        assert.deepEqual(facts(await running.exit), { exitCode: 0, signal: null, wasTerminated: true })
      }))
    it('a program that ignores TERM is killed after the grace', () =>
      withRunner(async (runner) => {
        const { running, output } = await start(runner, 'trap "" TERM; echo ready; while :; do sleep 0.01; done', { graceMs: 60 })
        await until(() => output.stdout === 'ready\n')
        await Promise.all([running.terminate(), running.terminate()])
        assert.deepEqual(facts(await running.exit), { exitCode: null, signal: 'SIGKILL', wasTerminated: true })
      }))
    it('a descendant that ignores TERM is killed after its leader went', () =>
      withRunner(async (runner) => {
        const { running, output } = await start(runner, '(trap "" TERM; echo $BASHPID; while :; do sleep 0.01; done) & wait', { graceMs: 60 })
        await until(() => output.stdout.endsWith('\n'))
        await running.terminate()
        assert.equal(isRunning(Number(output.stdout)), false)
      }))
    it('a grandchild that holds the output is waited for only as long as the grace', () =>
      withOwnRunner(async (runner) => {
        const startedAt = performance.now()
        const { running, output } = await start(runner, 'sleep 1000 & echo $!', { graceMs: 80 })
        const exit = await running.exit
        const tookMs = performance.now() - startedAt
        assert.ok(tookMs >= 75 && tookMs < 5000, String(tookMs))
        assert.deepEqual({ ...facts(exit), survivors: exit.hasSurvivors }, { exitCode: 0, signal: null, wasTerminated: false, survivors: true })
        assert.equal(isRunning(Number(output.stdout)), true)
        await runner.dispose()
        assert.equal(isRunning(Number(output.stdout)), false)
      }))
    it('what a program left running can still be ended', () =>
      withRunner(async (runner) => {
        const { running, output } = await start(runner, 'sleep 1000 >/dev/null 2>&1 & echo $!')
        await running.exit
        await running.terminate()
        assert.equal(isRunning(Number(output.stdout)), false)
      }))
    it('a signal goes to the whole group', () =>
      withRunner(async (runner) => {
        const { running, output } = await start(runner, 'trap "echo got" USR1; echo ready; while :; do sleep 0.01; done')
        await until(() => output.stdout === 'ready\n')
        await running.sendSignal('SIGUSR1')
        await until(() => output.stdout.includes('got'))
      }))
    it('ending twice and after the end does nothing', () =>
      withRunner(async (runner) => {
        const { running } = await start(runner, 'true')
        await running.exit
        await running.terminate()
        await running.sendSignal('SIGTERM')
        assert.equal((await running.exit).wasTerminated, false)
      }))
    it('disposal ends everything and waits', () =>
      withOwnRunner(async (runner) => {
        const started = await Promise.all(['sleep 1000', 'sleep 1000 & wait'].map((script) => start(runner, script)))
        await runner.dispose()
        for (const { running } of started) {
          assert.equal(isRunning(running.pid), false)
          assert.equal((await running.exit).wasTerminated, true)
        }
      }))
    it('disposal ends daemons that left the group and the session, TERM first', () =>
      withOwnRunner(async (runner) => {
        if (!existsSync('/proc/self/environ')) return
        const folder = await mkdtemp(join(tmpdir(), 'runner-'))
        const daemon = (name: string, trap: string) => `setsid -f bash -c '${trap}; echo $$ > ${name}; while :; do sleep 0.05; done' > /dev/null 2>&1 < /dev/null`
        await run(runner, [daemon('polite', 'trap "echo ended > last; exit" TERM'), daemon('stubborn', 'trap "" TERM')].join('; '), { cwd: folder, graceMs: 60 })
        const pids = await Promise.all(['polite', 'stubborn'].map(async (name) => {
          await until(() => existsSync(join(folder, name)) && readFileSync(join(folder, name), 'utf8').endsWith('\n'))
          return Number(readFileSync(join(folder, name), 'utf8'))
        }))
        assert.deepEqual(pids.map(isRunning), [true, true])
        await runner.dispose()
        assert.deepEqual([...pids.map(isRunning), readFileSync(join(folder, 'last'), 'utf8')], [false, false, 'ended\n'])
        await rm(folder, { recursive: true })
      }))
    it('disposal leaves the daemons of another host alone', () =>
      withRunner(async (other) => {
        if (!existsSync('/proc/self/environ')) return
        const folder = await mkdtemp(join(tmpdir(), 'runner-'))
        await run(other, "setsid -f bash -c 'echo $$ > pid; exec sleep 1000' > /dev/null 2>&1", { cwd: folder })
        await until(() => existsSync(join(folder, 'pid')) && readFileSync(join(folder, 'pid'), 'utf8').endsWith('\n'))
        await withOwnRunner(async (runner) => void (await run(runner, 'true')))
        const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'))
        assert.equal(isRunning(pid), true)
        process.kill(pid, 'SIGKILL')
        await rm(folder, { recursive: true })
      }))
    it('a shell with job control loses its jobs too', () =>
      withRunner(async (runner) => {
        if (!existsSync('/proc/self/stat')) return
        const { running, output } = await start(runner, 'set -m; sleep 1000 & echo $!; wait')
        await until(() => output.stdout.endsWith('\n'))
        await running.terminate()
        assert.equal(isRunning(Number(output.stdout)), false)
      }))
  })

  describe('what the system knows', () => {
    const onLinux = (body: () => Promise<void>) => async () => (existsSync('/proc/self/stat') ? body() : undefined)
    const reads = (script: string, spec: Partial<ProcessSpec> = {}) =>
      withRunner(async (runner) => {
        const { running } = await start(runner, script, { stdin: 'pipe', ...spec })
        await until(async () => (await running.inspect()).isReadingInput === true)
        await running.terminate()
      })
    it('a program that waits for its input', onLinux(() => reads('read answer')))
    it('a grandchild that waits for the input of the first', onLinux(() => reads('sleep 1000 & (cat; true); true')))
    it('nobody waits while the program works, nor where the input is the null device', onLinux(() =>
      withRunner(async (runner) => {
        const { running } = await start(runner, 'echo $$; sleep 1000', { stdin: 'pipe' })
        assert.equal((await running.inspect()).isReadingInput, false)
        await running.terminate()
      })))
    it('the ports that the tree listens at', onLinux(() =>
      withRunner(async (runner) => {
        const script = "require('http').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })"
        const { running, output } = await start(runner, '', { command: 'bash', args: ['-c', `"${process.execPath}" -e "${script}"; true`] })
        await until(() => output.stdout.endsWith('\n'))
        assert.deepEqual((await running.inspect()).ports, [Number(output.stdout)])
        await running.terminate()
      })))
    it('nothing of a program that has ended', () =>
      withRunner(async (runner) => {
        const { running } = await start(runner, 'true')
        await running.exit
        const { isReadingInput, ports } = await running.inspect()
        assert.ok(isReadingInput !== true && (ports === null || ports.length === 0))
      }))
  })

  describe('what an earlier host left', () => {
    it('is ended with its tree when it is the same program', () =>
      withRunner(async (runner) => {
        const { running, output } = await start(runner, 'sleep 1000 & echo $!; wait')
        await until(() => output.stdout.endsWith('\n'))
        const birth = await running.birth()
        if (birth === null) return
        assert.equal(await runner.endLeftover({ pid: running.pid, birth }), 'ended')
        assert.equal(isRunning(Number(output.stdout)), false)
        assert.equal(await runner.endLeftover({ pid: running.pid, birth }), 'gone')
      }))
    it('is left alone when another has its process id, or nobody can tell', () =>
      withRunner(async (runner) => {
        const { running } = await start(runner, 'sleep 1000')
        if ((await running.birth()) !== null) assert.equal(await runner.endLeftover({ pid: running.pid, birth: 'another' }), 'gone')
        assert.equal(await runner.endLeftover({ pid: running.pid }), 'alive')
        assert.equal(isRunning(running.pid), true)
        await running.terminate()
      }))
  })

  const starts = runCount({ full: 500, desk: 100 })
  const startMany = () =>
    withRunner(async (runner) => {
      await run(runner, 'true')
      const before = await leftovers()
      const signal = new AbortController().signal
      for (let round = 0; round < starts / 10; round++) {
        await Promise.all(Array.from({ length: 10 }, () => run(runner, '', { command: 'true', args: [], signal })))
      }
      await until(async () => (await leftovers()) <= before)
    })

  it(`${starts} quick starts leave no process, no descriptor and no listener behind`, startMany, 120_000)

  it('writes to a file are there when the program has ended', () =>
    withRunner(async (runner) => {
      const folder = await mkdtemp(join(tmpdir(), 'runner-'))
      await writeFile(join(folder, 'a'), '')
      await run(runner, 'echo x > a', { cwd: folder })
      assert.equal(await readFile(join(folder, 'a'), 'utf8'), 'x\n')
      await rm(folder, { recursive: true })
    }))
}

const facts = ({ exitCode, signal, wasTerminated }: ProcessExit) => ({ exitCode, signal, wasTerminated })

/** True unless the process is gone, is just going (it runs no more code of its own) or only waits to be reaped. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  if (!existsSync('/proc/self/stat')) return true
  try {
    const { state, isExiting } = statFacts(readFileSync(`/proc/${pid}/stat`, 'latin1'))
    return state !== 'Z' && !isExiting
  } catch {
    return false
  }
}

/** Open descriptors of this process and its children, where the system shows them. */
async function leftovers(): Promise<number> {
  if (!existsSync('/proc/self/fd')) return 0
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ')
  return readdirSync('/proc/self/fd').length + children.length
}

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 40_000
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, 'waited 40 s in vain')
    await delay(5)
  }
}
