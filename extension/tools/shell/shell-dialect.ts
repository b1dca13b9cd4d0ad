/** How one shell is named, started and described. */
export interface ShellDialect {
  readonly name: 'bash' | 'pwsh'
  readonly description: string
  readonly env: Readonly<Record<string, string>>
  readonly argumentsFor: (command: string) => readonly string[]
}

const common = { NO_COLOR: '1', PAGER: 'cat', GIT_PAGER: 'cat' }

/** A fresh `bash -c`: not a login shell, not interactive, no start-up files. Source: capability specification 1, design 6.1. */
export const bashDialect: ShellDialect = {
  name: 'bash',
  description:
    'Run a command with bash. Each call is a fresh shell in the session’s folder: no folder, variable or function is kept. ' +
    'There is no input to type into. Of long output you get the end and the path of all of it.',
  env: { ...common, TERM: 'dumb' },
  argumentsFor: (command) => ['-c', command],
}

/** Output and pipes in UTF-8; one line, so that line numbers in errors are the command's own plus one. */
const PWSH_PREAMBLE = '[Console]::OutputEncoding = $OutputEncoding = [System.Text.UTF8Encoding]::new($false)'
/** The native code of a failed last statement, which `-Command` alone would flatten to 1. */
const PWSH_EPILOGUE = 'if (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1 }'

/** A fresh PowerShell without profile, in the place of bash on Windows. Source: capability specification 2. */
export const pwshDialect: ShellDialect = {
  name: 'pwsh',
  description:
    'Run a command with PowerShell. Each call is a fresh process in the session’s folder: nothing is kept between calls. ' +
    'There is no input to type into. Wrap scripts that begin with param, using or #requires in & { … }. ' +
    'A killed process shows exit code 1, never a signal. Of long output you get the end and the path of all of it.',
  env: common,
  argumentsFor: (command) => ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', `${PWSH_PREAMBLE}\n${command}\n${PWSH_EPILOGUE}`],
}
