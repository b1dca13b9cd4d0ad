import { mkdir, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import { root } from './root.ts'
import { closingLine, recordResults } from './test-results.ts'

/** What the suites write, line by line, while they run inside the extension host. */
export type EditorEvent =
  | { readonly type: 'suite'; readonly title: string; readonly depth: number }
  | { readonly type: 'pass'; readonly title: string; readonly depth: number; readonly durationMs: number }
  | { readonly type: 'skip'; readonly title: string; readonly depth: number }
  /** It failed and runs once more. */
  | { readonly type: 'retry'; readonly title: string; readonly depth: number; readonly error: string }
  | { readonly type: 'fail'; readonly title: string; readonly depth: number; readonly error: string }
  | { readonly type: 'end' }

/** The bundle with `run()` that VS Code loads as its extension tests. */
export const editorTestsFile = join(root, 'out', 'editor-tests.cjs')

/** The environment variable that names the file the suites report to. */
export const eventsVariable = 'BOSUN_EDITOR_TEST_EVENTS'

/**
 * Bundle the suites of `test/editor` whose path contains `filter`, with the mocha run that drives them.
 *
 * Errors: when no suite matches.
 */
export async function bundleEditorTests({ filter, grep }: { filter: string; grep: string | undefined }): Promise<void> {
  const folder = join(root, 'test/editor')
  const files = (await readdir(folder, { recursive: true }))
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => join(folder, path))
    .filter((path) => relative(root, path).includes(filter))
    .toSorted()
  if (files.length === 0) throw new Error(`No file matching "${filter}" in test/editor`)
  await mkdir(join(root, 'out'), { recursive: true })
  await build({
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    sourcemap: 'inline',
    logLevel: 'warning',
    external: ['vscode', 'mocha'],
    outfile: editorTestsFile,
    define: { 'import.meta.url': 'bundleUrl' },
    banner: { js: "const bundleUrl=require('node:url').pathToFileURL(__filename).href;" },
    stdin: {
      resolveDir: root,
      loader: 'ts',
      contents: `
        import { runSuites } from './test/support/editor-suites.ts'
        export const run = () => runSuites(() => { ${files.map((path) => `require(${JSON.stringify(path)})`).join(';')} }, ${JSON.stringify(grep ?? null)})
      `,
    },
  })
}

/** Prints events as they come and counts them. */
export class EditorTestLog {
  passed = 0
  failed = 0
  skipped = 0
  hasEnded = false
  readonly #tried = new Map<string, string>()
  readonly #failures: string[] = []
  #rest = ''

  /** Take in text of the events file as it grows; a line may come in pieces. */
  read(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#take(JSON.parse(line) as EditorEvent)
  }

  /** Say what failed and record the counts. Returns the exit code. */
  async close(suite: string): Promise<number> {
    if (!this.hasEnded) this.#fail('The extension host did not run the suites to their end', 'See the output above.')
    else if (this.passed + this.failed === 0) this.#fail('No test ran', 'The filter matches no test.')
    for (const failure of this.#failures) console.log(`\n${failure}`)
    for (const [title, error] of this.#tried) console.log(`PASSED ON THE SECOND TRY: ${title}\n  ${error.replaceAll('\n', '\n  ')}`)
    console.log(`\n${closingLine(this)}`)
    await recordResults(suite, { passed: this.passed, failed: this.failed, skipped: this.skipped, passedOnSecondTry: [...this.#tried.keys()] })
    return this.failed === 0 ? 0 : 1
  }

  #take(event: EditorEvent): void {
    if (event.type === 'end') {
      this.hasEnded = true
      return
    }
    const indent = '  '.repeat(event.depth)
    switch (event.type) {
      case 'suite':
        console.log(`${indent}${event.title}`)
        break
      case 'pass':
        this.passed++
        console.log(`${indent}✓ ${event.title}${event.durationMs > 200 ? ` (${Math.round(event.durationMs)} ms)` : ''}`)
        break
      case 'skip':
        this.skipped++
        console.log(`${indent}- ${event.title}`)
        break
      case 'retry':
        console.log(`${indent}↻ ${event.title}`)
        this.#tried.set(event.title, event.error)
        break
      case 'fail':
        console.log(`${indent}✗ ${event.title}`)
        this.#tried.delete(event.title)
        this.#fail(event.title, event.error)
        break
    }
  }

  #fail(title: string, error: string): void {
    this.failed++
    this.#failures.push(`✗ ${title}\n  ${error.replaceAll('\n', '\n  ')}`)
  }
}
