import * as vscode from 'vscode'
import { compose, type Application } from './compose.ts'
import { chatPlugin } from './host/chat-plugin.ts'
import { createBashSyntax } from './platform/node/bash-syntax.ts'
import { NodeBlobStore } from './platform/node/blob-store.ts'
import { createChangeWatch } from './platform/node/change-watch.ts'
import { createNodeClock } from './platform/node/clock.ts'
import { createPictureScaler } from './platform/node/picture-scaler.ts'
import { createDocumentText } from './platform/node/document-text.ts'
import { NodeEventStore } from './platform/node/event-store.ts'
import { NodeFileSystem } from './platform/node/file-system.ts'
import { readGitBranch } from './platform/node/git-branch.ts'
import { createHostMarks } from './platform/node/host-marks.ts'
import { createNodeSandbox } from './platform/node/sandbox/find-sandbox.ts'
import { createKeeperRunner } from './platform/node/keeper-runner.ts'
import { createNodeMachine } from './platform/node/machine.ts'
import { usesProxy } from './platform/node/http.ts'
import { createPageTextWorker } from './platform/node/page-text-worker.ts'
import { createRipgrepFinder } from './platform/node/find-ripgrep.ts'
import { createRipgrepSearch } from './platform/node/ripgrep-search.ts'
import { createVirtualSearch } from './platform/node/virtual-search.ts'
import { createNodeWebPages } from './platform/node/web-pages.ts'
import { createXtermScreen } from './platform/node/xterm-screen.ts'
import { VscodeAttention } from './platform/vscode/attention.ts'
import { EditorFileSystem } from './platform/vscode/editor-file-system.ts'
import { createVscodeModels } from './platform/vscode/editor-models.ts'
import { VscodeEditorFacts } from './platform/vscode/editor-facts.ts'
import { VscodeEditor } from './platform/vscode/editor.ts'
import { VscodeProblemMarks } from './platform/vscode/problem-marks.ts'
import { ConfiguredServers } from './platform/vscode/configured-servers.ts'
import { connectLanguageClient } from './platform/vscode/language-client.ts'
import { createVscodeLanguages } from './platform/vscode/languages.ts'
import { vscodeLocalization as l10n } from './platform/vscode/localization.ts'
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
import type { Http } from './capabilities/http.ts'
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
  readonly dispose: () => Promise<void>
}

/** What is there since the extension was activated. */
export interface EarlyParts {
  readonly views: ChatViews
  readonly jobTree: EditorTree
  readonly kept: KeptFiles
  readonly logger: Logger
  readonly reviewSurface: ReviewSurface
}

/** Compose the application over the editor: the second half of its root, loaded with the first page or command. */
export async function runEditor(context: vscode.ExtensionContext, { views, jobTree, kept, logger, reviewSurface }: EarlyParts): Promise<RunningEditor> {
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
  const editor = new VscodeEditor({ files, kept, views, l10n, statusCommand: 'bosun.showMenu' })
  const editorFacts = new VscodeEditorFacts()
  const problemMarks = new VscodeProblemMarks()
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
  const application = compose({
    attention,
    blobs,
    clock,
    documents: createDocumentText({ entry: vscode.Uri.joinPath(context.extensionUri, 'dist', 'pdf-text.js').fsPath }),
    pictures: createPictureScaler({ entry: vscode.Uri.joinPath(context.extensionUri, 'dist', 'scale-picture.js').fsPath }),
    editorModels: createVscodeModels(),
    editorFacts,
    events: new NodeEventStore({ root }),
    files,
    http,
    languages: createVscodeLanguages((document, signal) => languageServers.ready(document, signal)),
    logger,
    machine,
    notebooks: createVscodeNotebooks({ files }),
    problemFeed: vscodeProblemFeed,
    processes,
    sandbox: createNodeSandbox({ processes }),
    search,
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
    jobTree,
    l10n,
    languageServers,
    logger,
    machine,
    memento: createVscodeMemento(context.workspaceState),
    problemMarks,
    reviewSurface,
    secrets,
    settings,
    terminalViews: vscodeTerminalViews,
    workspace,
  }
  const dispose = async () => {
    await application.dispose()
    await languageServers.dispose()
    await processes.dispose()
    files.dispose()
    workspace.dispose()
    editorFacts.dispose()
    problemMarks.dispose()
    personTerminals.dispose()
    editor.dispose()
  }
  try {
    return { chat: await startChat(application, capabilities), dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** Errors: what the chat failed with, or which services it still misses after a while. */
async function startChat({ ctx }: Application, capabilities: ChatCapabilities): Promise<ChatController> {
  return await new Promise<ChatController>((resolve, reject) => {
    const fiber = ctx.plugin(chatPlugin({ capabilities, onReady: resolve }))
    fiber.ready.catch(reject)
    capabilities.clock.schedule(START_TIMEOUT_MS, () => reject(new Error(`${fiber.name}: ${fiber.reason ?? fiber.state}`)))
  })
}
