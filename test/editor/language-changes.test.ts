import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { LanguageError, type LanguageEdit } from '../../extension/capabilities/languages.ts'
import { NodeFileSystem } from '../../extension/platform/node/file-system.ts'
import { EditorFileSystem } from '../../extension/platform/vscode/editor-file-system.ts'
import { vscodeLanguages } from '../../extension/platform/vscode/languages.ts'
import { planFiles } from '../../extension/tools/language/change-plan.ts'

const never = new AbortController().signal
/** The service starts on the first question and answers some seconds later. */
async function until<T>(ask: () => Promise<T | null | undefined>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await ask()
    if (answer !== null && answer !== undefined) return answer
    if (attempt === 240) throw new Error('It never came.')
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

describe('changes by the language services of the editor', () => {
  const root = join(vscode.workspace.workspaceFolders![0]!.uri.fsPath, 'src/many')
  const names = Array.from({ length: 10 }, (_, index) => (index === 0 ? 'source.ts' : `user-${index}.ts`))
  const textOf = (name: string) => (name === 'source.ts' ? 'export const waterLevel = 1\n' : `import { waterLevel } from './source.ts'\nexport const seen = waterLevel\n`)
  const files = new EditorFileSystem(new NodeFileSystem())
  const path = (name: string) => join(root, name)
  const texts = async () => Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(path(name), 'utf8')] as const)))
  const all = (change: (text: string) => string) => Object.fromEntries(names.map((name) => [name, change(textOf(name))]))
  const tabs = () => vscode.window.tabGroups.all.flatMap((group) => group.tabs.map(({ label }) => label))

  before(async () => {
    await mkdir(root, { recursive: true })
    for (const name of names) await writeFile(path(name), textOf(name))
    await vscode.workspace.getConfiguration('files').update('autoSave', 'off', vscode.ConfigurationTarget.Global)
  })
  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors')
    await vscode.workspace.getConfiguration('files').update('autoSave', undefined, vscode.ConfigurationTarget.Global)
    files.dispose()
    await rm(root, { recursive: true, force: true })
  })

  async function renamed(newName: string, oldName: string): Promise<LanguageEdit> {
    const document = await vscode.workspace.openTextDocument(path('source.ts'))
    const { line, character } = document.positionAt(document.getText().indexOf(oldName))
    // Until the service has read the whole project, it renames in the files that it knows.
    return await until(async () => {
      const edit = await vscodeLanguages.rename({ path: path('source.ts'), position: { line, character }, newName }, never)
      return edit !== null && edit.files.length === names.length ? edit : null
    })
  }
  async function make(edit: LanguageEdit) {
    const plans = await planFiles(edit, { files, root, signal: never })
    return await files.editTexts({ edits: plans.map(({ target, replacements, version }) => ({ target, replacements, expect: { kind: 'version', version } as const })), label: 'Bosun: rename' })
  }

  it('a rename across ten files is made in all of them, saved, and leaves no tab behind', async () => {
    const before = tabs()
    const edit = await renamed('tideLevel', 'waterLevel')
    const outcomes = await make(edit)
    equal(outcomes.length, 10)
    ok(outcomes.every(({ isUnsaved, wasReformatted }) => !isUnsaved && !wasReformatted))
    deepEqual(await texts(), all((text) => text.replaceAll('waterLevel', 'tideLevel')))
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    deepEqual(tabs(), before)
  })

  it('keeps what the person has not saved in one of the files, beside the new name', async () => {
    const document = await vscode.workspace.openTextDocument(path('user-3.ts'))
    const editor = await vscode.window.showTextDocument(document)
    await editor.edit((builder) => builder.insert(new vscode.Position(document.lineCount - 1, 0), '// mine\n'))
    const outcomes = await make(await renamed('seaLevel', 'tideLevel'))
    deepEqual(outcomes.filter(({ isUnsaved }) => isUnsaved).length, 1)
    ok(document.isDirty)
    equal(document.getText(), `${textOf('user-3.ts').replaceAll('waterLevel', 'seaLevel')}// mine\n`)
    equal((await texts())['user-3.ts'], textOf('user-3.ts').replaceAll('waterLevel', 'tideLevel'))
    equal((await texts())['user-4.ts'], textOf('user-4.ts').replaceAll('waterLevel', 'seaLevel'))
    ok(await document.save())
  })

  it('changes nothing when one of the files changed since', async () => {
    const edit = await renamed('lostLevel', 'seaLevel')
    const plans = await planFiles(edit, { files, root, signal: never })
    const now = await texts()
    await writeFile(path('user-9.ts'), `${now['user-9.ts']}// other\n`)
    await rejects(
      files.editTexts({ edits: plans.map(({ target, replacements, version }) => ({ target, replacements, expect: { kind: 'version', version } as const })), label: 'Bosun: rename' }),
      /user-9\.ts changed/,
    )
    deepEqual(await texts(), { ...now, 'user-9.ts': `${now['user-9.ts']}// other\n` })
  })

  it('says why something cannot be renamed', async () => {
    await rejects(
      async () => await until(async () => await vscodeLanguages.rename({ path: path('source.ts'), position: { line: 0, character: 1 }, newName: 'x' }, never)),
      (error: unknown) => error instanceof LanguageError && error.code === 'LSP_REFUSED',
    )
  })

  it('lists code actions and gives the changes of one of them', async () => {
    const name = path('broken.ts')
    await writeFile(name, 'export const sum = (a: number) => missingName(a)\n')
    const range = { start: { line: 0, character: 34 }, end: { line: 0, character: 45 } }
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(name))
    await until(async () => (vscode.languages.getDiagnostics(vscode.Uri.file(name)).length > 0 ? true : null))
    const actions = await until(async () => {
      const found = await vscodeLanguages.codeActions({ path: name, range }, never)
      return found.some(({ title }) => /missing function/i.test(title)) ? found : null
    })
    const title = actions.find((action) => /missing function/i.test(action.title))!.title
    const edit = await vscodeLanguages.codeActionEdit({ path: name, range, title }, never)
    ok(edit)
    deepEqual(edit.others, [])
    await make(edit)
    match(await readFile(name, 'utf8'), /function missingName\(/)
    equal(await vscodeLanguages.codeActionEdit({ path: name, range, title: 'No such action' }, never), null)
  })

  describe('of any provider', () => {
    const language = { scheme: 'file', pattern: '**/*.tide' }
    const tide = path('one.tide')
    const undos: vscode.Disposable[] = []
    before(async () => await writeFile(tide, 'high\nlow\n'))
    afterEach(() => undos.splice(0).forEach((undo) => undo.dispose()))
    const renameGives = (edit: () => vscode.WorkspaceEdit) => undos.push(vscode.languages.registerRenameProvider(language, { provideRenameEdits: () => edit() }))
    const rename = async () => await vscodeLanguages.rename({ path: tide, position: { line: 0, character: 0 }, newName: 'x' }, never)

    it('names what would happen besides text', async () => {
      renameGives(() => {
        const edit = new vscode.WorkspaceEdit()
        edit.replace(vscode.Uri.file(tide), new vscode.Range(0, 0, 0, 4), 'ebb')
        edit.createFile(vscode.Uri.file(path('new.tide')))
        edit.renameFile(vscode.Uri.file(tide), vscode.Uri.file(path('two.tide')))
        edit.deleteFile(vscode.Uri.file(path('old.tide')))
        return edit
      })
      deepEqual(await rename(), {
        files: [{ path: tide, edits: [{ range: { start: { line: 0, character: 0 }, end: { line: 0, character: 4 } }, newText: 'ebb' }] }],
        others: [`create ${path('new.tide')}`, `rename ${tide} to ${path('two.tide')}`, `delete ${path('old.tide')}`],
      })
    })
    it('takes a mix of Location and LocationLink', async () => {
      const uri = vscode.Uri.file(tide)
      undos.push(
        vscode.languages.registerDefinitionProvider(language, { provideDefinition: () => [new vscode.Location(uri, new vscode.Position(1, 0))] }),
        vscode.languages.registerDefinitionProvider(language, { provideDefinition: () => [{ targetUri: uri, targetRange: new vscode.Range(0, 0, 1, 3), targetSelectionRange: new vscode.Range(0, 1, 0, 4) }] }),
      )
      const answer = await vscodeLanguages.ask({ operation: 'goToDefinition', path: tide, position: { line: 0, character: 0 } }, never)
      ok(answer.kind === 'locations')
      deepEqual(answer.locations.map(({ range }) => `${range.start.line}:${range.start.character}`).toSorted(), ['0:1', '1:0'])
    })
    it('has no hover where nobody says anything, and no command links in one', async () => {
      const hover = async () => await vscodeLanguages.ask({ operation: 'hover', path: tide, position: { line: 0, character: 0 } }, never)
      deepEqual(await hover(), { kind: 'hover', contents: null })
      undos.push(vscode.languages.registerHoverProvider(language, { provideHover: () => new vscode.Hover(new vscode.MarkdownString('[run](command:workbench.action.quit) **high**')) }))
      const answer = await hover()
      deepEqual(answer.kind === 'hover' && answer.contents, 'run **high**')
    })
    it('gives a command of a code action its name, and no changes', async () => {
      undos.push(vscode.languages.registerCodeActionsProvider(language, { provideCodeActions: () => [{ title: 'Quit', command: 'workbench.action.quit' }] }))
      const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } }
      deepEqual(await vscodeLanguages.codeActions({ path: tide, range }, never), [{ title: 'Quit', isCommand: true }])
      deepEqual(await vscodeLanguages.codeActionEdit({ path: tide, range, title: 'Quit' }, never), { files: [], others: [], command: 'workbench.action.quit' })
    })
    it('is stale when the person typed while the service thought', async () => {
      renameGives(() => {
        const edit = new vscode.WorkspaceEdit()
        edit.replace(vscode.Uri.file(tide), new vscode.Range(0, 0, 0, 4), 'ebb')
        return edit
      })
      const editor = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(tide))
      undos.push(
        vscode.languages.registerRenameProvider(language, {
          async provideRenameEdits(document) {
            await editor.edit((builder) => builder.insert(new vscode.Position(0, 0), '!'))
            const edit = new vscode.WorkspaceEdit()
            edit.replace(document.uri, new vscode.Range(0, 0, 0, 4), 'ebb')
            return edit
          },
        }),
      )
      await rejects(rename(), /changed since/)
      await vscode.commands.executeCommand('workbench.action.files.revert')
    })
  })
})
