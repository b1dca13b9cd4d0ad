import { deepEqual, equal, ok } from 'node:assert/strict'
import * as vscode from 'vscode'
import { fillIn } from '../../extension/base/fill-in.ts'
import { JobTabs } from '../../extension/host/job-tabs.ts'
import { jobTree } from '../../extension/host/job-tree.ts'
import { treeItemOf } from '../../extension/platform/vscode/editor-tree.ts'
import { VscodeProblemMarks } from '../../extension/platform/vscode/problem-marks.ts'
import { vscodeTerminalViews } from '../../extension/platform/vscode/terminal-views.ts'

async function until(isDone: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 500 && !isDone(); attempt += 1) await new Promise((resolve) => setTimeout(resolve, 100))
  ok(isDone())
}

describe('the problems of jobs', () => {
  const folder = vscode.workspace.workspaceFolders![0]!.uri
  const uri = vscode.Uri.joinPath(folder, 'src/tides.ts')
  const marks = new VscodeProblemMarks()
  const mine = () => vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'tsc').map(({ message }) => message)
  const problem = (message: string) => {
    const at = { line: 0, character: 7 }
    return { path: 'src/tides.ts', folder: folder.fsPath, range: { start: at, end: at }, severity: 'warning' as const, message, source: 'tsc', code: 'TS1' }
  }
  after(() => marks.dispose())

  it('stand in the editor’s list, those of each job for themselves, and go with it', () => {
    marks.set('bash-1', [problem('one'), problem('two')])
    marks.set('bash-2', [{ ...problem('three'), path: uri.fsPath }])
    deepEqual(mine().toSorted(), ['one', 'three', 'two'])
    const found = vscode.languages.getDiagnostics(uri).find(({ message }) => message === 'one')
    deepEqual([found?.severity, found?.code, found?.range.start.character], [vscode.DiagnosticSeverity.Warning, 'TS1', 7])
    marks.set('bash-1', [problem('four')])
    deepEqual(mine().toSorted(), ['four', 'three'])
    marks.remove('bash-1')
    deepEqual(mine(), ['three'])
    marks.dispose()
    deepEqual(mine(), [])
  })
})

describe('the view of jobs', () => {
  it('is there, with its commands', async () => {
    await vscode.extensions.getExtension('bosun.bosun')!.activate()
    await vscode.commands.executeCommand('bosun.jobs.focus')
    const commands = await vscode.commands.getCommands(true)
    for (const name of ['ShowOutput', 'OpenPort', 'CopyAddress', 'ShowProblems', 'SendInput', 'WakeWhen', 'Pin', 'Unpin', 'Remove', 'RemoveEnded', 'Restart', 'Kill']) ok(commands.includes(`bosun.job${name}`), name)
  })

  it('draws a job as a row of the editor’s own', () => {
    const job = { id: 'bash-1', label: 'npm run dev', status: 'running' as const, startedAt: 0, isPinned: false, takesInput: true, waitsForInput: false, canRestart: true, ports: [{ port: 5173, url: 'http://localhost:5173/' }], hasListened: true, problems: null, lastLines: [], session: null }
    const [node] = jobTree({ jobs: [job], now: 300_000 }, { t: fillIn }).nodes
    const item = treeItemOf(node!)
    deepEqual([item.id, item.label, item.description, item.contextValue, item.command?.command], ['job:bash-1~listening', 'npm run dev', 'running 5 min · :5173', 'job live unpinned input restartable listening', 'bosun.jobShowOutput'])
    equal(item.collapsibleState, vscode.TreeItemCollapsibleState.Expanded)
    ok(item.iconPath instanceof vscode.ThemeIcon && item.iconPath.id === 'circle-filled')
    ok(item.tooltip instanceof vscode.MarkdownString && item.tooltip.isTrusted !== true)
    equal(treeItemOf(node!.children![0]!).collapsibleState, vscode.TreeItemCollapsibleState.None)
  })
})

describe('the output of a job', () => {
  it('is a terminal of the editor that takes no keys, comes to the front again, and can be closed', async () => {
    const tabs = new JobTabs({ terminalViews: vscodeTerminalViews, l10n: { t: fillIn } })
    const named = () => vscode.window.terminals.filter(({ name }) => name === 'npm run dev')
    tabs.show('bash-1', () => ({ title: 'npm run dev', text: 'one\n', omittedBytes: 0, end: null }))
    await until(() => named().length === 1)
    tabs.show('bash-1', () => ({ title: 'npm run dev', text: 'one\n', omittedBytes: 0, end: null }))
    equal(named().length, 1)
    named()[0]!.dispose()
    await until(() => !tabs.isOpen('bash-1'))
    tabs.show('bash-1', () => ({ title: 'npm run dev', text: 'one\n', omittedBytes: 0, end: 'It has ended.' }))
    await until(() => named().length === 1)
    tabs.dispose()
    await until(() => named().length === 0)
  })
})
