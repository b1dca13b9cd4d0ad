import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as vscode from 'vscode'
import type { ToolResult } from '../../extension/core/tools/definition.ts'
import { FileIndex } from '../../extension/features/references/file-index.ts'
import { observationPlugin } from '../../extension/features/observation/plugin.ts'
import { createDirectRunner, type DirectRunner } from '../../extension/platform/node/direct-runner.ts'
import { NodeFileSystem } from '../../extension/platform/node/file-system.ts'
import { createRipgrepFinder } from '../../extension/platform/node/find-ripgrep.ts'
import { createRipgrepSearch } from '../../extension/platform/node/ripgrep-search.ts'
import { createVirtualSearch } from '../../extension/platform/node/virtual-search.ts'
import { pathOf, uriOf } from '../../extension/platform/vscode/address.ts'
import { EditorFileSystem } from '../../extension/platform/vscode/editor-file-system.ts'
import { findEditorRipgrep } from '../../extension/platform/vscode/ripgrep.ts'
import { vscodeLanguages } from '../../extension/platform/vscode/languages.ts'
import { createVscodeNotebooks } from '../../extension/platform/vscode/notebooks.ts'
import { fileTools } from '../../extension/tools/files/plugin.ts'
import { searchTools } from '../../extension/tools/search/plugin.ts'
import { createFakeAgent } from '../support/fake-agent.ts'
import { createMemoryBlobStore } from '../support/memory-blob-store.ts'
import { memoryProvider } from '../support/memory-provider.ts'
import { noEditor } from '../support/no-editor.ts'
import { createToolBench } from '../support/tool-bench.ts'

/* Chapters 10 and 11 of the capability specification, "VS Code mapping": folders that no disk holds. */

describe('a virtual folder', () => {
  const contents = new Map<string, Uint8Array>(
    Object.entries({ '/w/.gitignore': 'gen\n', '/w/a.ts': 'const hit = 1\n', '/w/gen/b.ts': 'hit\n', '/w/src/é (1).ts': 'one\nhit é\n', '/w/.git/config': 'hit\n', '/w/bin.dat': 'hit\0' }).map(([path, text]) => [path, Buffer.from(text)]),
  )
  let provider: vscode.Disposable
  let runner: DirectRunner
  let local: string
  let files: EditorFileSystem | undefined

  before(async () => {
    provider = vscode.workspace.registerFileSystemProvider('bosunw', memoryProvider(contents), { isCaseSensitive: true })
    runner = createDirectRunner()
    // An editor in a browser saves by itself after a second.
    await vscode.workspace.getConfiguration('files').update('autoSave', 'off', vscode.ConfigurationTarget.Global)
    local = await realpath(await mkdtemp(join(tmpdir(), 'beside-virtual-')))
    await writeFile(join(local, 'l.ts'), 'local hit\n')
  })
  after(async () => {
    provider.dispose()
    await vscode.workspace.getConfiguration('files').update('autoSave', undefined, vscode.ConfigurationTarget.Global)
    await runner.dispose()
    await rm(local, { recursive: true, force: true })
  })
  afterEach(async () => {
    files?.dispose()
    await vscode.commands.executeCommand('workbench.action.closeAllEditors')
  })

  /** Without a host, as the addresses of most such folders are. */
  const root = pathOf(vscode.Uri.from({ scheme: 'bosunw', path: '/w' }))
  async function open(folders: readonly { readonly name: string; readonly path: string }[], cwd = root) {
    const opened = new EditorFileSystem(new NodeFileSystem({ folders: () => folders }), () => folders)
    files = opened
    const findProgram = createRipgrepFinder({ configured: () => null, editors: findEditorRipgrep })
    const search = createVirtualSearch({ ripgrep: createRipgrepSearch({ processes: runner, findProgram }), files: opened })
    const bench = createToolBench(createFakeAgent({ cwd }))
    await bench.mount(observationPlugin({ files: opened, dispatch: bench.kernel.dispatch, logger: bench.logger }))
    await bench.mount(searchTools({ search, files: opened, workspace: { folders: () => folders }, blobs: createMemoryBlobStore(), logger: bench.logger }))
    await bench.mount(fileTools({ ...noEditor, files: opened, blobs: createMemoryBlobStore(), languages: vscodeLanguages, notebooks: createVscodeNotebooks({ files: opened }) }))
    return { search, run: async (name: string, args: object) => said(await bench.run(name, args)) }
  }
  const said = (result: ToolResult) => result.content.map((block) => (block.type === 'text' ? block.text : '')).join('')

  it('has an address with two slashes, which leads back to it', () => {
    equal(root, 'bosunw:///w')
    equal(uriOf(root).toString(), 'bosunw:/w')
  })
  it('is listed, without what ignore files hide, by names that read takes back', async () => {
    const { run } = await open([{ name: 'w', path: root }])
    deepEqual((await run('glob', { pattern: '*.ts' })).split('\n').sort(), ['a.ts', 'src/é (1).ts'])
    match(await run('glob', { pattern: '*.ts', include_ignored: true }), /gen\/b\.ts/)
    match(await run('read', { file_path: 'src/é (1).ts' }), /2: hit é/)
  })
  it('is searched with the expressions of ripgrep', async () => {
    const { run } = await open([{ name: 'w', path: root }])
    equal(await run('grep', { pattern: String.raw`\bhit\b` }), 'Found 2 matches in 2 files\n\na.ts\nLine 1: const hit = 1\n\nsrc/é (1).ts\nLine 2: hit é\n(2 files of a virtual folder were searched)')
    match(await run('grep', { pattern: '(?=x)' }), /look-around/)
  })
  it('is searched as the person has it open', async () => {
    const { run } = await open([{ name: 'w', path: root }])
    const editor = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uriOf(`${root}/a.ts`)))
    ok(await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), 'typed\n')))
    match(await run('grep', { pattern: 'hit', path: 'a.ts' }), /a\.ts\nLine 2: const hit = 1\n\(unsaved text of the editor was searched in a\.ts\)/)
    await vscode.window.showTextDocument(editor.document)
    await vscode.commands.executeCommand('workbench.action.files.revert')
    equal(editor.document.isDirty, false)
  })
  it('stands beside one of the disk', async () => {
    const { run } = await open([{ name: 'far', path: root }, { name: 'near', path: local }], local)
    deepEqual((await run('glob', { pattern: '*.ts' })).split('\n').sort(), ['far/a.ts', 'far/src/é (1).ts', 'near/l.ts'])
    equal(await run('grep', { pattern: 'hit', output_mode: 'files' }), 'Found 3 matches in 3 files\n\nfar/a.ts\nfar/src/é (1).ts\nnear/l.ts\n(2 files of a virtual folder were searched)')
    match(await run('grep', { pattern: 'hit', path: 'far/src' }), /far\/src\/é \(1\)\.ts\nLine 2: hit é/)
    match(await run('read', { file_path: 'far/a.ts' }), /1: const hit = 1/)
    match(await run('read', { file_path: 'near/l.ts' }), /1: local hit/)
  })
  it('stands beside one of the disk when the session works in it', async () => {
    const { run } = await open([{ name: 'far', path: root }, { name: 'near', path: local }])
    match(await run('read', { file_path: 'near/l.ts' }), /1: local hit/)
    equal(await run('glob', { pattern: 'near/*.ts' }), 'near/l.ts')
    // As the place of long output is named.
    match(await run('read', { file_path: join(local, 'l.ts') }), /1: local hit/)
  })
  it('is offered behind an @', async () => {
    const { search } = await open([{ name: 'w', path: root }])
    const index = new FileIndex({ search, facts: { excludes: () => [] }, maxBytes: 1_000_000, onCut: () => {} })
    const hits = await index.find(root, { query: 'é', limit: 5, signal: new AbortController().signal, found: () => {} })
    deepEqual(hits.map(({ path }) => path), ['src/é (1).ts'])
    index.dispose()
  })
})
