import { existsSync, readFileSync, statSync } from 'node:fs'
import { mkdir, open, readFile, rm, stat, writeFile, type FileHandle } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { run, startProgram, stopProgram } from './child-process.ts'
import { root } from './root.ts'

/*
 * A real VS Code (server and web workbench) from the npm package `code-server`, for machines that cannot download one.
 * It lives in `.vscode-test/`, which linked work trees share, is installed once, and needs Node 24, which is the one the npm scripts run.
 */
const codeServerVersion = '4.139.1'
/** Where the server, a downloaded editor and what `npm start` keeps are. */
export const vscodeCache = join(mainWorkTree(), '.vscode-test')
const installFolder = join(vscodeCache, 'code-server')
const vscodeFolder = join(installFolder, 'node_modules/code-server/lib/vscode')
const stampFile = join(installFolder, 'installed')
const stamp = `code-server ${codeServerVersion}, node ${process.version}\n`

export type ServerOptions = {
  /** 0 takes a free port. */
  readonly port: number
  /** Holds logs, machine settings and the global storage of extensions. */
  readonly dataDir: string
  readonly extensionsDir: string
  /** Lets a page run extension tests, and holds notification toasts back. */
  readonly withTestDriver?: boolean
  /** End by itself five minutes after the last window has gone, should nobody be left to stop it. */
  readonly endsWhenIdle?: boolean
  /** Without it every folder is trusted and nobody is asked. */
  readonly withWorkspaceTrust?: boolean
  /** Settings of the machine the extension host runs on. */
  readonly settings?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string | undefined>>
}

export type VscodeServer = {
  readonly port: number
  readonly url: string
  readonly pid: number
  /** The last lines the server has printed. */
  readonly output: () => string
  /** Resolves when the server has ended, whoever ended it. */
  readonly ended: Promise<void>
  readonly stop: () => Promise<void>
}

/** Install the server unless it is there. `report` gets a line for each thing that takes a while. */
export async function installVscodeServer(report: (line: string) => void): Promise<void> {
  if (await isInstalled()) return
  await mkdir(vscodeCache, { recursive: true })
  await withLock(join(vscodeCache, 'install.lock'), report, async () => {
    if (await isInstalled()) return
    const npm = (args: readonly string[], cwd: string, env = {}) =>
      run('npm', [...args, '--no-package-lock', '--loglevel=error', '--no-fund', '--no-audit'], { cwd, env: { ...cleanNpmEnv(), ...env } })
    await rm(installFolder, { recursive: true, force: true })
    await mkdir(installFolder, { recursive: true })
    await writeFile(join(installFolder, 'package.json'), '{ "private": true }\n')
    report(`Installing VS Code's server (code-server ${codeServerVersion}), once, about a minute`)
    await npm(['install', `code-server@${codeServerVersion}`, '--ignore-scripts'], installFolder)
    report('Installing its libraries')
    await npm(['install', '--omit=dev', '--ignore-scripts'], vscodeFolder)
    report('Compiling its two native libraries')
    const env = { npm_config_nodedir: await nodeHeaders(npm) }
    await npm(['rebuild', '@vscode/spdlog', '@vscode/native-watchdog'], vscodeFolder, env)
    report('Installing its language services')
    await npm(['install', '--omit=dev', '--ignore-scripts'], join(vscodeFolder, 'extensions'))
    await writeFile(stampFile, stamp)
  })
}

/** Start the installed server on loopback and wait until it answers. */
export async function startVscodeServer(options: ServerOptions): Promise<VscodeServer> {
  await writeMachineSettings(options.dataDir, options.settings ?? {})
  await mkdir(options.extensionsDir, { recursive: true })
  const child = startProgram(
    process.execPath,
    [
      join(vscodeFolder, 'out/server-main.js'),
      ...['--host', '127.0.0.1', '--port', String(options.port)],
      ...['--server-data-dir', options.dataDir, '--extensions-dir', options.extensionsDir],
      ...['--without-connection-token', '--accept-server-license-terms', '--telemetry-level', 'off'],
      ...(options.endsWhenIdle === true ? ['--enable-remote-auto-shutdown'] : []),
      ...(options.withTestDriver === true ? ['--enable-smoke-test-driver'] : []),
      ...(options.withWorkspaceTrust === true ? [] : ['--disable-workspace-trust']),
    ],
    { env: { ...editorEnv(), ...options.env }, stdio: 'pipe' },
  )
  let output = ''
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const listening = new Promise<number>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-20_000)
      const port = /Extension host agent listening on (\d+)/.exec(output)?.[1]
      if (port !== undefined) resolve(Number(port))
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('error', reject)
    void ended.then(() => reject(new Error(`The VS Code server ended before it listened:\n${output}`)))
  })
  const stop = () => stopProgram(child)
  try {
    const port = await within(60_000, listening, () => `The VS Code server did not listen within a minute:\n${output}`)
    const url = `http://127.0.0.1:${port}`
    await within(60_000, untilAnswers(url), () => `The VS Code server did not answer at ${url} within a minute:\n${output}`)
    return { port, url, pid: child.pid!, output: () => output, ended, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Install a packaged extension into `extensionsDir`, as a person would from the command line. */
export async function installExtension({ vsix, dataDir, extensionsDir }: { vsix: string; dataDir: string; extensionsDir: string }): Promise<void> {
  await mkdir(extensionsDir, { recursive: true })
  await changeExtensions(['--install-extension', vsix, '--force'], { dataDir, extensionsDir })
}

/** Take an extension out of `extensionsDir` by its id, as a person would from the command line; a window learns of it when it is reloaded. */
export async function uninstallExtension({ id, dataDir, extensionsDir }: { id: string; dataDir: string; extensionsDir: string }): Promise<void> {
  await changeExtensions(['--uninstall-extension', id], { dataDir, extensionsDir })
}

async function changeExtensions(args: readonly string[], { dataDir, extensionsDir }: { dataDir: string; extensionsDir: string }): Promise<void> {
  await run(
    process.execPath,
    [join(vscodeFolder, 'out/server-main.js'), ...args, '--accept-server-license-terms', ...['--server-data-dir', dataDir, '--extensions-dir', extensionsDir]],
    { env: editorEnv() },
  )
}

/** Linked work trees share the cache of the main one. */
function mainWorkTree(): string {
  const git = join(root, '.git')
  if (!statSync(git, { throwIfNoEntry: false })?.isFile()) return root
  const common = /^gitdir: (.*)\/\.git\/worktrees\/[^/]+$/m.exec(readFileSync(git, 'utf8'))?.[1]
  return common === undefined ? root : resolve(root, common)
}

const isInstalled = async () => existsSync(stampFile) && (await readFile(stampFile, 'utf8')) === stamp

/** Headers of the running Node for compiling native libraries: beside it, else from the npm package that ships both. */
async function nodeHeaders(npm: (args: readonly string[], cwd: string) => Promise<void>): Promise<string> {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const folder = join(vscodeCache, 'node-headers')
  const headers = join(folder, 'node_modules', name)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n')
  await npm(['install', `${name}@${process.versions.node}`, '--ignore-scripts'], folder)
  return headers
}

async function writeMachineSettings(dataDir: string, settings: Readonly<Record<string, unknown>>): Promise<void> {
  const folder = join(dataDir, 'data/Machine')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'settings.json'), `${JSON.stringify(settings, null, 2)}\n`)
}

/** Variables of npm and of an editor this runs in would change how another npm or editor starts. */
function cleanNpmEnv(): Record<string, undefined> {
  const names = Object.keys(process.env).filter((name) => /^npm_(package|lifecycle|config_(local_prefix|prefix|global|omit|include))/.test(name))
  return Object.fromEntries([...names, 'INIT_CWD', 'NODE_ENV'].map((name) => [name, undefined]))
}

function editorEnv(): Record<string, undefined> {
  const names = Object.keys(process.env).filter((name) => /^(VSCODE_|ELECTRON_|npm_)/.test(name))
  return Object.fromEntries([...names, 'NODE_OPTIONS', 'INIT_CWD', 'NODE_ENV', 'NODE_TEST_CONTEXT'].map((name) => [name, undefined]))
}

async function untilAnswers(url: string): Promise<void> {
  for (;;) {
    try {
      const response = await fetch(url)
      await response.arrayBuffer()
      if (response.ok) return
    } catch {
      // Not yet: the caller's time limit ends the wait.
    }
    await sleep(100)
  }
}

async function within<T>(limitMs: number, work: Promise<T>, message: () => string): Promise<T> {
  const controller = new AbortController()
  const limit = sleep(limitMs, undefined, { signal: controller.signal }).then(() => {
    throw new Error(message())
  })
  limit.catch(() => undefined)
  try {
    return await Promise.race([work, limit])
  } finally {
    controller.abort()
  }
}

/** Run `work` while holding a lock file; one that is older than ten minutes was left by a crash. */
async function withLock(path: string, report: (line: string) => void, work: () => Promise<void>): Promise<void> {
  let handle: FileHandle | undefined
  for (let isFirst = true; handle === undefined; isFirst = false) {
    try {
      handle = await open(path, 'wx')
    } catch {
      const ageMs = Date.now() - ((await stat(path).catch(() => undefined))?.mtimeMs ?? 0)
      if (ageMs > 600_000) await rm(path, { force: true })
      if (isFirst) report('Waiting for another install to end')
      await sleep(500)
    }
  }
  try {
    await work()
  } finally {
    await handle.close()
    await rm(path, { force: true })
  }
}
