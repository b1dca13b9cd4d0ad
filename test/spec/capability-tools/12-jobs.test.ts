import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../extension/base/json.ts'
import type { ProcessRunner } from '../../../extension/capabilities/process.ts'
import { createKernel } from '../../../extension/core/kernel/kernel.ts'
import type { EventDraft } from '../../../extension/core/log/event.ts'
import type {} from '../../../extension/core/loop/points.ts'
import { effectOf, ownEffects } from '../../../extension/core/policy/tool-effects.ts'
import { jobsPlugin } from '../../../extension/features/jobs/plugin.ts'
import { createDirectRunner } from '../../../extension/platform/node/direct-runner.ts'
import { birthOf } from '../../../extension/platform/node/tree-facts.ts'
import { isRunning } from '../../contract/process-runner.suite.ts'
import { createFakeAgent } from '../../support/fake-agent.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { createRecordingLogger } from '../../support/quiet-logger.ts'
import { realClock } from '../../support/real-clock.ts'
import { callTools, createScriptedAdapter } from '../../support/scripted-adapter.ts'
import { createFastClock, createShellBench, type ShellBench } from '../../support/shell-bench.ts'
import { wholeApplication } from '../../support/whole-application.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'

/*
 * Jobs that people can see and own, over real programs. Capability specification 12 and 20.10.
 */

const open: ShellBench[] = []
const bench = async (...args: Parameters<typeof createShellBench>) => {
  const made = await createShellBench(...args)
  open.push(made)
  return made
}
afterEach(async () => {
  for (const one of open.splice(0)) await one.dispose()
})
const background = { run_in_background: true }
const jobOf = ({ jobs }: ShellBench, id = 'bash-1') => jobs.all().find((job) => job.id === id)
const until = (what: () => unknown) => expect.poll(what)

describe('a job in the list', () => {
  it('has its folder, process, output and whole log, live and after its end', async () => {
    const made = await bench()
    const heard: string[] = []
    made.jobs.onDidOutput(({ id, text }) => heard.push(`${id}: ${text}`))
    await made.bash('echo up; until test -e go; do sleep 0.02; done; head -c 100000 /dev/zero | tr "\\0" x; echo err >&2', background)
    await until(() => jobOf(made)).toMatchObject({ cwd: made.folder, pid: expect.any(Number) as number, canRestart: true, status: 'running' })
    await until(() => heard.join('')).toBe('bash-1: up\n')
    await writeFile(join(made.folder, 'go'), '')
    await made.job('output', { wait: true })
    expect(jobOf(made)).toMatchObject({ status: 'completed', logPath: [...made.blobs.spills.keys()][0] })
    expect(made.jobs.transcript('bash-1').text).toMatch(/^up\nx+\n\[… \d+ bytes left out …\]\nx+err\n$/)
  })
  it('is written down with its process, so that a later window knows it', async () => {
    const made = await bench()
    await made.bash('exec sleep 60', background)
    await until(() => made.agent.log.find(({ type }) => type === 'job/program')?.data).toEqual({
      id: 'bash-1', pid: jobOf(made)?.pid, startedAt: jobOf(made)?.startedAt, ...(existsSync('/proc/self/stat') && { birth: await birthOf(jobOf(made)?.pid ?? 0) }),
    })
  })
  it('stays when it has ended only as long as there is room; a pinned one stays', async () => {
    const made = await bench()
    await made.bash('echo pinned', background)
    await made.job('output', { wait: true })
    made.jobs.pin('person', 'bash-1', true)
    // More than memory keeps for ended jobs, by bytes long before by number.
    const [big, small] = ['head -c 64000 /dev/zero | tr "\\0" x', 'true']
    for (let number = 2; number <= 80; number += 1) {
      await made.bash(number < 78 ? big : small, background)
      await made.job('output', { job_id: `bash-${number}`, wait: true })
    }
    const ids = made.jobs.list('person').map(({ id }) => id)
    expect([ids[0], ids.at(-1), ids.length <= 51]).toEqual(['bash-1', 'bash-80', true])
    expect(made.jobs.transcript('bash-1').text).toBe('pinned\n')
    made.jobs.forget('person', 'bash-1')
    expect(jobOf(made)).toBeUndefined()
  }, 120_000)
  it('cannot be forgotten while it runs, and ten are pinned at most', async () => {
    const made = await bench()
    await made.bash('exec sleep 60', background)
    expect(() => made.jobs.forget('person', 'bash-1')).toThrow(expect.objectContaining({ code: 'STILL_RUNNING' }) as Error)
    made.jobs.kill('person', 'bash-1')
    await made.job('output', { wait: true })
    for (let number = 2; number <= 12; number += 1) await made.bash('true', background).then(() => made.job('output', { job_id: `bash-${number}`, wait: true }))
    for (let number = 1; number <= 10; number += 1) made.jobs.pin('person', `bash-${number}`, true)
    expect(() => made.jobs.pin('person', 'bash-11', true)).toThrow(expect.objectContaining({ code: 'PIN_LIMIT' }) as Error)
    made.jobs.pin('person', 'bash-1', false)
    expect(made.jobs.pin('person', 'bash-11', true)).toMatchObject({ isPinned: true })
  })
  it('that the person ends is ended with its tree, and its owner hears of it without being woken', async () => {
    const made = await bench()
    made.agent.status = 'idle'
    await made.bash('sleep 60 & echo $!; wait', background)
    await until(() => made.jobs.transcript('bash-1').text).toMatch(/\d+\n/)
    const child = Number(made.jobs.transcript('bash-1').text)
    made.jobs.kill('person', 'bash-1')
    await until(made.told).toEqual(['inject: Background job bash-1 [bash] ended (stopped by the person, killed, signal: SIGTERM): sleep 60 & echo $!; wait. Fetch its output with job_output, job_id "bash-1".'])
    expect(isRunning(child)).toBe(false)
  })
})

describe('starting a job again', () => {
  it('ends the one that runs and begins the same command under a new id', async () => {
    const made = await bench()
    await made.bash('echo $$; exec sleep 60', background)
    await until(() => jobOf(made)?.pid).toBeDefined()
    const { pid = 0 } = jobOf(made)!
    expect(await made.jobs.restart('person', 'bash-1')).toMatchObject({ id: 'bash-2', restartOf: 'bash-1', label: 'echo $$; exec sleep 60' })
    expect([isRunning(pid), jobOf(made)?.status]).toEqual([false, 'killed'])
    await until(() => jobOf(made, 'bash-2')?.pid).toBeDefined()
    expect(made.agent.log).toContainEqual(expect.objectContaining({ type: 'job/started', data: { id: 'bash-2', kind: 'bash', label: 'echo $$; exec sleep 60', restartOf: 'bash-1' } }))
  })
  it('is possible for one that has ended, and refused for work without a beginning', async () => {
    const made = await bench()
    await made.bash('echo again', background)
    await made.job('output', { wait: true })
    await made.jobs.restart('person', 'bash-1')
    expect(textOf(await made.job('output', { job_id: 'bash-2', wait: true }))).toBe('again\n[status: completed, exit code: 0]')
    made.jobs.start({ kind: 'other', label: 'x', run: () => ({ done: Promise.resolve({ status: 'completed' }), cancel: () => {} }) })
    await expect(made.jobs.restart('person', 'other-1')).rejects.toMatchObject({ code: 'NOT_RESTARTABLE' })
  })
})

describe('waking on a pattern', () => {
  it('tells an idle owner of a line that matches, while the job runs on', async () => {
    const made = await bench()
    made.agent.status = 'idle'
    await made.bash('echo starting; printf "\\033[32mready\\033[0m on port 1\\n"; exec sleep 60', { ...background, wake_on: '^ready on port \\d+$' })
    await until(made.told).toEqual(['followup: Background job bash-1 wrote a line that you asked to be told of:\nready on port 1'])
    expect(jobOf(made)?.status).toBe('running')
  })
  it('tells of five lines at most, and says so', async () => {
    const made = await bench()
    await made.bash('for i in 1 2 3 4 5 6 7 8; do echo "match $i"; done; exec sleep 60', { ...background, wake_on: 'match' })
    await until(() => made.told().length).toBe(5)
    expect(made.told()[4]).toBe('inject: Background job bash-1 wrote a line that you asked to be told of:\nmatch 5\nYou are not told of further ones of this job.')
    await made.bash('true')
    expect(made.told()).toHaveLength(5)
  })
  it('counts among the wakes: three in a row, then quiet until the person speaks', async () => {
    const made = await bench()
    made.agent.status = 'idle'
    await made.bash('for i in 1 2 3 4; do echo "match $i"; done; exec sleep 60', { ...background, wake_on: 'match' })
    await until(() => made.agent.received.map(({ verb }) => verb)).toEqual(['followup', 'followup', 'followup', 'inject'])
  })
  it('refuses a pattern that cannot be used before anything runs, and one without a job', async () => {
    const made = await bench()
    expect(outcomeOf(await made.bash('touch ran', { ...background, wake_on: '(a)\\1' }))).toMatchObject({ code: 'BAD_PATTERN' })
    expect(outcomeOf(await made.bash('touch ran', { wake_on: 'x' }))).toMatchObject({ code: 'INVALID_ARGS' })
    expect([existsSync(join(made.folder, 'ran')), made.jobs.all()]).toEqual([false, []])
  })
})

describe('what a job listens at', () => {
  it('is named by its output', async () => {
    const made = await bench()
    await made.bash('printf "  Local:   \\033[36mhttp://localhost:\\033[1m4321\\033[22m/\\033[39m\\n"; exec sleep 60', background)
    await until(() => jobOf(made)?.ports).toEqual([{ port: 4321, url: 'http://localhost:4321/' }])
    expect(textOf(await made.job('output'))).toContain('[status: running, listens at http://localhost:4321/]')
  })
  it('is found by the system when its output says nothing', async () => {
    if (!existsSync('/proc/self/stat')) return
    const made = await bench({ clock: createFastClock(10) })
    const script = "require('http').createServer().listen(0, '127.0.0.1', function () { require('fs').writeFileSync('port', String(this.address().port)) })"
    await made.bash(`"${process.execPath}" -e "${script}"; true`, background)
    await until(() => jobOf(made)?.ports?.length).toBe(1)
    expect(textOf(await made.bash('cat port'))).toBe(String(jobOf(made)?.ports?.[0]?.port))
  })
})

describe('the problems in the output of a job', () => {
  it('are kept for the round of a watching program, and counted in the list', async () => {
    const made = await bench()
    const changed: string[] = []
    made.jobs.onDidChangeProblems((id) => changed.push(id))
    const round = (lines: readonly string[]) => ['File change detected. Starting incremental compilation...', ...lines, `Found ${lines.length} errors. Watching for file changes.`].map((line) => `echo "${line}"`).join('; ')
    await made.bash(`${round(['a.ts(1,2): error TS1: no', 'b.ts(3,4): error TS2: nor this'])}; until test -e go; do sleep 0.02; done; ${round([])}; exec sleep 60`, background)
    await until(() => jobOf(made)?.problems).toEqual({ errors: 2, warnings: 0 })
    expect(made.jobs.problems('bash-1').map(({ path, line, code }) => [path, line, code])).toEqual([['a.ts', 1, 'TS1'], ['b.ts', 3, 'TS2']])
    await writeFile(join(made.folder, 'go'), '')
    await until(() => made.jobs.problems('bash-1')).toEqual([])
    expect(changed).toContain('bash-1')
  })
})

describe('typing to a job', () => {
  it('is judged as what nobody can judge, so that the person is asked; reading asks nobody', () => {
    const effect = (args: JsonObject) => effectOf(ownEffects.get('job_output'), args)
    expect([effect({ job_id: 'bash-1' }), effect({ job_id: 'bash-1', wait: true }), effect({ job_id: 'bash-1', input: 'rm -rf /' })].map(({ kind }) => kind)).toEqual(['none', 'none', 'unknown'])
  })
})

describe('/background', () => {
  it('lets the command that a session waits for go on as a job, and says when there is none', async () => {
    const app = await wholeApplication()
    const agent = await app.ctx.agents.create({ cwd: app.folder })
    const line = () => app.ctx.commands.run(agent, '/background')
    expect(await line()).toMatchObject({ kind: 'error', text: 'No command of this session runs in the foreground now.' })
    const call = app.ctx.tools.execute({
      callId: 'c1', name: 'bash', arguments: { command: 'echo up; sleep 60', description: 'x' }, agent, signal: new AbortController().signal,
    })
    await until(() => app.ctx.jobs.commands.list(agent.id).length).toBe(1)
    expect(await line()).toMatchObject({ kind: 'success', text: 'It goes on as job bash-1: echo up; sleep 60' })
    expect(await call).toMatchObject({ isError: false, value: { kind: 'background', jobId: 'bash-1' } })
    await app.dispose()
  })
})

describe('a job and its session', () => {
  const start = async () => {
    const app = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1', 'permissions.defaultPreset': 'danger-full-access' } })
    const adapter = createScriptedAdapter()
    app.ctx.models.register(adapter)
    const agent = await app.ctx.agents.create({ cwd: app.folder, preset: 'standard' })
    const run = (name: string, args: object, caller = agent) => app.ctx.tools.execute({ callId: `c-${name}`, name, arguments: args, agent: caller, signal: new AbortController().signal })
    const pidOf = async (file: string) => Number(await readFile(join(app.folder, file), 'utf8').catch(() => 'NaN'))
    return { app, adapter, agent, run, pidOf }
  }
  it('outlives the stop of the turn that started it', async () => {
    const { app, adapter, agent, run, pidOf } = await start()
    adapter.play(
      callTools({ id: 'job', name: 'bash', args: { command: 'echo $$ > job; exec sleep 1000', description: 'x', run_in_background: true } }),
      callTools({ id: 'wait', name: 'bash', args: { command: 'echo $$ > wait; exec sleep 1000', description: 'x' } }),
    )
    agent.followup({ id: 'p', role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
    await until(async () => [await pidOf('job'), await pidOf('wait')].every(isRunning)).toBe(true)
    agent.cancel({ kind: 'user' })
    await agent.whenIdle()
    expect([isRunning(await pidOf('job')), isRunning(await pidOf('wait'))]).toEqual([true, false])
    expect(textOf(await run('job_output', { job_id: 'bash-1' }))).toContain('[status: running')
    await app.dispose()
  })
  it('is ended and waited for when the session goes', async () => {
    const { app, agent, run, pidOf } = await start()
    await run('bash', { command: 'trap "" TERM; echo $$ > job; while :; do sleep 0.05; done', description: 'x', run_in_background: true })
    await until(async () => isRunning(await pidOf('job'))).toBe(true)
    await agent.dispose()
    expect(isRunning(await pidOf('job'))).toBe(false)
    expect(app.ctx.jobs.all()).toEqual([])
    await app.dispose()
  })
  it('is neither read, killed nor listed by another session', async () => {
    const { app, run, pidOf } = await start()
    const other = await app.ctx.agents.create({ cwd: app.folder, preset: 'standard' })
    await run('bash', { command: 'echo $$ > job; exec sleep 1000', description: 'x', run_in_background: true })
    await until(async () => isRunning(await pidOf('job'))).toBe(true)
    for (const [name, args] of [['job_output', {}], ['job_output', { wait: true, timeout_ms: 1 }], ['job_kill', {}]] as const)
      expect(outcomeOf(await run(name, { job_id: 'bash-1', ...args }, other))).toEqual({ code: 'FOREIGN_JOB', message: 'Job bash-1 belongs to another session.' })
    expect([outcomeOf(await run('job_list', {}, other)), isRunning(await pidOf('job'))]).toEqual([[], true])
    await app.dispose()
  })
})

describe('a reload of the window', () => {
  const leftBy = async (options: { readonly pid: number; readonly birth?: string }, processes: Pick<ProcessRunner, 'endLeftover'>) => {
    const kernel = createKernel({ logger: createRecordingLogger() })
    await kernel.root.plugin(jobsPlugin({ clock: realClock, logger: createRecordingLogger(), machine: createFakeMachine(), processes })).ready
    const events: EventDraft[] = [
      { type: 'job/started', data: { id: 'bash-2', kind: 'bash', label: 'npm run dev' }, ignorable: true },
      { type: 'job/program', data: { id: 'bash-2', startedAt: 0, ...options }, ignorable: true },
    ]
    const agent = createFakeAgent({ events })
    kernel.dispatch.emit('agent/session-start', null, [agent, 'resume'])
    await until(() => agent.received.length).toBe(1)
    const [block] = agent.received[0]!.message.content
    await kernel.dispose()
    return { text: block?.type === 'text' ? block.text : '', log: agent.log.slice(2) }
  }
  const orphan = () => {
    const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
    return { child, pid: child.pid! }
  }
  it('names each job with its id, process and time of start', async () => {
    const runner = createDirectRunner()
    const { text, log } = await leftBy({ pid: 4_194_305 }, runner)
    expect(text).toBe('These background jobs were killed when the window closed or reloaded; their output is gone. Start them again if they are still needed.\n- bash-2 (process 4194305, started 1970-01-01T00:00:00.000Z): npm run dev')
    expect(log).toEqual([{ type: 'job/ended', data: { id: 'bash-2', status: 'killed', detail: 'the window closed' }, ignorable: true }])
    await runner.dispose()
  })
  it('ends a program that is still there and is the same, and says so', async () => {
    const runner = createDirectRunner()
    const { child, pid } = orphan()
    const birth = await birthOf(pid)
    if (birth === null) return
    expect((await leftBy({ pid, birth }, runner)).text).toContain('npm run dev — it was still running and has been ended')
    expect(isRunning(pid)).toBe(false)
    child.unref()
    await runner.dispose()
  })
  it('leaves a program alone that cannot be told from another, and says that it is there', async () => {
    const runner = createDirectRunner()
    const { child, pid } = orphan()
    expect((await leftBy({ pid }, runner)).text).toContain('npm run dev — a process with this id is still alive and could not be ended')
    expect(isRunning(pid)).toBe(true)
    child.kill('SIGKILL')
    await runner.dispose()
  })
})
