import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as vscode from 'vscode'
import type { LanguageServerConfig } from '../../extension/capabilities/language-servers.ts'
import type { ProcessRunner } from '../../extension/capabilities/process.ts'
import { createNodeClock } from '../../extension/platform/node/clock.ts'
import { createDirectRunner } from '../../extension/platform/node/direct-runner.ts'
import { ServerSupervisor } from '../../extension/platform/node/language-servers/server-supervisor.ts'
import { ConfiguredServers } from '../../extension/platform/vscode/configured-servers.ts'
import { connectLanguageClient } from '../../extension/platform/vscode/language-client.ts'
import { createVscodeLanguages } from '../../extension/platform/vscode/languages.ts'

const never = new AbortController().signal
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

async function until<T>(ask: () => Promise<T | null | undefined> | T | null | undefined): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await ask()
    if (answer !== null && answer !== undefined) return answer
    if (attempt === 240) throw new Error('It never came.')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Programs whose command line holds these words. */
async function running(words: string): Promise<number> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(ids.map(async (id) => await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => line.includes(words)).length
}

describe('a language server that the person configured', () => {
  const folder = vscode.workspace.workspaceFolders![0]!.uri.fsPath
  const toy = join(folder, 'a.toy')
  let program: string
  let processes: ProcessRunner
  let servers: ConfiguredServers
  let languages: ReturnType<typeof createVscodeLanguages>
  const listeners = new Set<() => void>()
  let isTrusted = true
  let configs: Readonly<Record<string, LanguageServerConfig>> = {}

  const config = (mode: readonly string[], more: Partial<LanguageServerConfig> = {}): LanguageServerConfig => ({ command: process.execPath, args: [program, ...mode], languages: ['toy'], files: ['**/*.toy'], env: {}, ...more })
  function set(next: typeof configs): void {
    configs = next
    for (const tell of listeners) tell()
  }
  /** What the server says of the name; the range is the editor's own guess. */
  const hover = async () => {
    const answer = await languages.ask({ operation: 'hover', path: toy, position: { line: 0, character: 5 } }, never)
    return answer.kind === 'hover' ? answer.contents : null
  }
  const states = () => servers.list().map(({ state, reason }) => [state, reason])

  before(async () => {
    program = await realpath(join(__dirname, '../test/support/language-server.ts'))
    await writeFile(toy, 'def tide\nuse tide\n')
  })
  beforeEach(() => {
    processes = createDirectRunner()
    servers = new ConfiguredServers({
      configs: () => configs,
      onDidChangeConfigs(listener) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
      create: (name, one, onChange) => new ServerSupervisor({ name, config: one, cwd: folder, processes, clock: createNodeClock(), logger, connect: connectLanguageClient(name, one), onChange }),
      isTrusted: () => isTrusted,
      onError: (error) => {
        throw error
      },
    })
    languages = createVscodeLanguages((document, signal) => servers.ready(document, signal))
  })
  afterEach(async () => {
    await servers.dispose()
    await processes.dispose()
    configs = {}
  })
  after(async () => await rm(toy))

  it('is started by the first question about its files and answers through the editor, to the person too', async () => {
    set({ toy: config(['ok']) })
    deepEqual(states(), [['waiting', null]])
    equal(await hover(), '**tide**')
    deepEqual(states(), [['running', null]])
    const edit = await languages.rename({ path: toy, position: { line: 0, character: 5 }, newName: 'ebb' }, never)
    equal(edit?.files[0]?.edits.length, 2)
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', vscode.Uri.file(toy), new vscode.Position(0, 5))
    equal(hovers.length, 1)
  })
  it('ends with its program, and takes what it gave the editor with it', async () => {
    set({ toy: config(['ok', 'ends-with-its-program']) })
    await hover()
    equal(await running('ends-with-its-program'), 1)
    await servers.dispose()
    equal(await running('ends-with-its-program'), 0)
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', vscode.Uri.file(toy), new vscode.Position(0, 5))
    equal(hovers.length, 0)
  })
  it('is not started for a language that an extension of the editor knows', async () => {
    set({ other: config(['ok', 'never-needed'], { languages: ['typescript'], files: [] }) })
    const path = join(folder, 'src/tides.ts')
    // The first look may come before the extension knows the project.
    await until(async () => ((await languages.ask({ operation: 'documentSymbols', path, position: { line: 0, character: 0 } }, never)).kind === 'symbols' ? true : null))
    deepEqual(states(), [['unneeded', 'An extension of the editor knows typescript files.']])
    equal(await running('never-needed'), 0)
  })
  it('that crashed is started again, and answers', async () => {
    const mark = join(folder, 'crashed-once')
    set({ toy: config(['crash-once', mark]) })
    await hover().catch(() => {})
    await until(() => (states()[0]?.[0] === 'running' ? null : true))
    ok(String(states()[0]?.[1]).includes('exit code 3: out of memory'), JSON.stringify(states()))
    equal(await until(hover), '**tide**')
    await rm(mark)
  })
  it('that cannot be started says so to whoever asks', async () => {
    set({ toy: config([], { command: 'no-such-language-server', args: [] }) })
    await rejects(hover(), /toy does not run: The program "no-such-language-server" was not found/)
    equal(states()[0]?.[0], 'failed')
  })
  it('is not started in a folder that is not trusted, until it is', async () => {
    isTrusted = false
    set({ toy: config(['ok', 'not-trusted']) })
    try {
      await rejects(hover(), /not trusted, so the language server toy is not started/)
      await servers.restart('toy')
      equal(await running('not-trusted'), 0)
    } finally {
      isTrusted = true
    }
    equal(await hover(), '**tide**')
  })
  it('begins anew when its settings change', async () => {
    set({ toy: config([], { command: 'no-such-language-server', args: [] }) })
    await rejects(hover(), /does not run/)
    set({ toy: config(['ok']) })
    equal(await hover(), '**tide**')
  })
})
