import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { run } from './child-process.ts'
import { root } from './root.ts'
import { runWithSecondTry, type TestOutcome } from './second-try.ts'
import { closingLine, recordResults } from './test-results.ts'
import { outcomesOf, type VitestReport } from './vitest-report.ts'

/*
 * Run what needs neither a browser nor an editor, and count it. Where `CI` is set, files in which a test failed run once more, with nothing
 * beside them.
 *
 * Usage: `node scripts/test-vitest.ts [PART_OF_A_PATH...]`
 */
const { positionals } = parseArgs({ allowPositionals: true })
/** Stands for the run as a whole where that fails. */
const runner = 'vitest'
const report = join(root, 'out', 'vitest.json')

const total = await runWithSecondTry({
  groups: [{ files: ['.'], atOnce: Infinity }],
  // What is wrong with the runner itself is not tried again.
  runFiles: async (files, atOnce) => (files.includes(runner) ? [] : runVitest(atOnce === 1 ? [...files, '--maxWorkers=1'] : positionals)),
  hasSecondTry: Boolean(process.env['CI']),
})
for (const name of total.passedOnSecondTry) console.log(`PASSED ON THE SECOND TRY: ${name}`)
console.log(`\n${closingLine(total)}`)
await recordResults('vitest', total)
process.exitCode = total.failed === 0 ? 0 : 1

async function runVitest(args: readonly string[]): Promise<readonly TestOutcome[]> {
  await rm(report, { force: true })
  let failure: string | null = null
  const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...args]
  await run(process.execPath, vitest, { cwd: root, output: 'show' }).catch((error: unknown) => (failure = error instanceof Error ? error.message : String(error)))
  const text = await readFile(report, 'utf8').catch(() => null)
  const outcomes = text === null ? [] : outcomesOf(JSON.parse(text) as VitestReport)
  // A runner that broke before or beside its tests must not pass for green.
  const isTold = failure === null ? outcomes.length > 0 : outcomes.some(({ outcome }) => outcome === 'failed')
  if (isTold) return outcomes
  console.log(failure ?? 'No test ran.')
  return [...outcomes, { file: runner, name: runner, outcome: 'failed' }]
}
