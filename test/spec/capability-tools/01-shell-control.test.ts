import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type {} from '../../../extension/core/loop/points.ts'
import type { ToolResult } from '../../../extension/core/tools/definition.ts'
import { isRunning } from '../../contract/process-runner.suite.ts'
import { createFastClock, createShellBench, type ShellBench } from '../../support/shell-bench.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'

/*
 * The person's hand on a command that runs: stop, move to the background, answer. Capability specification 20.7 and 20.8.
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

/** Only Linux says who reads what. */
const onLinux = (body: () => Promise<void>) => () => (existsSync('/proc/self/stat') ? body() : Promise.resolve())
/** Starts the command, waits until it has written `seen`, and gives its call, still running. */
const running = async (made: ShellBench, command: string, seen: string, args: object = {}): Promise<{ readonly result: Promise<ToolResult>; readonly callId: string; readonly shown: () => string }> => {
  let shown = ''
  const result = made.bash(command, args, { onProgress: (text) => (shown += text) })
  await expect.poll(() => shown).toContain(seen)
  const [command1] = made.jobs.commands.list('session-1')
  return { result, callId: command1?.callId ?? '', shown: () => shown }
}

describe('a command that a call waits for', () => {
  it('is listed with what can be done with it, and goes from the list with its call', async () => {
    const made = await bench()
    const { result, callId } = await running(made, 'echo up; exec sleep 60', 'up')
    expect(made.jobs.commands.list('session-1')).toEqual([
      { sessionId: 'session-1', callId, label: 'echo up; exec sleep 60', cwd: made.folder, startedAt: expect.any(Number) as number, pid: expect.any(Number) as number, canMove: true },
    ])
    expect(made.jobs.commands.list('another')).toEqual([])
    made.jobs.commands.stop('session-1', callId)
    await result
    expect(made.jobs.commands.list()).toEqual([])
    expect(made.jobs.commands.stop('session-1', callId)).toBe(false)
    expect(() => made.jobs.commands.moveToBackground('session-1', callId)).toThrow(expect.objectContaining({ code: 'UNKNOWN_COMMAND' }) as Error)
  })
  it('is streamed while it runs, both streams in the order they came, escape sequences for the card and not for the model', async () => {
    const made = await bench()
    const { result, shown } = await running(made, "printf '\\033[32mo1\\033[0m\\n'; sleep 0.2; echo e1 >&2; sleep 0.2; echo o2; sleep 0.2; echo e2 >&2", 'o1')
    const { meta } = (await result) as { meta?: { output?: string } }
    expect([shown(), meta?.output]).toEqual(Array.from({ length: 2 }, () => '\u001b[32mo1\u001b[0m\ne1\no2\ne2\n'))
    expect(textOf(await result)).toBe('o1\no2\n[stderr]\ne1\ne2\n')
  })
})

describe('Stop on one command', () => {
  it('ends its tree and gives the model what it wrote, as a result: the turn goes on', async () => {
    const made = await bench()
    const { result, callId } = await running(made, 'sleep 60 & echo $! > child; echo begun; wait', 'begun')
    expect(made.jobs.commands.stop('session-1', callId)).toBe(true)
    expect(textOf(await result)).toBe('begun\n[the person stopped it before it finished]\n[killed by signal: SIGTERM]')
    expect(outcomeOf(await result)).toMatchObject({ kind: 'foreground', aborted: true, timedOut: false, cwd: made.folder })
    expect((await result).isError).toBe(false)
    expect(isRunning(Number(await readFile(join(made.folder, 'child'), 'utf8')))).toBe(false)
  })
})

describe('Move to background', () => {
  it('gives the call its result at once, with the output so far and the id of the job that the command goes on as', async () => {
    const made = await bench()
    const { result, callId } = await running(made, 'echo one; read -t 60 < <(sleep 60); echo two', 'one')
    const job = made.jobs.commands.moveToBackground('session-1', callId)
    expect(job).toMatchObject({ id: 'bash-1', status: 'running', movedFromCall: callId, canRestart: true, cwd: made.folder })
    expect(textOf(await result)).toBe('one\n[the person moved it to the background; it goes on as job bash-1. Read its output with job_output; you are told when it ends.]')
    expect(outcomeOf(await result)).toEqual({ kind: 'background', jobId: 'bash-1', moved: { why: 'person', output: 'one\n' } })
    expect((await result).meta).toEqual({ kind: 'background', jobId: 'bash-1', output: 'one\n' })
    expect(made.agent.log.map(({ type, data }) => [type, data])).toContainEqual(['job/started', { id: 'bash-1', kind: 'bash', label: 'echo one; read -t 60 < <(sleep 60); echo two', movedFromCall: callId }])
  })
  it('loses nothing that the command writes: each part is read once, and the person sees all of it', async () => {
    const made = await bench()
    const { result, callId } = await running(made, 'for i in 1 2 3; do echo line $i; until test -e go$i; do sleep 0.02; done; done; exit 3', 'line 1')
    made.jobs.commands.moveToBackground('session-1', callId)
    for (const step of [1, 2, 3]) await made.bash(`touch go${step}`)
    expect(textOf(await result)).toMatch(/^line 1\n\[/)
    expect(textOf(await made.job('output', { wait: true }))).toBe('line 2\nline 3\n[status: completed, exit code: 3]')
    expect(made.jobs.transcript('bash-1')).toEqual({ text: 'line 1\nline 2\nline 3\n', omittedBytes: 0 })
  })
  it('outlives the stop and the deadline of the call it came from', async () => {
    const made = await bench()
    const call = new AbortController()
    let shown = ''
    const result = made.bash('echo up; sleep 1; echo later', { timeoutMs: 500 }, { signal: call.signal, onProgress: (text) => (shown += text) })
    await expect.poll(() => shown).toContain('up')
    made.jobs.commands.moveToBackground('session-1', made.jobs.commands.list()[0]!.callId)
    await result
    call.abort()
    expect(textOf(await made.job('output', { wait: true }))).toBe('later\n[status: completed, exit code: 0]')
  })
  it('is refused while ten jobs run, and the call waits on', async () => {
    const made = await bench()
    for (let count = 0; count < 10; count += 1) await made.bash('exec sleep 60', { run_in_background: true })
    const { result, callId } = await running(made, 'echo up; until test -e go; do sleep 0.02; done; echo done', 'up')
    expect(() => made.jobs.commands.moveToBackground('session-1', callId)).toThrow(expect.objectContaining({ code: 'JOB_LIMIT' }) as Error)
    made.jobs.kill('person', 'bash-1')
    await writeFile(join(made.folder, 'go'), '')
    expect(textOf(await result)).toBe('up\ndone\n')
  })
  it('is started again from its beginning', async () => {
    const made = await bench()
    const { result, callId } = await running(made, 'echo run >> runs; echo up; exec sleep 60', 'up')
    made.jobs.commands.moveToBackground('session-1', callId)
    await result
    expect(await made.jobs.restart('person', 'bash-1')).toMatchObject({ id: 'bash-2', restartOf: 'bash-1', status: 'running' })
    await expect.poll(() => readFile(join(made.folder, 'runs'), 'utf8')).toBe('run\nrun\n')
    expect(made.jobs.list('person').map(({ id, status }) => [id, status])).toEqual([['bash-1', 'killed'], ['bash-2', 'running']])
    expect(made.told()).toEqual([expect.stringContaining('The person started background job bash-1 again; it runs as bash-2 now') as string])
  })
})

describe('input', () => {
  it('is at its end at once for a command that nobody can answer, so that it never hangs', async () => {
    const made = await bench()
    expect(textOf(await made.bash('read -p "Name? " name || echo "no answer"; cat; echo end'))).toBe('no answer\nend\n')
    expect(textOf(await made.bash('test -t 0 || echo no terminal; { : < /dev/tty; } 2>/dev/null || echo none at all'))).toBe('no terminal\nnone at all\n')
  })
  it('of a running interactive command comes from the person, who sees that it asks', async () => {
    const made = await bench()
    const { result, callId } = await running(made, 'printf "Name? "; read name; echo "Hello $name"', 'Name?', { interactive: true })
    expect(made.jobs.commands.list()).toMatchObject([{ takesInput: true }])
    await made.jobs.commands.sendInput('session-1', callId, 'Ada\n')
    expect(textOf(await result)).toBe('Name? Hello Ada\n')
  })
  it('ends where the person says so', async () => {
    const made = await bench()
    const { result, callId } = await running(made, 'echo up; sort', 'up', { interactive: true })
    await made.jobs.commands.sendInput('session-1', callId, 'b\na\n\u0004')
    expect(textOf(await result)).toBe('up\na\nb\n')
  })
  it('is refused by a command that takes none', async () => {
    const made = await bench()
    const { result, callId } = await running(made, 'echo up; exec sleep 60', 'up')
    await expect(made.jobs.commands.sendInput('session-1', callId, 'x')).rejects.toMatchObject({ code: 'NO_INPUT' })
    made.jobs.commands.stop('session-1', callId)
    await result
  })
  it('that an interactive command waits for is told to the model early: the command goes on as a job, which job_output answers', onLinux(async () => {
    const made = await bench({ clock: createFastClock(10) })
    const result = await made.bash('printf "Name? "; read name; echo "Hello $name"; read rest; echo bye', { interactive: true })
    expect(outcomeOf(result)).toEqual({ kind: 'background', jobId: 'bash-1', moved: { why: 'input', output: 'Name? \n' } })
    expect(textOf(result)).toContain('[it waits for input, so it goes on as background job bash-1. Answer it with job_output and input, or stop it with job_kill.')
    expect(textOf(await made.job('output', { input: 'Ada' }))).toMatch(/^Hello Ada\n\[status: running/)
    // The result told of the first question; the next one is told by itself.
    await expect.poll(made.told).toEqual([expect.stringContaining('bash-1 waits for input. It wrote last:\nName? Hello Ada') as string])
    expect(textOf(await made.job('output', { input: '', wait: true }))).toBe('bye\n[status: completed, exit code: 0]')
  }))
  it('that a job waits for is told to its owner once, with what it asked', onLinux(async () => {
    const made = await bench({ clock: createFastClock(10) })
    await made.bash('printf "Proceed? "; read answer; echo "$answer"', { interactive: true, run_in_background: true })
    await expect.poll(made.told).toEqual([
      'inject: Background job bash-1 waits for input. It wrote last:\nProceed? \nAnswer it with job_output, job_id "bash-1" and input, or stop it with job_kill.',
    ])
    expect(outcomeOf(await made.job('list'))).toMatchObject([{ id: 'bash-1', waitsForInput: 'known' }])
    await made.jobs.sendInput('person', 'bash-1', 'yes\n')
    expect(textOf(await made.job('output', { wait: true }))).toBe('Proceed? yes\n[status: completed, exit code: 0]')
  }))
  it('is refused by a job that takes none or has ended', async () => {
    const made = await bench()
    await made.bash('exec sleep 60', { run_in_background: true })
    expect(outcomeOf(await made.job('output', { input: 'x' }))).toMatchObject({ code: 'NO_INPUT' })
    await made.bash('true', { run_in_background: true, interactive: true })
    await made.job('output', { job_id: 'bash-2', wait: true })
    expect(outcomeOf(await made.job('output', { job_id: 'bash-2', input: 'x' }))).toMatchObject({ code: 'NO_INPUT', message: expect.stringContaining('has ended') as string })
    expect(outcomeOf(await made.job('output', { input: 'x'.repeat(64_001) }))).toMatchObject({ code: 'INVALID_ARGS' })
  })
})

describe('silence', () => {
  it('after what looks like a question moves the command to the background and says so', async () => {
    const made = await bench({ clock: createFastClock(60) })
    const result = await made.bash('printf "Overwrite? [y/N] "; sleep 60; echo late', { timeoutMs: 600_000 })
    expect(outcomeOf(result)).toMatchObject({ kind: 'background', moved: { why: 'silence', output: 'Overwrite? [y/N] \n' } })
    expect(textOf(result)).toContain('it has been silent for a while after what looks like a question')
  })
  it('before the deadline is told with it', async () => {
    const made = await bench({ clock: createFastClock(20) })
    const result = await made.bash('echo working; exec sleep 600', { timeoutMs: 30_000 })
    expect(textOf(result)).toMatch(/^working\n\[it had written nothing for \d+ s; perhaps it waited for an answer that it cannot get\]\n\[timed out after 30000 ms\]\n\[killed by signal: SIGTERM\]$/)
    expect(outcomeOf(result)).toMatchObject({ silentMs: expect.any(Number) as number })
  })
})

describe('exit facts', () => {
  it('stand apart from the output: code, signal, duration, time-out, folder and what was cut', async () => {
    const made = await bench()
    const { meta } = await made.bash('head -c 100000 /dev/zero | tr "\\0" x; exit 7')
    expect(meta).toMatchObject({ exitCode: 7, signal: null, timedOut: false, aborted: false, durationMs: expect.any(Number) as number, cwd: made.folder, omittedBytes: 36_000, logPath: [...made.blobs.spills.keys()][0] })
  })
  it('come within the grace though a grandchild holds the output open, and what it writes later is not waited for', async () => {
    const made = await bench()
    const result = await made.bash('sleep 1000 & echo $! > left; echo started')
    expect(outcomeOf(result)).toMatchObject({ exitCode: 0, timedOut: false, stdout: { text: 'started\n' } })
    await made.kernel.dispatch.parallel('agent/disposing', null, [made.agent])
    expect(isRunning(Number(await readFile(join(made.folder, 'left'), 'utf8')))).toBe(false)
  })
  it('say when programs of the command still run', async () => {
    const made = await bench()
    const result = await made.bash('sleep 60 > /dev/null 2>&1 & echo $! > left; echo started')
    expect(textOf(result)).toBe('started\n[programs that it started still run, and end with this session]')
    expect(result.meta).toMatchObject({ leftRunning: true })
    const left = Number(await readFile(join(made.folder, 'left'), 'utf8'))
    expect(isRunning(left)).toBe(true)
    await made.kernel.dispatch.parallel('agent/disposing', null, [made.agent])
    expect(isRunning(left)).toBe(false)
  })
})

describe('an environment that asks nothing', () => {
  it('turns prompts, pagers, editors and colours off, and leaves CI as it is', async () => {
    const made = await bench()
    const names = ['GIT_TERMINAL_PROMPT', 'PAGER', 'GIT_PAGER', 'NO_COLOR', 'TERM', 'DEBIAN_FRONTEND', 'GIT_EDITOR', 'PIP_NO_INPUT', 'CI']
    expect(textOf(await made.bash(names.map((name) => `echo "${name}=$${name}"`).join('; ')))).toBe(
      ['GIT_TERMINAL_PROMPT=0', 'PAGER=cat', 'GIT_PAGER=cat', 'NO_COLOR=1', 'TERM=dumb', 'DEBIAN_FRONTEND=noninteractive', 'GIT_EDITOR=true', 'PIP_NO_INPUT=1', `CI=${process.env['CI'] ?? ''}`, ''].join('\n'),
    )
  })
})
