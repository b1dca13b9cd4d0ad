import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, lstat, realpath } from 'node:fs/promises'
import { homedir, tmpdir, userInfo } from 'node:os'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import type { Carrier, Machine } from '../../capabilities/machine.ts'
import type { Environment } from './environment.ts'

export interface NodeMachineOptions {
  /** Settings of the person; they go before what is found. */
  readonly bashPath?: string
  readonly pwshPath?: string
  readonly environment?: Environment
  /** Absent: `BOSUN_HOME`, else `.bosun` in the person's home folder. */
  readonly userFolder?: string
  /** For tests. */
  readonly platform?: NodeJS.Platform
  readonly exists?: (path: string) => Promise<boolean>
}

/** Looks for the shells once. Source: capability specification 1 "Shell choice", 2 "Executable resolution". */
export async function createNodeMachine(options: NodeMachineOptions = {}): Promise<Machine> {
  const { environment = process.env, platform = process.platform } = options
  const exists = options.exists ?? (platform === 'win32' ? isThere : isExecutable)
  const find = async (candidates: readonly (string | undefined)[]) => {
    for (const path of candidates) if (path !== undefined && (await exists(path))) return path
    return null
  }
  const onPath = (program: string) => pathEntries(environment).map((folder) => join(folder, program))
  const isWindows = platform === 'win32'
  const [bash, pwsh, tempFolder] = await Promise.all([
    find([options.bashPath, ...(isWindows ? gitBashes(environment) : ['/bin/bash', ...onPath('bash')])]),
    find([options.pwshPath, ...(isWindows ? [...powerShell7(environment), ...onPath('pwsh.exe'), ...windowsPowerShell(environment)] : onPath('pwsh'))]),
    // A folder that is not there, or may not be looked at, keeps nobody from working.
    realpath(tmpdir()).catch(() => resolve('/', tmpdir())),
  ])
  const home = homeFolder()
  return {
    platform: isWindows ? 'win32' : platform === 'darwin' ? 'darwin' : 'linux',
    arch: process.arch,
    homeFolder: home,
    userFolder: options.userFolder ?? (environment['BOSUN_HOME'] || join(home, '.bosun')),
    tempFolder,
    bash,
    pwsh,
    // Of the random numbers that Node draws ahead: each call of a tool takes one.
    randomId: () => randomUUID().replaceAll('-', ''),
    sha256: (bytes) => createHash('sha256').update(bytes).digest('hex'),
    createCarrier,
  }
}

/**
 * The person's home folder, absolute.
 *
 * Where the environment names none, or one below whatever folder is the current one, the system's own list of people counts: what is
 * read as the person's must never come out of a project.
 */
export function homeFolder(): string {
  const named = homedir()
  if (isAbsolute(named)) return named
  try {
    return resolve('/', userInfo().homedir)
  } catch {
    // Nobody of this number is known to the system, as in some containers.
    return resolve('/')
  }
}

/** Windows tools write quotes around entries. */
function pathEntries(environment: Environment): readonly string[] {
  const path = Object.entries(environment).find(([name]) => name.toUpperCase() === 'PATH')?.[1] ?? ''
  return path
    .split(delimiter)
    .map((entry) => entry.replace(/^"(.*)"$/, '$1'))
    .filter((entry) => entry !== '')
}

/** `bash.exe` on PATH is usually that of WSL, which sees other files; Git's is meant. */
function gitBashes(environment: Environment): readonly string[] {
  const roots = [environment['ProgramFiles'], environment['ProgramFiles(x86)'], environment['LocalAppData'] && join(environment['LocalAppData'], 'Programs')]
  const besideGit = pathEntries(environment)
    .filter((entry) => /[\\/]git[\\/]cmd[\\/]?$/i.test(entry))
    .map((entry) => join(entry, '..'))
  const installed = roots.flatMap((root) => (root === undefined || root === '' ? [] : [join(root, 'Git')]))
  return [...installed, ...besideGit].map((git) => join(git, 'bin', 'bash.exe'))
}

function powerShell7(environment: Environment): readonly string[] {
  const root = environment['ProgramFiles']
  return root === undefined ? [] : [join(root, 'PowerShell', '7', 'pwsh.exe')]
}

function windowsPowerShell(environment: Environment): readonly string[] {
  const root = environment['SystemRoot']
  return root === undefined ? [] : [join(root, 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe')]
}

/** Programs of the Windows store are links that can be started but not followed. */
const isThere = (path: string) =>
  lstat(path).then(
    (facts) => !facts.isDirectory(),
    () => false,
  )

const isExecutable = (path: string) =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  )

function createCarrier<T>(): Carrier<T> {
  const storage = new AsyncLocalStorage<T>()
  return { run: (value, work) => storage.run(value, work), current: () => storage.getStore() }
}
