import { realpathSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { FileKey, FileSystem } from '../../../../extension/capabilities/file-system.ts'
import type { Json } from '../../../../extension/base/json.ts'
import { createCommandEnvironment } from '../../../../extension/features/command-environment/command-environment.ts'
import { jobsPlugin } from '../../../../extension/features/jobs/plugin.ts'
import { createDirectRunner, type DirectRunner } from '../../../../extension/platform/node/direct-runner.ts'
import { shellTools, type ShellToolsNeeds } from '../../../../extension/tools/shell/plugin.ts'
import { createShellTool } from '../../../../extension/tools/shell/shell-tool.ts'
import { bashDialect } from '../../../../extension/tools/shell/shell-dialect.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { createFakeMachine } from '../../../support/fake-machine.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { createMemoryBlobStore } from '../../../support/memory-blob-store.ts'
import { realClock } from '../../../support/real-clock.ts'
import { createToolBench, outcomeOf, textOf, type RunOptions } from '../../../support/tool-bench.ts'
import { jobTools } from '../../../../extension/tools/jobs/plugin.ts'
import { plainEnvironment } from '../../../support/plain-environment.ts'

let folder: string
let runner: DirectRunner
beforeAll(async () => {
  folder = realpathSync(await mkdtemp(join(tmpdir(), 'bosun-shell-')))
  runner = createDirectRunner({ environment: () => ({ ...process.env, MY_API_KEY: 'k', BOSUN_HOME: 'h', MY_PLAIN: 'p' }) })
})
afterAll(async () => {
  await runner.dispose()
  await rm(folder, { recursive: true })
})

const files: Pick<FileSystem, 'resolve' | 'stat'> = {
  async resolve(path, cwd) {
    if (/^[a-z-]+:\/\//.test(path)) return { key: path as FileKey, path, spelling: path, isDanglingLink: false, exists: true }
    const absolute = resolve(cwd, path)
    const exists = await stat(absolute).then(() => true, () => false)
    return { key: absolute as FileKey, path: absolute, spelling: path, isDanglingLink: false, exists }
  },
  stat: async ({ path }) => ({ kind: (await stat(path)).isDirectory() ? 'directory' : 'file', size: 0, modifiedAt: 0, isReadonly: false }),
}

const undo: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const dispose of undo.splice(0)) await dispose()
})
const bench = async (over: Partial<ShellToolsNeeds> = {}) => {
  const made = createToolBench(createFakeAgent({ cwd: folder }))
  const blobs = createMemoryBlobStore()
  const clock = over.clock ?? realClock
  await made.mount(jobsPlugin({ clock, logger: made.logger, machine: createFakeMachine(), processes: runner }))
  const fiber = await made.mount(
    shellTools({ processes: runner, files, blobs, clock, machine: createFakeMachine(), shellPath: () => null, timeoutMs: () => 120_000, offered: () => 'auto', environment: createCommandEnvironment({ dispatch: made.kernel.dispatch, machine: createFakeMachine(), logPath: (id) => `/logs/${id}` }), ...over }),
  )
  await made.mount(jobTools)
  undo.push(() => made.kernel.dispose())
  const bash = (command: string, more: object = {}, options?: RunOptions) => made.run('bash', { command, description: 'test', ...more }, options)
  return { ...made, blobs, fiber, bash, job: (name: string, args: object = {}) => made.run(`job_${name}`, { job_id: 'bash-1', ...args }) }
}

describe('bash', () => {
  it('gives the output, no marker and every fact of a clean end', async () => {
    const { bash } = await bench()
    const result = await bash('echo hi')
    expect(outcomeOf(result)).toEqual({
      kind: 'foreground',
      exitCode: 0,
      signal: null,
      timedOut: false,
      aborted: false,
      timeoutMs: 120_000,
      durationMs: expect.any(Number) as number,
      cwd: folder,
      stdout: { text: 'hi\n', truncated: false, totalBytes: 3 },
      stderr: { text: '', truncated: false, totalBytes: 0 },
      transcript: 'hi\n',
    })
    expect(textOf(result)).toBe('hi\n')
    expect(result.meta).toEqual({ kind: 'foreground', exitCode: 0, signal: null, timedOut: false, aborted: false, durationMs: expect.any(Number) as number, cwd: folder, output: 'hi\n' })
  })

  const renderings: readonly [string, string, string][] = [
    ['a non-zero exit, which is no error', 'echo out; exit 3', 'out\n[exit code: 3]'],
    ['nothing', 'true', '(no output)'],
    ['nothing and a bad end', 'exit 1', '(no output)\n[exit code: 1]'],
    ['both streams, one after the other', 'echo err >&2; echo out', 'out\n[stderr]\nerr\n'],
    ['a line break before the second stream when the first has none', 'printf out; echo err >&2', 'out\n[stderr]\nerr\n'],
    ['errors without output', 'echo err >&2', '[stderr]\nerr\n'],
    ['a process that kills itself: a signal, neither time-out nor stop', 'kill -KILL $$', '(no output)\n[killed by signal: SIGKILL]'],
    ['colours for the card only', "printf '\\033[31mred\\033[0m'", 'red'],
  ]
  it.each(renderings)('renders %s', async (_name, command, text) => {
    const { bash } = await bench()
    const result = await bash(command)
    expect([result.isError, textOf(result)]).toEqual([false, text])
  })
  it('keeps raw output, in the order it came, for the card', async () => {
    const { bash } = await bench()
    const result = await bash("printf '\\033[31ma\\033[0m\\n'; sleep 0.3; echo b >&2; sleep 0.3; echo c")
    expect(result.meta).toMatchObject({ output: '\u001b[31ma\u001b[0m\nb\nc\n' })
  })
  it('starts fresh each time: no folder and no variable is kept', async () => {
    const { bash } = await bench()
    await bash('cd /; export LEFT=1')
    expect(textOf(await bash('pwd; echo "[$LEFT]"'))).toBe(`${folder}\n[]\n`)
  })
  it('runs in a relative or absolute workdir', async () => {
    const { bash } = await bench()
    await bash('mkdir -p sub')
    expect(textOf(await bash('pwd', { workdir: 'sub' }))).toBe(`${folder}/sub\n`)
    expect(textOf(await bash('pwd', { workdir: '/' }))).toBe('/\n')
  })
  it('has no secrets of the host, nothing of ours but what we give, and quiet programs', async () => {
    const { bash } = await bench()
    expect(textOf(await bash('echo "[$MY_API_KEY][$BOSUN_HOME][$MY_PLAIN][$BOSUN_SHELL][$BOSUN_SESSION_ID][$BOSUN_SESSION_JSONL][$NO_COLOR][$TERM][$PAGER][$GIT_PAGER]"'))).toBe(`[][${createFakeMachine().userFolder}][p][1][session-1][/logs/session-1][1][dumb][cat][cat]\n`)
  })
  it('has no input to wait for', async () => expect(textOf(await (await bench()).bash('cat; echo end'))).toBe('end\n'))
  it('streams output while it runs, split characters whole', async () => {
    const { bash } = await bench()
    const seen: string[] = []
    await bash("printf 'a\\303'; sleep 0.05; printf '\\251b'; echo e >&2", {}, { onProgress: (text) => seen.push(text) })
    expect(seen.join('')).toBe('aébe\n')
    expect(seen.length).toBeGreaterThan(1)
  })
})

describe('oversize output', () => {
  it('of exactly 64 000 bytes is whole', async () => {
    const { bash, blobs } = await bench()
    expect(outcomeOf(await bash('head -c 64000 /dev/zero | tr "\\0" x'))).toMatchObject({ stdout: { truncated: false, totalBytes: 64_000 } })
    expect(blobs.spills.size).toBe(0)
  })
  it('of one byte more keeps both ends, says so, and is whole in a file that the card opens; each stream by itself', async () => {
    const { bash, blobs } = await bench()
    const result = await bash('printf A; head -c 64000 /dev/zero | tr "\\0" x; echo short >&2')
    const [[path, whole]] = [...blobs.spills] as [[string, string]]
    expect(whole).toBe(`A${'x'.repeat(64_000)}`)
    expect(outcomeOf(result)).toMatchObject({ stdout: { truncated: true, totalBytes: 64_001, spillPath: path }, stderr: { truncated: false } })
    expect(textOf(result).endsWith(`\n[stderr]\nshort\n[stdout had 64001 bytes; the middle is left out. All of it: ${path}]`)).toBe(true)
    expect(textOf(result)).toMatch(/^Ax{15999}\n\[… 1 bytes left out …\]\nx{48000}\n/)
    expect(result.meta).toMatchObject({ logPath: path, omittedBytes: 1 })
    expect((result.meta as { output: string }).output).toMatch(/^Ax{3999}\n\[… \d+ bytes left out …\]\nx+short\n$/)
  })
  it('that cannot be saved says that it is not available', async () => {
    const { bash } = await bench({ blobs: { openSpill: () => Promise.reject(new Error('full')) } })
    expect(textOf(await bash('head -c 64001 /dev/zero | tr "\\0" x'))).toContain('[stdout had 64001 bytes; the middle is left out. All of it: not available]')
  })
})

describe('a deadline', () => {
  it('ends the command, keeps what it wrote, and is a result', async () => {
    const { bash } = await bench()
    const result = await bash('echo before; exec sleep 60', { timeoutMs: 300 })
    expect(outcomeOf(result)).toMatchObject({ timedOut: true, aborted: false, exitCode: null, signal: 'SIGTERM', timeoutMs: 300 })
    expect(textOf(result)).toBe('before\n[timed out after 300 ms]\n[killed by signal: SIGTERM]')
    expect(result.meta).toMatchObject({ timedOut: true, signal: 'SIGTERM' })
  })
  it('shows also when the command traps the signal and exits with 0', async () => {
    const { bash } = await bench()
    const result = await bash('trap "exit 0" TERM; echo ready; sleep 60 & wait', { timeoutMs: 300 })
    expect(textOf(result)).toBe('ready\n[timed out after 300 ms]')
  })
  it('comes from the setting, and is at most 600 000 ms', async () => {
    const { bash } = await bench({ timeoutMs: () => 4321 })
    expect(outcomeOf(await bash('true'))).toMatchObject({ timeoutMs: 4321 })
    expect(outcomeOf(await bash('true', { timeoutMs: 1e9 }))).toMatchObject({ timeoutMs: 600_000 })
  })
  it('takes its timer back', async () => {
    const clock = createManualClock()
    await (await bench({ clock })).bash('true')
    expect(clock.waiting).toBe(0)
  })
})

describe('a stop', () => {
  it('ends the whole tree, and what was written until then reaches the model and the card', async () => {
    const { bash } = await bench()
    const stop = new AbortController()
    const pidFile = join(folder, 'pid')
    const result = await bash(`sleep 60 & echo $! > ${pidFile}; echo begun; wait`, {}, { signal: stop.signal, onProgress: () => stop.abort() })
    expect(outcomeOf(result)).toEqual({ code: 'ABORTED', message: 'The command was stopped before it finished. It had written:\nbegun\n' })
    expect(result.meta).toMatchObject({ aborted: true, timedOut: false, output: 'begun\n' })
    const pid = Number(await readFile(pidFile, 'utf8'))
    await expect.poll(() => isAlive(pid)).toBe(false)
  })
  it('before the start runs nothing', async () => {
    const { bash } = await bench()
    expect(outcomeOf(await bash(`touch ${join(folder, 'never')}`, {}, { signal: AbortSignal.abort() }))).toMatchObject({ code: 'ABORTED_BEFORE_DISPATCH' })
    await expect(stat(join(folder, 'never'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('bash refuses', () => {
  const refused: readonly [string, object, string, string][] = [
    ['a blank command', { command: '  ' }, 'INVALID_ARGS', 'command is blank'],
    ['a blank description', { description: '' }, 'INVALID_ARGS', 'description is blank'],
    ['a missing description', { description: undefined }, 'INVALID_ARGS', 'description'],
    ['a time of nothing', { timeoutMs: 0 }, 'INVALID_ARGS', 'timeoutMs must be more than 0'],
    ['a time that is no number', { timeoutMs: NaN }, 'INVALID_ARGS', ''],
    ['a blank workdir', { workdir: ' ' }, 'INVALID_ARGS', 'workdir is blank'],
    ['a workdir that does not exist', { workdir: 'nowhere' }, 'BAD_WORKDIR', 'nowhere does not exist'],
    ['a workdir that is a file', { workdir: 'a-file' }, 'BAD_WORKDIR', 'a-file is not a folder'],
    ['a workdir that is not on a disk', { workdir: 'vscode-vfs://x/y' }, 'BAD_WORKDIR', 'not on this machine'],
    ['wider rights that are not offered', { sandbox_permissions: 'danger-full-access' }, 'INVALID_ARGS', 'sandbox_permissions'],
    ['a reason for wider rights that are not offered', { justification: 'x' }, 'INVALID_ARGS', 'justification'],
  ]
  it.each(refused)('%s', async (_name, args, code, message) => {
    await writeFile(join(folder, 'a-file'), '')
    const { run } = await bench()
    const given = Object.fromEntries(Object.entries({ command: 'true', description: 'd', ...args }).filter(([, value]) => value !== undefined))
    expect(outcomeOf(await run('bash', given))).toEqual({ code, message: expect.stringContaining(message) as string })
  })
  it('a background job where there are none, whether declared or not', async () => {
    const { ctx, run } = createToolBench(createFakeAgent({ cwd: folder }))
    ctx.tools.register(
      createShellTool(bashDialect, { processes: runner, files, blobs: createMemoryBlobStore(), clock: realClock, program: () => '/bin/bash', defaultTimeoutMs: () => 1000, environment: plainEnvironment }),
    )
    expect(ctx.tools.get('bash')?.parameters).not.toHaveProperty('properties.run_in_background')
    expect(outcomeOf(await run('bash', { command: 'true', description: 'd', run_in_background: true }))).toMatchObject({ code: 'BACKGROUND_UNAVAILABLE' })
  })
  it('a program that cannot be started, with its reason', async () => {
    const { bash } = await bench({ shellPath: () => '/nowhere/bash' })
    expect(outcomeOf(await bash('true'))).toMatchObject({ code: 'SPAWN_FAILED' })
  })
  it('a call without a session', async () => expect(outcomeOf(await (await bench()).bash('true', {}, { agent: null }))).toMatchObject({ code: 'INVALID_ARGS' }))
})

describe('a background command', () => {
  const background = { run_in_background: true }
  it('returns its id at once, survives the call’s stop, and gives output by parts', async () => {
    const { bash, job } = await bench()
    const call = new AbortController()
    const result = await bash('echo one; sleep 0.3; echo two >&2; exit 4', background, { signal: call.signal })
    expect([outcomeOf(result), textOf(result)]).toEqual([{ kind: 'background', jobId: 'bash-1' }, 'Started background job bash-1. Read its output with job_output; you are told when it ends.'])
    call.abort()
    await expect.poll(async () => textOf(await job('output'))).toContain('one\n')
    expect(textOf(await job('output', { wait: true }))).toBe('[stderr]\ntwo\n[status: completed, exit code: 4]')
  })
  it('is killed with its whole tree', async () => {
    const { bash, job } = await bench()
    const pidFile = join(folder, 'job-pid')
    await bash(`sleep 60 & echo $! > ${pidFile}; echo up; wait`, background)
    await expect.poll(async () => textOf(await job('output'))).toContain('up')
    expect(outcomeOf(await job('kill'))).toMatchObject({ outcome: 'cancellation-requested', job: { status: 'stopping' } })
    expect(textOf(await job('output', { wait: true }))).toBe('(no new output)\n[status: killed, signal: SIGTERM]')
    const pid = Number(await readFile(pidFile, 'utf8'))
    await expect.poll(() => isAlive(pid)).toBe(false)
  })
  it('that cannot be started is killed before exit, and its reason is read once', async () => {
    const { bash, job } = await bench({ shellPath: () => '/nowhere/bash' })
    await bash('true', background)
    const first = textOf(await job('output', { wait: true }))
    expect(first).toMatch(/\/nowhere\/bash[^]*\n\[status: killed, before exit\]$/)
    expect(textOf(await job('output'))).toBe('(no new output)\n[status: killed, before exit]')
  })
  it('is the eleventh that is refused before anything runs', async () => {
    const { bash } = await bench()
    for (let count = 0; count < 10; count += 1) await bash('sleep 30', background)
    expect(outcomeOf(await bash(`touch ${join(folder, 'eleventh')}`, background))).toMatchObject({ code: 'JOB_LIMIT' })
    await expect(stat(join(folder, 'eleventh'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
  it('names what left the memory unread', async () => {
    const { bash, job, blobs } = await bench()
    await bash('head -c 70000 /dev/zero | tr "\\0" x', background)
    const text = textOf(await job('output', { wait: true }))
    expect(text).toContain(`[6000 bytes of stdout are left out here. All of it: ${[...blobs.spills.keys()][0]}]`)
  })
})

/** A zombie that nobody has waited for yet does not count. */
const isAlive = async (pid: number) => {
  const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return state !== undefined && !/\) Z /.test(state)
}

describe('the cards of bash', () => {
  const present = async () => (await bench()).ctx.tools.get('bash')!
  const args = { command: 'npm test', description: 'Test', workdir: 'web' }
  const content = (text: string) => [{ type: 'text', text }] as const
  const facts = { kind: 'foreground', exitCode: 1, signal: null, timedOut: false, aborted: false, durationMs: 5, output: 'x\n' }
  const checkResult = async (result: { meta?: Json; isError?: boolean; text?: string; blocks?: never[] }, view: unknown) =>
    expect((await present()).presentResult?.(args, { content: result.blocks ?? content(result.text ?? 't'), isError: result.isError ?? false, ...(result.meta !== undefined && { meta: result.meta }) })).toEqual(view)

  it('show a terminal while it runs', async () =>
    expect((await present()).presentCall?.(args)).toEqual({ card: 'terminal', title: 'npm test', description: 'Test', cwd: 'web' }))
  it('show a background start as what it is', async () =>
    expect((await present()).presentCall?.({ ...args, run_in_background: true })).toEqual({
      card: 'generic',
      title: 'Start in the background: npm test',
      kind: 'execute',
      subject: 'npm test',
      cwd: 'web',
      rawInput: 'npm test',
      content: [{ type: 'text', text: 'Test' }],
    }))
  it('show the end from the facts', () => checkResult({ meta: facts }, { card: 'terminal', output: 'x\n', exitCode: 1, durationMs: 5 }))
  it('are not fooled by a look-alike marker in the output', () =>
    checkResult({ text: 'x\n[exit code: 3]', meta: { ...facts, exitCode: 0 } }, { card: 'terminal', output: 'x\n', exitCode: 0, durationMs: 5 }))
  it('show a time-out, a signal and the log', () =>
    checkResult({ meta: { ...facts, exitCode: null, signal: 'SIGTERM', timedOut: true, logPath: '/l' } }, { card: 'terminal', output: 'x\n', signal: 'SIGTERM', timedOut: true, durationMs: 5, logPath: '/l' }))
  it('show a stopped command as a terminal', () =>
    checkResult({ isError: true, meta: { ...facts, exitCode: null, signal: 'SIGTERM', aborted: true } }, { card: 'terminal', output: 'x\n', signal: 'SIGTERM', aborted: true, durationMs: 5 }))
  it('show the output of a command that went on as a job, and which', () =>
    checkResult({ meta: { kind: 'background', jobId: 'bash-1', output: 'so far\n' } }, { card: 'terminal', output: 'so far\n', jobId: 'bash-1' }))
  it('show where it ran and how much is left out', () =>
    checkResult({ meta: { ...facts, cwd: '/p', omittedBytes: 9 } }, { card: 'terminal', output: 'x\n', exitCode: 1, durationMs: 5, cwd: '/p', omittedBytes: 9 }))
  it('show an error and a background start as text', async () => {
    await checkResult({ isError: true, text: 'Error: no' }, { card: 'generic', content: [{ type: 'text', text: '```console\nError: no\n```' }] })
    await checkResult({ meta: { kind: 'background', jobId: 'bash-1' }, text: 'Started' }, { card: 'generic', content: [{ type: 'text', text: '```console\nStarted\n```' }], jobId: 'bash-1' })
  })
  it('fence text that has fences', () => checkResult({ text: '```\na\n````' }, { card: 'generic', content: [{ type: 'text', text: '`````console\n```\na\n````\n`````' }] }))
  it('show nothing special for facts they cannot read and other content', async () => {
    await checkResult({ meta: { kind: 'foreground', exitCode: 'x', output: 1 } }, { card: 'terminal' })
    await checkResult({ meta: 7, blocks: [] }, undefined)
    expect((await present()).presentCall?.({ command: 1 })).toBeUndefined()
    expect((await present()).presentResult?.({ command: 1 }, { content: [], isError: false })).toBeUndefined()
  })
})

describe('the shell of the machine', () => {
  const shellOf = async (machine: Parameters<typeof createFakeMachine>[0], shellPath: string | null = null) => {
    const { ctx } = await bench({ machine: createFakeMachine(machine), shellPath: () => shellPath })
    return ['bash', 'pwsh'].filter((name) => ctx.tools.get(name) !== undefined)
  }
  it('is bash, where there is one', async () => expect(await shellOf({})).toEqual(['bash']))
  it('is not offered where there is none', async () => expect(await shellOf({ bash: null })).toEqual([]))
  it('is the one the person names', async () => expect(await shellOf({ bash: null }, '/opt/bash')).toEqual(['bash']))
  it('is pwsh on Windows', async () => expect(await shellOf({ platform: 'win32', pwsh: 'pwsh.exe' })).toEqual(['pwsh']))
  it('runs alone', async () => expect((await bench()).ctx.tools.executionMode({ name: 'bash', arguments: { command: 'ls', description: 'd' } })).toBe('exclusive'))
  it('goes with its plugin, prompt section too', async () => {
    const { ctx, fiber, promptSections } = await bench()
    expect(promptSections.map(({ order }) => order)).toContain(105)
    await fiber.dispose()
    expect([ctx.tools.get('bash'), promptSections.some(({ order }) => order === 105)]).toEqual([undefined, false])
  })
})
