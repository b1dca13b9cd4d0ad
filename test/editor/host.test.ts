import { deepEqual, equal, ok } from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import * as vscode from 'vscode'

describe('the test host', () => {
  const [folder] = vscode.workspace.workspaceFolders ?? []

  it('runs in a real VS Code on a workspace of its own', async () => {
    ok(vscode.version.startsWith('1.'))
    const file = vscode.Uri.joinPath(folder!.uri, 'src/tides.ts')
    ok((await vscode.workspace.openTextDocument(file)).getText().includes('highestTide'))
  })

  it('loads the extension under development', () => {
    equal(vscode.extensions.getExtension('bosun.bosun')?.id, 'bosun.bosun')
  })

  it('has a database engine', () => {
    const database = new DatabaseSync(':memory:')
    deepEqual({ ...database.prepare('select 1 + 1 as two').get() }, { two: 2 })
    database.close()
  })

  it('has language services', async () => {
    const file = vscode.Uri.joinPath(folder!.uri, 'src/main.ts')
    const document = await vscode.workspace.openTextDocument(file)
    const position = document.positionAt(document.getText().lastIndexOf('highestTide') + 1)
    const find = async () =>
      (await vscode.commands.executeCommand<vscode.LocationLink[]>('vscode.executeDefinitionProvider', file, position)).map(
        ({ targetUri }) => vscode.workspace.asRelativePath(targetUri),
      )
    // The language server starts on the first question and answers some seconds later.
    let found = await find()
    for (const endsAt = Date.now() + 20_000; !found.includes('src/tides.ts') && Date.now() < endsAt; found = await find()) {
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
    deepEqual(found, ['src/tides.ts'])
  })
})
