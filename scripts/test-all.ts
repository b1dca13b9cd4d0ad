import { join } from 'node:path'
import { run } from './child-process.ts'
import { root } from './root.ts'
import { clearResults, closingLine, readResults } from './test-results.ts'

/*
 * Build, check and test everything; one total at the end. A step that fails does not keep the others from running.
 */
const bin = (name: string) => join(root, 'node_modules', name)

type Step = { readonly name: string; readonly args: readonly string[] }

/** Steps that count as one failure when they fail; the suites count their own tests. */
const steps: readonly Step[] = [
  { name: 'build', args: ['scripts/build.ts'] },
  { name: 'types', args: [bin('typescript/bin/tsc'), '-b'] },
  { name: 'lint', args: [bin('oxlint/bin/oxlint'), '--quiet', '.'] },
]
const suites: readonly Step[] = [
  { name: 'vitest', args: ['scripts/test-vitest.ts'] },
  { name: 'editor', args: ['scripts/test-editor.ts', '--no-build'] },
  { name: 'e2e', args: ['scripts/test-e2e.ts', '--no-build'] },
]

await clearResults()
const failedSteps: string[] = []
for (const step of steps) if (!(await succeeds(step))) failedSteps.push(step.name)
for (const suite of suites) {
  const isGreen = await succeeds(suite)
  const counted = (await readResults()).find((result) => result.suite === suite.name)
  // A runner that broke before or beside its tests must not pass for green.
  if (counted === undefined || (!isGreen && counted.failed === 0)) failedSteps.push(suite.name)
}

const results = await readResults()
const sum = (key: 'passed' | 'failed' | 'skipped') => results.reduce((total, result) => total + result[key], 0)
const total = { passed: sum('passed'), failed: sum('failed') + failedSteps.length, skipped: sum('skipped') }
console.log()
for (const { suite, passedOnSecondTry = [], ...counts } of results) {
  console.log(`${suite.padEnd(8)} ${closingLine(counts)}`)
  for (const name of passedOnSecondTry) console.log(`${suite.padEnd(8)} PASSED ON THE SECOND TRY: ${name}`)
}
for (const name of failedSteps) console.log(`${name.padEnd(8)} failed`)
console.log(`\n${closingLine(total)}`)
process.exitCode = total.failed === 0 ? 0 : 1

async function succeeds({ name, args }: Step): Promise<boolean> {
  console.log(`\n> ${name}`)
  const startedAt = performance.now()
  try {
    await run(process.execPath, args, { cwd: root, output: 'show', ...(process.stdout.isTTY ? {} : { env: { NO_COLOR: '1', FORCE_COLOR: undefined } }) })
    return true
  } catch (error) {
    console.log(error instanceof Error ? error.message : error)
    return false
  } finally {
    console.log(`  ${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  }
}
