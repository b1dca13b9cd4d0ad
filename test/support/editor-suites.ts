import { appendFileSync } from 'node:fs'
import Mocha from 'mocha'
import type { EditorEvent } from '../../scripts/editor-tests.ts'

/**
 * Run the suites that `load` declares, inside the extension host, and report each test to the events file.
 *
 * Errors: rejects when a test failed, which makes the editor's own exit code 1.
 */
export function runSuites(load: () => void, grep: string | null): Promise<void> {
  // Failures name the lines of the sources, not of the bundle.
  process.setSourceMapsEnabled(true)
  const mocha = new Mocha({ ui: 'bdd', timeout: 60_000, reporter: FileReporter, retries: process.env['CI'] ? 1 : 0, ...(grep === null ? {} : { grep }) })
  mocha.suite.emit('pre-require', globalThis, '', mocha)
  try {
    load()
  } catch (error) {
    report({ type: 'fail', title: 'The suites did not load', depth: 0, error: textOf(error) })
    report({ type: 'end' })
    throw error
  }
  return new Promise((resolve, reject) => {
    mocha.run((failures) => (failures === 0 ? resolve() : reject(new Error(`${failures} failed`))))
  })
}

class FileReporter extends Mocha.reporters.Base {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options)
    reportEachTest(runner)
  }
}

function reportEachTest(runner: Mocha.Runner): void {
  let depth = 0
  runner.on('suite', ({ title }) => {
    if (title !== '') report({ type: 'suite', title, depth: depth++ })
  })
  runner.on('suite end', ({ title }) => {
    if (title !== '') depth--
  })
  runner.on('pass', ({ title, duration }) => report({ type: 'pass', title, depth, durationMs: duration ?? 0 }))
  runner.on('pending', ({ title }) => report({ type: 'skip', title, depth }))
  runner.on('retry', (test, error) => report({ type: 'retry', title: test.fullTitle(), depth, error: textOf(error) }))
  runner.on('fail', (test, error) => report({ type: 'fail', title: test.fullTitle(), depth, error: textOf(error) }))
  runner.on('end', () => report({ type: 'end' }))
}

// The runner outside knows only what this file holds; it is written at once, so that a crash loses nothing.
function report(event: EditorEvent): void {
  appendFileSync(process.env['BOSUN_EDITOR_TEST_EVENTS']!, `${JSON.stringify(event)}\n`)
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { actual, expected } = error as { actual?: unknown; expected?: unknown }
  const difference = expected === undefined && actual === undefined ? '' : `\nexpected ${JSON.stringify(expected)}\n  actual ${JSON.stringify(actual)}`
  return `${error.stack ?? error.message}${difference}`
}
