import * as vscode from 'vscode'
import { compose, type Application } from './compose.ts'
import { editorCallsPlugin } from './features/editor-calls/plugin.ts'
import { chatPlugin } from './host/chat-plugin.ts'
import { editorChatPlugin, type EditorChat } from './host/editor-chat-plugin.ts'
import { createBashSyntax } from './platform/node/bash-syntax.ts'
import { NodeBlobStore } from './platform/node/blob-store.ts'
import { createChangeWatch } from './platform/node/change-watch.ts'
import { createNodeClock } from './platform/node/clock.ts'
import { createQuickJsRuntime } from './platform/node/quickjs/quickjs-runtime.ts'
import { createPictureScaler } from './platform/node/picture-scaler.ts'
import { createDocumentText } from './platform/node/document-text.ts'
import { NodeEventStore } from './platform/node/event-store.ts'
import { NodeFileSystem } from './platform/node/file-system.ts'
import { readGitBranch } from './platform/node/git-branch.ts'
import { createHostMarks } from './platform/node/host-marks.ts'
import { createNodeSandbox } from './platform/node/sandbox/find-sandbox.ts'
import { createKeeperRunner } from './platform/node/keeper-runner.ts'
import { createNodeMachine } from './platform/node/machine.ts'
import { createMcpInputBox } from './host/mcp-input.ts'
import { createBrowserReturn } from './platform/node/mcp/browser-return.ts'
import { createMcpConnector } from './platform/node/mcp/connector.ts'
import { usesProxy } from './platform/node/http.ts'
import { createPageTextWorker } from './platform/node/page-text-worker.ts'
import { createSearchIndexHost } from './platform/node/search-index/index-host.ts'
import { createRipgrepFinder } from './platform/node/find-ripgrep.ts'
import { createRipgrepSearch } from './platform/node/ripgrep-search.ts'
import { createVirtualSearch } from './platform/node/virtual-search.ts'
import { createNodeWebPages } from './platform/node/web-pages.ts'
import { NodeWorktreeStore } from './platform/node/worktree-store.ts'
import { createXtermScreen } from './platform/node/xterm-screen.ts'
import { VscodeAttention } from './platform/vscode/attention.ts'
import { EditorFileSystem } from './platform/vscode/editor-file-system.ts'
import { createVscodeModels } from './platform/vscode/editor-models.ts'
import { createVscodeTools } from './platform/vscode/editor-tools.ts'
import { VscodeEditorFacts } from './platform/vscode/editor-facts.ts'
import { VscodeEditor } from './platform/vscode/editor.ts'
import { VscodePlanSurface } from './platform/vscode/plan-surface.ts'
import { VscodeFileMarks } from './platform/vscode/file-marks.ts'
import { VscodeProblemMarks } from './platform/vscode/problem-marks.ts'
import { ConfiguredServers } from './platform/vscode/configured-servers.ts'
import { connectLanguageClient } from './platform/vscode/language-client.ts'
import { createVscodeLanguages } from './platform/vscode/languages.ts'
import { openAddress } from './platform/vscode/open-address.ts'
import { vscodeLocalization as l10n } from './platform/vscode/localization.ts'
import { vscodeLogViews } from './platform/vscode/log-views.ts'
import { createVscodeMemento } from './platform/vscode/memento.ts'
import { createVscodeNotebooks } from './platform/vscode/notebooks.ts'
import { findEditorRipgrep } from './platform/vscode/ripgrep.ts'
import { vscodeProblemFeed } from './platform/vscode/problem-feed.ts'
import { createVscodeSecrets } from './platform/vscode/secrets.ts'
import { createVscodeSettingsSource } from './platform/vscode/settings-source.ts'
import { VscodePersonTerminals } from './platform/vscode/person-terminals.ts'
import { createVscodeTerminalSettings } from './platform/vscode/terminal-settings.ts'
import { vscodeTerminalViews } from './platform/vscode/terminal-views.ts'
import { createVscodeWorkspace } from './platform/vscode/workspace.ts'
import type { ChatController } from './host/chat-controller.ts'
import type { ChatCapabilities } from './host/chat-services.ts'
import type { ChatViews } from './platform/vscode/chat-views.ts'
import type { EditorTree } from './platform/vscode/editor-tree.ts'
import type { KeptFiles } from './platform/vscode/kept-files.ts'
import type { Contributions } from './capabilities/contributions.ts'
import type { EditorPages } from './capabilities/editor-pages.ts'
import type { Clock } from './capabilities/clock.ts'
import type { Http } from './capabilities/http.ts'
import type { Plugin } from './core/kernel/plugin.ts'
import { earlyValue } from './core/settings/early-value.ts'
import { settings as specs } from './core/settings/specs.ts'
import { ServerSupervisor } from './platform/node/language-servers/server-supervisor.ts'
import type { Logger } from './capabilities/logger.ts'
import type { ReviewSurface } from './capabilities/review-surface.ts'

/** What is composed is there in well under a second; a service that is missing by then does not come. */
const START_TIMEOUT_MS = 20_000

/** The application in the editor, with what ends it. */
export interface RunningEditor {
  readonly chat: ChatController
  /** The editor's commands on the comments of a plan; `on`: what the editor hands over. */
  readonly onPlanComment: (what: 'add-comment' | 'delete-comments', on: unknown) => void
  /** Bosun in the editor's own chat. Errors: what keeps it from being there. */
  readonly editorChat: () => Promise<EditorChat>
  readonly dispose: () => Promise<void>
}

/** What is there since the extension was activated. */
export interface EarlyParts {
  readonly views: ChatViews
  readonly pages: EditorPages
  readonly agentTree: EditorTree
  readonly jobTree: EditorTree
  readonly mcpTree: EditorTree
  readonly kept: KeptFiles
  readonly logger: Logger
  readonly reviewSurface: ReviewSurface
  /** What other extensions add. */
  readonly contributions: Contributions
}

/** Compose the application over the editor: the second half of its root, loaded with the first page or command. */
export async function runEditor(context: vscode.ExtensionContext, { views, pages, agentTree, jobTree, mcpTree, kept, logger, reviewSurface, contributions }: EarlyParts): Promise<RunningEditor> {
  const root = vscode.Uri.joinPath(context.globalStorageUri, 'sessions').fsPath
  const clock = createNodeClock()
  const workspace = createVscodeWorkspace({ readBranch: readGitBranch })
  const files = new EditorFileSystem(new NodeFileSystem({ folders: workspace.folders }), workspace.folders)
  const hosts = createHostMarks({ folder: vscode.Uri.joinPath(context.globalStorageUri, 'hosts').fsPath, logger })
  const processes = createKeeperRunner({ hosts, entry: vscode.Uri.joinPath(context.extensionUri, 'dist', 'keeper.js').fsPath })
  const machine = await createNodeMachine()
  const blobs = new NodeBlobStore({ root })
  const attention = new VscodeAttention()
  const secrets = createVscodeSecrets(context.secrets, process.env)
  const settings = createVscodeSettingsSource()
  const editor = new VscodeEditor({ files, kept, views, l10n, statusCommand: 'bosun.showMenu', goalCommand: 'bosun.goalShow', reminderCommand: 'bosun.showReminders' })
  const editorFacts = new VscodeEditorFacts()
  const planSurface = new VscodePlanSurface({ l10n, newId: () => machine.randomId() })
  const problemMarks = new VscodeProblemMarks()
  const fileMarks = new VscodeFileMarks()
  const personTerminals = new VscodePersonTerminals()
  // The editor puts its proxy and the system's certificates into the global function.
  const http: Http = { fetch: (input, init) => fetch(input, init) }
  const languageServers = new ConfiguredServers({
    configs: () => earlyValue(specs.languageServers, { settings, logger }),
    onDidChangeConfigs: (listener) => settings.onDidChange((changed) => (changed('languageServers') ? listener() : undefined)),
    create: (name, config, onChange) =>
      new ServerSupervisor({ name, config, cwd: workspace.folders()[0]?.path ?? machine.homeFolder, processes, clock, logger, connect: connectLanguageClient(name, config), onChange }),
    isTrusted: () => workspace.isTrusted(),
    onError: (error) => logger.error('The language servers could not be taken over from the settings.', { error: String(error) }),
  })
  const findProgram = createRipgrepFinder({ configured: () => earlyValue(specs.searchRipgrepPath, { settings, logger }), editors: findEditorRipgrep })
  const search = createVirtualSearch({ ripgrep: createRipgrepSearch({ processes, findProgram, unsavedTexts: () => files.unsavedTexts() }), files })
  const ofDist = (name: string) => vscode.Uri.joinPath(context.extensionUri, 'dist', name).fsPath
  const codeRuntime = createQuickJsRuntime({ entry: ofDist('quickjs.js'), wasm: ofDist('quickjs.wasm') })
  const application = compose({
    attention,
    blobs,
    clock,
    codeRuntime,
    contributions,
    documents: createDocumentText({ entry: vscode.Uri.joinPath(context.extensionUri, 'dist', 'pdf-text.js').fsPath }),
    pictures: createPictureScaler({ entry: vscode.Uri.joinPath(context.extensionUri, 'dist', 'scale-picture.js').fsPath }),
    editorModels: createVscodeModels(),
    editorTools: createVscodeTools(),
    editorFacts,
    events: new NodeEventStore({ root }),
    files,
    http,
    languages: createVscodeLanguages((document, signal) => languageServers.ready(document, signal)),
    logger,
    machine,
    mcp: createMcpConnector({ processes, http, clock }),
    mcpInput: createMcpInputBox({ editor, l10n }),
    mcpSignIn: createBrowserReturn({
      clock,
      open: openAddress,
      external: (url) => editor.externalAddress(url),
      words: () => ({ heard: l10n.t('Bosun has heard the answer. You can close this page and go back to the editor.'), stranger: l10n.t('This does not belong to a sign-in that Bosun waits for. Begin it anew in the editor.') }),
    }),
    notebooks: createVscodeNotebooks({ files }),
    problemFeed: vscodeProblemFeed,
    processes,
    sandbox: createNodeSandbox({ processes }),
    worktrees: new NodeWorktreeStore({ folder: vscode.Uri.joinPath(context.globalStorageUri, 'worktrees').fsPath, logger }),
    search,
    searchIndex: createSearchIndexHost({ entry: vscode.Uri.joinPath(context.extensionUri, 'dist', 'search-index.js').fsPath, folder: vscode.Uri.joinPath(context.globalStorageUri, 'index').fsPath, isKeptUp: true, logger }),
    changeWatch: createChangeWatch({ search }),
    secrets,
    settings,
    shellSyntax: createBashSyntax(),
    webPages: createNodeWebPages({
      textWorker: createPageTextWorker({ entry: vscode.Uri.joinPath(context.extensionUri, 'dist', 'page-text.js').fsPath }),
      proxyFor: (url) => (usesProxy(url, { settings: (name) => vscode.workspace.getConfiguration().get(name) }) ? http : null),
    }),
    terminals: processes.terminals,
    createScreen: createXtermScreen,
    terminalViews: vscodeTerminalViews,
    terminalSettings: createVscodeTerminalSettings(),
    personTerminals,
    workspace,
  })
  void hosts.endLeft()
  const capabilities = {
    attention,
    blobs,
    clock,
    editor,
    agentTree,
    jobTree,
    mcpTree,
    logViews: vscodeLogViews,
    l10n,
    languageServers,
    logger,
    machine,
    memento: createVscodeMemento(context.workspaceState),
    planSurface,
    pages,
    problemMarks,
    fileMarks,
    reviewSurface,
    secrets,
    settings,
    terminalViews: vscodeTerminalViews,
    workspace,
  }
  const dispose = async () => {
    await application.dispose()
    await languageServers.dispose()
    await codeRuntime.dispose()
    await processes.dispose()
    files.dispose()
    workspace.dispose()
    editorFacts.dispose()
    problemMarks.dispose()
    fileMarks.dispose()
    planSurface.dispose()
    personTerminals.dispose()
    editor.dispose()
  }
  try {
    const onPlanComment: RunningEditor['onPlanComment'] = (what, on) => (what === 'add-comment' ? planSurface.addComment(on) : planSurface.deleteComments(on))
    const chat = await startChat(application, capabilities)
    let ofEditor: Promise<EditorChat> | null = null
    const editorChat = () => (ofEditor ??= startEditorChat(application, { ...capabilities, machine }, chat))
    return { chat, onPlanComment, editorChat, dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** Errors: what the chat failed with, or which services it still misses after a while. */
async function startChat({ ctx }: Application, capabilities: ChatCapabilities): Promise<ChatController> {
  return await up(ctx, capabilities.clock, (onReady) => chatPlugin({ capabilities, onReady }))
}

async function startEditorChat({ ctx }: Application, capabilities: ChatCapabilities & Parameters<typeof editorCallsPlugin>[0], chat: ChatController): Promise<EditorChat> {
  ctx.plugin(editorCallsPlugin(capabilities))
  return await up(ctx, capabilities.clock, (onReady) => editorChatPlugin({ capabilities, chat, onReady }))
}

async function up<T>(ctx: Application['ctx'], clock: Clock, plugin: (onReady: (part: T) => void) => Plugin): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const fiber = ctx.plugin(plugin(resolve))
    fiber.ready.catch(reject)
    clock.schedule(START_TIMEOUT_MS, () => reject(new Error(`${fiber.name}: ${fiber.reason ?? fiber.state}`)))
  })
}
