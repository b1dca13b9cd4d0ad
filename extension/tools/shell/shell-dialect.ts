/** How one shell is named, started and described. */
export interface ShellDialect {
  readonly name: 'bash' | 'pwsh'
  readonly description: string
  readonly env: Readonly<Record<string, string>>
  readonly argumentsFor: (command: string) => readonly string[]
}

/**
 * Programs that ask nobody: no pager, no editor, no question of git, apt or pip, and no colours. `CI` is not set: builds treat it as
 * a wish for other results, such as warnings that fail.
 */
const common = {
  NO_COLOR: '1', PAGER: 'cat', GIT_PAGER: 'cat', GIT_EDITOR: 'true', GIT_TERMINAL_PROMPT: '0', DEBIAN_FRONTEND: 'noninteractive', PIP_NO_INPUT: '1',
}

/** A fresh `bash -c`: not a login shell, not interactive, no start-up files. Source: capability specification 1, design 6.1. */
export const bashDialect: ShellDialect = {
  name: 'bash',
  description:
    'Run a command with bash. Each call is a fresh shell in the session’s folder: no folder, variable or function is kept. ' +
    'There is no input to type into. Of long output you get both ends and the path of all of it.',
  env: { ...common, TERM: 'dumb' },
  argumentsFor: (command) => ['-c', command],
}

/**
 * Output and pipes in UTF-8, which Windows PowerShell 5.1 would write in the console's old code page; one line, so that line numbers in
 * errors are the command's own plus one. Without a console there is no encoding to set, and none is needed.
 */
export const PWSH_PREAMBLE = '$OutputEncoding = [System.Text.UTF8Encoding]::new($false); try { [Console]::OutputEncoding = $OutputEncoding } catch { $null = $_ }'
/** The native code of a failed last statement, which `-Command` alone would flatten to 1. */
const PWSH_EPILOGUE = 'if (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1 }'

/** A fresh PowerShell without profile, in the place of bash on Windows. Source: capability specification 2. */
export const pwshDialect: ShellDialect = {
  name: 'pwsh',
  description:
    'Run a command with PowerShell. Each call is a fresh process in the session’s folder: nothing is kept between calls. ' +
    'There is no input to type into. ' +
    'A killed process shows exit code 1, never a signal. Of long output you get the end and the path of all of it.',
  env: common,
  argumentsFor: (command) => ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', pwshScript(command)],
}

/** What must stand first in a script stands first in a script block of its own; its `exit` ends the whole all the same. */
function pwshScript(command: string): string {
  // The empty line ends a command that ends in a line continuation.
  const body = `${command}\n\n${PWSH_EPILOGUE}`
  return `${PWSH_PREAMBLE}\n${beginsScript(command) ? `& ([ScriptBlock]::Create(${quotedForPwsh(body)}))` : body}`
}

const beginsScript = (command: string) => /^(?:\s|<#[^]*?#>|#(?!requires).*(?:\n|$))*(?:param\s*\(|using\s|#requires\s|\[CmdletBinding)/i.test(command)

/** Typographic quotes end a text in single quotes too. Source: PowerShell, about_Quoting_Rules. */
const quotedForPwsh = (text: string) => `'${text.replaceAll(/['\u2018-\u201b]/g, '$&$&')}'`

/** The program of a shell: the person's own choice where it is one of that kind, else the one that was found. */
export function programOf(name: ShellDialect['name'], chosen: string | null, found: string | null): string | null {
  return chosen !== null && /(?:pwsh|powershell)[^\\/]*$/i.test(chosen) === (name === 'pwsh') ? chosen : found
}
