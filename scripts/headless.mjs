import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { becomeScript, ensureInstalled, installedNode, root, runToEnd } from './bootstrap.mjs'

/*
 * `npm run -s headless -- …`: runs `dist/headless.js`, built anew when it is older than what it is built from.
 * Standard output belongs to the program alone.
 */
await ensureInstalled()
if (!isBuilt()) {
  const code = await runToEnd(installedNode(), [join(root, 'scripts/build.ts')], ['ignore', 2, 2])
  if (code !== 0) process.exit(1)
}
// The person's folder, not the repository, is where relative paths start.
await becomeScript('dist/headless.js', process.argv.slice(2), process.env.INIT_CWD ?? process.cwd())

function isBuilt() {
  const built = join(root, 'dist/headless.js')
  if (!existsSync(built)) return false
  const builtAt = statSync(built).mtimeMs
  return newest(join(root, 'extension')) < builtAt && statSync(join(root, 'scripts/build.ts')).mtimeMs < builtAt && statSync(join(root, 'package-lock.json')).mtimeMs < builtAt
}

function newest(folder) {
  return Math.max(0, ...readdirSync(folder, { recursive: true, withFileTypes: true }).map(({ parentPath, path, name }) => statSync(join(parentPath ?? path, name)).mtimeMs))
}
