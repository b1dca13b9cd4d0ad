import { equal, ok } from 'node:assert/strict'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { createDirectRunner, type DirectRunner } from '../../extension/platform/node/direct-runner.ts'
import { NodeFileSystem } from '../../extension/platform/node/file-system.ts'
import { createRipgrepSearch } from '../../extension/platform/node/ripgrep-search.ts'
import { EditorFileSystem } from '../../extension/platform/vscode/editor-file-system.ts'
import { searchTools } from '../../extension/tools/search/plugin.ts'
import { createFakeAgent } from '../support/fake-agent.ts'
import { createMemoryBlobStore } from '../support/memory-blob-store.ts'
import { createToolBench, textOf, type ToolBench } from '../support/tool-bench.ts'

/* Chapter 11 of the capability specification, as far as it needs an editor: the real tool over the real buffers. */

describe('grep in the editor', () => {
  let folder: string
  let files: EditorFileSystem
  let processes: DirectRunner
  let bench: ToolBench

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'editor-search-')))
    const folders = () => [{ name: 'first', path: folder }]
    files = new EditorFileSystem(new NodeFileSystem({ folders }))
    processes = createDirectRunner()
    bench = createToolBench(createFakeAgent({ cwd: folder }))
    const search = createRipgrepSearch({ processes, unsavedTexts: () => files.unsavedTexts() })
    await bench.mount(searchTools({ search, files, workspace: { folders }, blobs: createMemoryBlobStore(), logger: bench.logger }))
    await vscode.workspace.getConfiguration('files').update('autoSave', 'off', vscode.ConfigurationTarget.Global)
  })
  after(async () => {
    await bench.kernel.dispose()
    await processes.dispose()
    files.dispose()
    await vscode.workspace.getConfiguration('files').update('autoSave', undefined, vscode.ConfigurationTarget.Global)
    await rm(folder, { recursive: true, force: true })
  })

  it('dirty-buffer overlay: finds what the person typed and did not save, and no longer what they took away', async () => {
    await writeFile(join(folder, 'a.txt'), 'needle on the disk\n')
    await writeFile(join(folder, 'b.txt'), 'needle elsewhere\n')
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(join(folder, 'a.txt')))
    const editor = await vscode.window.showTextDocument(document)
    ok(await editor.edit((edit) => edit.replace(new vscode.Range(0, 0, 1, 0), 'other\nneedle in the buffer\n')))
    equal(
      textOf(await bench.run('grep', { pattern: 'needle' })),
      'Found 2 matches in 2 files\n\na.txt\nLine 2: needle in the buffer\n\nb.txt\nLine 1: needle elsewhere\n(unsaved text of the editor was searched in a.txt)',
    )
    await vscode.commands.executeCommand('workbench.action.files.revert')
    equal(textOf(await bench.run('grep', { pattern: 'needle' })), 'Found 2 matches in 2 files\n\na.txt\nLine 1: needle on the disk\n\nb.txt\nLine 1: needle elsewhere')
    await vscode.commands.executeCommand('workbench.action.closeAllEditors')
  })
})
