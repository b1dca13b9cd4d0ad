import * as vscode from 'vscode'
import type { PlanSurface, ShownComment } from '../../capabilities/plan-surface.ts'
import type { Localization } from '../../capabilities/localization.ts'
import { PLAN_SCHEME, planNameOf, planUriOf } from './plan-files.ts'

/** Condition of the editor title's actions. */
const WAITING = 'bosun.waitingPlans'

interface PlanNote extends vscode.Comment {
  readonly id: string
}

/** Plans under review in the editor. Comments stand in the editor's own threads; each change gives all of them. */
export class VscodePlanSurface implements PlanSurface {
  readonly #l10n: Localization
  readonly #commented = new vscode.EventEmitter<{ readonly name: string; readonly comments: readonly ShownComment[] }>()
  readonly #threads = new Map<string, Set<vscode.CommentThread>>()
  readonly #newId: () => string
  #waiting: readonly string[] = []
  #controller: vscode.CommentController | null = null
  #mode: vscode.StatusBarItem | null = null

  constructor({ l10n, newId }: { readonly l10n: Localization; readonly newId: () => string }) {
    this.#l10n = l10n
    this.#newId = newId
  }

  dispose(): void {
    this.#controller?.dispose()
    this.#mode?.dispose()
    this.#commented.dispose()
  }

  async open({ name, comments, isQuiet }: Parameters<PlanSurface['open']>[0]): Promise<void> {
    const uri = planUriOf(name)
    const document = await vscode.workspace.openTextDocument(uri)
    if (document.languageId !== 'markdown') await vscode.languages.setTextDocumentLanguage(document, 'markdown')
    this.#showComments(name, uri, comments)
    if (isQuiet) {
      // The window brought it back by itself, or the person has it open.
      if (tabsOf(uri).length > 0) return
      // The editor that the person works in stays in sight.
      const isBusy = vscode.window.activeTextEditor !== undefined
      await vscode.window.showTextDocument(document, { preview: false, preserveFocus: true, viewColumn: isBusy ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active })
      return
    }
    const shown = vscode.window.visibleTextEditors.find((editor) => editor.document === document)
    await vscode.window.showTextDocument(document, { preview: false, ...(shown?.viewColumn !== undefined && { viewColumn: shown.viewColumn }) })
    if (vscode.extensions.getExtension('vscode.markdown-language-features') !== undefined) await vscode.commands.executeCommand('markdown.showPreviewToSide', uri)
  }

  async settle(name: string): Promise<void> {
    const uri = planUriOf(name).toString()
    const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri)
    if (document?.isDirty === true && !(await document.save())) throw new Error(this.#l10n.t('The plan could not be saved. Save its document, then decide.'))
  }

  async close(name: string): Promise<void> {
    for (const thread of this.#threads.get(name) ?? []) thread.dispose()
    this.#threads.delete(name)
    // What the person typed and did not save is theirs to look at.
    const tabs = tabsOf(planUriOf(name)).filter(({ isDirty }) => !isDirty)
    if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true)
  }

  setWaiting(names: readonly string[]): void {
    this.#waiting = names
    void vscode.commands.executeCommand('setContext', WAITING, names.map((name) => planUriOf(name).path))
    if (names.length > 0) this.#controller ??= this.#createController()
  }

  showMode(mode: Parameters<PlanSurface['showMode']>[0]): void {
    if (mode === null) return this.#mode?.hide()
    if (this.#mode === null) {
      this.#mode = vscode.window.createStatusBarItem('bosun.plan', vscode.StatusBarAlignment.Right, 109)
      this.#mode.name = 'Bosun Plan'
      this.#mode.command = 'bosun.togglePlan'
      this.#mode.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground')
    }
    this.#mode.text = mode.text
    this.#mode.tooltip = mode.tooltip
    this.#mode.show()
  }

  onDidComment(listener: (name: string, comments: readonly ShownComment[]) => void): () => void {
    const subscription = this.#commented.event(({ name, comments }) => listener(name, comments))
    return () => subscription.dispose()
  }

  // The editor's commands on comments

  /** `reply`: what the editor hands over with “Add Comment”. */
  addComment(reply: unknown): void {
    const { thread, text } = reply as vscode.CommentReply
    if (text.trim() === '') return
    const name = planNameOf(thread.uri)
    this.#watch(name, thread)
    thread.comments = [...thread.comments, this.#note(this.#newId(), text)]
    thread.canReply = true
    thread.label = this.#l10n.t('Comment on the plan')
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded
    this.#tell(name)
  }

  deleteComments(thread: unknown): void {
    const { uri } = thread as vscode.CommentThread
    const name = planNameOf(uri)
    this.#threads.get(name)?.delete(thread as vscode.CommentThread)
    ;(thread as vscode.CommentThread).dispose()
    this.#tell(name)
  }

  #showComments(name: string, uri: vscode.Uri, comments: readonly ShownComment[]): void {
    // What was shown before is of this window, and newer.
    if (this.#threads.has(name) || comments.length === 0) return
    this.#controller ??= this.#createController()
    for (const [line, those] of Map.groupBy(comments, (comment) => comment.line)) {
      const at = new vscode.Range(line - 1, 0, line - 1, 0)
      const thread = this.#controller.createCommentThread(uri, at, those.map(({ id, text }) => this.#note(id, text)))
      thread.canReply = true
      thread.label = this.#l10n.t('Comment on the plan')
      this.#watch(name, thread)
    }
  }

  #watch(name: string, thread: vscode.CommentThread): void {
    const threads = this.#threads.get(name) ?? new Set()
    this.#threads.set(name, threads.add(thread))
  }

  #note(id: string, text: string): PlanNote {
    return { id, body: text, mode: vscode.CommentMode.Preview, author: { name: this.#l10n.t('You') } }
  }

  #tell(name: string): void {
    const uri = planUriOf(name).toString()
    const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri)
    const comments = [...(this.#threads.get(name) ?? [])].flatMap((thread) => {
      const line = thread.range?.start.line ?? 0
      const quote = document !== undefined && line < document.lineCount ? document.lineAt(line).text : ''
      return thread.comments.map((comment): ShownComment => ({ id: (comment as PlanNote).id, line: line + 1, quote, text: typeof comment.body === 'string' ? comment.body : comment.body.value }))
    })
    this.#commented.fire({ name, comments })
  }

  #createController(): vscode.CommentController {
    const controller = vscode.comments.createCommentController('bosun.plan', this.#l10n.t('Plan of Bosun'))
    controller.options = { prompt: this.#l10n.t('What should be different here?'), placeHolder: this.#l10n.t('Comment on this line of the plan') }
    controller.commentingRangeProvider = {
      provideCommentingRanges: ({ uri, lineCount }) => (uri.scheme === PLAN_SCHEME && this.#waiting.includes(planNameOf(uri)) ? [new vscode.Range(0, 0, lineCount - 1, 0)] : []),
    }
    return controller
  }
}

const tabsOf = (uri: vscode.Uri): readonly vscode.Tab[] =>
  vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === uri.toString())
