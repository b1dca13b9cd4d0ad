import { join } from 'node:path'
import { run } from './child-process.ts'
import { root } from './root.ts'

/*
 * What every commit should pass, in under a minute: types, lint and the tests that need neither a browser nor an editor.
 * All at the same time, because many tests wait for programs while the compiler could work.
 */
const bin = (name: string) => join(root, 'node_modules', name)
const checks = [
  { name: 'types', args: [bin('typescript/bin/tsc'), '-b'] },
  { name: 'lint', args: [bin('oxlint/bin/oxlint'), '--quiet', '.'] },
  { name: 'tests', args: [bin('vitest/vitest.mjs'), 'run', '--project', 'unit', '--project', 'webview', '--reporter=dot'] },
]

const failed = await Promise.all(
  checks.map(async ({ name, args }) => {
    const startedAt = performance.now()
    try {
      await run(process.execPath, args, { cwd: root })
      return null
    } catch (error) {
      console.log(`\n> ${name}\n${error instanceof Error ? error.message : String(error)}`)
      return name
    } finally {
      console.log(`${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    }
  }),
)
const names = failed.filter((name) => name !== null)
console.log(names.length === 0 ? 'All is well.' : `Failed: ${names.join(', ')}`)
process.exitCode = names.length === 0 ? 0 : 1
