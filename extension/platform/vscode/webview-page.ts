import { randomBytes } from 'node:crypto'
import * as vscode from 'vscode'
import type { Undo } from '../../base/undo.ts'
import type { ViewChannel } from '../../host/view-channel.ts'
import type { PageKey } from '../../protocol/editor-page.ts'
import { chatPage } from '../../protocol/page.ts'

export interface WebviewPageOptions<Message> {
  readonly extensionUri: vscode.Uri
  readonly isVisible: () => boolean
  /** Feed the page until the undo is called. The page waits until the application is composed. */
  readonly attach: (channel: ViewChannel<Message>) => Promise<Undo>
  readonly onError: (error: unknown) => void
  /** Absent: the chat. */
  readonly page?: PageKey
}

/** Draw a page of ours in a webview and join it with its host, until the undo is called. */
export function openWebviewPage<Message>(webview: vscode.Webview, { extensionUri, isVisible, attach, onError, page }: WebviewPageOptions<Message>): Undo {
  const listeners = new Set<(raw: unknown) => void>()
  // What the page says before the application is composed is kept, not lost.
  const early: unknown[] = []
  let isDone = false
  let undoFeed: Undo | null = null
  const subscription = webview.onDidReceiveMessage((raw: unknown) => {
    if (listeners.size === 0) early.push(raw)
    else for (const listener of listeners) listener(raw)
  })
  const load = () => {
    const dist = vscode.Uri.joinPath(extensionUri, 'dist')
    const uri = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString()
    webview.options = { enableScripts: true, localResourceRoots: [dist] }
    webview.html = chatPage({
      cspSource: webview.cspSource,
      nonce: randomBytes(16).toString('hex'),
      scriptUri: uri('webview.js'),
      styleUri: uri('webview.css'),
      iconStyleUri: uri('codicon.css'),
      language: vscode.env.language,
      ...(vscode.l10n.bundle === undefined ? {} : { texts: vscode.l10n.bundle }),
      ...(page && { page }),
    })
  }
  const channel: ViewChannel<Message> = {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the editor's webview, not a window
    post: (message) => void webview.postMessage(message),
    onMessage(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    isVisible,
    imageUri: (bytes, mediaType) => `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`,
    reload: load,
  }
  load()
  attach(channel).then((undo) => {
    if (isDone) undo()
    else undoFeed = undo
    for (const raw of early.splice(0)) for (const listener of listeners) listener(raw)
  }, onError)
  return () => {
    isDone = true
    subscription.dispose()
    undoFeed?.()
  }
}
