import * as vscode from 'vscode'
import type { Undo } from '../../base/undo.ts'
import type { ViewChannel } from '../../host/view-channel.ts'
import { openWebviewPage } from './webview-page.ts'
import { tabIcon } from './tab-icon.ts'

const CHAT_VIEW = 'bosun.chat'
const CHAT_PANEL = 'bosun.chatPanel'

interface Parts {
  readonly extensionUri: vscode.Uri
  /** Feed a page until the undo is called. The page waits until the application is composed. */
  readonly attach: (channel: ViewChannel) => Promise<Undo>
  readonly onError: (error: unknown) => void
}

/**
 * Pages of the chat: one in the side bar, any number as editors.
 *
 * A hidden page is thrown away by the editor and made anew when it is shown; everything it draws comes from the host.
 */
export class ChatViews implements vscode.WebviewViewProvider, vscode.WebviewPanelSerializer {
  readonly #parts: Parts
  readonly #visible = new vscode.EventEmitter<void>()
  readonly #panels = new Set<vscode.WebviewPanel>()
  #view: vscode.WebviewView | null = null
  #badge: vscode.ViewBadge | null = null

  constructor(parts: Parts) {
    this.#parts = parts
  }

  register(): vscode.Disposable {
    return vscode.Disposable.from(
      this.#visible,
      vscode.window.registerWebviewViewProvider(CHAT_VIEW, this, { webviewOptions: { retainContextWhenHidden: false } }),
      vscode.window.registerWebviewPanelSerializer(CHAT_PANEL, this),
    )
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view
    view.badge = this.#badge ?? undefined
    const undo = this.#open(view.webview, () => view.visible)
    view.onDidChangeVisibility(() => this.#visible.fire())
    view.onDidDispose(() => {
      undo()
      if (this.#view === view) this.#view = null
      this.#visible.fire()
    })
    this.#visible.fire()
  }

  // The editor asks for a promise here; the page's content comes by message.
  // oxlint-disable-next-line require-await
  async deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    this.#adopt(panel)
  }

  openInEditor(): void {
    this.#adopt(vscode.window.createWebviewPanel(CHAT_PANEL, 'Bosun', vscode.ViewColumn.Active, { retainContextWhenHidden: false }))
  }

  async show(): Promise<void> {
    const panel = [...this.#panels].find(({ visible }) => visible)
    if (panel === undefined) await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`)
    else panel.reveal()
  }

  isVisible(): boolean {
    return this.#view?.visible === true || [...this.#panels].some(({ visible }) => visible)
  }

  onDidChangeVisible(listener: () => void): Undo {
    const subscription = this.#visible.event(listener)
    return () => subscription.dispose()
  }

  setBadge(badge: { readonly count: number; readonly tooltip: string } | null): void {
    this.#badge = badge === null ? null : { value: badge.count, tooltip: badge.tooltip }
    if (this.#view !== null) this.#view.badge = this.#badge ?? undefined
  }

  #adopt(panel: vscode.WebviewPanel): void {
    this.#panels.add(panel)
    panel.iconPath = tabIcon(this.#parts.extensionUri)
    const undo = this.#open(panel.webview, () => panel.visible)
    panel.onDidChangeViewState(() => this.#visible.fire())
    panel.onDidDispose(() => {
      undo()
      this.#panels.delete(panel)
      this.#visible.fire()
    })
  }

  #open(webview: vscode.Webview, isVisible: () => boolean): Undo {
    return openWebviewPage(webview, { ...this.#parts, isVisible })
  }
}
