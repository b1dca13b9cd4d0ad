import { expect, it } from 'vitest'
import { takesEditorTool, takesMcpTool } from '../../../../extension/core/presets/mcp-tools.ts'

const lent = (name: string, server?: { readonly name: string; readonly title: string }) => ({ name, ...(server && { mcpServer: server }) })
const tools = [
  lent('mcp__files__read', { name: 'files', title: 'files' }),
  lent('mcp__files__b__c', { name: 'files__b', title: 'files__b' }),
  lent('mcp__My_Files_0__read', { name: 'My_Files_0', title: 'My Files' }),
  lent('vscode__search'),
  lent('read'),
]

it.each<[servers: readonly string[] | false | undefined, taken: readonly string[]]>([
  [undefined, ['mcp__files__read', 'mcp__files__b__c', 'mcp__My_Files_0__read', 'vscode__search']],
  [['files'], ['mcp__files__read']],
  [['files__b', 'none'], ['mcp__files__b__c']],
  [['My Files'], ['mcp__My_Files_0__read']],
  [['My_Files_0'], ['mcp__My_Files_0__read']],
  [[], []],
  [false, []],
])('a preset with the servers %j takes %j of what others lend', (servers, taken) =>
  expect(tools.filter((tool) => takesMcpTool(tool, servers) || takesEditorTool(tool.name, servers)).map(({ name }) => name)).toEqual(taken))
