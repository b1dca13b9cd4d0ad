import * as vscode from 'vscode'
import { commandSpecs, type CommandTarget } from './host/command-specs.ts'
import { ChatViews } from './platform/vscode/chat-views.ts'
import { KeptFiles } from './platform/vscode/kept-files.ts'
import { createVscodeLogger } from './platform/vscode/logger.ts'
import type { RunningEditor } from './editor-root.ts'

let stop: () => Promise<void> = async () => {}

/**
 * The editor's root. Only what must be there at once is registered here; the application is composed with the first page
 * or command, so that starting the editor costs next to nothing.
 */
export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel('Bosun', { log: true })
  const logger = createVscodeLogger(output)
  const kept = new KeptFiles()
  let running: Promise<RunningEditor> | null = null
  const onError = (error: unknown) => {
    logger.error('Bosun could not start.', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    void vscode.window.showErrorMessage(vscode.l10n.t('Bosun could not start: {problem}', { problem: error instanceof Error ? error.message : String(error) }))
  }
  const start = (): Promise<RunningEditor> => {
    // A bundle of its own, so that the editor does not even read it before it is used.
    running ??= import('./editor-root.ts').then(({ runEditor }) => runEditor(context, { views, kept, logger }))
    running.catch(() => {
      // The next page or command tries again.
      running = null
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
