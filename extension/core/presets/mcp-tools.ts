import type { Settings } from '../settings/settings.ts'
import { settings as specs } from '../settings/specs.ts'
import type { ToolDefinition } from '../tools/definition.ts'

/** Of an MCP server. No preset names them: they come and go with their servers. Source: runtime specification 21. */
export const isMcpTool = (name: string): boolean => name.startsWith('mcp__')

/** Of the servers there are at one time, at most one has a tool of this name: none of their names goes on as another one’s tool would. */
export const isOfMcpServer = (tool: string, server: string): boolean => tool.startsWith(`mcp__${server}__`)

/**
 * Whether a preset that wants these servers, or none, or all when it does not say, takes a tool. The tool itself says whose it is: a name
 * alone may be read as that of a server which is not there.
 */
export const takesMcpTool = ({ name, mcpServer }: Pick<ToolDefinition, 'name' | 'mcpServer'>, servers: readonly string[] | false | undefined): boolean =>
  isMcpTool(name) && servers !== false && (servers === undefined || (mcpServer !== undefined && (servers.includes(mcpServer.name) || servers.includes(mcpServer.title))))

/** Where the ticks of tools are kept for a window with these folders. */
export const toolTicksOf = (folders: readonly { readonly path: string }[]): string => folders[0]?.path ?? ''

/** The person switched it off in this workspace. */
export const isSwitchedOff = (name: string, settings: Pick<Settings, 'get'>, folders: readonly { readonly path: string }[]): boolean => {
  const byFolder = settings.get(specs.mcpDisabledTools)
  const place = toolTicksOf(folders)
  return Object.hasOwn(byFolder, place) && byFolder[place]!.includes(name)
}

/** Lent by the editor. */
export const isEditorTool = (name: string): boolean => name.startsWith('vscode__')

/** They join where the tools of all MCP servers do. */
export const takesEditorTool = (name: string, servers: readonly string[] | false | undefined): boolean => isEditorTool(name) && servers === undefined
