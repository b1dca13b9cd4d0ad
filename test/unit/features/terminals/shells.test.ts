import { describe, expect, it } from 'vitest'
import { shellsOf } from '../../../../extension/features/terminals/shells.ts'
import { createFakeMachine } from '../../../support/fake-machine.ts'

describe('the shells of terminals', () => {
  const shells = (facts: Parameters<typeof createFakeMachine>[0], chosen: string | null = null) => shellsOf(createFakeMachine(facts), chosen)
  it.each([
    ['on Linux', {}, null, ['bash', 'sh']],
    ['with PowerShell', { pwsh: '/usr/bin/pwsh' }, null, ['bash', 'sh', 'pwsh']],
    ['on Windows', { platform: 'win32', bash: null, pwsh: 'powershell.exe' }, null, ['pwsh']],
    ['with one that the person named', { bash: null }, '/opt/bash', ['bash', 'sh']],
  ] as const)('%s', (_name, facts, chosen, expected) => expect([...shells(facts, chosen).keys()]).toEqual(expected))
  it('are followed by the profiles that the person allows, which start as they say; none takes a name of ours', () => {
    const profile = (name: string) => ({ name, command: '/usr/bin/zsh', args: ['-l'], environment: { A: 'b', PAGER: null } })
    const all = shellsOf(createFakeMachine({}), null, [profile('bash'), profile('My zsh')])
    expect([...all.keys()]).toEqual(['bash', 'sh', 'My zsh'])
    expect(all.get('bash')?.program('n').command).toBe('/bin/bash')
    expect([all.get('My zsh')?.program('n'), all.get('My zsh')?.env('n')]).toEqual([{ command: '/usr/bin/zsh', args: ['-l'] }, { TERM: 'xterm-256color', PAGER: null, GIT_PAGER: 'cat', HISTFILE: null, A: 'b' }])
  })
  it('are without the person’s start-up files, and keep no history', () => {
    const bash = shells({}).get('bash')
    expect(bash?.program('n')).toEqual({ command: '/bin/bash', args: ['--noprofile', '--norc', '+H', '-i'] })
    expect(bash?.env('n')).toMatchObject({ HISTFILE: null, PAGER: 'cat', PROMPT_COMMAND: `printf '\\033]7137;%s;prompt;%s;%s\\007' n "$?" "$PWD"` })
  })
  it('say at each prompt that they wait, PowerShell too', () =>
    expect(shells({ pwsh: '/usr/bin/pwsh' }).get('pwsh')?.program('n')).toEqual({
      command: '/usr/bin/pwsh',
      args: [
        '-NoLogo', '-NoProfile', '-NoExit', '-Command',
        `function global:prompt { $code = if ($?) { 0 } else { 1 }; [Console]::Write("$([char]27)]7137;n;prompt;$code;$($PWD.ProviderPath)$([char]7)"); 'PS> ' }`,
      ],
    }))
})
