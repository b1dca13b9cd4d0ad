import { deepEqual, equal, ok } from 'node:assert/strict'
import * as vscode from 'vscode'
import type { LanguageAnswer, LanguageQuestion } from '../../extension/capabilities/languages.ts'
import { vscodeLanguages } from '../../extension/platform/vscode/languages.ts'

describe('the language services of the editor', () => {
  const folder = vscode.workspace.workspaceFolders![0]!.uri
  const main = vscode.Uri.joinPath(folder, 'src/main.ts')
  const tides = vscode.Uri.joinPath(folder, 'src/tides.ts')

  const isEmpty = (answer: LanguageAnswer) =>
    answer.kind === 'hover' ? answer.contents === null : answer.kind === 'locations' ? answer.locations.length === 0 : answer.kind === 'symbols' ? answer.symbols.length === 0 : false
  /** The service starts on the first question and answers some seconds later. */
  async function ask(question: Partial<LanguageQuestion> & Pick<LanguageQuestion, 'operation'>, isDone: (answer: LanguageAnswer) => boolean = (answer) => !isEmpty(answer)): Promise<LanguageAnswer> {
    for (let attempt = 0; ; attempt += 1) {
      const answer = await vscodeLanguages.ask({ path: main.fsPath, position: { line: 0, character: 0 }, ...question }, new AbortController().signal)
      if (isDone(answer) || attempt === 80) return answer
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  }
  async function nameIn(uri: vscode.Uri, name: string) {
    const document = await vscode.workspace.openTextDocument(uri)
    const { line, character } = document.positionAt(document.getText().lastIndexOf(name) + 1)
    return { path: uri.fsPath, position: { line, character } }
  }
  const urisOf = (answer: LanguageAnswer) => (answer.kind === 'locations' ? [...new Set(answer.locations.map(({ uri }) => uri))].sort() : [])

  it('find the definition and the references of a name in other files', async () => {
    const place = await nameIn(main, 'highestTide')
    // While the service reads the project, a name is defined where it is imported.
    deepEqual(urisOf(await ask({ operation: 'goToDefinition', ...place }, (answer) => urisOf(answer).includes(tides.toString()))), [tides.toString()])
    deepEqual(urisOf(await ask({ operation: 'findReferences', ...place })), [main.toString(), tides.toString()])
  })
  it('say what a name is', async () => {
    const answer = await ask({ operation: 'hover', ...(await nameIn(main, 'highestTide')) })
    ok(answer.kind === 'hover' && answer.contents?.includes('highestTide'))
  })
  it('join what several say of a name, without links that would run a command', async () => {
    const hover = (value: string) => vscode.languages.registerHoverProvider({ scheme: 'file', pattern: '**/main.ts' }, { provideHover: () => new vscode.Hover(new vscode.MarkdownString(value)) })
    const given = vscode.Disposable.from(hover('one [runs it](command:bosun.openChat "Now")'), hover('two [reads it](https://a.test/)'))
    try {
      const answer = await ask({ operation: 'hover', ...(await nameIn(main, 'highestTide')) }, (found) => found.kind === 'hover' && found.contents?.includes('highestTide') === true)
      ok(answer.kind === 'hover' && answer.contents !== null)
      deepEqual([answer.contents.includes('one runs it'), answer.contents.includes('two [reads it](https://a.test/)'), answer.contents.includes('command:')], [true, true, false])
    } finally {
      given.dispose()
    }
  })
  it('know what was typed and not saved', async () => {
    const document = await vscode.workspace.openTextDocument(tides)
    const edit = new vscode.WorkspaceEdit()
    edit.insert(tides, new vscode.Position(0, 0), 'export const typedJustNow = 1\n')
    await vscode.workspace.applyEdit(edit)
    try {
      const answer = await ask({ operation: 'documentSymbols', path: tides.fsPath }, (found) => found.kind === 'symbols' && found.symbols.some(({ name }) => name === 'typedJustNow'))
      deepEqual([document.isDirty, answer.kind === 'symbols' && answer.symbols.some(({ name }) => name === 'typedJustNow')], [true, true])
    } finally {
      const back = new vscode.WorkspaceEdit()
      back.delete(tides, new vscode.Range(0, 0, 1, 0))
      await vscode.workspace.applyEdit(back)
      await document.save()
    }
  })
  it('list the symbols of a file and find one in the workspace', async () => {
    const inFile = await ask({ operation: 'documentSymbols', path: tides.fsPath })
    ok(inFile.kind === 'symbols' && inFile.symbols.some(({ name, kind }) => name === 'highestTide' && kind === 'function'))
    const inWorkspace = await ask({ operation: 'workspaceSymbols', query: 'highestTide' })
    ok(inWorkspace.kind === 'symbols' && inWorkspace.symbols.some(({ uri }) => uri === tides.toString()))
  })
  it('find who calls a function', async () => {
    const answer = await ask({ operation: 'incomingCalls', ...(await nameIn(tides, 'highestTide')) })
    ok(answer.kind === 'symbols' && answer.symbols.some(({ uri }) => uri === main.toString()))
  })
  it('open no tab and take no focus', async () => {
    const before = [vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).length, vscode.window.activeTextEditor?.document.uri.toString()]
    await ask({ operation: 'documentSymbols', path: tides.fsPath })
    deepEqual([vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).length, vscode.window.activeTextEditor?.document.uri.toString()], before)
  })
  it('drop an answer that comes after the stop', async () => {
    const stop = new AbortController()
    const answer = vscodeLanguages.ask({ operation: 'workspaceSymbols', path: main.fsPath, position: { line: 0, character: 0 }, query: 'x' }, stop.signal).then(
      () => 'answered',
      () => 'stopped',
    )
    stop.abort()
    equal(await answer, 'stopped')
  })
})
