// One start of an extension in a process of its own, as an extension host does it. Prints what it cost as JSON.
// Usage: node activation-run.cjs ENTRY FOLDER STORAGE [VIEW]; with VIEW it is opened too, up to the first state on its page.
// With `--compile ENTRY`: what it costs to read and compile the file, and nothing more.
const { readFileSync, statSync } = require('node:fs')
const Module = require('node:module')
const { compileFunction } = require('node:vm')
const { contextOf, createFakeVscode, viewOf } = require('./fake-vscode.cjs')

const [entry, folder, storage, view] = process.argv.slice(2)

// An extension host has long loaded these.
for (const name of ['child_process', 'crypto', 'fs/promises', 'http', 'https', 'net', 'os', 'url', 'util', 'worker_threads', 'zlib']) require(`node:${name}`)

const compile = (path) => {
  const begin = performance.now()
  compileFunction(readFileSync(path, 'utf8'), ['exports', 'require', 'module', '__filename', '__dirname'], { filename: path })
  return { ms: performance.now() - begin }
}

const loaded = () => Object.keys(require.cache)
const bytesOf = (files) => files.reduce((sum, file) => sum + statSync(file).size, 0)

const start = async () => {
  const { vscode, calls, views } = createFakeVscode()
  const load = Module._load
  Module._load = (request, ...rest) => (request === 'vscode' ? vscode : load(request, ...rest))
  const context = contextOf(folder, storage)
  const before = new Set(loaded())
  const [begin, used] = [performance.now(), process.threadCpuUsage()]
  await require(entry).activate(context)
  const [ms, { user, system }] = [performance.now() - begin, process.threadCpuUsage(used)]
  const files = loaded().filter((file) => !before.has(file))
  const activation = { ms, cpuMs: (user + system) / 1e3, files: files.length, bytes: bytesOf(files), calls: [...calls] }
  if (view === undefined) return { activation }
  const openedMs = await open(views.get(view))
  return { activation, opening: { ms: openedMs, bytes: bytesOf(loaded().filter((file) => !before.has(file) && !files.includes(file))) } }
}

/** Milliseconds from the moment at which the editor asks for the view to the first whole state that its page is told. */
const open = (provider) =>
  new Promise((resolve, reject) => {
    const begin = performance.now()
    setTimeout(() => reject(new Error('The page was told nothing for 60 s.')), 60_000)
    const page = viewOf(({ type }) => type === 'snapshot' && resolve(performance.now() - begin))
    provider.resolveWebviewView(page)
    page.say({ type: 'ready', version: 1 })
  })

const run = async () => (entry === '--compile' ? compile(folder) : start())

run().then(
  (result) => process.stdout.write(JSON.stringify(result), () => process.exit(0)),
  (error) => process.stderr.write(String(error?.stack ?? error), () => process.exit(1)),
)
