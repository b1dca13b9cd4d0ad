import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ShownTerminal } from '../../../extension/capabilities/terminal-view.ts'
import { SCROLLBACK_LINES } from '../../../extension/capabilities/terminal-screen.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { ToolResult } from '../../../extension/core/tools/definition.ts'
import type {} from '../../../extension/features/terminals/service.ts'
import { MAX_TERMINALS } from '../../../extension/features/terminals/plugin.ts'
import { terminalProblem } from '../../../extension/platform/node/direct-terminals.ts'
import { MAX_RESULT_BYTES } from '../../../extension/tools/terminals/bounds.ts'
import { MAX_TEXT_CHARS } from '../../../extension/tools/terminals/terminal-send.ts'
import { isRunning, until } from '../../contract/process-runner.suite.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

const cannotRun = process.platform === 'win32' || terminalProblem(import.meta.url) !== null

describe.skipIf(cannotRun)('the terminal tools', () => {
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

  const created = async () => {
    const made = await application.ctx.agents.create({ cwd: folder })
    made.session.append({ type: 'turn/start', data: { turn: 1 } })
    return made
  }
  const run = (name: string, args: object, more: { readonly agent?: Agent; readonly signal?: AbortSignal } = {}): Promise<ToolResult> =>
    application.ctx.tools.execute({ callId: `call-${++count}`, name: `terminal_${name}`, arguments: args, agent, signal: new AbortController().signal, ...more })
  const open = async (more: object = {}) => (outcomeOf(await run('open', { type: 'bash', ...more })) as { readonly sessionId: string }).sessionId
  const send = (sessionId: string, text: string, more: object = {}) => run('send', { sessionId, text, ...more })
  const valueOf = (result: ToolResult) => outcomeOf(result) as Readonly<Record<string, unknown>>
  const failed = (code: string, message: RegExp) => ({ code, message: expect.stringMatching(message) as string })

  describe('open, send, read, close', () => {
    it('work together, and each says what it did', async () => {
      const opened = await run('open', { type: 'bash', name: 'work' })
      const { sessionId } = valueOf(opened) as { readonly sessionId: string }
      expect(outcomeOf(opened)).toEqual({ sessionId, name: 'work', type: 'bash', pid: expect.any(Number) as number, status: { kind: 'running' }, motd: '$' })
      expect(textOf(opened)).toBe(`Opened terminal ${sessionId} [bash] — work.\n$`)
      const sent = await send(sessionId, 'echo one; echo two')
      expect(outcomeOf(sent)).toEqual({ kind: 'foreground', viewport: 'echo one; echo two\none\ntwo\n$', waitReason: 'stdin_read', sessionStatus: { kind: 'running' }, truncated: false })
      expect(textOf(sent)).toBe('echo one; echo two\none\ntwo\n$\n[wait: stdin_read]\n[session: running]')
      const read = await run('read', { sessionId, count: 2, offset: 1 })
      expect(outcomeOf(read)).toEqual({ text: 'one\ntwo', totalLines: 4, lineBegin: 2, lineEnd: 3, truncated: false })
      expect(textOf(read)).toBe('one\ntwo\n[lines: 2-3 of 4]')
      expect(textOf(await run('list', {}))).toBe(`${sessionId} [bash] running — work`)
      const closed = await run('close', { sessionId })
      expect([outcomeOf(closed), textOf(closed)]).toEqual([{ sessionId, outcome: 'closed' }, `Closed ${sessionId}.`])
      expect(textOf(await run('list', {}))).toBe('You have no terminals.')
    })
    it('the folder and variables stay between two sends, and the session’s folder is where it starts', async () => {
      await mkdir(join(folder, 'sub'))
      const id = await open()
      await send(id, 'cd sub; X=7')
      expect(valueOf(await send(id, 'echo "$PWD $X"'))['viewport']).toContain(`\n${folder}/sub 7\n`)
    })
    it('opens in another folder', async () => {
      await mkdir(join(folder, 'sub'))
      expect(valueOf(await send(await open({ cwd: 'sub' }), 'pwd'))['viewport']).toContain(`\n${folder}/sub\n`)
    })
    it('text without Enter waits on the line', async () => {
      const id = await open()
      expect(valueOf(await send(id, 'echo a', { submit: false }))).toMatchObject({ viewport: 'echo a', waitReason: 'stdin_read' })
      expect(valueOf(await send(id, 'b'))['viewport']).toBe('b\nab\n$')
    })
    it('says what was no command of the shell: an answer to a program, and what waits on the line', async () => {
      const id = await open()
      const isTyped = async (text: string, more: object = {}) => valueOf(await send(id, text, more))['isTyped']
      expect(await isTyped('read -p "port? " x')).toBeUndefined()
      const answered = await send(id, '8080')
      expect(valueOf(answered)['isTyped']).toBe(true)
      expect(answered.meta).toMatchObject({ isTyped: true })
      expect([await isTyped('echo ', { submit: false }), await isTyped('$x'), await isTyped(''), await isTyped('', { submit: false })]).toEqual([true, undefined, undefined, undefined])
    })
    it('has no secrets of the host', async () => {
      process.env['MY_TEST_TOKEN'] = 'secret-value'
      const id = await open()
      delete process.env['MY_TEST_TOKEN']
      expect(valueOf(await send(id, 'echo "[$MY_TEST_TOKEN][$BOSUN_SHELL]"'))['viewport']).toContain('\n[][1]\n')
    })
  })

  describe('a wait ends', () => {
    it('where a program reads from the keyboard', async () => {
      const id = await open()
      const asked = await send(id, 'read -p "name? " x')
      expect(valueOf(asked)).toMatchObject({ viewport: 'read -p "name? " x\nname?', waitReason: 'stdin_read' })
      expect(valueOf(await send(id, 'me'))['waitReason']).toBe('stdin_read')
    })
    it('after a silence, while the program goes on', async () => {
      const id = await open()
      expect(valueOf(await send(id, 'sleep 1000'))).toMatchObject({ waitReason: 'inferred_idle', sessionStatus: { kind: 'running' } })
      expect(valueOf(await send(id, '', { submit: false }))['waitReason']).toBe('inferred_idle')
    }, 20_000)
    it('when the program ended, with how', async () => {
      const id = await open()
      const ended = await send(id, 'exit 3')
      expect(valueOf(ended)).toMatchObject({ waitReason: 'session_exit', sessionStatus: { kind: 'exited', exitCode: 3, signal: null } })
      expect(textOf(ended)).toContain('[wait: session_exit]\n[session: exited with 3]')
      expect(outcomeOf(await send(id, 'x'))).toEqual(failed('NO_SESSION', /has ended/))
      expect(textOf(await run('read', { sessionId: id }))).toContain('exit 3')
      expect(textOf(await run('list', {}))).toContain('exited with 3')
    })
    it('by a stop: SIGINT ends what runs, the shell stays, and what had appeared is told', async () => {
      const id = await open()
      const stop = new AbortController()
      const sending = run('send', { sessionId: id, text: 'echo begun; sleep 1000' }, { signal: stop.signal })
      await until(async () => textOf(await run('read', { sessionId: id })).includes('\nbegun'))
      stop.abort()
      const stopped = await sending
      expect(outcomeOf(stopped)).toEqual(failed('ABORTED', /SIGINT[^]*\nbegun/))
      expect(valueOf(await send(id, 'echo alive'))['viewport']).toContain('\nalive\n')
    })
  })

  describe('what a screen shows', () => {
    it('is a progress bar as it stands', async () => {
      const id = await open()
      const { viewport } = valueOf(await send(id, `for i in 10 50 100; do printf "\\r%s%%" $i; sleep 0.02; done; echo`)) as { readonly viewport: string }
      expect(viewport.split('\n').slice(1)).toEqual(['100%', '$'])
    })
    it('is a full-screen program as a person sees it, and the lines before it afterwards', async () => {
      await writeFile(join(folder, 'full'), `printf '\\033[?1049h\\033[2J\\033[3;5HMENU'; read x; printf '\\033[?1049l'`)
      const id = await open()
      const shown = await send(id, '. ./full')
      expect(valueOf(shown)).toMatchObject({ viewport: '\n\n    MENU', waitReason: 'stdin_read' })
      const screen = await run('read', { sessionId: id, mode: 'screen' })
      expect([outcomeOf(screen), textOf(screen)]).toEqual([{ text: '\n\n    MENU', isFullScreen: true }, '\n\n    MENU\n[screen of a full-screen program]'])
      await send(id, '')
      expect(textOf(await run('read', { sessionId: id, mode: 'screen' }))).toBe('$ . ./full\n$\n[screen]')
    })
    it('has lost its beginning when more came than it keeps, and says so', async () => {
      const id = await open()
      const sent = await send(id, `seq 1 ${SCROLLBACK_LINES + 100}`)
      expect(valueOf(sent)['truncated']).toBe(true)
      expect(textOf(sent)).toMatch(/\n\[the beginning is gone; only the end is shown\]$/)
      const read = await run('read', { sessionId: id, count: 1 })
      expect(textOf(read)).toMatch(/\[older lines are gone\]$/)
    }, 20_000)
    it('is right where an escape sequence or a character is split across chunks', async () => {
      await writeFile(join(folder, 'split'), `for part in '\\033' '[3' '1mred' '\\033[' '0m' '\\303' '\\251' '\\n'; do printf "$part"; sleep 0.05; done`)
      expect(valueOf(await send(await open(), '. ./split'))['viewport']).toBe('. ./split\nredé\n$')
    })
    it('a flood makes the program wait instead of filling memory, and SIGINT ends it', async () => {
      const id = await open()
      const stop = new AbortController()
      const sending = run('send', { sessionId: id, text: 'yes' }, { signal: stop.signal })
      await until(async () => valueOf(await run('read', { sessionId: id, count: 1 }))['truncated'] === true)
      stop.abort()
      expect(outcomeOf(await sending)).toMatchObject({ code: 'ABORTED' })
      await until(async () => valueOf(await send(id, ''))['waitReason'] === 'stdin_read')
    }, 40_000)
  })

  describe('signals', () => {
    it('stop the child, not the shell', async () => {
      const id = await open()
      const job = await send(id, 'sleep 1000', { run_in_background: true })
      expect(textOf(job)).toMatch(/^Sent; waiting goes on as job pty-send-\d+\./)
      await until(async () => (outcomeOf(await run('signal', { sessionId: id, signal: 'SIGTSTP' })) as { readonly targetPgid: number }).targetPgid > 0)
      const killed = await run('signal', { sessionId: id, signal: 'SIGINT' })
      expect(outcomeOf(killed)).toMatchObject({ delivered: true, targetPgid: expect.any(Number) as number })
      expect(textOf(killed)).toMatch(new RegExp(`^Sent SIGINT to process group \\d+ of ${id}\\.$`))
      await until(async () => !textOf(await application.ctx.tools.execute({ callId: `c${++count}`, name: 'job_list', arguments: {}, agent, signal: new AbortController().signal })).includes('running'))
      expect(valueOf(await send(id, 'echo alive'))['viewport']).toContain('alive')
    })
    it('SIGKILL never hits the shell itself', async () => expect(outcomeOf(await run('signal', { sessionId: await open(), signal: 'SIGKILL' }))).toEqual(failed('SHELL_PROTECTED', /terminal_close/)))
    it('others than the five are refused', async () => expect(outcomeOf(await run('signal', { sessionId: await open(), signal: 'SIGUSR1' }))).toEqual(failed('INVALID_ARGS', /SIGINT/)))
  })

  describe('in the background', () => {
    const job = async (name: string, args: object) => application.ctx.tools.execute({ callId: `j${++count}`, name: `job_${name}`, arguments: args, agent, signal: new AbortController().signal })
    it('a send is a job that ends when keys are waited for, with its output', async () => {
      const id = await open()
      const { jobId } = valueOf(await send(id, 'sleep 0.2; echo over', { run_in_background: true })) as { readonly jobId: string }
      const output = await job('output', { job_id: jobId, wait: true })
      expect(textOf(output)).toMatch(/\nover\n\$ ?\n\[status: completed, stdin_read\]$/)
    })
    it('job_kill is SIGINT', async () => {
      const id = await open()
      const { jobId } = valueOf(await send(id, 'sleep 1000', { run_in_background: true })) as { readonly jobId: string }
      await until(async () => valueOf(await run('read', { sessionId: id }))['text'] === '$ sleep 1000\n')
      await job('kill', { job_id: jobId })
      expect(textOf(await job('output', { job_id: jobId, wait: true }))).toMatch(/\[status: killed, stdin_read\]$/)
      expect(valueOf(await send(id, 'echo alive'))['viewport']).toContain('alive')
    })
    it('another send has to wait', async () => {
      const id = await open()
      await send(id, 'sleep 1000', { run_in_background: true })
      expect(outcomeOf(await send(id, 'x'))).toEqual(failed('SEND_ACTIVE', /terminal_signal/))
      expect(outcomeOf(await send(id, 'x', { run_in_background: true }))).toEqual(failed('SEND_ACTIVE', /still works/))
    })
  })

  describe('closing', () => {
    it('ends everything that runs at it, also what ignores TERM and HUP', async () => {
      const id = await open()
      await send(id, "(trap '' TERM HUP; echo pid=$BASHPID.; while :; do sleep 0.05; done) &")
      const [, pid = ''] = /pid=(\d+)\./.exec(textOf(await run('read', { sessionId: id }))) ?? []
      expect(isRunning(Number(pid))).toBe(true)
      await run('close', { sessionId: id })
      expect(isRunning(Number(pid))).toBe(false)
    }, 20_000)
    it('twice at once is said', async () => {
      const id = await open()
      const both = await Promise.all([run('close', { sessionId: id }), run('close', { sessionId: id })])
      expect(new Set(both.map((one) => valueOf(one)['outcome']))).toEqual(new Set(['already-closing', 'closed']))
    })
    it('happens with the session', async () => {
      const { pid } = valueOf(await run('open', { type: 'bash' })) as { readonly pid: number }
      await agent.dispose()
      expect(isRunning(pid)).toBe(false)
    })
  })

  describe('refused', () => {
    it('a terminal that is not there', async () => {
      for (const [name, more] of [['send', { text: 'x' }], ['read', {}], ['signal', { signal: 'SIGINT' }], ['close', {}]] as const) {
        expect(outcomeOf(await run(name, { sessionId: 'pty-999', ...more }))).toEqual(failed('NO_SESSION', /terminal_list/))
      }
    })
    it('a terminal of another session', async () => {
      const id = await open()
      const other = await created()
      for (const [name, more] of [['send', { text: 'x' }], ['read', {}], ['signal', { signal: 'SIGINT' }], ['close', {}]] as const) {
        expect(outcomeOf(await run(name, { sessionId: id, ...more }, { agent: other }))).toEqual(failed('FOREIGN_SESSION', /another session/))
      }
      expect(textOf(await run('list', {}, { agent: other }))).toBe('You have no terminals.')
      await other.dispose()
    })
    it('a profile of the person’s that they did not allow; an allowed one is a type, and what is typed there is nobody’s to judge', async () => {
      const profile = (name: string) => ({ name, command: '/bin/sh', args: ['-i'], environment: { PS1: 'mine> ', ENV: null } })
      const other = await wholeApplication({
        settings: { 'permissions.defaultPreset': 'danger-full-access', 'terminals.profiles': ['Mine'] },
        alter: (world) => ({ ...world, terminalSettings: { environment: () => ({}), profiles: () => [profile('Mine'), profile('Theirs')] } }),
      })
      const owner = await other.ctx.agents.create({ cwd: folder })
      expect(other.ctx.terminals.types).toEqual(['bash', 'sh', 'Mine'])
      await expect(other.ctx.terminals.open(owner, { type: 'Theirs', cwd: folder })).rejects.toMatchObject({ code: 'NO_BACKEND' })
      const { sessionId, motd } = await other.ctx.terminals.open(owner, { type: 'Mine', cwd: folder })
      expect(motd).toBe('mine>')
      expect(other.ctx.permissions.effectOf('terminal_send', { sessionId, text: 'ls' }, owner.scope)).toEqual({ kind: 'unknown' })
      await other.dispose()
    })
    it('an unknown type, naming those there are', async () => expect(outcomeOf(await run('open', { type: 'tcsh' }))).toEqual(failed('NO_BACKEND', /bash/)))
    it('a session that is over, or none at all', async () => {
      const { terminals } = application.ctx
      const over = await created()
      await over.dispose()
      for (const owner of [over, undefined]) await expect(terminals.open(owner, { type: 'bash', cwd: folder })).rejects.toMatchObject({ code: 'OWNER_NOT_LIVE' })
    })
    it('a terminal while Bosun ends', async () => {
      const other = await wholeApplication()
      const { terminals } = other.ctx
      await other.dispose()
      await expect(terminals.open(agent, { type: 'bash', cwd: folder })).rejects.toMatchObject({ code: 'SERVICE_DISPOSING' })
    })
    it('a name twice', async () => {
      await open({ name: 'a' })
      expect(outcomeOf(await run('open', { type: 'bash', name: 'a' }))).toEqual(failed('DUPLICATE_NAME', /named a already/))
    })
    it('more terminals than are allowed', async () => {
      await Promise.all(Array.from({ length: MAX_TERMINALS }, () => open({ type: 'sh' })))
      expect(outcomeOf(await run('open', { type: 'bash' }))).toEqual(failed('TERMINAL_LIMIT', /terminal_close/))
    }, 40_000)
    it.each([
      ['open', { type: ' ' }, /type is blank/],
      ['open', { type: 'bash', name: ' ' }, /name must have/],
      ['open', { type: 'bash', cwd: 'nowhere' }, /nowhere does not exist/],
      ['read', { sessionId: 'x', offset: -1 }, /offset/],
      ['read', { sessionId: 'x', count: 0 }, /count/],
      ['read', { sessionId: 'x', count: 1.5 }, /count/],
      ['send', { sessionId: 'x', text: 'y', sandbox_permissions: 'danger-full-access' }, /sandbox_permissions/],
    ])('%s with %j', async (name, args, message) => expect(outcomeOf(await run(name, args))).toEqual(failed('INVALID_ARGS', message)))
  })

  it('refuses a text that nobody types', async () => expect(outcomeOf(await send('x', 'y'.repeat(MAX_TEXT_CHARS + 1)))).toEqual(failed('INVALID_ARGS', /Write a file instead/)))
  it('bounds every complete result', async () => {
    const definition = application.ctx.tools.get('terminal_read')
    const content = definition?.finalizeContent?.({} as never, { isError: true, content: [{ type: 'text', text: 'é'.repeat(MAX_RESULT_BYTES) }], error: { message: '' } })
    const [block] = content ?? []
    const bytes = block?.type === 'text' ? Buffer.byteLength(block.text) : 0
    expect([bytes <= MAX_RESULT_BYTES, bytes > MAX_RESULT_BYTES - 100]).toEqual([true, true])
  })
  it('are exclusive and shown by the preset of the editor', () => {
    for (const name of ['list', 'open', 'read', 'send', 'signal', 'close']) {
      expect(application.ctx.tools.executionMode({ name: `terminal_${name}`, arguments: { sessionId: 'x', text: '', type: 'bash', signal: 'SIGINT' }, agent })).toBe('exclusive')
    }
  })

  describe('policy', () => {
    const effect = (args: object) => application.ctx.permissions.effectOf('terminal_send', { ...args })
    it('a line at the prompt is judged as the shell tool’s, in the folder the shell stands in, with what was typed before', async () => {
      await mkdir(join(folder, 'sub'))
      const sessionId = await open()
      await send(sessionId, 'cd sub')
      expect(effect({ sessionId, text: 'rm x' })).toEqual({ kind: 'shell', shell: 'bash', command: 'rm x', workdir: `${folder}/sub` })
      await send(sessionId, 'find . ', { submit: false })
      expect(effect({ sessionId, text: '-delete' })).toMatchObject({ command: 'find . -delete' })
    })
    it('text for another program, keys that are no text and a half-typed unknown line are nobody’s to judge', async () => {
      const sessionId = await open()
      expect(effect({ sessionId, text: '\u001b[A' })).toEqual({ kind: 'unknown' })
      await send(sessionId, 'read x')
      expect(effect({ sessionId, text: 'ls' })).toEqual({ kind: 'unknown' })
    })
    it('waiting and looking change nothing', async () => {
      const sessionId = await open()
      expect([effect({ sessionId, text: '', submit: false }), effect({ sessionId, text: '' }), effect({ sessionId: 'pty-999', text: 'rm x' })]).toEqual([{ kind: 'none' }, { kind: 'none' }, { kind: 'none' }])
    })
    it('a session that may only read types nothing that changes anything', async () => {
      const sessionId = await open()
      application.ctx.permissions.select(agent.id, 'read-only')
      expect(outcomeOf(await send(sessionId, 'touch made'))).toMatchObject({ code: 'DENIED' })
      expect(valueOf(await send(sessionId, 'ls'))['viewport']).toBe('ls\n$')
    })
    it.each(['bash', 'sh'])('what was typed before comes to no new life in %s by the history of the shell', async (type) => {
      const sessionId = await open({ type })
      application.ctx.permissions.select(agent.id, 'read-only')
      for (const line of ['echo "a; touch pwned"', 'echo !!:s/"a/a/:s/d"/d/', 'set -H', 'set -o histexpand', 'echo "a; touch pwned"', 'echo !!:s/"a/a/:s/d"/d/', '!!', '^a^b']) await send(sessionId, line)
      expect(await readdir(folder)).toEqual([])
    })
    it('what a line leaves behind in the shell changes no later one unseen', async () => {
      const sessionId = await open()
      application.ctx.permissions.select(agent.id, 'read-only')
      await writeFile(join(folder, 'a'), 'one')
      for (const line of ["x='-v a[$(touch${IFS}pwned)]'", '[ $x ]', 'test $x', 'y=-opwned', 'sort $y a', 'cat() { sort "$@"; }', 'cat -o pwned a', 'echo() { find "$@"; }', 'echo a -delete', 'set -- a -delete', 'find "$@"', 'a=(a -delete)', 'find "${a[@]}"', 'set -k', 'git diff GIT_EXTERNAL_DIFF=./a']) await send(sessionId, line)
      expect(await readdir(folder)).toEqual(['a'])
    })
  })

  describe('its cards', () => {
    const call = (name: string, args: object) => application.ctx.tools.get(`terminal_${name}`)?.presentCall?.(args as never)
    it.each([
      ['list', {}, { card: 'generic', title: 'List terminals', doneTitle: 'Listed terminals', kind: 'read' }],
      ['open', { type: 'bash' }, { card: 'generic', title: 'Open a bash terminal', doneTitle: 'Opened a bash terminal', kind: 'execute' }],
      ['open', { type: 'bash', name: 'dev' }, { card: 'generic', title: 'Open a bash terminal: dev', doneTitle: 'Opened a bash terminal: dev', kind: 'execute' }],
      ['read', { sessionId: 'pty-1' }, { card: 'generic', title: 'Read terminal pty-1', kind: 'read' }],
      ['read', { sessionId: 'pty-1', mode: 'screen' }, { card: 'generic', title: 'Look at the screen of pty-1', doneTitle: 'Looked at the screen of pty-1', kind: 'read' }],
      ['signal', { sessionId: 'pty-1', signal: 'SIGINT' }, { card: 'generic', title: 'Send SIGINT to pty-1', doneTitle: 'Sent SIGINT to pty-1', kind: 'execute' }],
      ['close', { sessionId: 'pty-1' }, { card: 'generic', title: 'Close terminal pty-1', doneTitle: 'Closed terminal pty-1', kind: 'delete' }],
      ['send', { sessionId: 'pty-1', text: 'ls' }, { card: 'terminal', title: 'ls', description: 'pty-1', typed: 'text' }],
      ['send', { sessionId: 'pty-1', text: '' }, { card: 'terminal', title: 'Press Enter', description: 'pty-1', typed: 'enter' }],
      ['send', { sessionId: 'pty-1', text: '', submit: false }, { card: 'terminal', title: 'Wait for output', description: 'pty-1', typed: 'nothing' }],
      ['send', { text: 'ls' }, undefined],
    ])('%s %j', (name, args, card) => expect(call(name, args)).toEqual(card))
    it('of what appeared has no exit code, and of a record nobody knows there is none', async () => {
      const id = await open()
      const sent = await send(id, 'echo x')
      const present = application.ctx.tools.get('terminal_send')?.presentResult
      expect(present?.({ sessionId: id, text: 'echo x' }, sent)).toEqual({ card: 'terminal', output: 'echo x\nx\n$' })
      for (const meta of [null, 7, {}, { kind: 'background', jobId: 'x' }]) expect(present?.({ sessionId: id, text: '' }, { content: [], isError: false, meta })).toBeUndefined()
    })
  })
})

describe.skipIf(cannotRun)('a terminal that the person sees', () => {
  const shownTo = async () => {
    const tabs: ShownTerminal[] = []
    const application = await wholeApplication({
      settings: { 'permissions.defaultPreset': 'danger-full-access' },
      alter: (world) => ({
        ...world,
        terminalViews: {
          show(terminal) {
            tabs.push(terminal)
            return { write: () => {}, reveal: () => {}, end: () => {}, dispose: () => {} }
          },
        },
      }),
    })
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    agent.session.append({ type: 'turn/start', data: { turn: 1 } })
    let calls = 0
    const run = (name: string, args: object) => application.ctx.tools.execute({ callId: `c${++calls}`, name: `terminal_${name}`, arguments: args, agent, signal: new AbortController().signal })
    const { sessionId } = outcomeOf(await run('open', { type: 'bash', name: 'dev' })) as { readonly sessionId: string }
    const screen = async () => textOf(await run('read', { sessionId, mode: 'screen' }))
    return { application, agent, run, sessionId, screen, tab: tabs[0]! }
  }
  it.each([
    ['hidden by the terminal', `read -s -p 'Password: ' p; echo; read -p 'Again? ' q; echo "len \${#p}"`],
    ['read key by key', `printf 'Password: '; p=; while IFS= read -r -s -n1 c && [ -n "$c" ]; do p=$p$c; printf '*'; done; echo; read -p 'Again? ' q; echo "len \${#p}"`],
  ])('tells the model what the person types, never a secret that is %s', async (_name, program) => {
    const { application, run, sessionId, screen, tab } = await shownTo()
    await writeFile(join(application.folder, 'ask'), program)
    const asked = await run('send', { sessionId, text: '. ./ask' })
    expect(outcomeOf(asked)).toMatchObject({ waitReason: 'stdin_read' })
    for (const key of ['h', 'u', 'n', 't', 'e', 'r', '2', '\r']) tab.onInput(key)
    let all = ''
    await until(async () => (all += await screen()).includes('Again?'))
    tab.onInput('no\r')
    await until(async () => (all += await screen()).includes('len 7'))
    expect(all).not.toMatch(/hunter2|"hunt/)
    // It is told in as many pieces as there were looks.
    const pieces = [...all.matchAll(/the person typed here: ("[^"]*")/g)].map(([, piece = '']) => JSON.parse(piece) as string)
    expect(pieces.join('').replace(/(⟪hidden⟫)+/, '⟪hidden⟫')).toBe('⟪hidden⟫no\r')
    await application.dispose()
  })
  it('and closes is told of: by a notice, in the list, and when it is used again; everything that ran at it is gone', async () => {
    const { application, agent, run, sessionId, tab } = await shownTo()
    await run('send', { sessionId, text: 'sleep 1000 & echo pid=$!.' })
    const [, pid = ''] = /pid=(\d+)\./.exec(textOf(await run('read', { sessionId }))) ?? []
    tab.onClose()
    await until(() => !isRunning(Number(pid)))
    await until(async () => textOf(await run('list', {})) === `${sessionId} [bash] closed by the person — dev`)
    expect(agent.inbox.nextStep.map(({ content }) => content)).toEqual([[{ type: 'text', text: expect.stringMatching(/^The person closed your bash terminal pty-1 \(dev\)/) as string }]])
    expect(outcomeOf(await run('send', { sessionId, text: 'x' }))).toEqual({ code: 'NO_SESSION', message: expect.stringMatching(/^The person has closed pty-1/) as string })
    await application.dispose()
  })
  it('and closes while a call waits is told by that call alone', async () => {
    const { application, agent, run, sessionId, tab } = await shownTo()
    const sending = run('send', { sessionId, text: 'echo begun; while :; do sleep 0.05; printf .; done' })
    await until(async () => textOf(await run('read', { sessionId })).includes('\nbegun'))
    tab.onClose()
    expect(textOf(await sending)).toMatch(/\[wait: session_exit\]\n\[session: closed by the person\]$/)
    expect(agent.inbox.nextStep).toEqual([])
    await application.dispose()
  })
  it('shows raw output, takes keys and a size, tells the model what was typed, once, and ends with its tab', async () => {
    let tab: ShownTerminal | undefined
    let raw = ''
    const seen: string[] = []
    const application = await wholeApplication({
      settings: { 'permissions.defaultPreset': 'danger-full-access' },
      alter: (world) => ({
        ...world,
        terminalViews: {
          show(terminal) {
            tab = terminal
            return { write: (bytes) => void (raw += Buffer.from(bytes).toString()), reveal() {}, end: (exitCode) => seen.push(`end ${exitCode}`), dispose: () => seen.push('dispose') }
          },
        },
      }),
    })
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    let calls = 0
    const run = (name: string, args: object) => application.ctx.tools.execute({ callId: `c${++calls}`, name: `terminal_${name}`, arguments: args, agent, signal: new AbortController().signal })
    const { sessionId } = outcomeOf(await run('open', { type: 'bash', name: 'dev' })) as { readonly sessionId: string }
    expect(tab?.name).toBe('Bosun: dev')
    tab?.onResize({ columns: 77, rows: 22 })
    tab?.onInput('echo mine')
    expect(application.ctx.permissions.effectOf('terminal_send', { sessionId, text: '; ls' })).toEqual({ kind: 'unknown' })
    tab?.onInput('\r')
    await until(() => raw.split('mine').length > 2)
    const read = await run('read', { sessionId })
    expect(textOf(read)).toMatch(/\nmine\n[^]*\[the person typed here: "echo mine\\r"\]$/)
    expect(textOf(await run('read', { sessionId }))).not.toContain('the person typed')
    const sent = await run('send', { sessionId, text: 'stty size' })
    expect(outcomeOf(sent)).toMatchObject({ viewport: 'stty size\n22 77\n$' })
    tab?.onClose()
    await until(() => seen.length > 0)
    expect(textOf(await run('read', { sessionId, count: 500 }))).toContain('mine')
    await run('close', { sessionId })
    expect(seen).toEqual([expect.stringMatching(/^end /) as string, 'dispose'])
    await application.dispose()
  })
})

describe.skipIf(cannotRun)('a send at its deadline', () => {
  it('gives what there is and does not kill', async () => {
    const application = await wholeApplication({
      settings: { 'permissions.defaultPreset': 'danger-full-access' },
      // The deadline of 30 s comes after one.
      alter: (world) => ({ ...world, clock: { ...world.clock, monotonicMs: () => world.clock.monotonicMs() * 30 } }),
    })
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    let calls = 0
    const run = (name: string, args: object) => application.ctx.tools.execute({ callId: `c${++calls}`, name: `terminal_${name}`, arguments: args, agent, signal: new AbortController().signal })
    const { sessionId } = outcomeOf(await run('open', { type: 'bash' })) as { readonly sessionId: string }
    const counted = async () => Number(/(\d+)\n*\[lines/.exec(textOf(await run('read', { sessionId })))?.[1])
    const sent = await run('send', { sessionId, text: 'for ((i = 0; ; i++)); do echo $i; done' })
    expect(outcomeOf(sent)).toMatchObject({ waitReason: 'timeout', sessionStatus: { kind: 'running' } })
    const before = await counted()
    await until(async () => (await counted()) > before)
    await run('signal', { sessionId, signal: 'SIGINT' })
    await until(async () => textOf(await run('send', { sessionId, text: 'echo alive-$((40+2))' })).includes('alive-42'))
    await application.dispose()
  }, 60_000)
})

describe.skipIf(cannotRun)('a terminal after a reload', () => {
  it('is named as closed, once, and its id is not given again', async () => {
    const application = await wholeApplication({ settings: { 'permissions.defaultPreset': 'danger-full-access' } })
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    agent.session.append({ type: 'terminal/opened', data: { id: 'pty-7', shell: 'bash', name: 'dev' }, ignorable: true })
    await agent.session.flush()
    const { ctx } = await application.restart()
    const resumed = await ctx.agents.resume(agent.id)
    expect(resumed.inbox.nextStep.map(({ content }) => content)).toEqual([[{ type: 'text', text: expect.stringMatching(/- pty-7 \[bash\] dev$/) as string }]])
    const opened = await ctx.tools.execute({ callId: 'c', name: 'terminal_open', arguments: { type: 'bash' }, agent: resumed, signal: new AbortController().signal })
    expect(outcomeOf(opened)).toMatchObject({ sessionId: 'pty-8' })
    await application.dispose()
  })
})

describe('where no terminal can be opened', () => {
  it('the tools are not there', async () => {
    const application = await wholeApplication({ alter: (world) => ({ ...world, terminals: { problem: 'none here', open: () => Promise.reject(new Error('never')) } }) })
    expect(application.ctx.tools.list(null).map(({ name }) => name).filter((name) => name.startsWith('terminal_'))).toEqual([])
    await application.dispose()
  })
})
