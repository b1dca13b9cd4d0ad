import type { Machine } from '../../capabilities/machine.ts'
import { MESSAGE_SEQUENCE } from '../../capabilities/terminal-screen.ts'
import type { TerminalProfile } from '../../capabilities/terminal-settings.ts'

/** How a shell is started at a terminal. */
export interface TerminalShell {
  readonly program: (nonce: string) => { readonly command: string; readonly args: readonly string[] }
  readonly env: (nonce: string) => Readonly<Record<string, string | null>>
}

const common = { TERM: 'xterm-256color', PAGER: 'cat', GIT_PAGER: 'cat', HISTFILE: null }

/**
 * The shells of this machine by the name a model asks for, each without the person's start-up files, and after them the profiles that
 * the person lets it use, which start as they say.
 *
 * Before each prompt bash and PowerShell say, in a sequence that no screen shows, that they wait for a line, the last exit code and their folder.
 * `!` and `^` mean nothing to it (`+H`): a line is judged as it is typed, and must not become another one by what was typed before.
 */
export function shellsOf({ platform, bash, pwsh }: Pick<Machine, 'platform' | 'bash' | 'pwsh'>, chosen: string | null, profiles: readonly TerminalProfile[] = []): ReadonlyMap<string, TerminalShell> {
  const shells = new Map<string, TerminalShell>()
  const bashPath = chosen !== null && /bash(\.exe)?$/.test(chosen) ? chosen : bash
  const pwshPath = chosen !== null && /(pwsh|powershell)(\.exe)?$/i.test(chosen) ? chosen : pwsh
  if (bashPath !== null) {
    shells.set('bash', {
      program: () => ({ command: bashPath, args: ['--noprofile', '--norc', '+H', '-i'] }),
      env: (nonce) => ({ ...common, PS1: '$ ', PS2: '> ', PROMPT_COMMAND: `printf '\\033]${MESSAGE_SEQUENCE};%s;prompt;%s;%s\\007' ${nonce} "$?" "$PWD"` }),
    })
  }
  if (platform !== 'win32') shells.set('sh', { program: () => ({ command: '/bin/sh', args: ['-i'] }), env: () => ({ ...common, PS1: '$ ', ENV: null }) })
  if (pwshPath !== null) shells.set('pwsh', { program: (nonce) => ({ command: pwshPath, args: ['-NoLogo', '-NoProfile', '-NoExit', '-Command', pwshPrompt(nonce)] }), env: () => common })
  // Their names are the person's; what is started under a name of ours is ours.
  for (const { name, command, args, environment } of profiles) {
    if (!shells.has(name)) shells.set(name, { program: () => ({ command, args }), env: () => ({ ...common, ...environment }) })
  }
  return shells
}

/** Whether the last statement succeeded has to be read before anything else changes it. Source: PowerShell, about_Prompts. */
const pwshPrompt = (nonce: string) =>
  `function global:prompt { $code = if ($?) { 0 } else { 1 }; [Console]::Write("$([char]27)]${MESSAGE_SEQUENCE};${nonce};prompt;$code;$($PWD.ProviderPath)$([char]7)"); 'PS> ' }`
