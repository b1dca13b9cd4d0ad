import * as vscode from 'vscode'
import { commandSpecs, type CommandTarget } from './host/command-specs.ts'
import { ChatViews } from './platform/vscode/chat-views.ts'
import { EditorTree } from './platform/vscode/editor-tree.ts'
import { KeptFiles } from './platform/vscode/kept-files.ts'
import { createVscodeLogger } from './platform/vscode/logger.ts'
import { pointedAt, VscodeReviewSurface } from './platform/vscode/review-surface.ts'
import type { RunningEditor } from './editor-root.ts'

let stop: () => Promise<void> = async () => {}

/**
 * The editor's root. Only what must be there at once is registered here; the application is composed with the first page
 * or command, so that starting the editor costs next to nothing.
 */
export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel('Bosun', { log: true })
  const logger = createVscodeLogger(output)
  const kept = new KeptFiles(async (name) => (await start()).chat.redraw(name))
  const jobTree = new EditorTree('bosun.jobs')
  const reviewSurface = new VscodeReviewSurface()
  let running: Promise<RunningEditor> | null = null
  const onError = (error: unknown) => {
    logger.error('Bosun could not start.', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    void vscode.window.showErrorMessage(vscode.l10n.t('Bosun could not start: {problem}', { problem: error instanceof Error ? error.message : String(error) }))
  }
  const start = (): Promise<RunningEditor> => {
    // A bundle of its own, so that the editor does not even read it before it is used.
    running ??= import('./editor-root.ts').then(({ runEditor }) => runEditor(context, { views, jobTree, kept, logger, reviewSurface }))
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
  const execute = async (target: CommandTarget, args: readonly unknown[]) => {
    try {
      if ('chat' in target) await (await start()).chat.run(target.chat, pathsOf(args), pointedAt(args))
      else if ('job' in target) await (await start()).chat.runJob(target.job, nodeOf(args[0]))
      else if (target.page === 'show') await views.show()
      else if (target.page === 'open-in-editor') views.openInEditor()
      else output.show()
    } catch (error) {
      onError(error)
    }
  }
  context.subscriptions.push(
    output,
    jobTree,
    kept.register(),
    views.register(),
    reviewSurface.register(() => void start().catch(onError)),
    ...commandSpecs.map(({ id, target }) => vscode.commands.registerCommand(`bosun.${id}`, (...args: unknown[]) => execute(target, args))),
  )
  stop = async () => {
    // A start that failed has been told and left nothing behind.
    const started = await running?.catch(() => null)
    await started?.dispose()
  }
}

/** What a menu of the editor was opened on: the explorer gives the item and all that are chosen, source control its resources. */
function pathsOf(args: readonly unknown[]): readonly string[] {
  const [first, all] = args
  const chosen = Array.isArray(all) && all.includes(first) ? (all as readonly unknown[]) : args
  const uris = chosen.flatMap((item) => {
    if (item instanceof vscode.Uri) return [item]
    const resource = item !== null && typeof item === 'object' && 'resourceUri' in item ? item.resourceUri : undefined
    return resource instanceof vscode.Uri ? [resource] : []
  })
  return uris.map((uri) => (uri.scheme === 'file' ? uri.fsPath : uri.toString()))
}

/** The row of a tree that a menu was opened on; null from the palette. */
const nodeOf = (arg: unknown): string | null => (arg !== null && typeof arg === 'object' && 'id' in arg && typeof arg.id === 'string' ? arg.id : null)

/** Waits until every turn is closed and every line of the logs is on the disk, as long as the editor gives time for it. */
export async function deactivate(): Promise<void> {
  await stop()
}
