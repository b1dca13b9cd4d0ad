import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect } from 'vitest'
import type { TerminalHost, TerminalProcess, TerminalSpec } from '../../extension/capabilities/terminal.ts'
import { isRunning, until } from './process-runner.suite.ts'

export interface TerminalContract {
  readonly describe: (name: string, body: () => void) => void
  readonly it: (name: string, body: () => Promise<void>, timeoutMs?: number) => void
  readonly after: (body: () => Promise<void>) => void
  create(environment: Readonly<Record<string, string>>): { readonly terminals: TerminalHost; dispose(): Promise<void> }
}

/** What every host of terminals promises. */
export function terminalContract({ describe, it, after, create }: TerminalContract): void {
  const environment = { PATH: process.env['PATH'] ?? '', MY_API_KEY: 'k', MY_PLAIN: 'p' }
  const { terminals, dispose } = create(environment)
  after(dispose)
  const bash = { command: '/bin/bash', args: ['--noprofile', '--norc', '--noediting'], cwd: tmpdir(), env: { TERM: 'dumb', PS1: '$ ', HISTFILE: null }, size: { columns: 80, rows: 24 } }
  const open = async (over: Partial<TerminalSpec> = {}, host = terminals) => {
    let output = ''
    const decoder = new TextDecoder()
    const terminal = await host.open({ ...bash, onOutput: (chunk) => void (output += decoder.decode(chunk, { stream: true })), ...over })
    return {
      terminal,
      output: () => output,
      shows: (text: string) => until(() => output.includes(text)),
      type: (text: string) => terminal.write(`${text}\r`),
    }
  }
  const script = (text: string, more: Partial<TerminalSpec> = {}) => open({ args: ['-c', text], ...more })
  const ended = async ({ exit, pid }: TerminalProcess) => {
    const facts = await exit
    await until(() => !isRunning(pid))
    return facts
  }

  describe('a program at a terminal', () => {
    it('has one, of the size it was given, in the folder it was given', async () => {
      const { terminal, output } = await script('test -t 0 && test -t 1 && test -t 2 && stty size && pwd', { size: { columns: 71, rows: 13 } })
      expect(await ended(terminal)).toEqual({ exitCode: 0, signal: null, wasTerminated: false })
      expect(output()).toBe(`13 71\r\n${tmpdir()}\r\n`)
    })
    it('learns of a new size', async () => {
      const { terminal, shows, type } = await open()
      await terminal.resize({ columns: 99, rows: 44 })
      await type('stty size')
      await shows('44 99')
      await terminal.terminate()
    })
    it('has an exit code', async () => expect(await ended((await script('exit 3')).terminal)).toEqual({ exitCode: 3, signal: null, wasTerminated: false }))
    it('that kills itself has a signal', async () => expect(await ended((await script('kill -KILL $$')).terminal)).toEqual({ exitCode: null, signal: 'SIGKILL', wasTerminated: false }))
    it('reads what is typed', async () => {
      const { terminal, output, shows, type } = await script('read -p "name? " x; echo "hi $x"')
      await shows('name? ')
      await type('né')
      await ended(terminal)
      expect(output()).toContain('hi né\r\n')
    })
    it('has no secrets of the host and what the call adds', async () => {
      const { terminal, output } = await script('echo "[$MY_API_KEY][$MY_PLAIN][$ADDED]"', { env: { ADDED: 'a' } })
      await ended(terminal)
      expect(output()).toBe('[][p][a]\r\n')
    })
    it('passes its bytes on as they are', async () => {
      const chunks: Uint8Array[] = []
      const { terminal } = await script("printf '\\377\\303'; printf '\\251'", { onOutput: (chunk) => void chunks.push(chunk) })
      await ended(terminal)
      expect(Buffer.concat(chunks).toString('hex')).toBe('ffc3a9')
    })
    it('that ended takes no keys and no size, and nobody minds', async () => {
      const { terminal } = await script('true')
      await ended(terminal)
      await terminal.write('x')
      await terminal.resize({ columns: 10, rows: 10 })
      expect(await terminal.foreground()).toEqual({ group: null, isShell: null, isReading: null })
      await expect(terminal.signalForeground('SIGINT')).rejects.toMatchObject({ code: 'ENDED' })
    })
  })

  describe('what cannot be started', () => {
    const fails = (over: Partial<TerminalSpec>, message: RegExp) => expect(open(over)).rejects.toMatchObject({ code: 'SPAWN_FAILED', message: expect.stringMatching(message) as string })
    it('a missing program', () => fails({ command: 'no-such-program' }, /no-such-program/))
    it('a missing folder', () => fails({ cwd: '/no/such/folder' }, /\/no\/such\/folder does not exist/))
    it('a folder that is a file', () => fails({ cwd: '/etc/passwd' }, /is not a folder/))
  })

  describe('signals', () => {
    it('go to the program in the foreground, not to its shell', async () => {
      const { terminal, shows, type } = await open()
      await type('sleep 1000; echo "over $?"')
      await until(async () => (await terminal.foreground()).isShell === false)
      const { group } = await terminal.foreground()
      expect(await terminal.signalForeground('SIGINT')).toBe(group)
      await until(async () => (await terminal.foreground()).isShell === true)
      await type('echo alive-$((40+2))')
      await shows('alive-42')
      await terminal.terminate()
    })
    it('SIGKILL is refused where it would hit the shell', async () => {
      const { terminal, shows } = await open()
      await shows('$ ')
      await expect(terminal.signalForeground('SIGKILL')).rejects.toMatchObject({ code: 'SHELL_PROTECTED' })
      await terminal.terminate()
    })
  })

  describe('the foreground', () => {
    it('shows whether somebody waits for keys', async () => {
      if (!existsSync('/proc/self/syscall')) return
      const { terminal, shows, type } = await open()
      await shows('$ ')
      await until(async () => (await terminal.foreground()).isReading === true)
      await type('sleep 1000')
      await until(async () => (await terminal.foreground()).isShell === false)
      expect((await terminal.foreground()).isReading).toBe(false)
      await terminal.signalForeground('SIGTERM')
      await type('cat')
      await until(async () => {
        const { isShell, isReading } = await terminal.foreground()
        return isShell === false && isReading === true
      })
      await terminal.terminate()
    })
  })

  describe('a key that is typed', () => {
    it('is shown, hidden as at a question for a password, or the program’s', async () => {
      const { terminal, shows, type } = await script('read -p "name? " x; stty -echo; read -p "password? " y; stty echo -icanon; read -p "menu? " z; stty sane; exit 0')
      await shows('name? ')
      await until(async () => (await terminal.keyEcho()) === 'shown')
      await type('me')
      await shows('password? ')
      await until(async () => (await terminal.keyEcho()) === 'hidden')
      await type('secret')
      await shows('menu? ')
      await until(async () => (await terminal.keyEcho()) === 'program')
      await type('q')
      await ended(terminal)
      expect(await terminal.keyEcho()).toBe(null)
    })
  })

  describe('held output', () => {
    it('makes the program wait, and is whole afterwards', async () => {
      let bytes = 0
      const spec = { onOutput: (chunk: Uint8Array) => void (bytes += chunk.length) }
      const { terminal } = await script('read x; head -c 3000000 /dev/zero | tr "\\0" x; read y', spec)
      terminal.pauseOutput()
      await terminal.write('\r')
      await until(async () => (await terminal.foreground()).isReading === false)
      const held = bytes
      // A program that is held can never have come to its last line.
      expect(held).toBeLessThan(3_000_000)
      terminal.resumeOutput()
      await until(() => bytes >= 3_000_000)
      await terminal.terminate()
    }, 30_000)
  })

  describe('ending', () => {
    it('takes jobs in groups of their own along, also those that ignore HUP and TERM', async () => {
      const { terminal, output, type } = await open({ graceMs: 100 })
      await type(`(trap '' HUP TERM; echo "pid=$BASHPID."; while :; do sleep 0.05; done) &`)
      await until(() => /pid=\d+\./.test(output()))
      await type('sleep 1000')
      await until(async () => (await terminal.foreground()).isShell === false)
      const { group } = await terminal.foreground()
      await Promise.all([terminal.terminate(), terminal.terminate()])
      const [, job = ''] = /pid=(\d+)\./.exec(output()) ?? []
      expect([terminal.pid, Number(job), group ?? 0].map(isRunning)).toEqual([false, false, false])
      expect((await terminal.exit).wasTerminated).toBe(true)
    })
    it('reaches a stopped job', async () => {
      const { terminal, type } = await open({ graceMs: 5000 })
      await type('sleep 1000')
      await until(async () => (await terminal.foreground()).isShell === false)
      const { group } = await terminal.foreground()
      await terminal.signalForeground('SIGTSTP')
      await until(async () => (await terminal.foreground()).isShell === true)
      await terminal.terminate()
      expect(isRunning(group ?? 0)).toBe(false)
    })
    it('of the host ends every terminal', async () => {
      const own = create(environment)
      const { terminal } = await open({}, own.terminals)
      await own.dispose()
      expect(isRunning(terminal.pid)).toBe(false)
      expect((await terminal.exit).wasTerminated).toBe(true)
      await expect(open({}, own.terminals)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    })
    it('of the host ends daemons too that were started at a terminal and outlived it', async () => {
      if (process.platform !== 'linux') return
      const own = create(environment)
      const { terminal, output, type } = await open({ graceMs: 100 }, own.terminals)
      await type(`setsid -f bash -c 'echo "pid=$$."; exec sleep 1000'; echo`)
      await until(() => /pid=\d+\./.test(output()))
      const daemon = Number(/pid=(\d+)\./.exec(output())?.[1])
      await terminal.terminate()
      expect(isRunning(daemon)).toBe(true)
      await own.dispose()
      expect(isRunning(daemon)).toBe(false)
    })
    it('many leave nothing behind', async () => {
      const many = await Promise.all(Array.from({ length: 8 }, () => open()))
      await Promise.all(many.map(({ terminal }) => terminal.terminate()))
      expect(many.map(({ terminal }) => isRunning(terminal.pid))).toEqual(many.map(() => false))
    })
  })
}
