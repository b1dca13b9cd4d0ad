import * as vscode from 'vscode'
import type { Undo } from '../../base/undo.ts'
import type { EditorPages } from '../../capabilities/editor-pages.ts'
import type { ViewChannel } from '../../host/view-channel.ts'
import { PAGE_KINDS, type PageHostMessage, type PageKey, type PageKind } from '../../protocol/editor-page.ts'
import { openWebviewPage } from './webview-page.ts'
import { tabIcon } from './tab-icon.ts'

const pageViewType = (kind: PageKind): string => `bosun.page.${kind}`

interface Parts {
  readonly extensionUri: vscode.Uri
  readonly attach: (key: PageKey, channel: ViewChannel<PageHostMessage>) => Promise<Undo>
  readonly onError: (error: unknown) => void
}

/** Pages of ours as editors. The page keeps its own key in its state, so that the editor can bring it back after a reload of the window. */
export class VscodeEditorPages implements EditorPages, vscode.WebviewPanelSerializer {
  readonly #parts: Parts
  readonly #panels = new Map<string, vscode.WebviewPanel>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  register(): vscode.Disposable {
    return vscode.Disposable.from(...PAGE_KINDS.map((kind) => vscode.window.registerWebviewPanelSerializer(pageViewType(kind), this)))
  }

  open(key: PageKey, title: string): void {
    const open = this.#panels.get(nameOf(key))
    if (open === undefined) this.#adopt(vscode.window.createWebviewPanel(pageViewType(key.kind), title, vscode.ViewColumn.Active, { retainContextWhenHidden: false }), key)
    else open.reveal()
  }

  // The editor asks for a promise here; the page's content comes by message.
  // oxlint-disable-next-line require-await
  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const key = keyFrom(state, panel.viewType)
    if (key === null) panel.dispose()
    else this.#adopt(panel, key)
  }

  #adopt(panel: vscode.WebviewPanel, key: PageKey): void {
    this.#panels.set(nameOf(key), panel)
    panel.iconPath = tabIcon(this.#parts.extensionUri)
    const undo = openWebviewPage<PageHostMessage>(panel.webview, {
      extensionUri: this.#parts.extensionUri,
      isVisible: () => panel.visible,
      attach: (channel) => this.#parts.attach(key, channel),
      onError: this.#parts.onError,
      page: key,
    })
    panel.onDidDispose(() => {
      undo()
      this.#panels.delete(nameOf(key))
    })
  }
}

const nameOf = ({ kind, sessionId, id }: PageKey): string => [kind, sessionId, id].join(' ')

/** What a page of an older build kept may be anything. */
function keyFrom(state: unknown, viewType: string): PageKey | null {
  const page: unknown = typeof state === 'object' && state !== null && 'page' in state ? state.page : null
  if (typeof page !== 'object' || page === null || !('kind' in page) || !('sessionId' in page) || !('id' in page)) return null
  const { kind, sessionId, id } = page
  const known = PAGE_KINDS.find((one) => one === kind && pageViewType(one) === viewType)
  return known !== undefined && typeof sessionId === 'string' && typeof id === 'string' ? { kind: known, sessionId, id } : null
}
