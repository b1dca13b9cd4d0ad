import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { downloadAndUnzipVSCode, runTests } from '@vscode/test-electron'
import { findDesktopEditor } from './desktop-editor.ts'
import { bundleEditorTests, editorTestsFile, eventsVariable, EditorTestLog } from './editor-tests.ts'
import { root } from './root.ts'
import { vscodeCache } from './vscode-server.ts'

/*
 * Run the suites of test/editor in a desktop VS Code.
 *
 * Usage: `npm run test:electron -- [PART_OF_A_PATH] [--grep TITLE] [--code PATH] [--version 1.106.0]`
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { grep: { type: 'string' }, code: { type: 'string' }, version: { type: 'string', default: 'stable' } },
})

const vscodeExecutablePath = values.code === undefined ? await download() : findDesktopEditor(values.code)
if (vscodeExecutablePath === undefined) {
  console.error(`There is no program at ${values.code}.`)
  process.exit(2)
}
await bundleEditorTests({ filter: positionals[0] ?? '', grep: values.grep })
const scratch = await mkdtemp(join(tmpdir(), 'bosun-electron-'))
const log = new EditorTestLog()
try {
  const folder = join(scratch, 'workspace')
  const eventsFile = join(scratch, 'events.jsonl')
  await cp(join(root, 'test/fixtures/workspace'), folder, { recursive: true })
  await runTests({
    vscodeExecutablePath,
    // The second one names a vendor of language models, which only an extension can do.
    extensionDevelopmentPath: [root, join(root, 'test/fixtures/editor-models')],
    extensionTestsPath: editorTestsFile,
    launchArgs: [
      ...[folder, '--disable-workspace-trust', '--skip-welcome', '--skip-release-notes'],
      ...['--user-data-dir', join(scratch, 'data'), '--extensions-dir', join(scratch, 'extensions')],
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
    extensionTestsEnv: { [eventsVariable]: eventsFile },
  }).catch((error: unknown) => console.log(error instanceof Error ? error.message : error))
  log.read(await readFile(eventsFile, 'utf8').catch(() => ''))
} finally {
  await rm(scratch, { recursive: true, force: true, maxRetries: 5 })
}
process.exitCode = await log.close('electron')

async function download(): Promise<string> {
  try {
    return await downloadAndUnzipVSCode({ version: values.version, cachePath: join(vscodeCache, 'desktop') })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    console.error(`VS Code could not be downloaded here (${reason}).`)
    console.error('Name an installed one with --code PATH, or run `npm run test:editor`, which needs no download.')
    process.exit(1)
  }
}
