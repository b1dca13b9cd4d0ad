import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { fillIn } from '../../extension/base/fill-in.ts'
import { NodeFileSystem } from '../../extension/platform/node/file-system.ts'
import { VscodeAttention } from '../../extension/platform/vscode/attention.ts'
import { ChatViews } from '../../extension/platform/vscode/chat-views.ts'
import { VscodeEditor } from '../../extension/platform/vscode/editor.ts'
import { EditorFileSystem } from '../../extension/platform/vscode/editor-file-system.ts'
import { KeptFiles } from '../../extension/platform/vscode/kept-files.ts'
import { createVscodeSettingsSource } from '../../extension/platform/vscode/settings-source.ts'
import { createVscodeWorkspace } from '../../extension/platform/vscode/workspace.ts'

const active = () => vscode.window.tabGroups.activeTabGroup.activeTab
const until = async (holds: () => boolean, what: string) => {
  for (let waited = 0; !holds(); waited += 50) {
    ok(waited < 50_000, what)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

describe('what the chat opens in the editor', () => {
  let folder: string
  let files: EditorFileSystem
  let editor: VscodeEditor
  // The extension under test serves its own scheme itself.
  const redrawn: string[] = []
  const kept = new KeptFiles(async (name) => {
    redrawn.push(name)
    if (name.startsWith('lost/')) throw new Error('It is lost.')
    return `drawn again: ${name}`
  }, 'bosun-kept-test')
  const registration = kept.register()

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'opened-')))
    await writeFile(join(folder, 'a.ts'), 'one\ntwo\nthree\n')
    await writeFile(join(folder, 'b.ts'), 'b\n')
    files = new EditorFileSystem(new NodeFileSystem())
    const views = new ChatViews({ extensionUri: vscode.Uri.file(folder), attach: async () => () => {}, onError: () => {} })
    editor = new VscodeEditor({ files, kept, views, l10n: { t: fillIn }, goalCommand: 'bosun.goalShow', reminderCommand: 'bosun.showReminders', statusCommand: 'bosun.showMenu' })
  })
  after(async () => {
    registration.dispose()
    editor.dispose()
    files.dispose()
    await rm(folder, { recursive: true, force: true })
  })
  afterEach(async () => void (await vscode.commands.executeCommand('workbench.action.closeAllEditors')))

  it('a place in a file, as a preview at the line', async () => {
    equal(await editor.openLocation({ path: 'a.ts', line: 2 }, folder), null)
    const shown = vscode.window.activeTextEditor
    deepEqual([shown?.document.uri.fsPath, shown?.selection.active.line, active()?.isPreview], [join(folder, 'a.ts'), 1, true])
  })

  it('a place in a line', async () => {
    equal(await editor.openLocation({ path: 'a.ts', line: 3, column: 3 }, folder), null)
    deepEqual(vscode.window.activeTextEditor?.selection.active, new vscode.Position(2, 2))
  })

  it('a search in the editor’s own view, in whatever files', async () => {
    for (const files of [undefined, '.', 'src/a', '*.{ts,js}', folder]) await editor.openSearch({ pattern: String.raw`\bhit\b`, isCaseSensitive: true, ...(files !== undefined && { files }) })
    equal(vscode.window.activeTextEditor, undefined)
  })

  it('nothing, but words, for a file that is gone', async () => {
    equal(await editor.openLocation({ path: 'gone.ts' }, folder), 'gone.ts is not there any more.')
    equal(vscode.window.activeTextEditor, undefined)
  })

  it('a native diff of what stood before against the file as it is now', async () => {
    await editor.openDiff({ title: 'a.ts (before and now)', path: join(folder, 'a.ts'), before: { name: 'call/a.ts', text: 'one\n2\nthree\n' } })
    await until(() => active()?.input instanceof vscode.TabInputTextDiff, 'a diff editor')
    const { original, modified } = active()!.input as vscode.TabInputTextDiff
    equal(active()?.label, 'a.ts (before and now)')
    equal((await vscode.workspace.openTextDocument(original)).getText(), 'one\n2\nthree\n')
    equal((await vscode.workspace.openTextDocument(original)).languageId, 'typescript')
    equal(modified.fsPath, join(folder, 'a.ts'))
  })

  it('several files in one multi-file diff', async () => {
    await editor.openDiffs({
      title: 'Changes of turn 1',
      files: ['a.ts', 'b.ts'].map((name) => ({ path: join(folder, name), before: { name: `turn/${name}`, text: 'old\n' } })),
    })
    await until(() => active()?.label.startsWith('Changes of turn 1') === true, 'a multi-file diff editor')
  })

  it('what waited for an answer, and closes it again with that', async () => {
    const tabs = () => vscode.window.tabGroups.all.flatMap((group) => group.tabs.map(({ label }) => label))
    const sideOf = (id: string, name: string) => ({ before: { name, text: 'old\n', side: `${id}-before` }, after: { name, text: 'new\n', side: `${id}-proposed` } })
    const diff = (id: string) => editor.openDiff({ title: `${id} (proposed)`, path: join(folder, 'a.ts'), ...sideOf(id, 'a.ts') })
    const several = (id: string) => editor.openDiffs({ title: `${id} (proposed)`, files: ['a.ts', 'b.ts'].map((name) => ({ path: join(folder, name), ...sideOf(id, name) })) })
    const text = (id: string, language: string) => editor.openText({ name: `${id}.${language}`, text: 'text', side: `${id}-proposed`, language })
    for (const [id, open] of [['one', diff], ['many', several], ['script', (id: string) => text(id, 'javascript')], ['page', (id: string) => text(id, 'markdown')]] as const) {
      await open(id)
      await until(() => tabs().some((label) => label.includes(id)), `${id} is shown: ${tabs().join()}`)
      await editor.closeTexts(['other-proposed'])
      equal(tabs().length, 1)
      await editor.closeTexts([`${id}-before`, `${id}-proposed`])
      await until(() => tabs().length === 0, `${id} is closed: ${tabs().join()}`)
      await open(id)
      await until(() => tabs().some((label) => label.includes(id)), `${id} is shown again: ${tabs().join()}`)
      await vscode.commands.executeCommand('workbench.action.keepEditor')
      await until(() => active()?.isPreview === false, `${id} is kept`)
      await editor.closeTexts([`${id}-proposed`])
      deepEqual(tabs().length, 1)
      await vscode.commands.executeCommand('workbench.action.closeAllEditors')
    }
    const previews = vscode.workspace.getConfiguration('workbench.editor')
    await previews.update('enablePreview', false, vscode.ConfigurationTarget.Workspace)
    try {
      await diff('one')
      await until(() => tabs().length === 1, 'one is shown')
      await diff('pinned')
      await until(() => tabs().length === 2, 'pinned is shown')
      await vscode.commands.executeCommand('workbench.action.pinEditor')
      await until(() => active()?.isPinned === true, 'it is pinned')
      await editor.closeTexts(['one-proposed', 'pinned-proposed'])
      await until(() => tabs().length === 1, 'one is closed')
      equal(active()?.label, 'pinned (proposed)')
    } finally {
      // A pinned one stays when all are closed.
      await vscode.commands.executeCommand('workbench.action.unpinEditor')
      await vscode.commands.executeCommand('workbench.action.closeAllEditors')
      await previews.update('enablePreview', undefined, vscode.ConfigurationTarget.Workspace)
    }
  })

  it('long output, read-only', async () => {
    await editor.openText({ name: 'call/bash.txt', text: 'line\n'.repeat(1000) })
    const shown = vscode.window.activeTextEditor
    equal(shown?.document.lineCount, 1001)
    await vscode.commands.executeCommand('type', { text: 'x' })
    deepEqual([shown?.document.lineAt(0).text, shown?.document.isDirty], ['line', false])
  })

  it('an output that is not kept any more, drawn again and once', async () => {
    const uri = vscode.Uri.from({ scheme: 'bosun-kept-test', path: '/output/s1/c1/bash.txt' })
    const [document, stat] = await Promise.all([vscode.workspace.openTextDocument(uri), vscode.workspace.fs.stat(uri)])
    equal(document.getText(), 'drawn again: output/s1/c1/bash.txt')
    deepEqual([stat.size, redrawn], [document.getText().length, ['output/s1/c1/bash.txt']])
    const lost = vscode.Uri.from({ scheme: 'bosun-kept-test', path: '/lost/a.png' })
    await rejects(Promise.resolve(vscode.workspace.fs.readFile(lost)), /It is lost\./)
  })

  it('a pick list that begins at the current choice, and null when it is left', async () => {
    const picked = editor.pick({ title: 'Choose', items: [{ id: 'sep', label: 'Group', isSeparator: true }, { id: 'a', label: 'A' }, { id: 'b', label: 'B', isCurrent: true }] })
    await new Promise((resolve) => setTimeout(resolve, 300))
    await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem')
    equal(await picked, 'b')
    const left = editor.pick({ title: 'Choose', items: [{ id: 'a', label: 'A' }] })
    await new Promise((resolve) => setTimeout(resolve, 300))
    await vscode.commands.executeCommand('workbench.action.closeQuickOpen')
    equal(await left, null)
  })
})

describe('a notification', () => {
  it('that was answered elsewhere answers nothing', async () => {
    const answered = new AbortController()
    const choice = new VscodeAttention().ask({ text: 'Bosun: Run x', buttons: [{ id: 'allow', label: 'Allow once' }], signal: answered.signal })
    answered.abort()
    equal(await choice, null)
    equal(await new VscodeAttention().ask({ text: 'late', buttons: [], signal: AbortSignal.abort() }), null)
  })
})

describe('the workspace of the editor', () => {
  const workspace = createVscodeWorkspace({ readBranch: async () => 'main' })

  it('names its folders and whether they are trusted', () => {
    deepEqual(workspace.folders().map(({ name }) => name), vscode.workspace.workspaceFolders?.map(({ name }) => name))
    equal(workspace.isTrusted(), true)
  })

  it('tells when a file of a name comes, below a folder too', async () => {
    const folder = vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, 'watched-folder')
    const file = vscode.Uri.joinPath(folder, 'WATCHED.md')
    const heard: string[] = []
    const unwatch = workspace.onDidChangeFiles?.(['OTHER.md', 'WATCHED.md'], (path) => void heard.push(path))
    // The editor begins to watch some time after it is asked to, a new folder too, so the file comes until it is heard of.
    for (let size = 1; heard.length === 0; size += 1) {
      await vscode.workspace.fs.writeFile(file, new TextEncoder().encode('x'.repeat(size)))
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
    equal(heard[0], file.fsPath)
    unwatch?.()
    await vscode.workspace.fs.delete(folder, { recursive: true })
  })

  it('knows the branch of each folder from its files while the Git extension does not run', async () => {
    const { gitBranches = [] } = await workspace.snapshot()
    deepEqual(gitBranches.map(({ folder }) => folder), vscode.workspace.workspaceFolders?.map(({ uri }) => uri.fsPath))
  })

  it('tells what is open, unsaved and wrong', async () => {
    const root = vscode.workspace.workspaceFolders![0]!.uri
    const file = vscode.Uri.joinPath(root, 'README.md')
    const shown = await vscode.window.showTextDocument(file, { preview: false })
    await shown.edit((edit) => edit.insert(new vscode.Position(0, 0), 'x'))
    const diagnostics = vscode.languages.createDiagnosticCollection('test')
    diagnostics.set(file, [new vscode.Diagnostic(new vscode.Range(0, 0, 0, 1), 'bad', vscode.DiagnosticSeverity.Error)])
    const snapshot = await workspace.snapshot()
    deepEqual(snapshot.activeEditor, { path: file.fsPath, languageId: 'markdown' })
    ok(snapshot.openEditors.includes(file.fsPath))
    ok(snapshot.unsavedFiles.includes(file.fsPath))
    // The editor tells of changed problems a moment later.
    let errors = snapshot.problems?.errors
    for (let attempt = 0; errors !== 1 && attempt < 100; attempt += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      errors = (await workspace.snapshot()).problems?.errors
    }
    equal(errors, 1)
    diagnostics.dispose()
    await vscode.commands.executeCommand('workbench.action.files.revert')
    await vscode.commands.executeCommand('workbench.action.closeAllEditors')
  })
})

describe('settings', () => {
  const source = createVscodeSettingsSource()

  it('that nobody wrote are not set, whatever the manifest says', () => {
    equal(source.get('agent.maxStepsPerTurn'), undefined)
    deepEqual(source.inspect('agent.maxStepsPerTurn'), {})
  })

  it('are written, heard of and told apart by where they stand', async () => {
    const heard: boolean[] = []
    const undo = source.onDidChange((changed) => heard.push(changed('agent.maxStepsPerTurn')))
    await source.set('agent.maxStepsPerTurn', 7, 'user')
    deepEqual([source.get('agent.maxStepsPerTurn'), source.inspect('agent.maxStepsPerTurn')], [7, { user: 7 }])
    await source.set('agent.maxStepsPerTurn', 3, 'workspace')
    deepEqual([source.get('agent.maxStepsPerTurn'), source.inspect('agent.maxStepsPerTurn')], [3, { user: 7, workspace: 3 }])
    await source.set('agent.maxStepsPerTurn', undefined, 'workspace')
    await source.set('agent.maxStepsPerTurn', undefined, 'user')
    undo()
    ok(heard.includes(true))
    equal(source.get('agent.maxStepsPerTurn'), undefined)
  })
})

describe('the extension', () => {
  it('starts without what it needs for work, and has its commands at once', async () => {
    const extension = vscode.extensions.getExtension('bosun.bosun')
    await extension?.activate()
    match(String(extension?.isActive), /true/)
    const commands = await vscode.commands.getCommands(true)
    ok(['bosun.openChat', 'bosun.newSession', 'bosun.setApiKey', 'bosun.showMenu'].every((id) => commands.includes(id)))
  })
})
