import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { run as runTests } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { run } from './child-process.ts'
import { findChromium } from './chromium.ts'
import { root } from './root.ts'
import { closingLine, recordResults } from './test-results.ts'
import { installExtension, installVscodeServer } from './vscode-server.ts'

/*
 * Run test/e2e: a person's clicks through the window of a real VS Code with the packaged extension, one file at a time.
 *
 * Usage: `npm run test:e2e -- [PART_OF_A_PATH] [--grep TITLE] [--no-build]`
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { grep: { type: 'string' }, 'no-build': { type: 'boolean', default: false } },
})

const folder = join(root, 'test/e2e')
const files = (await readdir(folder, { recursive: true }))
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => join(folder, path))
  .filter((path) => relative(root, path).includes(positionals[0] ?? ''))
  .toSorted()
if (files.length === 0) throw new Error(`No file matching "${positionals[0] ?? ''}" in test/e2e`)

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
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const stream = runTests({
    files,
    concurrency: 1,
    timeout: 10 * 60_000,
    ...(values.grep === undefined ? {} : { testNamePatterns: [values.grep] }),
  })
  stream.on('test:pass', ({ details, skip }) => {
    if (details.type === 'suite') return
    if (skip === undefined) counts.passed++
    else counts.skipped++
  })
  stream.on('test:fail', ({ details }) => {
    if (details.type !== 'suite') counts.failed++
  })
  for await (const chunk of stream.compose(new spec())) process.stdout.write(chunk as Buffer)
  if (counts.passed + counts.failed === 0) {
    console.log('No test ran: the filter matches no test.')
    counts.failed++
  }
  console.log(`\n${closingLine(counts)}`)
  await recordResults('e2e', counts)
  return counts.failed === 0 ? 0 : 1
}
