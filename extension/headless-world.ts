import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Json } from './base/json.ts'
import { messageOf } from './base/message-of.ts'
import { noEditorFacts } from './capabilities/editor-facts.ts'
import type { SettingsSource } from './capabilities/settings-source.ts'
import type { Capabilities } from './compose.ts'
import { earlyValue } from './core/settings/early-value.ts'
import { settings as specs } from './core/settings/specs.ts'
import { UsageError, type SandboxUse } from './headless-arguments.ts'
import { createQuickJsRuntime } from './platform/node/quickjs/quickjs-runtime.ts'
import { createPolicyAttention } from './platform/node/attention.ts'
import { createBashSyntax } from './platform/node/bash-syntax.ts'
import { NodeBlobStore } from './platform/node/blob-store.ts'
import { createNodeClock } from './platform/node/clock.ts'
import { createChangeWatch } from './platform/node/change-watch.ts'
import { createDirectRunner } from './platform/node/direct-runner.ts'
import { createHostMarks } from './platform/node/host-marks.ts'
import { createOwnerMark } from './platform/node/owner-mark.ts'
import { createDirectTerminals } from './platform/node/direct-terminals.ts'
import { createPictureScaler } from './platform/node/picture-scaler.ts'
import { createDocumentText } from './platform/node/document-text.ts'
import { NodeEventStore } from './platform/node/event-store.ts'
import { NodeFileSystem } from './platform/node/file-system.ts'
import { createNodeHttp, usesProxy } from './platform/node/http.ts'
import type { ConfiguredLanguages, createProtocolLanguages } from './platform/node/language-servers/protocol-languages.ts'
import { createLineLogger } from './platform/node/logger.ts'
import type { LogLevel } from './platform/node/logger.ts'
import { createKeeperRunner } from './platform/node/keeper-runner.ts'
import { createMcpConnector } from './platform/node/mcp/connector.ts'
import { createNodeMachine, homeFolder as personsFolder } from './platform/node/machine.ts'
import { createRipgrepFinder } from './platform/node/find-ripgrep.ts'
import { createSearchIndexHost } from './platform/node/search-index/index-host.ts'
import { createRipgrepSearch } from './platform/node/ripgrep-search.ts'
import { createNodeSandbox } from './platform/node/sandbox/find-sandbox.ts'
import { createFileSecrets } from './platform/node/secrets.ts'
import { makeFolders } from './platform/node/make-folders.ts'
import { createFileSettings } from './platform/node/settings-source.ts'
import { createPageTextWorker } from './platform/node/page-text-worker.ts'
import { createNodeWebPages } from './platform/node/web-pages.ts'
import { createFolderWorkspace } from './platform/node/workspace.ts'
import { NodeWorktreeStore } from './platform/node/worktree-store.ts'
import { createXtermScreen } from './platform/node/xterm-screen.ts'

export interface HeadlessWorldOptions {
  readonly cwd: string
  /** Absent: what the person's settings say, else `off`: who starts a program decides what confines it. */
  readonly sandbox?: SandboxUse | undefined
  /** Home of settings, secrets and sessions. Absent: `BOSUN_HOME`, else `.bosun` in the person's home folder. */
  readonly storage: string | undefined
  /** Nothing is to be kept: a home that is not there and cannot be made is as good as an empty one. */
  readonly isOnlyRead?: boolean
  /** Offer also tools that miss what they need here, so that they can be listed, drawn, and called to hear what is missing. */
  readonly hasEveryTool?: boolean
  /** For this run only. */
  readonly settings: Readonly<Record<string, Json>>
  /** Providers for this run, beside the person's own. */
  readonly providers?: Readonly<Record<string, Json>>
}

export interface HeadlessWorld extends Capabilities {
  /** Absolute, links followed. */
  readonly cwd: string
  /** Ends every program that still runs. */
  dispose(): Promise<void>
}

/**
 * The outside world of a plain Node process: this machine's disk, programs and network; the folder counts as trusted,
 * because whoever started the program named it.
 *
 * Errors: `UsageError` when `cwd` is no folder or the storage cannot be made.
 */
export async function createHeadlessWorld({ cwd, storage, settings, sandbox, providers, isOnlyRead = false, hasEveryTool = false }: HeadlessWorldOptions): Promise<HeadlessWorld> {
  const folder = await workFolder(cwd)
  const home = isOnlyRead ? homePath(storage) : await homeFolder(storage)
  const logger = createLineLogger({ level: logLevel(process.env['BOSUN_LOG']) })
  const hosts = createHostMarks({ folder: join(home, 'hosts'), logger })
  const owned = { owner: createOwnerMark(), hosts }
  const processes = createDirectRunner(owned)
  // Servers would outlive a run that is killed, since they wait for what nobody asks any more: the keeper ends them. It starts with the first.
  const servers = createKeeperRunner({ entry: fileURLToPath(new URL('./keeper.js', import.meta.url)), hosts })
  const terminals = createDirectTerminals(owned)
  if (!isOnlyRead) void hosts.endLeft()
  const root = join(home, 'sessions')
  const workspace = createFolderWorkspace(folder)
  const [machine, source] = await Promise.all([
    createNodeMachine({ userFolder: home }),
    createFileSettings({
      userFile: join(home, 'settings.json'),
      workspaceFile: join(folder, '.bosun', 'settings.json'),
      overrides: { ...settings, ...(sandbox && { 'sandbox.use': sandbox }) },
      fallbacks: { 'sandbox.use': 'off' },
      ...(providers && { additions: { providers } }),
      logger,
    }),
  ])
  const files = new NodeFileSystem({ folders: () => workspace.folders() })
  const clock = createNodeClock()
  const languages = await configuredLanguages(source, hasEveryTool, { folder, files, processes, clock, logger })
  const proxySettings = (name: 'http.proxy' | 'http.noProxy') => source.inspect(name).user
  const http = createNodeHttp({ settings: proxySettings })
  const findProgram = createRipgrepFinder({ configured: () => earlyValue(specs.searchRipgrepPath, { settings: source, logger }) })
  const search = createRipgrepSearch({ processes, findProgram })
  const codeRuntime = createQuickJsRuntime({ entry: new URL('./quickjs.js', import.meta.url), wasm: new URL('./quickjs.wasm', import.meta.url) })
  return {
    cwd: folder,
    attention: createPolicyAttention({ choose: () => null, logger }),
    blobs: new NodeBlobStore({ root }),
    clock,
    codeRuntime,
    documents: createDocumentText({ entry: new URL('./pdf-text.js', import.meta.url) }),
    pictures: createPictureScaler({ entry: new URL('./scale-picture.js', import.meta.url) }),
    editorFacts: noEditorFacts,
    languages,
    events: new NodeEventStore({ root }),
    files,
    http,
    logger,
    machine,
    mcp: createMcpConnector({ processes: servers, http, clock }),
    processes,
    sandbox: createNodeSandbox({ processes }),
    search,
    searchIndex: createSearchIndexHost({ entry: new URL('./search-index.js', import.meta.url), folder: join(home, 'index'), isKeptUp: false, logger }),
    changeWatch: createChangeWatch({ search }),
    secrets: createFileSecrets({ folder: home, logger }),
    settings: source,
    shellSyntax: createBashSyntax(),
    webPages: createNodeWebPages({
      textWorker: createPageTextWorker({ entry: new URL('./page-text.js', import.meta.url) }),
      proxyFor: (url) => (usesProxy(url, { settings: proxySettings }) ? http : null),
    }),
    terminals,
    createScreen: createXtermScreen,
    workspace,
    worktrees: new NodeWorktreeStore({ folder: join(home, 'worktrees'), logger }),
    async dispose() {
      await languages?.dispose()
      await Promise.all([processes.dispose(), terminals.dispose(), codeRuntime.dispose()])
      // Last, since it forgets the marks of all.
      await servers.dispose()
      await hosts.forget()
      if (!isOnlyRead) await hosts.endLeft()
    },
  }
}

/** Services of the servers that the settings name; null where they name none and `lsp` is not to be offered without. What speaks to them is loaded only here. */
async function configuredLanguages(source: SettingsSource, isOffered: boolean, needs: Omit<Parameters<typeof createProtocolLanguages>[0], 'configs'>): Promise<ConfiguredLanguages | null> {
  const raw = source.get('languageServers') ?? (isOffered ? {} : undefined)
  if (raw === undefined) return null
  try {
    const configs = specs.languageServers.parse(raw)
    if (Object.keys(configs).length === 0 && !isOffered) return null
    const { createProtocolLanguages: create } = await import('./platform/node/language-servers/protocol-languages.ts')
    return create({ ...needs, configs })
  } catch (error) {
    needs.logger.warn('The language servers of the settings are left out.', { error: String(error) })
    return null
  }
}

function startFolder(): string {
  try {
    return process.cwd()
  } catch {
    throw new UsageError('The folder that this was started in is gone. Give the whole path of one that is there with --cwd.')
  }
}

async function workFolder(cwd: string): Promise<string> {
  const path = isAbsolute(cwd) ? resolve(cwd) : resolve(startFolder(), cwd)
  const found = await stat(path).catch(() => null)
  if (!found?.isDirectory()) throw new UsageError(`--cwd ${cwd} is not a folder.`)
  return realpath(path)
}

const homePath = (storage: string | undefined): string => resolve(storage ?? process.env['BOSUN_HOME'] ?? join(personsFolder(), '.bosun'))

async function homeFolder(storage: string | undefined): Promise<string> {
  const path = homePath(storage)
  try {
    await makeFolders(path, 0o700)
    return path
  } catch (error) {
    throw new UsageError(`--storage ${path} cannot be made: ${messageOf(error)}`, { cause: error })
  }
}

const logLevel = (name: string | undefined): LogLevel =>
  name === 'debug' || name === 'info' || name === 'warn' || name === 'error' ? name : 'warn'
