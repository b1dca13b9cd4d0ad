import * as vscode from 'vscode'
import { messageOf } from './base/message-of.ts'
import type { BosunExtension } from '../bosun.d.ts'
import { ExportedApi } from './exported-api.ts'
import { commandSpecs, type CommandTarget } from './host/command-specs.ts'
import { PARTICIPANT } from './host/manifest-ids.ts'
import { offeredName, offeredTools } from './host/offered-tools.ts'
import { REMINDERS_KEY } from './host/reminder-commands.ts'
import { createParticipant } from './platform/vscode/chat-participant.ts'
import { ChatViews } from './platform/vscode/chat-views.ts'
import { VscodeEditorPages } from './platform/vscode/editor-pages.ts'
import { EditorTree } from './platform/vscode/editor-tree.ts'
import { KeptFiles } from './platform/vscode/kept-files.ts'
import { offerTools } from './platform/vscode/offered-tools.ts'
import { PlanFiles } from './platform/vscode/plan-files.ts'
import { createVscodeLogger } from './platform/vscode/logger.ts'
import { pointedAt, VscodeReviewSurface } from './platform/vscode/review-surface.ts'
import type { RunningEditor } from './editor-root.ts'

/** Opens the session that its argument names. */
const OPEN_SESSION = 'bosun.openChatSession'

let stop: () => Promise<void> = async () => {}

/**
 * The editor's root. Only what must be there at once is registered here; the application is composed with the first page
 * or command, so that starting the editor costs next to nothing.
 */
export function activate(context: vscode.ExtensionContext): BosunExtension {
  const output = vscode.window.createOutputChannel('Bosun', { log: true })
  const logger = createVscodeLogger(output)
  const kept = new KeptFiles(async (name) => (await start()).chat.redraw(name))
  const planFiles = new PlanFiles({ read: async (name) => (await start()).chat.readPlan(name), write: async (name, text) => (await start()).chat.writePlan(name, text) })
  const agentTree = new EditorTree('bosun.agents')
  const jobTree = new EditorTree('bosun.jobs')
  const mcpTree = new EditorTree('bosun.mcp')
  const reviewSurface = new VscodeReviewSurface()
  const api = new ExportedApi({
    logger,
    isInstalled: (id) => vscode.extensions.getExtension(id) !== undefined,
    onDidChangeExtensions: (listener) => {
      const subscription = vscode.extensions.onDidChange(listener)
      return () => void subscription.dispose()
    },
  })
  let running: Promise<RunningEditor> | null = null
  const onError = (error: unknown) => {
    logger.error('Bosun could not start.', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    void vscode.window.showErrorMessage(vscode.l10n.t('Bosun could not start: {problem}', { problem: messageOf(error) }))
  }
  const start = (): Promise<RunningEditor> => {
    // A bundle of its own, so that the editor does not even read it before it is used.
    running ??= import('./editor-root.ts').then(({ runEditor }) => runEditor(context, { views, pages, agentTree, jobTree, mcpTree, kept, logger, reviewSurface, contributions: api }))
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
  const pages = new VscodeEditorPages({
    extensionUri: context.extensionUri,
    attach: async (key, channel) => (await start()).chat.attachPage(key, channel),
    onError,
  })
  const execute = async (target: CommandTarget, args: readonly unknown[]) => {
    try {
      if ('chat' in target) await (await start()).chat.run(target.chat, pathsOf(args), pointedAt(args))
      else if ('plan' in target) (await start()).onPlanComment(target.plan, args[0])
      else if ('job' in target) await (await start()).chat.runJob(target.job, nodeOf(args[0]))
      else if ('mcp' in target) await (await start()).chat.runMcp(target.mcp, nodeOf(args[0]))
      else if ('agent' in target) await (await start()).chat.runAgent(target.agent, nodeOf(args[0]))
      else if ('reminder' in target) await (await start()).chat.runReminder(target.reminder)
      else if ('goal' in target) await (await start()).chat.runGoal(target.goal)
      else if (target.page === 'show') await views.show()
      else if (target.page === 'open-in-editor') views.openInEditor()
      else output.show()
    } catch (error) {
      onError(error)
    }
  }
  context.subscriptions.push(
    output,
    agentTree,
    jobTree,
    mcpTree,
    kept.register(),
    planFiles.register(),
    views.register(),
    pages.register(),
    reviewSurface.register(() => void start().catch(onError)),
    offerTools({ tools: offeredTools.map(({ tool, from }) => ({ name: offeredName(tool), tool, from })), start: async () => (await (await start()).editorChat()).tools, onError: (error) => logger.error('A call of the editor’s chat could not be looked at.', { error: String(error) }) }),
    createParticipant({ id: PARTICIPANT, openCommand: OPEN_SESSION, icon: vscode.Uri.joinPath(context.extensionUri, 'media', 'bosun.png'), start: async () => (await (await start()).editorChat()).talk }),
    // Only a button of the editor's chat names the session, so no palette has it.
    vscode.commands.registerCommand(OPEN_SESSION, async (id: unknown) => {
      try {
        if (typeof id === 'string') await (await start()).chat.openSession(id)
      } catch (error) {
        onError(error)
      }
    }),
    ...commandSpecs.map(({ id, target }) => vscode.commands.registerCommand(`bosun.${id}`, (...args: unknown[]) => execute(target, args))),
  )
  // What is configured is read when somebody looks at it, or with the first session.
  mcpTree.onDidChangeVisible(() => void (mcpTree.isVisible() && start().catch(onError)))
  // Reminders are delivered, or told as missed, also while nobody looks at the chat; a window without any stays as quick as ever.
  if (vscode.workspace.isTrusted && context.workspaceState.get(REMINDERS_KEY) === true) start().catch(onError)
  stop = async () => {
    // A start that failed has been told and left nothing behind.
    const started = await running?.catch(() => null)
    await started?.dispose()
    await api.dispose()
  }
  return api.exports
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
