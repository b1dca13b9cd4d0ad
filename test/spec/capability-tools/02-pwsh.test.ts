import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { ToolResult } from '../../../extension/core/tools/definition.ts'
import { terminalProblem } from '../../../extension/platform/node/direct-terminals.ts'
import { persistentPwsh } from '../../../extension/tools/shell/persistent-dialect.ts'
import { MAX_OUTPUT_CHARS } from '../../../extension/tools/shell/persistent-output.ts'
import { programOf, pwshDialect } from '../../../extension/tools/shell/shell-dialect.ts'
import { until } from '../../contract/process-runner.suite.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

const scriptOf = (command: string) => pwshDialect.argumentsFor(command).at(-1)

describe('what PowerShell is started with', () => {
  it('is no logo, no profile, no questions, and one argument that is a script: UTF-8 first, the command, then the native code of a failed end', () =>
    expect(pwshDialect.argumentsFor('git status')).toEqual([
      '-NoLogo',
      '-NoProfile',
      '-NonInteractive',
      '-Command',
      '$OutputEncoding = [System.Text.UTF8Encoding]::new($false); try { [Console]::OutputEncoding = $OutputEncoding } catch { $null = $_ }\n' +
        'git status\n\nif (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1 }',
    ]))
  it('sets the encoding on the first line alone, so that lines in errors are the command’s own plus one', () => expect(scriptOf('x')?.split('\n').indexOf('x')).toBe(1))
  it.each([
    ['param', 'param($a = 1)\n$a'],
    ['param after comments', '# what it does\n<# and\nhow #>\n  param ($a)'],
    ['an advanced function’s head', '[CmdletBinding()]\nparam()'],
    ['using', 'using namespace System.Text\n[Encoding]::UTF8'],
    ['#requires', '#requires -Version 7\n1'],
  ])('a command that begins with %s is a script block of its own', (_name, command) =>
    expect(scriptOf(command)?.split('\n').slice(1).join('\n')).toBe(`& ([ScriptBlock]::Create('${command}\n\nif (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1 }'))`))
  it.each(['$param = 1', 'parameters', 'useful', '# a comment\nGet-Item x', 'Get-Item param('])('%j is none of these', (command) => expect(scriptOf(command)).not.toContain('ScriptBlock'))
  it('quotes of every kind are doubled in such a block', () => expect(scriptOf("param($a)\n'it’s' + ‘x‘")).toContain("param($a)\n''it’’s'' + ‘‘x‘‘\n"))
  it('ends a command that ends in a line continuation', () => expect(scriptOf('Get-Item `')).toContain('Get-Item `\n\nif'))
  it('has a quiet environment without TERM', () => {
    expect(pwshDialect.env).toMatchObject({ NO_COLOR: '1', PAGER: 'cat', GIT_PAGER: 'cat' })
    expect(Object.keys(pwshDialect.env)).not.toContain('TERM')
  })
  it('says that a killed process has no signal', () => expect(pwshDialect.description).toMatch(/never a signal/))
})

describe('what PowerShell that stays is told', () => {
  it('at its start: a prompt of ours that nothing replaces, and no line editor', () =>
    expect(persistentPwsh.startArguments('abc')).toEqual([
      '-NoLogo',
      '-NoProfile',
      '-NoExit',
      '-Command',
      '$OutputEncoding = [System.Text.UTF8Encoding]::new($false); try { [Console]::OutputEncoding = $OutputEncoding } catch { $null = $_ }; ' +
        'Remove-Module PSReadLine -ErrorAction SilentlyContinue; ' +
        "$global:__bosun_nonce = ''; $global:__bosun_ready = 'abc'; " +
        'Set-Item function:global:prompt -Options ReadOnly -Value { ' +
        '$ok = $?; if ($null -ne $global:__bosun_ok) { $ok = $global:__bosun_ok }; ' +
        '$code = if ($ok) { 0 } elseif ($global:LASTEXITCODE) { $global:LASTEXITCODE } else { 1 }; ' +
        `if ($global:__bosun_ready) { [Console]::Write("$([char]27)]7137;$($global:__bosun_ready);ready$([char]7)"); $global:__bosun_ready = '' } ` +
        `elseif ($global:__bosun_nonce) { [Console]::Write("$([char]27)]7137;$($global:__bosun_nonce);end;$code;$($PWD.ProviderPath)$([char]7)"); $global:__bosun_nonce = '' }; ' ' }`,
    ]))
  it('for a command: it in Base64, so that no key of it acts before it runs, its success, and a marker before its output', () => {
    const lines = persistentPwsh.commandKeys('n1', "echo 'é'\n\u001b").split('\r')
    const encoded = Buffer.from("echo 'é'\n\u001b\n\n$global:__bosun_ok = $?").toString('base64')
    expect(lines).toEqual([
      `$__bosun_command = '${encoded}'`,
      "$global:__bosun_nonce = 'n1'; $global:__bosun_ok = $null; $global:LASTEXITCODE = 0; " +
        '[Console]::Write("$([char]27)]7137;n1;start$([char]7)"); . ([ScriptBlock]::Create([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String($__bosun_command))))',
      '',
    ])
  })
  it('no line is longer than a console takes', () => {
    const lines = persistentPwsh.commandKeys('n1', 'é'.repeat(9_000)).split('\r')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(2_100)
    const pieces = lines.flatMap((line) => /^\$__bosun_command \+?= '(.*)'$/.exec(line)?.[1] ?? [])
    expect(Buffer.from(pieces.join(''), 'base64').toString()).toMatch(/^é{9000}\n/)
  })
})

describe('the program of a shell is', () => {
  it.each([
    ['pwsh', null, 'found', 'found'],
    ['pwsh', '/opt/pwsh-preview', 'found', '/opt/pwsh-preview'],
    ['pwsh', 'C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe', null, 'C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe'],
    ['pwsh', '/bin/bash', 'found', 'found'],
    ['bash', '/opt/pwsh', '/bin/bash', '/bin/bash'],
    ['bash', '/opt/my-shell', '/bin/bash', '/opt/my-shell'],
    ['bash', 'C:\\pwsh\\bash.exe', null, 'C:\\pwsh\\bash.exe'],
  ] as const)('for %s, chosen %s, found %s: %s', (name, chosen, found, expected) => expect(programOf(name, chosen, found)).toBe(expected))
})

const cannotRun = process.platform === 'win32' || terminalProblem(import.meta.url) !== null
const fake = fileURLToPath(new URL('../../fixtures/fake-pwsh.mjs', import.meta.url))

describe.skipIf(cannotRun)('pwsh', () => {
  let application: WholeApplication
  let agent: Agent
  let folder: string
  let count = 0
  const withPwsh = (settings: object) =>
    wholeApplication({
      settings: { 'permissions.defaultPreset': 'danger-full-access', ...settings },
      alter: (world) => ({ ...world, machine: { ...world.machine, pwsh: join(world.machine.homeFolder, 'pwsh') } }),
    })
  beforeAll(async () => {
    application = await withPwsh({ 'shell.offered': 'both' })
    const home = join(application.folder, '..')
    await writeFile(join(home, 'pwsh'), `#!/bin/sh\nexec "${process.execPath}" "${fake}" "${join(home, 'starts')}" "$@"\n`)
    await chmod(join(home, 'pwsh'), 0o755)
  })
  afterAll(() => application.dispose())
  beforeEach(async () => {
    folder = join(application.folder, `case-${++count}`)
    await mkdir(folder)
  })
  const created = async (preset: string) => {
    agent = await application.ctx.agents.create({ cwd: folder, preset })
    agent.session.append({ type: 'turn/start', data: { turn: 1 } })
    return agent
  }
  const run = (args: object, more: { readonly signal?: AbortSignal; readonly onProgress?: (text: string) => void } = {}): Promise<ToolResult> =>
    application.ctx.tools.execute({ callId: `call-${++count}`, name: 'pwsh', arguments: args, agent, signal: new AbortController().signal, ...more })
  const lastStart = async () =>
    JSON.parse((await readFile(join(application.folder, '../starts'), 'utf8')).trim().split('\n').at(-1) ?? '{}') as { readonly args: readonly string[]; readonly cwd: string; readonly env: object }

  describe('is offered', () => {
    const offered = async (choice: string, platform: 'linux' | 'win32', preset = 'standard') => {
      const one = await wholeApplication({
        settings: { 'shell.offered': choice },
        alter: (world) => ({ ...world, machine: { ...world.machine, platform, bash: '/bin/bash', pwsh: '/opt/pwsh' } }),
      })
      const names = one.ctx.tools.schemas(one.ctx.presets.scopeOf(preset)).map(({ name }) => name)
      await one.dispose()
      return names.filter((name) => name === 'bash' || name === 'pwsh')
    }
    it.each([
      ['auto', 'linux', ['bash']],
      ['auto', 'win32', ['pwsh']],
      ['bash', 'win32', ['bash']],
      ['pwsh', 'linux', ['pwsh']],
      ['both', 'win32', ['bash', 'pwsh']],
    ] as const)('by the choice %s on %s: %j, one-shot and as the shell that stays', async (choice, platform, expected) => {
      expect(await offered(choice, platform)).toEqual(expected)
      expect(await offered(choice, platform, 'minimal')).toEqual(expected)
    })
  })

  describe('one-shot', () => {
    beforeEach(async () => {
      await created('standard')
      return async () => agent.dispose()
    })
    const text = async (command: string) => textOf(await run({ command, description: 'd' }))
    it('is started as it should, in the session’s folder', async () => {
      await text('echo x')
      expect(await lastStart()).toEqual({ args: pwshDialect.argumentsFor('echo x'), cwd: folder, env: { NO_COLOR: '1', PAGER: 'cat', ...(process.env['TERM'] !== undefined && { TERM: process.env['TERM'] }) } })
    })
    it.each([
      ['non-ASCII output', 'echo "né 日本 😀"', 'né 日本 😀\r\n'],
      ['a clean end has no marker', 'native 3; echo x', 'x\r\n'],
      ['the native code of a failed end', 'native 3', '(no output)\n[exit code: 3]'],
      ['1 for a failed end without one', 'Write-Error bad', '[stderr]\nbad\r\n[exit code: 1]'],
      ['the command’s own exit', 'echo x; exit 7', 'x\r\n[exit code: 7]'],
      ['a command that begins with param()', "param($a)\necho 'x'", 'x\r\n'],
      ['the native code of a command that begins with param()', 'param($a)\nnative 5', '(no output)\n[exit code: 5]'],
    ])('%s', async (_name, command, expected) => expect(await text(command)).toBe(expected))
    it('a job of its own kind', async () => {
      const started = await run({ command: 'echo x', description: 'd', run_in_background: true })
      expect(outcomeOf(started)).toEqual({ kind: 'background', jobId: expect.stringMatching(/^pwsh-\d+$/) as string })
    })
    it('a stop ends it', async () => {
      const stop = new AbortController()
      let seen = ''
      const running = run({ command: 'echo begun; Start-Sleep 1000', description: 'd' }, { signal: stop.signal, onProgress: (more) => void (seen += more) })
      await until(() => seen.includes('begun'))
      stop.abort()
      expect(outcomeOf(await running)).toMatchObject({ code: 'ABORTED' })
    })
  })

  describe('that stays', () => {
    beforeEach(async () => {
      await created('minimal')
      return async () => agent.dispose()
    })
    const text = async (command: string) => outcomeOf(await run({ command }))
    it('takes the place of pwsh in the minimal preset, with one argument', () =>
      expect(Object.keys((application.ctx.tools.get('pwsh', agent.scope)?.parameters['properties'] ?? {}) as object)).toEqual(['command']))
    it('folder, variable and function persist', async () => {
      await mkdir(join(folder, 'sub'))
      expect(await text('Set-Location sub; $x = 7\nfunction f { echo "f$x" }')).toBe('(no output)')
      expect(await text('Get-Location; f')).toBe(`${folder}/sub\nf7\n`)
      expect(application.ctx.permissions.effectOf('pwsh', { command: 'rm x' }, agent.scope)).toEqual({ kind: 'shell', shell: 'pwsh', command: 'rm x', workdir: `${folder}/sub` })
    })
    it('the echo of what is typed is no output', async () => expect(await text(`echo '${'x'.repeat(5_000)}'`)).toBe(`${'x'.repeat(5_000)}\n`))
    it('reports the native code, or 0 or 1', async () => {
      expect(await text('native 3')).toBe('(no output)\n[exit code: 3]')
      expect(await text('native 3; echo x')).toBe('x\n')
      expect(await text('throw bad')).toBe('bad\n[exit code: 1]')
      expect(await text('native 3\nreturn')).toMatch(/exit code: 3/)
      expect(await text('echo x')).toBe('x\n')
    })
    it('a forged marker is ignored', async () => expect(await text('Raw `e]7137`s0000`send`s0`s/`aafter; native 1')).toBe('after\n[exit code: 1]'))
    it('exit 7 is told, and the next call has a fresh shell', async () => {
      await text('$x = 7')
      expect(await text('echo bye; exit 7')).toBe('bye\n[the shell ended with exit code 7. The next call starts a fresh shell.]')
      expect(await text('echo "[$x]"')).toBe('[]\n')
    })
    it('a question left open returns what it showed, and the next command answers it', async () => {
      expect(await text('Read-Host Name; echo "hi $answer"')).toBe('Name: \n[waits for input: the next command is typed to it]')
      expect(await text('me')).toMatch(/hi me\n$/)
    })
    it('a second call queues', async () => {
      let seen = ''
      const first = run({ command: 'echo begun; Start-Sleep 0.3; $x = 1' }, { onProgress: (more) => void (seen += more) })
      await until(() => seen.includes('begun'))
      const second = run({ command: 'echo "second $x"' })
      expect([outcomeOf(await first), outcomeOf(await second)]).toEqual(['begun\n', 'second 1\n'])
    })
    it('a stop discards and resets', async () => {
      const stop = new AbortController()
      let seen = ''
      await text('$x = 1')
      const running = run({ command: 'echo begun; Start-Sleep 1000' }, { signal: stop.signal, onProgress: (more) => void (seen += more) })
      await until(() => seen.includes('begun'))
      stop.abort()
      expect(outcomeOf(await running)).toMatchObject({ code: 'ABORTED' })
      expect(await text('echo "[$x]"')).toBe('[]\n')
    })
    it('output over the cap keeps both ends with a notice and the way to all of it', async () => {
      const shown = (await text('Count 20000')) as string
      expect([shown.startsWith('1\n2\n'), shown.endsWith('\n19999\n20000\n'), shown.length < MAX_OUTPUT_CHARS + 400]).toEqual([true, true, true])
      expect(await readFile(/All of it: (.+)\]/.exec(shown)?.[1] ?? '', 'utf8')).toMatch(/\n10000\r+\n/)
    })
  })
})
