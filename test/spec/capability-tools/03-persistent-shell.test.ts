import { mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { stripAnsi } from '../../../extension/base/strip-ansi.ts'
import type { ShownTerminal, TerminalViews } from '../../../extension/capabilities/terminal-view.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { ToolResult } from '../../../extension/core/tools/definition.ts'
import { createDirectTerminals, terminalProblem } from '../../../extension/platform/node/direct-terminals.ts'
import { MAX_OUTPUT_CHARS } from '../../../extension/tools/shell/persistent-output.ts'
import { PersistentShell } from '../../../extension/tools/shell/persistent-shell.ts'
import { isRunning, until } from '../../contract/process-runner.suite.ts'
import { persistentBash } from '../../../extension/tools/shell/persistent-dialect.ts'
import { NodeBlobStore } from '../../../extension/platform/node/blob-store.ts'
import { createMemoryBlobStore } from '../../support/memory-blob-store.ts'
import { realClock } from '../../support/real-clock.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

const cannotRun = process.platform === 'win32' || terminalProblem(import.meta.url) !== null

describe.skipIf(cannotRun)('the shell of the minimal preset', () => {
  let application: WholeApplication
  let agent: Agent
  let folder: string
  let count = 0
  beforeAll(async () => {
    application = await wholeApplication({ settings: { 'permissions.defaultPreset': 'danger-full-access' } })
  })
  afterAll(() => application.dispose())
  beforeEach(async () => {
    folder = join(application.folder, `case-${++count}`)
    await mkdir(folder)
    agent = await created()
    return async () => agent.dispose()
  })
  const created = async (preset = 'minimal') => {
    const made = await application.ctx.agents.create({ cwd: folder, preset })
    made.session.append({ type: 'turn/start', data: { turn: 1 } })
    return made
  }
  const bash = (command: string, more: { readonly signal?: AbortSignal; readonly agent?: Agent; readonly onProgress?: (text: string) => void } = {}): Promise<ToolResult> =>
    application.ctx.tools.execute({ callId: `call-${++count}`, name: 'bash', arguments: { command }, agent, signal: new AbortController().signal, ...more })
  const text = async (command: string) => outcomeOf(await bash(command))

  it('takes the place of bash in that preset alone, with one argument', async () => {
    const parameters = (scope: Agent['scope']) => Object.keys((application.ctx.tools.get('bash', scope)?.parameters['properties'] ?? {}) as object)
    expect(parameters(agent.scope)).toEqual(['command'])
    const other = await created('standard')
    expect(parameters(other.scope)).toContain('description')
    await other.dispose()
  })
  it('keeps folder, variable, function and background program', async () => {
    expect(await text('mkdir sub; cd sub; X=7; f() { echo "f$1"; }; sleep 1000 & P=$!')).not.toContain('exit code')
    expect(await text('pwd; echo $X; f 1; kill -0 $P && echo runs')).toBe(`${folder}/sub\n7\nf1\nruns\n`)
  })
  it('gives both streams in the order they came, and a plain string', async () => expect(await text('echo a; echo b >&2; echo c')).toBe('a\nb\nc\n'))
  const rendered: readonly (readonly [string, string, string])[] = [
    ['nothing', 'true', '(no output)'],
    ['a bad end', 'echo x; (exit 3)', 'x\n[exit code: 3]'],
    ['a bad end without a line end before', 'printf x; false', 'x\n[exit code: 1]'],
    ['several lines, quotes and a here document', `cat <<'END'\nit's "a\\b"\n$HOME !x\nEND`, `it's "a\\b"\n$HOME !x\n`],
    ['text beyond ASCII', 'echo "né 日本 😀"', 'né 日本 😀\n'],
    ['keys inside a command as characters', "printf '%s' '\u0003\t|' | od -An -c", ' 003  \\t   |\n'],
    ['a progress bar as it stood at the end', "printf '1%%\\r50%%\\r100%%\\n'", '100%\n'],
    ['colours as text', "printf '\\033[31mred\\033[0m\\n'", 'red\n'],
    ['a quiet environment', 'echo "$TERM $NO_COLOR $PAGER $BOSUN_SHELL"', 'dumb 1 cat 1\n'],
  ]
  it.each(rendered)('renders %s', async (_name, command, expected) => expect(await text(command)).toBe(expected))
  it('takes a command longer than a terminal’s line', async () => expect(await text(`echo ${'x'.repeat(9_000)} | wc -c`)).toBe('9001\n'))
  it('says what is wrong with an unfinished construct, and goes on', async () => {
    expect(await text('if true; then')).toMatch(/syntax error[^]*\[exit code: \d+\]$/)
    expect(await text('echo on')).toBe('on\n')
  })
  it('is not fooled by a forged marker', async () => {
    expect(await text(`printf '\\033]7137;0000;end;0;/\\007after\\n'; false`)).toBe('after\n[exit code: 1]')
  })
  it('a shell that ended says how, and the next call has a fresh one', async () => {
    await bash('X=7; cd /')
    expect(await text('echo bye; exit 7')).toMatch(/^bye\n(exit\n)?\[the shell ended with exit code 7\. The next call starts a fresh shell\.\]$/)
    expect(await text('echo "[$X] $PWD"')).toBe(`[] ${folder}\n`)
    expect(await text('kill -KILL $$')).toBe('(no output)\n[the shell ended by SIGKILL. The next call starts a fresh shell.]')
  })
  it('a program left waiting returns what it showed, and the next command is typed to it', async () => {
    expect(await text('read -p "name? " x; echo "hi $x"')).toBe('name? \n[waits for input: the next command is typed to it]'.replace('? \n', '? \n'))
    expect(await text('me')).toMatch(/^hi me\n$/)
    expect(await text('echo shell')).toBe('shell\n')
  })
  it('a nested program returns what it showed; ending it goes back to the shell', async () => {
    expect(await text('cat')).toBe('(no output)\n[waits for input: the next command is typed to it]')
    expect(await text('x')).toBe('x\n[waits for input: the next command is typed to it]')
    expect(await text('\u0004')).toBe('(no output)')
  })
  it('what waits is judged as nobody’s, and a line of the shell in the folder where it stands', async () => {
    const effect = () => application.ctx.permissions.effectOf('bash', { command: 'rm x' }, agent.scope)
    expect(effect()).toEqual({ kind: 'shell', shell: 'bash', command: 'rm x', workdir: null })
    await bash('mkdir sub; cd sub')
    expect(effect()).toEqual({ kind: 'shell', shell: 'bash', command: 'rm x', workdir: `${folder}/sub` })
    await bash('cat')
    expect(effect()).toEqual({ kind: 'unknown' })
  })
  it('a program that stops waiting by itself ends its command: what it wrote is told, and the next one is a line of the shell again', async () => {
    expect(await text('read -t 1 -p "quick? " x; echo late; touch ended; (exit 3)')).toBe('quick? \n[waits for input: the next command is typed to it]')
    await until(() => stat(join(folder, 'ended')).then(() => true, () => false))
    const effect = () => application.ctx.permissions.effectOf('bash', { command: 'ls' }, agent.scope).kind
    await until(() => effect() === 'shell')
    expect(await text('echo next')).toBe('late\n[the command before this one ended meanwhile, exit code: 3]\nnext\n')
  })
  it('calls queue', async () => {
    let seen = ''
    const first = bash('echo begun; sleep 0.3; echo 1 >> log; cat log', { onProgress: (more) => void (seen += more) })
    await until(() => seen.includes('begun'))
    const second = bash('echo 2 >> log; cat log')
    expect([outcomeOf(await first), outcomeOf(await second)]).toEqual(['begun\n1\n', '1\n2\n'])
  })
  it('a stop ends the shell and what ran, and is an error with what had come', async () => {
    const stop = new AbortController()
    let seen = ''
    const running = bash('X=1; sleep 1000 & echo "pid=$!."; wait', { signal: stop.signal, onProgress: (more) => void (seen += more) })
    await until(() => /pid=\d+\./.test(seen))
    stop.abort()
    expect(outcomeOf(await running)).toEqual({ code: 'ABORTED', message: expect.stringMatching(/stopped[^]*pid=/) as string })
    expect(isRunning(Number(/pid=(\d+)\./.exec(seen)?.[1]))).toBe(false)
    expect(await text('echo "[$X]"')).toBe('[]\n')
  })
  it('output over the cap keeps both ends, with the way to all of it', async () => {
    const shown = (await text('seq 1 20000')) as string
    expect(shown.startsWith('1\n2\n')).toBe(true)
    expect(shown.endsWith('\n19999\n20000\n')).toBe(true)
    expect(shown.length).toBeLessThan(MAX_OUTPUT_CHARS + 400)
    const [, path = ''] = /All of it: (.+)\]/.exec(shown) ?? []
    const whole = await readFile(path, 'utf8')
    expect([whole.startsWith('1\r\n'), whole.endsWith('20000\r\n')]).toEqual([true, true])
  })
  it('spilled output and attachments go with the session, and are counted until then', async () => {
    const one = await created()
    const shown = outcomeOf(await bash('seq 1 20000', { agent: one })) as string
    const [, path = ''] = /All of it: (.+)\]/.exec(shown) ?? []
    const blobs = new NodeBlobStore({ root: join(path, '../../..') })
    await blobs.putAttachment(one.id, new Uint8Array(5), { mediaType: 'image/png' })
    const usage = async () => (await blobs.usage()).find(({ sessionId }) => sessionId === one.id)
    expect(await usage()).toMatchObject({ attachments: 5, before: 0, spill: (await stat(path)).size })
    await one.dispose()
    await application.ctx.sessions.remove(one.id)
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await usage()).toBe(undefined)
  })
  it('ends with its agent, and each agent has its own', async () => {
    const other = await created()
    const mine = Number(await text('echo $$'))
    const theirs = Number(outcomeOf(await bash('echo $$', { agent: other })))
    expect(mine).not.toBe(theirs)
    await other.dispose()
    expect([isRunning(theirs), isRunning(mine)]).toEqual([false, true])
  })
  it.each([['', /blank/], ['  ', /blank/], ['a\0b', /NUL/]])('refuses %j', async (command, message) =>
    expect(await text(command)).toEqual({ code: 'INVALID_ARGS', message: expect.stringMatching(message) as string }))
  it('shows its command as a terminal, and no card of its own at the end', () => {
    const tool = application.ctx.tools.get('bash', agent.scope)
    expect([tool?.presentCall?.({ command: 'ls' }), tool?.presentCall?.({}), tool?.presentResult]).toEqual([{ card: 'terminal', title: 'ls' }, undefined, undefined])
    expect(application.ctx.tools.executionMode({ name: 'bash', arguments: { command: 'ls' }, agent })).toBe('exclusive')
  })
})

describe.skipIf(cannotRun)('the tab of the shell that stays', () => {
  const shownTo = async () => {
    const tabs: { readonly shown: ShownTerminal; text: string; isGone: boolean }[] = []
    const views: TerminalViews = {
      show(shown) {
        const tab = { shown, text: '', isGone: false }
        tabs.push(tab)
        return { write: (bytes) => void (tab.text += new TextDecoder().decode(bytes)), reveal: () => {}, end: () => void (tab.text += '(ended)'), dispose: () => void (tab.isGone = true) }
      },
    }
    const application = await wholeApplication({ settings: { 'permissions.defaultPreset': 'danger-full-access' }, alter: (world) => ({ ...world, terminalViews: views }) })
    const agent = await application.ctx.agents.create({ cwd: application.folder, preset: 'minimal' })
    agent.session.append({ type: 'turn/start', data: { turn: 1 } })
    let count = 0
    const bash = async (command: string) => textOf(await application.ctx.tools.execute({ callId: `call-${++count}`, name: 'bash', arguments: { command }, agent, signal: new AbortController().signal }))
    return { application, tabs, agent, bash, tab: () => tabs.at(-1) }
  }

  it('shows each command and what it writes, and goes with the session', async () => {
    const { application, agent, bash, tab, tabs } = await shownTo()
    expect(tabs).toEqual([])
    await bash('echo one\necho two')
    await bash('printf three')
    expect(tab()?.shown.name).toBe('Bosun: bash')
    expect(stripAnsi(tab()?.text ?? '').replaceAll('\r', '')).toBe('$ echo one\n> echo two\none\ntwo\n$ printf three\nthree')
    await agent.dispose()
    expect(tabs.map(({ isGone }) => isGone)).toEqual([true])
    await application.dispose()
  })
  it('lets the person answer what runs, which the model is told; between commands a key only rings', async () => {
    const { application, agent, bash, tab } = await shownTo()
    await bash('true')
    tab()?.shown.onInput('touch typed\r')
    expect(tab()?.text.endsWith('\u0007')).toBe(true)
    const asked = bash('read x; echo "got $x"')
    await until(() => tab()?.text.includes('read x') === true)
    tab()?.shown.onInput('pizza\r')
    const first = await asked
    // Whether the question was seen to wait before the answer came is a matter of time.
    const answered = first.includes('waits for input') ? await bash('echo next') : first
    expect(answered).toContain('got pizza')
    expect(`${first}${answered}`).toContain('[the person typed while it ran]')
    expect(await bash('ls typed 2>&1 | wc -l; echo x')).toContain('x\n')
    expect(await bash('test -e typed')).toContain('[exit code: 1]')
    await agent.dispose()
    await application.dispose()
  })
  it('keys that nobody read do not end up in the next command, which is put before the person', async () => {
    const { application, agent, bash, tab } = await shownTo()
    const asked = bash('sleep 0.7; touch slept')
    await until(() => tab()?.text.includes('sleep') === true)
    tab()?.shown.onInput('half a li')
    expect(await asked).toContain('[the person typed while it ran]')
    expect(application.ctx.permissions.effectOf('bash', { command: 'echo whole' }, agent.scope)).toEqual({ kind: 'unknown' })
    expect(await bash('echo whole')).toBe('whole\n')
    await agent.dispose()
    await application.dispose()
  })
  it('that the person closes ends the shell; what ran says so, or the next command does', async () => {
    const { application, agent, bash, tab, tabs } = await shownTo()
    const running = bash('sleep 1000')
    await until(() => tab()?.text.includes('sleep') === true)
    tab()?.shown.onClose()
    expect(await running).toMatch(/\[the person closed the shell\]\n\[the shell ended/)
    expect(await bash('X=1; echo fresh')).toBe('fresh\n')
    tab()?.shown.onClose()
    expect(await bash('echo "[$X]"')).toBe('[]\n[the person closed your shell before this command, so it ran in a fresh one]')
    expect(tabs.map(({ isGone }) => isGone)).toEqual([true, true, false])
    await agent.dispose()
    await application.dispose()
  })
})

describe.skipIf(cannotRun)('the shell of the minimal preset is not there', () => {
  const names = ({ ctx }: WholeApplication) => ctx.tools.schemas(ctx.presets.scopeOf('minimal')).map(({ name }) => name)
  it('in a folder that is not trusted, and comes with trust', async () => {
    let isTrusted = false
    let tell = () => {}
    const application = await wholeApplication({
      alter: (world) => ({ ...world, workspace: { ...world.workspace, isTrusted: () => isTrusted, onDidChangeTrust: (listener) => {
        const before = tell
        tell = () => {
          before()
          listener()
        }
        return () => {}
      } } }),
    })
    expect(names(application)).not.toContain('bash')
    isTrusted = true
    tell()
    expect(names(application)).toContain('bash')
    await application.dispose()
  })
  it('when the person turned the tool off', async () => {
    const application = await wholeApplication({ settings: { 'tools.disabled': ['bash'] } })
    expect(names(application)).toEqual(['str_replace_editor'])
    await application.dispose()
  })
  it('where no terminal can be opened: each command has a shell of its own then', async () => {
    const application = await wholeApplication({ alter: (world) => ({ ...world, terminals: { problem: 'none here', open: () => Promise.reject(new Error('never')) } }) })
    const tool = application.ctx.tools.get('bash', application.ctx.presets.scopeOf('minimal'))
    expect(Object.keys(tool?.parameters['properties'] as object)).toContain('workdir')
    await application.dispose()
  })
})

describe.skipIf(cannotRun)('the shell of the minimal preset at its deadline', () => {
  it('gives what came as a result, is ended, and the next call has a fresh one', async () => {
    // 300 s go by at once when they are wanted to.
    let aheadMs = 0
    const application = await wholeApplication({
      settings: { 'permissions.defaultPreset': 'danger-full-access' },
      alter: (world) => ({ ...world, clock: { ...world.clock, monotonicMs: () => world.clock.monotonicMs() + aheadMs } }),
    })
    const agent = await application.ctx.agents.create({ cwd: application.folder, preset: 'minimal' })
    agent.session.append({ type: 'turn/start', data: { turn: 1 } })
    let calls = 0
    let seen = ''
    const bash = (command: string) =>
      application.ctx.tools.execute({ callId: `c${++calls}`, name: 'bash', arguments: { command }, agent, signal: new AbortController().signal, onProgress: (more) => void (seen += more) })
    await bash('X=1')
    const running = bash('echo "pid=$$."; while :; do sleep 0.05; echo on; done')
    await until(() => /pid=\d+\./.test(seen))
    aheadMs = 300_000
    const result = await running
    expect([result.isError, outcomeOf(result)]).toEqual([false, expect.stringMatching(/^pid=[^]*\[timed out after 300 s, or out of memory; the shell was ended\. The next call starts a fresh shell\.\]$/) as string])
    expect(isRunning(Number(/pid=(\d+)\./.exec(seen)?.[1]))).toBe(false)
    expect(outcomeOf(await bash('echo "[$X]"'))).toBe('[]\n')
    await application.dispose()
  })
})

describe.skipIf(cannotRun)('a persistent shell', () => {
  const terminals = createDirectTerminals()
  afterAll(() => terminals.dispose())
  const blobs = createMemoryBlobStore()
  let ids = 0
  const shell = (program = '/bin/bash') =>
    new PersistentShell({ terminals, clock: realClock, dialect: persistentBash, program: () => program, cwd: '/', env: async () => ({ TERM: 'dumb' }), newNonce: () => `n${++ids}`, openSpill: () => blobs.openSpill('s', 'x') })
  const run = (one: PersistentShell, command: string, timeoutMs = 60_000) => one.run(command, { timeoutMs, signal: new AbortController().signal, onText: () => {} })

  it('at its deadline gives what came, and is fresh afterwards', async () => {
    const one = shell()
    expect(await run(one, 'X=1; echo before; sleep 1000', 700)).toEqual({ kind: 'deadline', text: 'before\n', timeoutMs: 700 })
    expect(await run(one, 'echo "[$X]"')).toEqual({ kind: 'completed', text: '[]\n', exitCode: 0 })
    await one.dispose()
  })
  it('that does not start says so', async () => {
    await expect(run(shell('/bin/false'), 'true')).rejects.toMatchObject({ code: 'SHELL_FAILED' })
    await expect(run(shell('/no/such/shell'), 'true')).rejects.toMatchObject({ code: 'SPAWN_FAILED' })
  })
  it('stopped before its turn runs nothing', async () => {
    const one = shell()
    await expect(one.run('true', { timeoutMs: 1, signal: AbortSignal.abort(), onText: () => {} })).rejects.toMatchObject({ code: 'ABORTED' })
    await one.dispose()
  })
})
