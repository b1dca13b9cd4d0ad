import { commandLines, initialLine } from './persistent-line.ts'
import { pwshCommandLines, pwshInitialScript } from './persistent-pwsh.ts'
import { bashDialect, pwshDialect } from './shell-dialect.ts'

/**
 * How a shell that stays is started and told to run a command.
 *
 * It writes `nonce;ready` once it takes commands, and around the output of each command `nonce;start` and `nonce;end;code;folder`, each
 * as a sequence of our own, with a new nonce each time.
 */
export interface PersistentDialect {
  readonly name: 'bash' | 'pwsh'
  readonly description: string
  readonly env: Readonly<Record<string, string>>
  readonly startArguments: (nonce: string) => readonly string[]
  /** Typed when it has just been started. */
  readonly initialKeys: (nonce: string) => string
  readonly commandKeys: (nonce: string, command: string) => string
  /** The key that takes back what stands on the line. */
  readonly clearLine: string
}

const describe = (shell: string, kept: string) =>
  `Run a command in your shell. It is one ${shell} at a terminal that stays: the folder, ${kept} are kept between calls. ` +
  'A command that waits for input returns what it has shown, and the next command is typed to it. Of long output you get both ends and the path of all of it.'

export const persistentBash: PersistentDialect = {
  name: 'bash',
  description: describe('bash', 'variables, functions and background programs'),
  env: bashDialect.env,
  startArguments: () => ['--noprofile', '--norc', '--noediting', '-i'],
  initialKeys: initialLine,
  commandKeys: commandLines,
  clearLine: '\u0015',
}

export const persistentPwsh: PersistentDialect = {
  name: 'pwsh',
  description: describe('PowerShell', 'variables, functions and background jobs'),
  env: pwshDialect.env,
  startArguments: (nonce) => ['-NoLogo', '-NoProfile', '-NoExit', '-Command', pwshInitialScript(nonce)],
  initialKeys: () => '',
  commandKeys: pwshCommandLines,
  clearLine: '\u001b',
}
