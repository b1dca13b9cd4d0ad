import { MESSAGE_SEQUENCE } from '../../capabilities/terminal-screen.ts'
import { PWSH_PREAMBLE } from './shell-dialect.ts'

/** Characters of Base64 in one typed line: a console cuts long lines. */
const MAX_PIECE_CHARS = 2_000

/**
 * What PowerShell runs before its first prompt: plain lines without an editor that redraws them, UTF-8, and a prompt of ours.
 *
 * A prompt comes only when everything a line made has been shown, tables that are laid out late among it, and after every way a
 * command may end but the end of the shell. So it is the prompt that says how the command ended. A command cannot replace it.
 * Source: PowerShell, about_Prompts, about_Automatic_Variables (`$?`, `$LASTEXITCODE`).
 */
export const pwshInitialScript = (nonce: string): string =>
  [
    PWSH_PREAMBLE,
    'Remove-Module PSReadLine -ErrorAction SilentlyContinue',
    "$global:__bosun_nonce = ''",
    `$global:__bosun_ready = '${nonce}'`,
    `Set-Item function:global:prompt -Options ReadOnly -Value { ${prompt} }`,
  ].join('; ')

const prompt = [
  '$ok = $?',
  'if ($null -ne $global:__bosun_ok) { $ok = $global:__bosun_ok }',
  '$code = if ($ok) { 0 } elseif ($global:LASTEXITCODE) { $global:LASTEXITCODE } else { 1 }',
  `if ($global:__bosun_ready) { ${write("$($global:__bosun_ready);ready")}; $global:__bosun_ready = '' }`,
  `elseif ($global:__bosun_nonce) { ${write("$($global:__bosun_nonce);end;$code;$($PWD.ProviderPath)")}; $global:__bosun_nonce = '' }`,
  // An empty text would bring PowerShell's own prompt.
  "' '",
]
  .join('; ')
  .replace('; elseif', ' elseif')

/**
 * The lines that run one command. It is typed as Base64, so that no key of it is acted on before it runs, and run in the shell's own
 * scope, so that what it sets stays. Whether its last statement succeeded is noted where that is still known.
 */
export function pwshCommandLines(nonce: string, command: string): string {
  const bytes = new TextEncoder().encode(`${command}\n\n$global:__bosun_ok = $?`)
  const encoded = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  const pieces = encoded.match(new RegExp(`.{1,${MAX_PIECE_CHARS}}`, 'g')) ?? []
  const assigned = pieces.map((piece, index) => `$__bosun_command ${index === 0 ? '=' : '+='} '${piece}'\r`)
  const script = '[ScriptBlock]::Create([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String($__bosun_command)))'
  return `${assigned.join('')}$global:__bosun_nonce = '${nonce}'; $global:__bosun_ok = $null; $global:LASTEXITCODE = 0; ${write(`${nonce};start`)}; . (${script})\r`
}

/** A sequence of ours, written past the formatting of output. `data` is text of PowerShell in double quotes. */
function write(data: string): string {
  return `[Console]::Write("$([char]27)]${MESSAGE_SEQUENCE};${data}$([char]7)")`
}
