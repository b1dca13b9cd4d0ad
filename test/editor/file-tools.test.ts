import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as vscode from 'vscode'
import type { FileVersion } from '../../extension/capabilities/file-system.ts'
import type { ToolResult } from '../../extension/core/tools/definition.ts'
import { observationPlugin } from '../../extension/features/observation/plugin.ts'
import { NodeFileSystem } from '../../extension/platform/node/file-system.ts'
import { EditorFileSystem } from '../../extension/platform/vscode/editor-file-system.ts'
import { vscodeLanguages } from '../../extension/platform/vscode/languages.ts'
import { createVscodeNotebooks } from '../../extension/platform/vscode/notebooks.ts'
import { fileTools } from '../../extension/tools/files/plugin.ts'
import { createFakeAgent } from '../support/fake-agent.ts'
import { createMemoryBlobStore } from '../support/memory-blob-store.ts'
import { memoryProvider } from '../support/memory-provider.ts'
import { noEditor } from '../support/no-editor.ts'
import { notebookJson } from '../support/notebook-json.ts'
import { createToolBench } from '../support/tool-bench.ts'

/* Chapters 4 to 8 of the capability specification, as far as they need an editor: the real tools over the real editor. */

describe('the file tools in the editor', () => {
  let folder: string
  let other: string
  let files: EditorFileSystem
  let tools: Awaited<ReturnType<typeof createTools>>

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'file-tools-')))
    other = await realpath(await mkdtemp(join(tmpdir(), 'other-root-')))
    files = new EditorFileSystem(new NodeFileSystem({ folders: () => [{ name: 'first', path: folder }, { name: 'second', path: other }] }))
    await vscode.workspace.getConfiguration('files').update('autoSave', 'off', vscode.ConfigurationTarget.Global)
  })
  after(async () => {
    files.dispose()
    await vscode.workspace.getConfiguration('files').update('autoSave', undefined, vscode.ConfigurationTarget.Global)
    for (const root of [folder, other]) await rm(root, { recursive: true, force: true })
  })
  beforeEach(async () => {
    tools = await createTools(folder)
  })
  afterEach(async () => {
    await tools.dispose()
    for (const document of vscode.workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && uri.scheme === 'file')) {
      await vscode.window.showTextDocument(document)
      await vscode.commands.executeCommand('workbench.action.files.revert')
    }
    for (const notebook of vscode.workspace.notebookDocuments.filter(({ isDirty }) => isDirty)) {
      await vscode.window.showNotebookDocument(notebook)
      await vscode.commands.executeCommand('workbench.action.files.revert')
    }
    await vscode.commands.executeCommand('workbench.action.closeAllEditors')
  })

  async function createTools(cwd: string) {
    const bench = createToolBench(createFakeAgent({ cwd }))
    await bench.mount(observationPlugin({ files, dispatch: bench.kernel.dispatch, logger: bench.logger }))
    await bench.mount(fileTools({ ...noEditor, files, blobs: createMemoryBlobStore(), languages: vscodeLanguages, notebooks: createVscodeNotebooks({ files }) }))
    let steps = 0
    return {
      read: (file_path: string, more: object = {}) => bench.run('read', { file_path, ...more }),
      write: (file_path: string, content: string) => bench.run('write', { file_path, content }),
      edit: (file_path: string, old_string: string, new_string: string, more: object = {}) => bench.run('edit', { file_path, old_string, new_string, ...more }),
      nextStep: () => void bench.agent.session.append({ type: 'step/start', data: { turn: 1, step: (steps += 1) } }),
      dispose: () => bench.kernel.dispose(),
    }
  }
  const said = (result: ToolResult) => result.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  const failsWith = (result: ToolResult, code: string, message: RegExp) => {
    equal(result.isError && result.error.info?.code, code, said(result))
    match(said(result), message)
  }
  const versionOf = (bytes: Uint8Array) => `sha256:${hash('sha256', bytes)}` as FileVersion
  const works = (result: ToolResult) => ok(!result.isError, said(result))
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('')
  const put = async (name: string, content: string) => {
    await writeFile(join(folder, name), content)
    // Files that stand there for long; one that was written a moment ago is another matter.
    await utimes(join(folder, name), new Date(0), new Date(1_700_000_000_000))
    return vscode.Uri.file(join(folder, name))
  }
  const onDisk = async (name: string) => await readFile(join(folder, name), 'utf8')
  const open = async (uri: vscode.Uri) => await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri))
  const type = async (editor: vscode.TextEditor, line: number, text: string) => ok(await editor.edit((edit) => edit.insert(new vscode.Position(line, 0), text)))
  const until = async (isTrue: () => boolean) => {
    for (let waited = 0; !isTrue() && waited < 50_000; waited += 50) await new Promise((resolve) => setTimeout(resolve, 50))
    ok(isTrue())
  }

  describe('observation', () => {
    it('user typing in the open buffer makes it stale, and what was typed is told', async () => {
      const editor = await open(await put('typed.txt', lines(5)))
      works(await tools.read('typed.txt'))
      await type(editor, 2, 'mine\n')
      tools.nextStep()
      failsWith(await tools.edit('typed.txt', 'line 5', 'five'), 'FS_STALE_VERSION', /has unsaved changes in the editor[^]*\n line 2\n\+mine\n line 3\n/)
      equal(editor.document.getText(), lines(5).replace('line 3', 'mine\nline 3'))
      tools.nextStep()
      works(await tools.edit('typed.txt', 'line 5', 'five'))
      equal(editor.document.getText(), lines(5).replace('line 3', 'mine\nline 3').replace('line 5', 'five'))
      equal(await onDisk('typed.txt'), lines(5))
    })
    it('rename in explorer keeps the observation', async () => {
      await put('before.txt', 'one\n')
      works(await tools.read('before.txt'))
      const told: string[] = []
      const undo = files.onDidRename((_from, to) => told.push(to))
      const edit = new vscode.WorkspaceEdit()
      edit.renameFile(vscode.Uri.file(join(folder, 'before.txt')), vscode.Uri.file(join(folder, 'after.txt')))
      ok(await vscode.workspace.applyEdit(edit))
      await until(() => told.length > 0)
      undo()
      works(await tools.edit('after.txt', 'one', 'two'))
      equal(await onDisk('after.txt'), 'two\n')
    })
  })

  describe('read', () => {
    it('dirty buffer shown', async () => {
      const editor = await open(await put('dirty.txt', 'old\n'))
      await type(editor, 0, 'unsaved ')
      equal(said(await tools.read('dirty.txt')), '<file path="dirty.txt">\n1: unsaved old\n\n(End of file, 1 line. This is the text in the editor, with changes that are not saved.)\n</file>')
    })
    it('a symbol alone, by the language service of the file', async () => {
      const tides = vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, 'src/tides.ts').fsPath
      const text = said(await tools.read(tides, { symbol: 'highestTide' }))
      match(text, /\n\d+: export function highestTide\b/)
      failsWith(await tools.read(tides, { symbol: 'noSuchName' }), 'INVALID_ARGS', /has no symbol noSuchName\. It has .*highestTide/)
    })
    it('a file of another folder of the window, led by its name', async () => {
      await writeFile(join(other, 'a.txt'), 'there\n')
      await mkdir(join(folder, 'sub'), { recursive: true })
      match(said(await tools.read('second/a.txt')), /1: there/)
      works(await tools.edit('second/a.txt', 'there', 'changed'))
      equal(await readFile(join(other, 'a.txt'), 'utf8'), 'changed\n')
      works(await tools.write('second/new/b.txt', 'x\n'))
      equal(await readFile(join(other, 'new/b.txt'), 'utf8'), 'x\n')
    })
  })

  describe('write', () => {
    it('open clean buffer gets one undo stop', async () => {
      const editor = await open(await put('clean.txt', lines(20)))
      works(await tools.read('clean.txt'))
      works(await tools.write('clean.txt', lines(20).replace('line 3\n', 'third\n').replace('line 15\n', '')))
      equal(await onDisk('clean.txt'), editor.document.getText())
      equal(editor.document.isDirty, false)
      await vscode.commands.executeCommand('undo')
      equal(editor.document.getText(), lines(20))
    })
    it('open dirty unseen buffer refused', async () => {
      const editor = await open(await put('unseen.txt', 'old\n'))
      works(await tools.read('unseen.txt'))
      await type(editor, 0, 'mine ')
      failsWith(await tools.write('unseen.txt', 'all new\n'), 'FS_STALE_VERSION', /unsaved changes[^]*\+mine old/)
      deepEqual([editor.document.getText(), await onDisk('unseen.txt')], ['mine old\n', 'old\n'])
    })
    it('format-on-save reported and next edit not stale', async () => {
      const formatter = vscode.languages.registerDocumentFormattingEditProvider({ pattern: '**/format-me.txt' }, {
        provideDocumentFormattingEdits: (document) => [vscode.TextEdit.replace(new vscode.Range(0, 0, document.lineCount, 0), document.getText().toUpperCase())],
      })
      const settings = vscode.workspace.getConfiguration('editor')
      await settings.update('formatOnSave', true, vscode.ConfigurationTarget.Global)
      try {
        await open(await put('format-me.txt', 'ONE\nTWO\n'))
        works(await tools.read('format-me.txt'))
        equal(said(await tools.write('format-me.txt', 'ONE\nthree\n')), "Replaced the content of format-me.txt.\nThe editor's save actions changed the text further:\n1: ONE\n2: THREE")
        works(await tools.edit('format-me.txt', 'THREE', 'FOUR'))
        equal(await onDisk('format-me.txt'), 'ONE\nFOUR\n')
      } finally {
        formatter.dispose()
        await settings.update('formatOnSave', undefined, vscode.ConfigurationTarget.Global)
      }
    })
    it('new file follows .editorconfig before the settings of the editor', async () => {
      const settings = vscode.workspace.getConfiguration('files')
      await settings.update('eol', '\r\n', vscode.ConfigurationTarget.Global)
      await settings.update('insertFinalNewline', true, vscode.ConfigurationTarget.Global)
      try {
        await writeFile(join(folder, '.editorconfig'), 'root = true\n[*.lf]\nend_of_line = lf\n[*.bom]\ncharset = utf-8-bom\n')
        for (const name of ['a.lf', 'a.bom', 'a.txt']) works(await tools.write(name, 'é\nx'))
        deepEqual([await onDisk('a.lf'), await onDisk('a.bom'), await onDisk('a.txt')], ['é\nx\n', '\u{FEFF}é\r\nx\r\n', 'é\r\nx\r\n'])
      } finally {
        await settings.update('eol', undefined, vscode.ConfigurationTarget.Global)
        await settings.update('insertFinalNewline', undefined, vscode.ConfigurationTarget.Global)
        await rm(join(folder, '.editorconfig'))
      }
    })
    it('virtual FS', async () => {
      const contents = new Map<string, Uint8Array>([['/a.txt', Buffer.from('one\ntwo\n')]])
      const provider = vscode.workspace.registerFileSystemProvider('bosunmem', memoryProvider(contents), { isCaseSensitive: true })
      const stored = (path: string) => Buffer.from(contents.get(path) ?? []).toString()
      try {
        match(said(await tools.read('bosunmem://host/a.txt')), /1: one\n2: two/)
        works(await tools.edit('bosunmem://host/a.txt', 'one', '1'))
        equal(stored('/a.txt'), '1\ntwo\n')
        works(await tools.write('bosunmem://host/sub/new.txt', 'new\n'))
        equal(stored('/sub/new.txt'), 'new\n')
        // The document that the person has open is what is changed.
        const editor = await open(vscode.Uri.parse('bosunmem://host/a.txt'))
        await type(editor, 0, 'mine ')
        failsWith(await tools.edit('bosunmem://host/a.txt', 'two', '2'), 'FS_STALE_VERSION', /\+mine 1/)
        works(await tools.read('bosunmem://host/a.txt'))
        works(await tools.edit('bosunmem://host/a.txt', 'two', '2'))
        deepEqual([editor.document.getText(), stored('/a.txt')], ['mine 1\n2\n', '1\ntwo\n'])
        await vscode.commands.executeCommand('workbench.action.files.revert')
        failsWith(await tools.read('bosunmem://host/gone.txt'), 'FS_NOT_FOUND', /does not exist/)
        failsWith(await tools.read('bosunmem://host/'), 'FS_NOT_REGULAR_FILE', /folder/)
      } finally {
        await vscode.commands.executeCommand('workbench.action.closeAllEditors')
        provider.dispose()
      }
    })
    it('virtual FS that may not be written', async () => {
      const contents = new Map<string, Uint8Array>([['/a.txt', Buffer.from('one\n')]])
      const provider = vscode.workspace.registerFileSystemProvider('bosunro', memoryProvider(contents), { isReadonly: true })
      try {
        works(await tools.read('bosunro://host/a.txt'))
        failsWith(await tools.write('bosunro://host/a.txt', 'two\n'), 'FS_READONLY', /read-only/)
        equal(Buffer.from(contents.get('/a.txt')!).toString(), 'one\n')
      } finally {
        provider.dispose()
      }
    })
  })

  describe('an edit above what the person looks at', () => {
    it('leaves selections on their text, what is on screen, and what is folded', async () => {
      const source = `${lines(10)}function f() {\n${'  body\n'.repeat(20)}}\n${lines(200).replaceAll('line', 'row')}`
      const editor = await open(await put('above.ts', source))
      const marked = source.split('\n').indexOf('row 60')
      editor.selections = [new vscode.Selection(marked, 0, marked, 6), new vscode.Selection(marked + 5, 2, marked + 5, 4)]
      await vscode.commands.executeCommand('editor.fold', { selectionLines: [10] })
      await until(() => editor.visibleRanges.length > 0)
      editor.revealRange(new vscode.Range(marked, 0, marked, 0), vscode.TextEditorRevealType.AtTop)
      await until(() => editor.visibleRanges.some((range) => range.start.line <= marked && range.end.line >= marked))
      const texts = () => editor.selections.map((selection) => editor.document.getText(selection))
      const selected = texts()
      works(await tools.read('above.ts'))
      works(await tools.edit('above.ts', 'line 2\nline 3\n', 'line 2\none more\nand one more\nline 3\n'))
      deepEqual(texts(), selected)
      deepEqual(editor.selections.map(({ start }) => start.line), [marked + 2, marked + 7])
      await until(() => editor.visibleRanges.some((range) => range.start.line <= marked + 2 && range.end.line >= marked + 2))
      // The function is folded still: its body is no part of what can be seen around it.
      editor.revealRange(new vscode.Range(0, 0, 0, 0), vscode.TextEditorRevealType.AtTop)
      await until(() => editor.visibleRanges[0]?.start.line === 0)
      ok(editor.visibleRanges.every((range) => !range.contains(new vscode.Position(20, 0))), JSON.stringify(editor.visibleRanges))
      await vscode.commands.executeCommand('undo')
      equal(editor.document.getText(), source)
    })
  })

  describe('a notebook that is open', () => {
    const openNotebook = async (name: string) => {
      const notebook = await vscode.workspace.openNotebookDocument(await put(name, notebookJson()))
      await vscode.window.showNotebookDocument(notebook)
      return notebook
    }
    const typeInto = async (notebook: vscode.NotebookDocument, index: number, text: string) => {
      const edit = new vscode.WorkspaceEdit()
      edit.insert(notebook.cellAt(index).document.uri, new vscode.Position(0, 0), text)
      ok(await vscode.workspace.applyEdit(edit))
    }

    it('is read with its cells, ids and outputs, and with what is not saved', async () => {
      const notebook = await openNotebook('read.ipynb')
      const clean = said(await tools.read('read.ipynb'))
      match(clean, /^<file path="read\.ipynb" format="notebook">\n1: # %% cell 1 \[markdown\] id=intro\n2: # Title\n3: Words é\n4: \n5: # %% cell 2 \[code python\] id=calc\n6: x = 1\n7: print\(x\)\n8: x\n9: # %% output of cell 2 \[stdout\]\n10: 1\n11: 2\n/)
      match(clean, /\[image\/png\]\n\d+: \(\d+ characters of data, not shown\)/)
      match(clean, /\[error\]\n\d+: ValueError: no\n/)
      match(clean, /cell 4 \[raw\]\n\d+: plain string\n/)
      await typeInto(notebook, 1, 'y = 0\n')
      const dirty = said(await tools.read('read.ipynb'))
      match(dirty, /\n6: y = 0\n7: x = 1\n/)
      match(dirty, /This is the notebook in the editor, with changes that are not saved\./)
    })
    it('is edited in its cell, saved, and keeps its outputs and metadata', async () => {
      const notebook = await openNotebook('edit.ipynb')
      works(await tools.read('edit.ipynb'))
      const outputs = notebook.cellAt(1).outputs.length
      const result = await tools.edit('edit.ipynb', 'x = 1\nprint(x)', 'x = 2\nprint(x, "é")')
      works(result)
      match(said(result), /^Edited edit\.ipynb at line 6\. It now reads:\n[^]*6: x = 2\n7: print\(x, "é"\)\n/)
      deepEqual([notebook.cellAt(1).document.getText(), notebook.cellAt(1).outputs.length, notebook.isDirty], ['x = 2\nprint(x, "é")\nx', outputs, false])
      const stored = JSON.parse(await onDisk('edit.ipynb')) as { cells: { source: string[]; outputs?: unknown[]; metadata: object }[] }
      deepEqual(stored.cells[1]!.source, ['x = 2\n', 'print(x, "é")\n', 'x'])
      deepEqual([stored.cells[1]!.outputs?.length, stored.cells[0]!.metadata], [3, { 'x-own': { kept: true } }])
      works(await tools.edit('edit.ipynb', 'x = 2', 'x = 3'))
    })
    it('that holds unsaved changes is stale until it is read, and then edited beside them, unsaved', async () => {
      const notebook = await openNotebook('dirty.ipynb')
      works(await tools.read('dirty.ipynb'))
      await typeInto(notebook, 0, 'mine ')
      failsWith(await tools.edit('dirty.ipynb', 'x = 1', 'x = 2'), 'FS_STALE_VERSION', /unsaved changes in the notebook editor/)
      works(await tools.read('dirty.ipynb'))
      const result = await tools.edit('dirty.ipynb', 'x = 1', 'x = 2')
      match(said(result), /The person has unsaved changes in this file/)
      deepEqual([notebook.cellAt(0).document.getText(), notebook.cellAt(1).document.getText().startsWith('x = 2'), notebook.isDirty], ['mine # Title\nWords é', true, true])
      equal(await onDisk('dirty.ipynb'), notebookJson())
    })
    it('one undo in its cell takes back a change, saved or beside what was typed before', async () => {
      const notebook = await openNotebook('undo.ipynb')
      const source = () => notebook.cellAt(1).document.getText()
      const undoTo = async (wanted: string) => {
        const changed = source()
        await vscode.commands.executeCommand('undo')
        await until(() => source() !== changed)
        equal(source(), wanted)
      }
      await vscode.window.showNotebookDocument(notebook, { selections: [new vscode.NotebookRange(1, 2)] })
      await vscode.commands.executeCommand('notebook.cell.edit')
      await until(() => vscode.window.activeTextEditor?.document === notebook.cellAt(1).document)
      works(await tools.read('undo.ipynb'))
      works(await tools.edit('undo.ipynb', 'x = 1', 'x = 2'))
      equal(notebook.isDirty, false)
      await undoTo('x = 1\nprint(x)\nx')
      ok(vscode.window.activeTextEditor)
      await type(vscode.window.activeTextEditor, 0, 'mine = 0\n')
      works(await tools.read('undo.ipynb'))
      works(await tools.edit('undo.ipynb', 'x = 1', 'x = 3'))
      await undoTo('mine = 0\nx = 1\nprint(x)\nx')
    })
    it('is kept before a change with its unsaved cells, and can be put back when it has none', async () => {
      const notebook = await openNotebook('kept.ipynb')
      const target = await files.resolve('kept.ipynb', folder)
      const bytes = async () => await files.readBytes(target, { maxBytes: 1_000_000 })
      const clean = await bytes()
      await typeInto(notebook, 0, 'mine ')
      const stored = JSON.parse(Buffer.from(await bytes()).toString()) as { cells: { source: string[]; outputs?: unknown[] }[] }
      deepEqual([stored.cells[0]!.source, stored.cells[1]!.outputs?.length], [['mine # Title\n', 'Words é'], 3])
      const version = versionOf(await bytes())
      await rejects(files.putBytes({ target, bytes: clean, expect: { kind: 'version', version } }), /open as a notebook with unsaved changes; save it or close it first/)
      equal(notebook.cellAt(0).document.getText(), 'mine # Title\nWords é')
      ok(await notebook.save())
      await files.putBytes({ target, bytes: clean, expect: { kind: 'version', version: versionOf(await bytes()) } })
      deepEqual(await bytes(), clean)
      await until(() => notebook.cellAt(0).document.getText() === '# Title\nWords é')
    })
    it('that is stale shows what changed in its cells', async () => {
      const notebook = await openNotebook('stale.ipynb')
      works(await tools.read('stale.ipynb'))
      await typeInto(notebook, 1, 'y = 0\n')
      tools.nextStep()
      failsWith(await tools.edit('stale.ipynb', 'x = 1', 'x = 2'), 'FS_STALE_VERSION', /unsaved changes in the notebook editor[^]*\n\+y = 0\n x = 1\n/)
      tools.nextStep()
      works(await tools.edit('stale.ipynb', 'x = 1', 'x = 2'))
      equal(notebook.cellAt(1).document.getText(), 'y = 0\nx = 2\nprint(x)\nx')
    })
    it('is not written below its editor, also when it was opened through a link', async () => {
      await put('behind.ipynb', notebookJson())
      await symlink('behind.ipynb', join(folder, 'before.ipynb'))
      await vscode.window.showNotebookDocument(await vscode.workspace.openNotebookDocument(vscode.Uri.file(join(folder, 'before.ipynb'))))
      works(await tools.read('behind.ipynb'))
      failsWith(await tools.write('behind.ipynb', '{}'), 'FS_IO_ERROR', /open as a notebook/)
    })
    it('is not written below its editor', async () => {
      await openNotebook('raw.ipynb')
      works(await tools.read('raw.ipynb'))
      failsWith(await tools.write('raw.ipynb', '{}'), 'FS_IO_ERROR', /open as a notebook; edit its cells/)
      equal(await onDisk('raw.ipynb'), notebookJson())
    })
    it('is found through a link', async () => {
      await put('linked.ipynb', notebookJson())
      await symlink('linked.ipynb', join(folder, 'link.ipynb'))
      const notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.file(join(folder, 'link.ipynb')))
      await vscode.window.showNotebookDocument(notebook)
      await typeInto(notebook, 0, 'unsaved ')
      match(said(await tools.read('linked.ipynb')), /2: unsaved # Title/)
    })
  })
})
