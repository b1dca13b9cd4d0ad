import { randomBytes } from 'node:crypto'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { ProcessRunner } from '../../capabilities/process.ts'
import type { Environment } from './environment.ts'

export interface LoginEnvironmentOptions {
  readonly processes: ProcessRunner
  readonly clock: Clock
  readonly logger: Logger
  readonly homeFolder: string
  /** Default: the environment of this process. */
  readonly environment?: Environment
  /** Default: the person's shell, as `SHELL` says. */
  readonly shell?: string
  readonly nodePath?: string
}

export interface LoginEnvironment {
  /** The host's environment until the person's shell has answered, then that with what a login adds. */
  current(): Environment
  /** Settles when the shell has answered or the limit has passed. Never rejects. */
  readonly resolved: Promise<void>
}

const limitMs = 10_000

/**
 * Ask the person's shell, once and in the background, for the environment of a login, for hosts that were started without
 * one (an editor from the dock of macOS). Commands never start a login shell themselves.
 * Source: design 6.1 "Shell start", capability specification 1 "VS Code mapping".
 */
export function createLoginEnvironment(options: LoginEnvironmentOptions): LoginEnvironment {
  const host = options.environment ?? process.env
  let current = host
  const resolved = askShell(options, host).then((login) => {
    if (login) current = { ...host, ...login }
  })
  return { current: () => current, resolved }
}

/** What only describes the asking shell itself. */
const ownNames = ['_', 'SHLVL', 'PWD', 'OLDPWD', 'ELECTRON_RUN_AS_NODE', 'BOSUN_RESOLVING_ENVIRONMENT']

async function askShell(options: LoginEnvironmentOptions, host: Environment): Promise<Environment | null> {
  const { processes, clock, logger, homeFolder, shell = host['SHELL'], nodePath = process.execPath } = options
  if (process.platform === 'win32' || shell === undefined || shell === '') return null
  // Start-up files may print anything; the answer stands between two words they cannot know.
  const word = randomBytes(12).toString('hex')
  const script = `process.stdout.write(${JSON.stringify(word)} + JSON.stringify(process.env) + ${JSON.stringify(word)})`
  const command = `'${nodePath.replaceAll("'", String.raw`'\''`)}' -e '${script}'`
  const limit = new AbortController()
  const cancel = clock.schedule(limitMs, () => limit.abort())
  try {
    const output: Uint8Array[] = []
    const running = await processes.start({
      command: shell,
      args: ['-l', '-i', '-c', command],
      cwd: homeFolder,
      env: { ELECTRON_RUN_AS_NODE: '1', BOSUN_RESOLVING_ENVIRONMENT: '1' },
      onOutput: (stream, chunk) => {
        if (stream === 'stdout') output.push(chunk)
      },
      signal: limit.signal,
      graceMs: 200,
    })
    const exit = await running.exit
    const answer = Buffer.concat(output).toString().split(word)[1]
    if (answer === undefined) {
      logger.warn('The login shell did not tell its environment; that of the host is used.', { shell, exitCode: exit.exitCode, signal: exit.signal, timedOut: limit.signal.aborted })
      return null
    }
    const login = JSON.parse(answer) as Record<string, string>
    for (const name of ownNames) delete login[name]
    return login
  } catch (error) {
    logger.warn('The login shell could not be asked for its environment; that of the host is used.', { shell, error })
    return null
  } finally {
    cancel()
  }
}
