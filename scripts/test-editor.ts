import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { run } from './child-process.ts'
import { chromiumArgs, findChromium } from './chromium.ts'
import { bundleEditorTests, editorTestsFile, eventsVariable, EditorTestLog } from './editor-tests.ts'
import { root } from './root.ts'
import { buildFixtureExtension, sampleId } from './fixture-extension.ts'
import { installVscodeServer, startVscodeServer, type VscodeServer } from './vscode-server.ts'

/*
 * Run the suites of test/editor inside the extension host of a real VS Code.
 *
 * Usage: `npm run test:editor -- [PART_OF_A_PATH] [--grep TITLE] [--verbose] [--no-build]`
 */
const limitMs = 20 * 60_000
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    grep: { type: 'string' },
    verbose: { type: 'boolean', default: false },
    'no-build': { type: 'boolean', default: false },
  },
})

await installVscodeServer(console.log)
const executablePath = await findChromium(console.log)
if (!values['no-build']) await run(process.execPath, [join(root, 'scripts/build.ts'), '--dev'])
await bundleEditorTests({ filter: positionals[0] ?? '', grep: values.grep })

const scratch = await mkdtemp(join(tmpdir(), 'bosun-editor-'))
const log = new EditorTestLog()
try {
  const folder = join(scratch, 'workspace')
  const eventsFile = join(scratch, 'events.jsonl')
  await cp(join(root, 'test/fixtures/workspace'), folder, { recursive: true })
  await mkdir(join(scratch, 'home'))
  // Names a vendor of language models, which only an extension can do. The page takes one extension under development, so this one is installed.
  await cp(join(root, 'test/fixtures/editor-models'), join(scratch, 'extensions', 'acme.acme-models-0.0.1'), { recursive: true })
  // Uses Bosun's API from beside it.
  await buildFixtureExtension('sample-extension', join(scratch, 'extensions', `${sampleId}-0.0.1`))
  const server = await startVscodeServer({
    port: 0,
    dataDir: join(scratch, 'data'),
    extensionsDir: join(scratch, 'extensions'),
    endsWhenIdle: true,
    withTestDriver: true,
    // The person's own settings are none of the tests' business.
    env: { [eventsVariable]: eventsFile, HOME: join(scratch, 'home'), USERPROFILE: join(scratch, 'home') },
  })
  try {
    await runInBrowser(server, folder, eventsFile)
  } finally {
    await server.stop()
  }
} finally {
  await rm(scratch, { recursive: true, force: true, maxRetries: 5 })
}
process.exitCode = await log.close('editor')

/** Open the workbench, which loads the extension and the suites, and follow the events until it says it is finished. */
async function runInBrowser({ url, port, output }: VscodeServer, folder: string, eventsFile: string): Promise<void> {
  const browser = await chromium.launch({ executablePath, args: chromiumArgs })
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    const remote = (path: string) => `vscode-remote://127.0.0.1:${port}${path}`
    const payload = JSON.stringify([
      ['extensionDevelopmentPath', remote(root)],
      ['extensionTestsPath', remote(editorTestsFile)],
    ])
    await page.exposeFunction('codeAutomationLog', (type: string, args: readonly unknown[]) => {
      if (values.verbose) console.log(`  [${type}]`, ...args)
    })
    const exited = Promise.withResolvers<number>()
    // It may be rejected before anybody waits for it; whoever waits is told all the same.
    exited.promise.catch(() => undefined)
    await page.exposeFunction('codeAutomationExit', (code: number) => exited.resolve(code))
    page.once('close', () => exited.reject(new Error('The workbench closed')))
    page.once('crash', () => exited.reject(new Error('The workbench crashed')))
    const limit = setTimeout(() => exited.reject(new Error(`The suites did not end within ${limitMs / 60_000} minutes`)), limitMs)
    const following = new AbortController()
    const followed = followEvents(eventsFile, following.signal)
    try {
      // On a busy machine the page takes its time; `limit` ends what hangs.
      await page.goto(`${url}/?folder=${encodeURIComponent(folder)}&payload=${encodeURIComponent(payload)}`, { timeout: limitMs, waitUntil: 'commit' })
      const code = await exited.promise
      following.abort()
      await followed
      // An exit code that no test accounts for is a failure of its own.
      if (code !== 0 && log.failed === 0) log.hasEnded = false
    } catch (error) {
      following.abort()
      await followed
      log.hasEnded = false
      console.log(error instanceof Error ? error.message : error)
      console.log(output())
      if (!page.isClosed()) await page.screenshot({ path: join(root, 'out', 'editor-tests.png') }).catch(() => undefined)
    } finally {
      clearTimeout(limit)
    }
  } finally {
    await browser.close()
  }
}

/** Hand what the suites append to the log, until `signal` says that nothing more will come. */
async function followEvents(file: string, signal: AbortSignal): Promise<void> {
  for (let readChars = 0, isLast = false; !isLast;) {
    isLast = signal.aborted
    const text = await readFile(file, 'utf8').catch(() => '')
    log.read(text.slice(readChars))
    readChars = text.length
    if (!isLast) await sleep(200, undefined, { signal }).catch(() => undefined)
  }
}
