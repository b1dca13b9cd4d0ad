import { statSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { run as runTests } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { run } from './child-process.ts'
import { findChromium } from './chromium.ts'
import { root } from './root.ts'
import { runWithSecondTry, type TestOutcome } from './second-try.ts'
import { closingLine, recordResults } from './test-results.ts'
import { installExtension, installVscodeServer } from './vscode-server.ts'

/*
 * Run test/e2e: a person's clicks through the window of a real VS Code with the packaged extension. A window mostly waits, so three files
 * run at once, also on two cores; those that build or read `dist` run alone. Where `CI` is set, files in which a test failed run once more, alone.
 *
 * Usage: `npm run test:e2e -- [PART_OF_A_PATH...] [--grep TITLE] [--at-once N] [--no-build]`
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { grep: { type: 'string' }, 'at-once': { type: 'string', default: '3' }, 'no-build': { type: 'boolean', default: false } },
})

const runsAlone = ['package.test.ts', 'start.test.ts']
const folder = join(root, 'test/e2e')
const files = (await readdir(folder, { recursive: true }))
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => join(folder, path))
  .filter((path) => positionals.length === 0 || positionals.some((part) => relative(root, path).includes(part)))
  // The long ones first, so that none is left for the end, when there is nothing to run beside it.
  .toSorted((a, b) => statSync(b).size - statSync(a).size || (a < b ? -1 : 1))
if (files.length === 0) throw new Error(`No file matching "${positionals.join('" or "')}" in test/e2e`)

await installVscodeServer(console.log)
await findChromium(console.log)
const scratch = await mkdtemp(join(tmpdir(), 'bosun-packaged-'))
try {
  await run(process.execPath, [join(root, 'scripts/package.ts'), ...(values['no-build'] ? ['--no-build'] : [])])
  const vsix = join(root, 'dist', (await readdir(join(root, 'dist'))).find((name) => /^bosun-[\d.]+\.vsix$/.test(name))!)
  const extensionsDir = join(scratch, 'extensions')
  await installExtension({ vsix, dataDir: join(scratch, 'data'), extensionsDir })
  process.env['BOSUN_TEST_EXTENSIONS'] = extensionsDir
  process.exitCode = await runFiles()
} finally {
  await rm(scratch, { recursive: true, force: true, maxRetries: 5 })
}

async function runFiles(): Promise<number> {
  const alone = files.filter((path) => runsAlone.includes(basename(path)))
  const total = await runWithSecondTry({
    groups: [
      { files: alone, atOnce: 1 },
      { files: files.filter((path) => !alone.includes(path)), atOnce: Number(values['at-once']) },
    ],
    runFiles: runGroup,
    // At one's desk every failure shows.
    hasSecondTry: Boolean(process.env['CI']),
  })
  const hasRun = total.passed + total.failed > 0
  if (!hasRun) console.log('No test ran: the filter matches no test.')
  const counts = hasRun ? total : { ...total, failed: 1 }
  for (const name of total.passedOnSecondTry) console.log(`PASSED ON THE SECOND TRY: ${name}`)
  console.log(`\n${closingLine(counts)}`)
  await recordResults('e2e', counts)
  return counts.failed === 0 ? 0 : 1
}

async function runGroup(group: readonly string[], concurrency: number): Promise<readonly TestOutcome[]> {
  const outcomes: TestOutcome[] = []
  const stream = runTests({
    files: group,
    concurrency,
    timeout: 10 * 60_000,
    ...(values.grep === undefined ? {} : { testNamePatterns: [values.grep] }),
  })
  const take = (outcome: TestOutcome['outcome'], { name, file = name, details }: { readonly name: string; readonly file?: string; readonly details: { readonly type?: string } }) => {
    if (details.type !== 'suite') outcomes.push({ file, name, outcome })
  }
  stream.on('test:pass', (data) => take(data.skip === undefined ? 'passed' : 'skipped', data))
  stream.on('test:fail', (data) => take('failed', data))
  for await (const chunk of stream.compose(new spec())) process.stdout.write(chunk as Buffer)
  return outcomes
}
