import { isErrorOf } from '../../base/harness-error.ts'
import { messageOf } from '../../base/message-of.ts'
import { FileError, type FileSystem } from '../../capabilities/file-system.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { SettingsSource } from '../../capabilities/settings-source.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import { parseServerFile, parseServers, type McpInput, type McpServerConfig, type ParsedServers, type SkippedServer } from './server-config.ts'
import { inputsOf } from './fill-variables.ts'
import { safeServerName, shownServerName } from './server-name.ts'

/** A server with where it comes from. */
export interface FoundServer {
  /** With a name that is safe in those of its tools. */
  readonly config: McpServerConfig
  /** The name that it has where it is configured, to the letter. */
  readonly ownName: string
  /** The same for the eyes of a person. */
  readonly title: string
  readonly source: string
  /** Null for a setting; lines from 1. */
  readonly file: { readonly path: string; readonly line: number } | null
  /** The folder of the window it belongs to; null: the person's own. */
  readonly folder: string | null
  /** Of all that it would run or reach: what the person consents to. */
  readonly digest: string
  readonly inputs: readonly McpInput[]
}

export interface FoundServers {
  readonly servers: readonly FoundServer[]
  readonly skipped: readonly SkippedServer[]
}

export interface ServerFileNeeds {
  readonly files: Pick<FileSystem, 'resolve' | 'readText' | 'writeText' | 'editText'>
  readonly machine: Pick<Machine, 'userFolder' | 'sha256'>
  readonly settings: Pick<SettingsSource, 'inspect'>
  readonly workspace: Pick<Workspace, 'folders' | 'isTrusted'>
}

export type McpFileKind = 'bosun' | 'vscode'

/** The names of all files that may hold servers, to watch them. */
export const serverFileNames: readonly string[] = ['mcp.json']
export const serversKey = 'mcp.servers'
export const MAX_SERVER_FILE_BYTES = 1024 * 1024

/**
 * Every configured server, the person's first; the first of a name wins. In a folder that is not trusted only the person's own are read.
 *
 * Errors: none; what cannot be read or used is listed with its reason.
 */
export async function findServers(needs: ServerFileNeeds, kinds: readonly McpFileKind[]): Promise<FoundServers> {
  const { settings, machine, workspace } = needs
  const set = settings.inspect(serversKey)
  const folders = workspace.isTrusted() ? workspace.folders() : []
  const first = folders[0]?.path ?? null
  const setting = `the setting bosun.${serversKey}`
  const parts = await Promise.all([
    ...(set.user === undefined ? [] : [Promise.resolve({ ...parseServers(set.user), source: setting, folder: null, lineOf: null })]),
    fromFile(needs, `${machine.userFolder}/mcp.json`, null),
    ...(set.workspace === undefined || first === null ? [] : [Promise.resolve({ ...parseServers(set.workspace), source: `${setting} of the workspace`, folder: first, lineOf: null })]),
    ...folders.flatMap(({ path }) => kinds.map((kind) => fromFile(needs, `${path}/.${kind}/mcp.json`, path))),
  ])
  const servers: FoundServer[] = []
  const skipped: SkippedServer[] = []
  for (const { servers: configs, inputs, skipped: bad, source, folder, lineOf } of parts) {
    const fileOf = (name: string) => (lineOf === null ? null : { path: source, line: lineOf(name) })
    skipped.push(...bad.map((entry) => ({ ...entry, source, file: fileOf(entry.name) })))
    for (const config of configs) {
      const ownName = config.name
      const earlier = servers.find((other) => other.ownName === ownName)
      const name = safeServerName(ownName, servers.map((other) => other.config.name), (text) => machine.sha256(text))
      if (earlier !== undefined) skipped.push({ source, file: fileOf(ownName), name: ownName, reason: `The name is taken by the server of ${earlier.source}. Rename one of them.` })
      else if (name === null) skipped.push({ source, file: fileOf(ownName), name: ownName, reason: 'The names of its tools could be those of another server. Rename it.' })
      else {
        const own = inputsFor(config, inputs)
        // What stands in the place of an input by default is what would run, too; what others are called is not.
        const digest = machine.sha256(JSON.stringify([source, config, ...own]))
        servers.push({ config: { ...config, name }, ownName, title: shownServerName(ownName), source, file: fileOf(ownName), folder, digest, inputs: own })
      }
    }
  }
  return { servers, skipped }
}

/** An input that no list declares is a secret by that name. */
const inputsFor = (config: McpServerConfig, declared: readonly McpInput[]): readonly McpInput[] =>
  inputsOf(config).map((id) => declared.find((input) => input.id === id) ?? { id, description: '', isSecret: true, fallback: null })

async function fromFile({ files }: ServerFileNeeds, source: string, folder: string | null): Promise<ParsedServers & { readonly source: string; readonly folder: string | null; readonly lineOf: (name: string) => number }> {
  try {
    const { text } = await files.readText(await files.resolve(source, '/'), { maxBytes: MAX_SERVER_FILE_BYTES })
    return { ...parseServerFile(text), source, folder, lineOf: (name) => lineOfEntry(text, name) }
  } catch (error) {
    const isAbsent = isErrorOf(FileError, error, 'FS_NOT_FOUND')
    return { servers: [], inputs: [], skipped: isAbsent ? [] : [{ name: '', reason: messageOf(error) }], source, folder, lineOf: () => 1 }
  }
}

/** Where a person finds it; the first line when it is written otherwise. */
function lineOfEntry(text: string, name: string): number {
  // A name may hold anything.
  const at = text.search(new RegExp(`${JSON.stringify(name).replaceAll(/[^\w\s-]/g, '\\$&')}\\s*:\\s*\\{`))
  return at < 0 ? 1 : text.slice(0, at).split('\n').length
}
