import * as vscode from 'vscode'
import type { Application } from './compose.ts'
import type { ChatController } from './host/chat-controller.ts'
import { commandSpecs, type CommandTarget } from './host/command-specs.ts'
import { ChatViews } from './platform/vscode/chat-views.ts'
import { KeptFiles } from './platform/vscode/kept-files.ts'
import { createVscodeLogger } from './platform/vscode/logger.ts'

interface Running {
  readonly application: Application
  readonly chat: ChatController
  readonly dispose: () => Promise<void>
}

let stop: () => Promise<void> = async () => {}

/**
 * The editor's root. Only what must be there at once is registered here; the application is composed with the first page
 * or command, so that starting the editor costs next to nothing.
 */
export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel('Bosun', { log: true })
  const logger = createVscodeLogger(output)
  const kept = new KeptFiles()
  let running: Promise<Running> | null = null
  const onError = (error: unknown) => {
    logger.error('Bosun could not start.', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    void vscode.window.showErrorMessage(vscode.l10n.t('Bosun could not start: {problem}', { problem: error instanceof Error ? error.message : String(error) }))
  }
  const start = (): Promise<Running> => {
    running ??= run(context, { views, kept, logger }).catch((error: unknown) => {
      // The next page or command tries again.
      running = null
      throw error
    })
    return running
  }
  const views = new ChatViews({
    extensionUri: context.extensionUri,
    attach: async (channel) => (await start()).chat.attach(channel),
    onError,
  })
  const execute = async (target: CommandTarget) => {
    try {
      if ('chat' in target) await (await start()).chat.run(target.chat)
      else if (target.page === 'show') await views.show()
      else if (target.page === 'open-in-editor') views.openInEditor()
      else output.show()
    } catch (error) {
      onError(error)
    }
  }
  context.subscriptions.push(
    output,
    kept.register(),
    views.register(),
    ...commandSpecs.map(({ id, target }) => vscode.commands.registerCommand(`bosun.${id}`, () => execute(target))),
  )
  stop = async () => {
    // A start that failed has been told and left nothing behind.
    const started = await running?.catch(() => null)
    await started?.dispose()
  }
}

/** Waits until every turn is closed and every line of the logs is on the disk, as long as the editor gives time for it. */
export async function deactivate(): Promise<void> {
  await stop()
}

interface Early {
  readonly views: ChatViews
  readonly kept: KeptFiles
  readonly logger: ReturnType<typeof createVscodeLogger>
}

/** Everything below is loaded with the first use. */
async function run(context: vscode.ExtensionContext, { views, kept, logger }: Early): Promise<Running> {
  const [
    { compose },
    { chatPlugin },
    { NodeBlobStore },
    { createNodeClock },
    { NodeEventStore },
    { NodeFileSystem },
    { createNodeMachine },
    { createKeeperRunner },
    { createRipgrepSearch },
    { createBashSyntax },
    { VscodeAttention },
    { VscodeEditor },
    { EditorFileSystem },
    { vscodeLocalization: l10n },
    { createVscodeMemento },
    { findEditorRipgrep },
    { createVscodeSecrets },
    { createVscodeSettingsSource },
    { createVscodeWorkspace },
  ] = await Promise.all([
    import('./compose.ts'),
    import('./host/chat-plugin.ts'),
    import('./platform/node/blob-store.ts'),
    import('./platform/node/clock.ts'),
    import('./platform/node/event-store.ts'),
    import('./platform/node/file-system.ts'),
    import('./platform/node/machine.ts'),
    import('./platform/node/keeper-runner.ts'),
    import('./platform/node/ripgrep-search.ts'),
    import('./platform/node/bash-syntax.ts'),
    import('./platform/vscode/attention.ts'),
    import('./platform/vscode/editor.ts'),
    import('./platform/vscode/editor-file-system.ts'),
    import('./platform/vscode/localization.ts'),
    import('./platform/vscode/memento.ts'),
    import('./platform/vscode/ripgrep.ts'),
    import('./platform/vscode/secrets.ts'),
    import('./platform/vscode/settings-source.ts'),
    import('./platform/vscode/workspace.ts'),
  ])
  const root = vscode.Uri.joinPath(context.globalStorageUri, 'sessions').fsPath
  const clock = createNodeClock()
  const workspace = createVscodeWorkspace()
  const files = new EditorFileSystem(new NodeFileSystem({ folders: workspace.folders }))
  const processes = createKeeperRunner({ entry: vscode.Uri.joinPath(context.extensionUri, 'dist', 'keeper.js').fsPath })
  const [machine, rgPath] = await Promise.all([createNodeMachine(), findEditorRipgrep()])
  const blobs = new NodeBlobStore({ root })
  const attention = new VscodeAttention()
  const secrets = createVscodeSecrets(context.secrets, process.env)
  const settings = createVscodeSettingsSource()
  const editor = new VscodeEditor({ files, kept, views, l10n, statusCommand: 'bosun.showMenu' })
  const application = compose({
    attention,
    blobs,
    clock,
    events: new NodeEventStore({ root }),
    files,
    // The editor puts its proxy and the system's certificates into the global function.
    http: { fetch: (input, init) => fetch(input, init) },
    logger,
    machine,
    processes,
    search: createRipgrepSearch({ processes, unsavedTexts: () => files.unsavedTexts(), ...(rgPath === null ? {} : { rgPath }) }),
    secrets,
    settings,
    shellSyntax: createBashSyntax(),
    workspace,
  })
  const capabilities = {
    attention,
    blobs,
    clock,
    editor,
    l10n,
    logger,
    machine,
    memento: createVscodeMemento(context.workspaceState),
    secrets,
    settings,
    workspace,
  }
  const chat = await new Promise<ChatController>((onReady, onFailed) => {
    application.ctx.plugin(chatPlugin({ capabilities, onReady })).ready.catch(onFailed)
  })
  return {
    application,
    chat,
    async dispose() {
      await application.dispose()
      await processes.dispose()
      files.dispose()
      editor.dispose()
    },
  }
}
