import { deepEqual, equal, ok } from 'node:assert/strict'
import * as vscode from 'vscode'
import type { Publication } from '../../extension/capabilities/problem-feed.ts'
import { vscodeProblemFeed } from '../../extension/platform/vscode/problem-feed.ts'

describe('the problems that language services publish', () => {
  const folder = vscode.workspace.workspaceFolders![0]!.uri
  const uri = vscode.Uri.joinPath(folder, 'src/problems.ts')
  const { signal } = new AbortController()
  const news: Publication[] = []
  const stop = vscodeProblemFeed.onDidPublish((each) => void news.push(each))

  after(async () => {
    stop()
    const tab = vscode.window.tabGroups.all.flatMap((group) => group.tabs).find(({ label }) => label === 'problems.ts')
    if (tab) await vscode.window.tabGroups.close(tab)
    await vscode.workspace.fs.delete(uri)
  })
  /** Until the services have published something that satisfies; they take seconds to start. */
  async function until(isDone: () => boolean): Promise<void> {
    for (let attempt = 0; attempt < 120 && !isDone(); attempt += 1) await new Promise((resolve) => setTimeout(resolve, 250))
    ok(isDone(), JSON.stringify({ news, problems: vscodeProblemFeed.problemsOf(uri.fsPath) }))
  }

  it('come for a file in a tab, and again for its changed text; none is opened for them', async () => {
    await vscode.workspace.fs.writeFile(uri, Buffer.from('export const height: number = "high"\n'))
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).length
    equal(await vscodeProblemFeed.open(uri.fsPath, signal), null)
    equal(vscode.window.tabGroups.all.flatMap((group) => group.tabs).length, tabs)
    await vscode.window.showTextDocument(uri, { preserveFocus: true, preview: false })
    deepEqual(await vscodeProblemFeed.open(uri.fsPath, signal), { language: 'typescript', version: 1, wasOpen: true })
    await until(() => vscodeProblemFeed.problemsOf(uri.fsPath).length === 1)
    const [problem] = vscodeProblemFeed.problemsOf(uri.fsPath)
    deepEqual([problem?.severity, problem?.source, problem?.range.start.line], ['error', 'ts 2322', 0])

    const edit = new vscode.WorkspaceEdit()
    edit.insert(uri, new vscode.Position(0, 0), 'export const depth: number = "low"\n')
    await vscode.workspace.applyEdit(edit)
    await until(() => vscodeProblemFeed.problemsOf(uri.fsPath).length === 2)
    const last = news.findLast(({ path }) => path === uri.fsPath)
    deepEqual(last?.open, { language: 'typescript', version: 2 })
    deepEqual(vscodeProblemFeed.all().get(uri.fsPath)?.length, 2)
    await (await vscode.workspace.openTextDocument(uri)).save()
  })
  it('do not come for what is no text or not there', async () => {
    equal(await vscodeProblemFeed.open(vscode.Uri.joinPath(folder, 'nowhere.ts').fsPath, signal), null)
  })
})
