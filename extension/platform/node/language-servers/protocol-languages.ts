import { pathToFileURL } from 'node:url'
import { compileGlob } from '../../../base/glob.ts'
import { pause } from '../../../base/pause.ts'
import { isHarnessError } from '../../../base/harness-error.ts'
import type { Clock } from '../../../capabilities/clock.ts'
import type { FileSystem } from '../../../capabilities/file-system.ts'
import { LanguageError, type LanguageAnswer, type LanguageEdit, type LanguageQuestion, type Languages } from '../../../capabilities/languages.ts'
import type { LanguageServerConfig, LanguageServers } from '../../../capabilities/language-servers.ts'
import type { Logger } from '../../../capabilities/logger.ts'
import type { ProcessRunner } from '../../../capabilities/process.ts'
import { actionFrom, actionsFrom, callsFrom, editFrom, hoverFrom, itemsFrom, listedAction, locationsFrom, problemsFrom, symbolOf, symbolsFrom, type ActionAnswer } from './protocol-answers.ts'
import { connectProtocol, type ProtocolClient } from './protocol-client.ts'
import { ServerSupervisor } from './server-supervisor.ts'

/** How long a server may take to publish the problems of a file that it was just shown. */
const PROBLEMS_WAIT_MS = 3_000
/** Bytes of a source that a server is shown. */
const MAX_SOURCE_BYTES = 4_000_000

interface Needs {
  readonly configs: Readonly<Record<string, LanguageServerConfig>>
  readonly folder: string
  readonly files: Pick<FileSystem, 'resolve' | 'readText'>
  readonly processes: Pick<ProcessRunner, 'start'>
  readonly clock: Clock
  readonly logger: Logger
}

export interface ConfiguredLanguages extends Languages, LanguageServers {
  dispose(): Promise<void>
}

/**
 * Language services where no editor is: each question goes to the server that the settings name for the file. The server is shown the text
 * as it stands on the disk, asked, and told that the file is closed again.
 */
export function createProtocolLanguages(needs: Needs): ConfiguredLanguages {
  const { configs, folder, files, clock } = needs
  const listeners = new Set<() => void>()
  const servers = new Map(
    Object.entries(configs).map(([name, config]) => [
      name,
      new ServerSupervisor<ProtocolClient>({
        ...needs,
        name,
        config,
        cwd: folder,
        connect: connectProtocol({ folder, initializationOptions: config.initializationOptions }),
        onChange: () => listeners.forEach((tell) => tell()),
      }),
    ]),
  )

  /** One question at a time of each server, over one open file. */
  const turns = new Map<string, Promise<unknown>>()
  async function shown<T>(path: string, signal: AbortSignal, work: (client: ProtocolClient, uri: string) => Promise<T>): Promise<T> {
    const [name, server] = serverFor(path)
    const before = turns.get(name)
    const turn = (async () => {
      await before?.catch(() => {})
      signal.throwIfAborted()
      const client = await server.running(signal)
      try {
        return await withOpen(client, { path, config: server.config, signal }, work)
      } catch (error) {
        if (!client.isGone() || signal.aborted) throw error
      }
      // Once more, with the server that takes the place of the one that ended.
      return await withOpen(await server.running(signal), { path, config: server.config, signal }, work)
    })()
    turns.set(name, turn)
    try {
      return await turn
    } catch (error) {
      // The stop of a call, wherever it was met.
      signal.throwIfAborted()
      throw error
    }
  }

  async function withOpen<T>(client: ProtocolClient, { path, config, signal }: { readonly path: string; readonly config: LanguageServerConfig; readonly signal: AbortSignal }, work: (client: ProtocolClient, uri: string) => Promise<T>): Promise<T> {
    const target = await files.resolve(path, folder, signal)
    const { text } = await files.readText(target, { maxBytes: MAX_SOURCE_BYTES, signal })
    const uri = pathToFileURL(target.path).href
    await client.tell('textDocument/didOpen', { textDocument: { uri, languageId: languageOf(config, path), version: 1, text } })
    try {
      return await work(client, uri)
    } finally {
      // A server that ended meanwhile has closed it already.
      await client.tell('textDocument/didClose', { textDocument: { uri } }).catch(() => {})
    }
  }

  function serverFor(path: string): [name: string, server: ServerSupervisor<ProtocolClient>] {
    const found = [...servers].find(([, { config }]) => isFor(config, path))
    if (found === undefined) throw new LanguageError('LSP_UNAVAILABLE', `No language server is configured for ${endingOf(path) || path} files. Search for the text instead; the person can name one in the setting bosun.languageServers.`)
    return found
  }

  return {
    ask: async (question, signal) => await shown(question.path, signal, async (client, uri) => await answerOf(client, uri, question, signal)),
    async rename({ path, position, newName }, signal) {
      return await shown(path, signal, async (client, uri) => {
        need(client, 'renameProvider', 'rename')
        return editFrom(await client.ask('textDocument/rename', { textDocument: { uri }, position, newName }, signal))
      })
    },
    async codeActions({ path, range }, signal) {
      return await shown(path, signal, async (client, uri) => (await actionsOf(client, uri, range, signal)).map(listedAction))
    },
    async codeActionEdit({ path, range, title }, signal) {
      return await shown(path, signal, async (client, uri) => {
        const action = (await actionsOf(client, uri, range, signal)).find((one) => one.title === title)
        return action === undefined ? null : await changesOf(client, action, signal)
      })
    },
    list: () => [...servers.values()].map((server) => server.report()),
    async restart(name) {
      await servers.get(name)?.restart()
    },
    onDidChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async dispose() {
      await Promise.all([...servers.values()].map((server) => server.dispose()))
    },
  }

  async function answerOf(client: ProtocolClient, uri: string, { operation, position, query }: LanguageQuestion, signal: AbortSignal): Promise<LanguageAnswer> {
    const place = { textDocument: { uri }, position }
    switch (operation) {
      case 'goToDefinition':
      case 'goToImplementation':
      case 'goToTypeDefinition': {
        const word = { goToDefinition: 'definition', goToImplementation: 'implementation', goToTypeDefinition: 'typeDefinition' }[operation]
        need(client, `${word}Provider`, operation)
        return { kind: 'locations', locations: locationsFrom(await client.ask(`textDocument/${word}`, place, signal)) }
      }
      case 'findReferences':
        need(client, 'referencesProvider', operation)
        return { kind: 'locations', locations: locationsFrom(await client.ask('textDocument/references', { ...place, context: { includeDeclaration: true } }, signal)) }
      case 'hover':
        need(client, 'hoverProvider', operation)
        return hoverFrom(await client.ask('textDocument/hover', place, signal))
      case 'documentSymbols':
        need(client, 'documentSymbolProvider', operation)
        return { kind: 'symbols', symbols: symbolsFrom(await client.ask('textDocument/documentSymbol', { textDocument: { uri } }, signal), uri) }
      case 'workspaceSymbols':
        need(client, 'workspaceSymbolProvider', operation)
        return { kind: 'symbols', symbols: symbolsFrom(await client.ask('workspace/symbol', { query: query ?? '' }, signal), uri) }
      case 'incomingCalls':
      case 'outgoingCalls': {
        need(client, 'callHierarchyProvider', operation)
        const items = itemsFrom(await client.ask('textDocument/prepareCallHierarchy', place, signal))
        const found = await Promise.all(items.map(async (item) => callsFrom(await client.ask(`callHierarchy/${operation}`, { item }, signal))))
        return { kind: 'symbols', symbols: found.flat() }
      }
      case 'supertypes':
      case 'subtypes': {
        need(client, 'typeHierarchyProvider', operation)
        const items = itemsFrom(await client.ask('textDocument/prepareTypeHierarchy', place, signal))
        const found = await Promise.all(items.map(async (item) => itemsFrom(await client.ask(`typeHierarchy/${operation}`, { item }, signal)).map(symbolOf)))
        return { kind: 'symbols', symbols: found.flat() }
      }
      case 'diagnostics':
        return { kind: 'problems', problems: problemsFrom(await publishedFor(client, uri, signal)) }
      default:
        throw new LanguageError('LSP_UNSUPPORTED_OPERATION', `A language server cannot answer ${String(operation satisfies never)}. Use another operation.`)
    }
  }

  /** What it publishes for the text that it was just shown; an empty list when it says nothing in time. */
  async function publishedFor(client: ProtocolClient, uri: string, signal: AbortSignal): Promise<unknown> {
    const heard = new AbortController()
    const stop = client.onPublished((other) => {
      if (other === uri) heard.abort()
    })
    try {
      await pause(clock, PROBLEMS_WAIT_MS, AbortSignal.any([signal, heard.signal]))
    } catch {
      signal.throwIfAborted()
      // It was published, so the wait is over.
    } finally {
      stop()
    }
    return client.published(uri) ?? []
  }

  async function actionsOf(client: ProtocolClient, uri: string, range: object, signal: AbortSignal): Promise<readonly ActionAnswer[]> {
    need(client, 'codeActionProvider', 'codeActions')
    const known = client.published(uri)
    return actionsFrom(await client.ask('textDocument/codeAction', { textDocument: { uri }, range, context: { diagnostics: Array.isArray(known) ? known : [] } }, signal))
  }
}

async function changesOf(client: ProtocolClient, action: ActionAnswer, signal: AbortSignal): Promise<LanguageEdit> {
  if (typeof action.command === 'string') return { files: [], others: [], command: action.command }
  const first = actionFrom(action)
  const whole = first.edit == null ? await resolved(client, action, signal) : first
  const edit = editFrom(whole.edit) ?? { files: [], others: [] }
  return whole.command == null ? edit : { ...edit, command: whole.command.command }
}

/** Only those that are asked to be resolved know their changes; a server that resolves nothing has said all. */
async function resolved(client: ProtocolClient, action: ActionAnswer, signal: AbortSignal) {
  try {
    return actionFrom(await client.ask('codeAction/resolve', action, signal))
  } catch (error) {
    if (isHarnessError(error) && error.code === 'LSP_REFUSED') return actionFrom(action)
    throw error
  }
}

function need(client: ProtocolClient, provider: string, operation: string): void {
  if (!client.can(provider)) throw new LanguageError('LSP_UNSUPPORTED_OPERATION', `The language server for this file does not offer ${operation}. Use another operation, or search for the text.`)
}

function isFor({ languages, files }: LanguageServerConfig, path: string): boolean {
  const slashes = path.replaceAll('\\', '/')
  const fits = files.some((glob) => {
    const compiled = compileGlob(glob)
    return 'matches' in compiled && compiled.matches(slashes.replace(/^\//, ''))
  })
  return fits || languages.includes(idOf(path))
}

const languageOf = ({ languages }: LanguageServerConfig, path: string): string => (languages.includes(idOf(path)) ? idOf(path) : (languages[0] ?? idOf(path)))

const endingOf = (path: string): string => /\.[^./\\]+$/.exec(path)?.[0].toLowerCase() ?? ''

/** The editor's id for the language of a file, by its ending; endings that are ids themselves are left out. */
const ids: Readonly<Record<string, string>> = {
  bash: 'shellscript', cc: 'cpp', cs: 'csharp', cxx: 'cpp', ex: 'elixir', exs: 'elixir', fs: 'fsharp', h: 'c', hpp: 'cpp', hs: 'haskell', js: 'javascript', jsx: 'javascriptreact',
  kt: 'kotlin', md: 'markdown', mjs: 'javascript', ml: 'ocaml', mts: 'typescript', pl: 'perl', ps1: 'powershell', py: 'python', rb: 'ruby', rs: 'rust', sh: 'shellscript', tex: 'latex',
  tf: 'terraform', ts: 'typescript', tsx: 'typescriptreact', yml: 'yaml',
}
const idOf = (path: string): string => {
  const ending = endingOf(path).slice(1)
  return ids[ending] ?? ending
}
