// The first file of `dist/headless.js`: the program itself is read after Node knows where compiled code is kept, so that a start does not compile it anew.
import { existsSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The first Node that has what the program is written with. */
const NEEDED_NODE = 22

if (Number.parseInt(process.versions.node, 10) < NEEDED_NODE) await onInstalledNode()
else {
  // `NODE_COMPILE_CACHE` and `NODE_DISABLE_COMPILE_CACHE` keep their say. A folder that cannot be written costs the saved time, nothing else.
  // Where there is no home it stays off: below a folder that takes no new name, such as `/proc`, Node would try for ever to make one.
  if (existsSync(homedir())) module.enableCompileCache(join(cacheFolder(), 'bosun', 'compiled'))
  // A bundle of its own, of `headless.ts`.
  await import(new URL('./headless-program.js', import.meta.url).href)
}

/** Where this system keeps what may be deleted at any time; the person's own, so that nobody else can put code there. */
function cacheFolder(): string {
  if (process.platform === 'win32') return process.env['LOCALAPPDATA'] || join(homedir(), 'AppData', 'Local')
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches')
  return process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
}

/** The same on the Node that was installed beside the program, whose end is the end of this one. */
async function onInstalledNode(): Promise<void> {
  const node = installedNode()
  if (node === null) {
    process.stderr.write(`Bosun needs Node ${NEEDED_NODE} or newer, and this is ${process.version}. Start it by "npm run -s headless -- …", which brings its own.\n`)
    process.exitCode = 1
    return
  }
  const { spawn } = await import('node:child_process')
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // At a terminal, Ctrl-C has reached it already.
    process.on(signal, () => void ((signal !== 'SIGINT' || !process.stdin.isTTY) && child.kill(signal)))
  }
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)))
  })
}

function installedNode(): string | null {
  try {
    return createRequire(import.meta.url).resolve(process.platform === 'win32' ? 'node/bin/node.exe' : 'node/bin/node')
  } catch {
    // It is no part of the program, and only there where that was built.
    return null
  }
}
