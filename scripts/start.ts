import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { run, startProgram } from './child-process.ts'
import { findDesktopEditor } from './desktop-editor.ts'
import { root } from './root.ts'
import { installExtension, installVscodeServer, startVscodeServer } from './vscode-server.ts'

/*
 * Open a VS Code with Bosun on a sample workspace, and keep it until Ctrl-C.
 *
 * Usage: `npm start [-- --code PATH] [--server] [--port N] [--no-open] [--data DIR]`. A desktop editor is used when there is one;
 * `--server`, `--port` and `--no-open` ask for the one in the browser. Sessions are kept from one start to the next;
 * the sample is laid out anew each time. Both are in `.vscode-test/start`, or where `--data` says.
 */
const { values } = parseArgs({
  options: {
    code: { type: 'string' },
    server: { type: 'boolean', default: false },
    port: { type: 'string' },
    'no-open': { type: 'boolean', default: false },
    data: { type: 'string', default: join(root, '.vscode-test', 'start') },
  },
})
const port = Number(values.port ?? 0)
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  console.error(`--port takes a number up to 65535, 0 for a free one; got ${values.port}.`)
  process.exit(2)
}

/** So that the chat is what one sees first, on a folder that needs no answer about trust. */
const settings = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'visible',
  'chat.disableAIFeatures': true,
  'extensions.ignoreRecommendations': true,
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'update.mode': 'none',
  'telemetry.telemetryLevel': 'off',
}

const home = resolve(values.data)
const folder = join(home, 'sample')
const showChat = join(root, 'scripts/show-chat')
const report = (line: string) => console.error(line)

report('Laying out the sample workspace')
await layOutSample()
const wantsServer = values.server || values.port !== undefined || values['no-open']
const editor = wantsServer && values.code === undefined ? undefined : findDesktopEditor(values.code)
if (values.code !== undefined && editor === undefined) {
  console.error(`There is no program at ${values.code}.`)
  process.exit(2)
}
await (editor === undefined ? openInBrowser() : openOnDesktop(editor))

async function openInBrowser(): Promise<void> {
  await installVscodeServer(report)
  report('Building and packing the extension')
  await run(process.execPath, [join(root, 'scripts/package.ts')])
  const vsix = join(root, 'dist', (await readdir(join(root, 'dist'))).find((name) => /^bosun-[\d.]+\.vsix$/.test(name))!)
  const dataDir = join(home, 'data')
  const extensionsDir = join(home, 'extensions')
  report('Installing the extension')
  await rm(extensionsDir, { recursive: true, force: true })
  // Where nothing is installed yet, the first installation takes in what lies there.
  await cp(showChat, join(extensionsDir, 'bosun.show-chat-0.1.0'), { recursive: true })
  await installExtension({ vsix, dataDir, extensionsDir })
  report('Starting VS Code')
  const server = await startVscodeServer({ port, dataDir, extensionsDir, settings })
  const url = `${server.url}/?folder=${encodeURI(folder)}`
  console.log(url)
  if (!values['no-open']) openUrl(url)
  report('Send "start" in the Bosun chat for a tour. Ctrl-C ends everything.')
  await server.ended
  report('VS Code has ended.')
  process.exitCode = 1
}

async function openOnDesktop(executable: string): Promise<void> {
  report('Building the extension')
  await run(process.execPath, [join(root, 'scripts/build.ts'), '--dev'])
  const userData = join(home, 'desktop')
  await mkdir(join(userData, 'User'), { recursive: true })
  const settingsFile = join(userData, 'User/settings.json')
  if (!existsSync(settingsFile)) await writeFile(settingsFile, `${JSON.stringify(settings, null, 2)}\n`)
  report(`Opening ${executable} on ${folder}`)
  const child = startProgram(
    executable,
    [
      ...['--user-data-dir', userData, '--extensions-dir', join(home, 'desktop-extensions')],
      ...[`--extensionDevelopmentPath=${root}`, `--extensionDevelopmentPath=${showChat}`, '--disable-workspace-trust', '--new-window', '--wait'],
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      folder,
    ],
    { stdio: 'inherit', env: { ELECTRON_RUN_AS_NODE: undefined } },
  )
  report('Send "start" in the Bosun chat for a tour. Ctrl-C ends everything.')
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}

/** A fresh copy, with a history of its own, so that source control has something to say. */
async function layOutSample(): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(home, { recursive: true })
  await cp(join(root, 'test/fixtures/workspace'), folder, { recursive: true })
  const git = (...args: readonly string[]) =>
    run('git', ['-c', 'user.name=Bosun', '-c', 'user.email=bosun@localhost', '-c', 'commit.gpgsign=false', ...args], { cwd: folder })
  await git('init', '-q')
  await git('add', '-A')
  await git('commit', '-q', '-m', 'Know the tides')
}

function openUrl(url: string): void {
  const [command, ...args] =
    process.platform === 'darwin' ? ['open', url] : process.platform === 'win32' ? ['cmd', '/c', 'start', '""', url] : ['xdg-open', url]
  // Without a browser to open, the printed address serves.
  spawn(command, args, { stdio: 'ignore', detached: true }).once('error', () => undefined).unref()
}
