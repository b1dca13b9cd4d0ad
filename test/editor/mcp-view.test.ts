import { deepEqual, equal } from 'node:assert/strict'
import * as vscode from 'vscode'
import { fillIn } from '../../extension/base/fill-in.ts'
import { commandSpecs } from '../../extension/host/command-specs.ts'
import { McpLogs } from '../../extension/host/mcp-logs.ts'
import { mcpTree } from '../../extension/host/mcp-tree.ts'
import { treeItemOf } from '../../extension/platform/vscode/editor-tree.ts'
import { vscodeLogViews } from '../../extension/platform/vscode/log-views.ts'
import { serverFacts, toolFacts } from '../unit/host/mcp-server-facts.ts'

describe('the view of MCP servers', () => {
  it('is there, with its commands', async () => {
    await vscode.extensions.getExtension('bosun.bosun')!.activate()
    await vscode.commands.executeCommand('bosun.mcp.focus')
    const commands = await vscode.commands.getCommands(true)
    const missing = commandSpecs.filter(({ target }) => 'mcp' in target).filter(({ id }) => !commands.includes(`bosun.${id}`))
    deepEqual(missing, [])
  })

  it('draws a server and its tools as rows of the editor’s own, with ticks', () => {
    const server = { ...serverFacts('demo', { tools: [toolFacts('echo'), toolFacts('look', { isOn: false }), toolFacts('task', { problem: 'It is a task.' })] }), place: 'your settings', lastEnd: null, isOpened: false }
    const [node] = mcpTree({ servers: [server], skipped: [], now: 0 }, { t: fillIn }).nodes
    const item = treeItemOf(node!)
    deepEqual([item.id, item.label, item.description, item.contextValue], ['server:demo', 'demo', 'running · 1 of 3 tools · your settings', 'server restartable stoppable logged switchable'])
    equal(item.collapsibleState, vscode.TreeItemCollapsibleState.Collapsed)
    const ticks = node!.children!.slice(-3).map((child) => treeItemOf(child).checkboxState)
    deepEqual(
      ticks.map((tick) => (typeof tick === 'object' ? [tick.state, tick.tooltip] : tick)),
      [[vscode.TreeItemCheckboxState.Checked, 'Offered to the model in this workspace'], [vscode.TreeItemCheckboxState.Unchecked, 'Not offered to the model in this workspace'], undefined],
    )
  })
})

describe('the log of an MCP server', () => {
  it('is a channel of the output panel, which takes no focus and goes on', async () => {
    const lines = ['10:00:00 one']
    const logs = new McpLogs({ views: vscodeLogViews, l10n: { t: fillIn }, lines: () => lines })
    const shown = () => vscode.workspace.textDocuments.find(({ uri, fileName }) => uri.scheme === 'output' && fileName.includes('Bosun MCP: demo'))?.getText()
    const until = async (text: string) => {
      for (let attempt = 0; attempt < 500 && shown() !== text; attempt += 1) await new Promise((resolve) => setTimeout(resolve, 100))
      equal(shown(), text)
    }
    logs.show({ name: 'demo', title: 'demo' })
    await until('10:00:00 one\n')
    logs.note('demo', '10:00:01 two')
    await until('10:00:00 one\n10:00:01 two\n')
    logs.dispose()
  })
})
