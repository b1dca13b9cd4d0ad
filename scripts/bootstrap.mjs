import { spawn } from 'node:child_process'
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * What the doors of package.json do before anything is installed. Plain JavaScript: Node 20 has to run it as it is.
 */
export const root = dirname(dirname(fileURLToPath(import.meta.url)))

const isWindows = process.platform === 'win32'

/** Install the packages of the lock file, unless they are there. What npm prints goes to stderr. */
export async function ensureInstalled() {
  if (isInstalled()) return
  console.error('Installing packages')
  const code = await runToEnd(isWindows ? 'npm.cmd' : 'npm', ['ci', '--include=dev', '--loglevel=error', '--no-fund', '--no-audit'], ['ignore', 2, 2])
  if (code !== 0) {
    console.error('The packages could not be installed: see what npm said above.')
    process.exit(1)
  }
}

/**
 * Run a script of this project with the Node 24 that is installed with the packages, and end with its exit code.
 * Signals reach it first, so that it can stop what it started.
 */
export async function becomeScript(script, args, cwd = root) {
  process.exit(await runToEnd(installedNode(), [join(root, script), ...args], 'inherit', cwd))
}

export function installedNode() {
  return join(root, 'node_modules/node/bin', isWindows ? 'node.exe' : 'node')
}

/** Resolves with the exit code; a signal counts as shells count it. */
export function runToEnd(command, args, stdio, cwd = root) {
  const path = `${join(root, 'node_modules/.bin')}${isWindows ? ';' : ':'}${process.env.PATH}`
  const child = spawn(command, args, { cwd, stdio, env: { ...process.env, PATH: path }, shell: isWindows && command.endsWith('.cmd') })
  const forward = (signal) => {
    // At a terminal, Ctrl-C has reached the child already.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, forward)
  // npm does not always pass a signal on before it dies of it.
  const parent = process.ppid
  if (process.env.npm_lifecycle_event !== undefined && !isWindows) {
    setInterval(() => {
      if (process.ppid !== parent) forward('SIGTERM')
    }, 500).unref()
  }
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(error.message)
      resolve(1)
    })
    child.once('close', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)))
  })
}

/** Everything the lock file asks for is there in its version; what is optional may be missing. */
function isInstalled() {
  const folder = join(root, 'node_modules')
  if (!existsSync(installedNode())) return false
  // A linked folder belongs to another work tree, which keeps it up to date.
  if (lstatSync(folder).isSymbolicLink()) return true
  const wanted = readPackages(join(root, 'package-lock.json'))
  const present = readPackages(join(folder, '.package-lock.json'))
  return Object.entries(wanted).every(
    ([path, { version, optional, devOptional }]) => path === '' || optional || devOptional || present[path]?.version === version,
  )
}

function readPackages(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {}
}
