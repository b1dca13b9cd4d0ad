import { isErrorOf } from '../../base/harness-error.ts'
import { FileError, type FileSystem, type TextReplacement } from '../../capabilities/file-system.ts'
import { McpError } from '../../capabilities/mcp.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { settings as specs } from '../../core/settings/specs.ts'
import { nameProblem, parseServerFile, type McpServerConfig } from './server-config.ts'
import { MAX_SERVER_FILE_BYTES, serversKey } from './server-files.ts'
import type { NewServer } from './service.ts'

interface AddNeeds {
  readonly files: Pick<FileSystem, 'resolve' | 'readText' | 'writeText' | 'editText'>
  readonly settings: Pick<Settings, 'get' | 'update'>
  /** Names of all servers there are. */
  readonly taken: readonly string[]
}

/** Write a server where the person wants it; nothing else there changes. Errors: as `Mcp.add`. */
export async function addServer({ name, entry, folder }: NewServer, { files, settings, taken }: AddNeeds): Promise<void> {
  const problem = nameProblem(name)
  if (problem !== null) throw refused(problem)
  if (taken.includes(name)) throw refused(`There is an MCP server ${name} already. Give this one another name.`)
  if (folder === null) return await settings.update({ key: serversKey, path: [name], value: plainEntry(entry) })
  if (!settings.get(specs.mcpFiles).includes('bosun')) throw refused('The setting bosun.mcp.files says that .bosun/mcp.json is not read. Add "bosun" to it, or keep the server in your settings.')
  const label = `Bosun: add the MCP server ${name}`
  const target = await files.resolve(`${folder}/.bosun/mcp.json`, '/')
  const before = await files.readText(target, { maxBytes: MAX_SERVER_FILE_BYTES }).catch((error: unknown) => {
    if (isErrorOf(FileError, error, 'FS_NOT_FOUND')) return null
    throw error
  })
  if (before === null) {
    await files.writeText({ target, text: `${JSON.stringify({ servers: { [name]: plainEntry(entry) } }, null, 2)}\n`, expect: { kind: 'absent' }, label })
    return
  }
  const insertion = insertionOf(before.text, name, entry)
  if (insertion === null) throw refused(`${target.path} cannot be added to as it stands. Mend it first, or add the server there by hand.`)
  await files.editText({ target, replacements: [insertion], expect: { kind: 'version', version: before.version }, label })
}

/**
 * The change that puts a server first among the others of a file, comments and looks of the rest as they are; null when the file is not
 * one of servers, or would not be one with it.
 */
export function insertionOf(text: string, name: string, entry: NewServer['entry']): TextReplacement | null {
  if (text.trim() === '') return { start: 0, end: text.length, newText: `${JSON.stringify({ servers: { [name]: plainEntry(entry) } }, null, 2)}\n` }
  const { root, servers } = bracesOf(text)
  if (root === null) return null
  const unit = /^([ \t]+)"/m.exec(text)?.[1] ?? '  '
  const indented = (value: unknown, depth: number) => JSON.stringify(value, null, unit).replaceAll('\n', `\n${unit.repeat(depth)}`)
  const newText =
    servers === null
      ? `\n${unit}"servers": ${indented({ [name]: plainEntry(entry) }, 1)}${root.isEmpty ? '\n' : ','}`
      : `\n${unit.repeat(2)}${JSON.stringify(name)}: ${indented(plainEntry(entry), 2)}${servers.isEmpty ? `\n${unit}` : ','}`
  const at = (servers ?? root).end
  const insertion = { start: at, end: at, newText: text.includes('\r\n') ? newText.replaceAll('\n', '\r\n') : newText }
  // Whatever stands in the file, what comes out holds the server and no less than before.
  const [before, after] = [parseServerFile(text), parseServerFile(`${text.slice(0, at)}${insertion.newText}${text.slice(at)}`)]
  const isWhole = after.servers.length === before.servers.length + 1 && after.skipped.length === before.skipped.length && after.servers.some((server) => server.name === name)
  return isWhole ? insertion : null
}

interface Brace {
  /** Behind it. */
  readonly end: number
  readonly isEmpty: boolean
}

/** The braces that open the file and its list of servers. */
function bracesOf(text: string): { readonly root: Brace | null; readonly servers: Brace | null } {
  const tokens = [...text.matchAll(/"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[{}[\]:]/g)].filter(([token]) => !token.startsWith('/'))
  const found = new Map<string, Brace>()
  let depth = 0
  for (const [index, { 0: token, index: start }] of tokens.entries()) {
    if (token === '{') {
      const key = depth === 0 ? 'root' : depth === 1 && tokens[index - 1]?.[0] === ':' ? (tokens[index - 2]?.[0] ?? '') : ''
      if (!found.has(key)) found.set(key, { end: start + 1, isEmpty: tokens[index + 1]?.[0] === '}' })
    }
    if (token === '{' || token === '[') depth += 1
    else if (token === '}' || token === ']') depth -= 1
  }
  return { root: found.get('root') ?? null, servers: found.get('"servers"') ?? found.get('"mcpServers"') ?? null }
}

/** What an entry would run or reach, as one line. */
export const targetText = (target: McpServerConfig['target']): string => (target.kind === 'stdio' ? [target.command, ...target.args].join(' ') : target.url)
export const entryText = (entry: NewServer['entry']): string => ('url' in entry ? entry.url : [entry.command, ...entry.args].join(' '))

const plainEntry = (entry: NewServer['entry']) => ('url' in entry ? { url: entry.url } : { command: entry.command, ...(entry.args.length > 0 && { args: entry.args }) })

const refused = (message: string) => new McpError('MCP_CONFIGURATION', message)
