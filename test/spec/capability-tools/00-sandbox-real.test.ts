import { access, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxLimits, SandboxRunner } from '../../../extension/capabilities/sandbox.ts'
import { createDirectRunner, type DirectRunner } from '../../../extension/platform/node/direct-runner.ts'
import { createNodeSandbox } from '../../../extension/platform/node/sandbox/find-sandbox.ts'
import { terminalProblem } from '../../../extension/platform/node/direct-terminals.ts'
import { folderOutside } from '../../support/folder-outside.ts'
import { textOf } from '../../support/tool-bench.ts'
import { wholeApplication } from '../../support/whole-application.ts'
import { ownSeconds, programsWith } from '../../support/programs-with.ts'

/* Chapter 0.7 over the sandbox of this machine. Where none runs (no bubblewrap, or a container that forbids it) the tests are skipped and say why. */

const processes: DirectRunner = createDirectRunner()
const verdict = await createNodeSandbox({ processes }).find()
const runner = verdict.runner as SandboxRunner
const isLinux = process.platform === 'linux'
let home = ''
let limits: SandboxLimits

beforeAll(async () => {
  home = await folderOutside('sandbox')
  for (const folder of ['first', 'second', 'outside', 'first/.ssh', 'first/packages/a']) await mkdir(join(home, folder), { recursive: true })
  for (const file of ['first/.env', 'first/.ssh/id_rsa', 'first/packages/a/.env', 'outside/plain']) await writeFile(join(home, file), 'the secret')
  const folders = [join(home, 'first'), join(home, 'second')]
  limits = { writable: [...folders, await realpath(tmpdir())], searched: folders.map((folder) => ({ folder, levels: 3 })), secretNames: [], isSecret: (path) => /\/(\.env|\.ssh)$/.test(path) }
})
afterAll(async () => {
  await processes.dispose()
  if (home !== '') await rm(home, { recursive: true, force: true })
})

async function begin(command: string, over: Partial<SandboxLimits> = {}, graceMs?: number) {
  const wrapped = await runner.wrap({ command: '/bin/bash', args: ['-c', command], cwd: join(home, 'first') }, { ...limits, ...over })
  const text = { stdout: '', stderr: '' }
  const running = await processes.start({ ...wrapped, ...(graceMs !== undefined && { graceMs }), onOutput: (stream, chunk) => void (text[stream] += Buffer.from(chunk).toString()) })
  return { running, text }
}

async function run(command: string, over: Partial<SandboxLimits> = {}) {
  const { running, text } = await begin(command, over)
  const exit = await running.exit
  return { ...text, ...runner.read({ exitCode: exit.exitCode, signal: exit.signal, stderr: text.stderr }), exit }
}

const isThere = (path: string) => access(join(home, path)).then(() => true, () => false)

describe.skipIf(verdict.runner === null)(`the sandbox of this machine${verdict.runner === null ? ` (skipped: ${verdict.problem})` : ''}`, () => {
  it('a write outside is denied', async () => {
    const { isDenied, exitCode } = await run('touch ../outside/made')
    expect([isDenied, exitCode, await isThere('outside/made')]).toEqual([true, 1, false])
  })
  it('a write in the home folder is denied', async () => {
    const { isDenied } = await run(`touch ${homedir()}/.bosun-sandbox-test`)
    expect(isDenied).toBe(true)
  })
  it('a write inside is allowed', async () => {
    expect([await run('echo yes > made && mkdir deep && mv made deep/'), await readFile(join(home, 'first/deep/made'), 'utf8')]).toMatchObject([{ exitCode: 0, isDenied: false }, 'yes\n'])
  })
  it('a second workspace folder is writable', async () => {
    expect([(await run('touch ../second/made')).exitCode, await isThere('second/made')]).toEqual([0, true])
  })
  it('the folder for temporary files is writable, and what a command leaves there stays', async () => {
    const { stdout, exitCode } = await run('mktemp')
    expect(exitCode).toBe(0)
    await rm(stdout.trim())
  })
  it('read-only writes nowhere, yet a long here-document and the null device work', async () => {
    const none = { writable: [] }
    expect((await run('touch made-now', none)).isDenied).toBe(true)
    const long = 'x'.repeat(100_000)
    expect(await run(`cat <<'end' | wc -c; echo > /dev/null\n${long}\nend`, none)).toMatchObject({ exitCode: 0, stderr: '' })
  })
  it('what is outside can be read', async () => {
    expect((await run('cat ../outside/plain')).stdout).toBe('the secret')
  })
  it('a secret file cannot be read, at any of the levels that are looked at, nor a folder of secrets', async () => {
    for (const path of ['.env', 'packages/a/.env', '.ssh/id_rsa']) {
      const { stdout, exitCode } = await run(`cat ${path}`)
      expect([path, stdout, exitCode]).toEqual([path, '', 1])
    }
  })
  it('a secret file can neither be taken away nor written over', async () => {
    await run('rm -f .env; mv .env other; echo mine > .env')
    expect(await readFile(join(home, 'first/.env'), 'utf8')).toBe('the secret')
  })
  it.skipIf(!isLinux)('programs outside of it are not to be seen, so that their folders are no way out', async () => {
    expect((await run(`ls /proc/${process.pid}/root`)).exitCode).not.toBe(0)
  })
  it.each([[0], [3], [127]])('exit code %i is kept', async (code) => {
    expect(await run(`exit ${code}`)).toMatchObject({ exitCode: code, signal: null, isDenied: false })
  })
  it.each([['SIGKILL'], ['SIGSEGV'], ['SIGTERM']])('a command that kills itself by %s is told as that signal, never as a denial', async (signal) => {
    expect(await run(`echo 'read-only file system' >&2; kill -${signal.slice(3)} $$`)).toMatchObject({ exitCode: null, signal, isDenied: false })
  })
  it('a program that is not there is the command’s failure, not the sandbox’s', async () => {
    expect(await run('no-such-program-here')).toMatchObject({ exitCode: 127, hasRunnerFailed: false })
  })
  it('a runner that cannot start says that it failed', async () => {
    const wrapped = await runner.wrap({ command: '/no/such/shell', args: [], cwd: home }, limits)
    let stderr = ''
    const running = await processes.start({ ...wrapped, onOutput: (_stream, chunk) => void (stderr += Buffer.from(chunk).toString()) })
    const { exitCode, signal } = await running.exit
    expect(runner.read({ exitCode, signal, stderr }).hasRunnerFailed).toBe(true)
  })
  it('the process tree ends as before: sleeps of a stopped command are gone', async () => {
    const seconds = ownSeconds()
    const { running, text } = await begin(`sleep ${seconds} & sleep ${seconds} & echo ready; wait`)
    await expect.poll(() => text.stdout).toContain('ready')
    if (isLinux) expect(await programsWith(seconds)).toBe(2)
    await running.terminate()
    expect(await programsWith(seconds)).toBe(0)
    expect((await running.exit).wasTerminated).toBe(true)
  })
  it('a command that traps TERM may end its work before it is gone', async () => {
    const { running, text } = await begin('trap "echo tidy; exit 0" TERM; echo ready; while :; do sleep 0.05; done')
    await expect.poll(() => text.stdout).toContain('ready')
    await running.terminate()
    await running.exit
    expect(text.stdout).toContain('tidy')
  })
  it('a command that leaves nothing running is never said to have left something', async () => {
    for (let round = 0; round < 60; round += 1) expect([round, (await run('echo a | cat')).exit.hasSurvivors]).toEqual([round, false])
  })
  it('a server that is left running is known as a survivor, and a daemon ends with its host', async () => {
    const own = createDirectRunner()
    const seconds = ownSeconds()
    const wrapped = await runner.wrap({ command: '/bin/bash', args: ['-c', `sleep ${seconds} >/dev/null 2>&1 & setsid sleep ${seconds} >/dev/null 2>&1 & echo left`], cwd: join(home, 'first') }, limits)
    const running = await own.start({ ...wrapped, onOutput: () => {} })
    expect((await running.exit).hasSurvivors).toBe(true)
    await own.dispose()
    expect(await programsWith(seconds)).toBe(0)
  })
  it('typed input reaches it, and its end', async () => {
    const wrapped = await runner.wrap({ command: '/bin/bash', args: ['-c', 'read line; echo "got $line"; cat'], cwd: join(home, 'first') }, limits)
    let stdout = ''
    const running = await processes.start({ ...wrapped, stdin: 'pipe', onOutput: (_stream, chunk) => void (stdout += Buffer.from(chunk).toString()) })
    await expect.poll(async () => (await running.inspect()).isReadingInput).toBe(isLinux ? true : null)
    await running.write('word\nrest')
    await running.endInput()
    await running.exit
    expect(stdout).toBe('got word\nrest')
  })
})

describe.skipIf(verdict.runner === null || terminalProblem(import.meta.url) !== null)('the shell that stays, in the sandbox of this machine', () => {
  it('keeps variables and jobs, writes inside, is denied outside, and ends with its tree', async () => {
    const whole = await wholeApplication({
      settings: { 'permissions.rules': [{ tool: 'bash', decision: 'allow' }] },
      alter: (world) => ({ ...world, sandbox: createNodeSandbox({ processes: world.processes }) }),
    })
    const agent = await whole.ctx.agents.create({ cwd: whole.folder, preset: 'minimal' })
    agent.session.append({ type: 'turn/start', data: { turn: 1 } })
    // The person lets each command run; what it may write is the sandbox's to say.
    whole.ctx.on('approval/request', async () => ({ outcome: 'allowed-once' }))
    let calls = 0
    const text = async (command: string) => textOf(await whole.ctx.tools.execute({ callId: `c${++calls}`, name: 'bash', arguments: { command }, agent, signal: new AbortController().signal }))
    const seconds = ownSeconds()
    expect(await text(`X=7; mkdir sub; cd sub; sleep ${seconds} & disown; echo begun`)).toContain('begun')
    expect(await text('echo $X; echo in > made; cat made; pwd')).toBe(`7\nin\n${whole.folder}/sub\n`)
    expect(await text(`touch ${home}/outside/by-shell`)).toContain('[sandbox: denied in workspace-write mode]')
    expect(await text('read line')).toContain('[waits for input')
    expect(await text('typed')).toBe('(no output)')
    expect(await isThere('outside/by-shell')).toBe(false)
    await agent.dispose()
    expect(await programsWith(seconds)).toBe(0)
    await whole.dispose()
  })
})

describe('finding a sandbox', () => {
  it.each<readonly [string, NodeJS.Platform, string, string]>([
    ['a Linux without bubblewrap', 'linux', '/no-such-folder', 'bubblewrap (bwrap) is not installed.'],
    ['Windows', 'win32', '', 'There is no sandbox for this system.'],
  ])('%s has none, and says why', async (_name, platform, path, problem) => {
    expect(await createNodeSandbox({ processes, platform, path }).find()).toEqual({ runner: null, problem })
  })
  it('a runner that does not run is none, and its own words say why', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bosun-bwrap-'))
    await writeFile(join(folder, 'bwrap'), '#!/bin/sh\necho "bwrap: No permissions to create a new namespace" >&2\nexit 1\n', { mode: 0o755 })
    expect(await createNodeSandbox({ processes, platform: 'linux', path: folder }).find()).toEqual({ runner: null, problem: 'bubblewrap does not run here (bwrap: No permissions to create a new namespace).' })
    await rm(folder, { recursive: true, force: true })
  })
  it('looks once, however often it is asked', async () => {
    let starts = 0
    const sandbox = createNodeSandbox({ processes: { start: (spec) => ((starts += 1), processes.start(spec)) }, platform: 'linux', path: process.env['PATH'] ?? '' })
    expect(await sandbox.find()).toBe(await sandbox.find())
    expect(starts).toBeLessThanOrEqual(1)
  })
})
