import * as vscode from 'vscode'
import type { FileKey, FileTarget } from '../../capabilities/file-system.ts'

/** Finds the document that the person has open for a file, also when it was opened through a link. */
export class OpenDocuments {
  readonly #canonical: (uri: vscode.Uri) => Promise<Identity>
  /** Where documents are, links followed, by their address; links are rare, so an answer holds while the document is open. */
  readonly #places = new Map<string, { readonly asked: Promise<Identity>; known?: Identity }>()
  readonly #undo: vscode.Disposable

  constructor(canonical: (uri: vscode.Uri) => Promise<Identity>) {
    this.#canonical = canonical
    this.#undo = vscode.Disposable.from(
      vscode.workspace.onDidCloseTextDocument(({ uri }) => void this.#places.delete(uri.toString())),
      vscode.workspace.onDidRenameFiles(() => this.#places.clear()),
    )
  }

  dispose(): void {
    this.#undo.dispose()
  }

  /**
   * A document that is unsaved or stands in a tab. Others are only held in memory for language features: for them
   * the disk is the truth, and editing them there would bring up an editor that nobody opened.
   */
  async find(target: FileTarget): Promise<vscode.TextDocument | undefined> {
    const shown = shownUris()
    const candidates = vscode.workspace.textDocuments.filter(
      (document) => !document.isClosed && !document.isUntitled && isFileLike(document.uri) && (document.isDirty || shown.has(document.uri.toString())),
    )
    const found: vscode.TextDocument[] = []
    for (const document of candidates) if ((await this.#keyOf(document.uri)) === target.key) found.push(document)
    return found.find(({ isDirty }) => isDirty) ?? found[0]
  }

  /** Unsaved texts by path, for searches. A link that was never asked about goes by its own path once. */
  unsavedTexts(): readonly { readonly path: string; readonly text: string }[] {
    return vscode.workspace.textDocuments
      .filter(({ isDirty, isUntitled, uri }) => isDirty && !isUntitled && uri.scheme === 'file')
      .map((document) => {
        const place = this.#place(document.uri)
        return { path: place.known?.path ?? document.uri.fsPath, text: document.getText() }
      })
  }

  async #keyOf(uri: vscode.Uri): Promise<FileKey> {
    return (await this.#place(uri).asked).key
  }

  #place(uri: vscode.Uri) {
    const address = uri.toString()
    const place = this.#places.get(address)
    if (place !== undefined) return place
    const asked = this.#canonical(uri)
    const fresh: { readonly asked: Promise<Identity>; known?: Identity } = { asked }
    this.#places.set(address, fresh)
    asked.then(
      (identity) => (fresh.known = identity),
      () => this.#places.delete(address),
    )
    return fresh
  }
}

type Identity = Pick<FileTarget, 'key' | 'path'>

const isFileLike = ({ scheme }: vscode.Uri) => !['untitled', 'output', 'git', 'vscode-notebook-cell', 'bosun', 'vscode-scm', 'comment'].includes(scheme)

function shownUris(): ReadonlySet<string> {
  const uris = new Set<string>()
  for (const { input } of vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs)) {
    if (input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom || input instanceof vscode.TabInputNotebook) uris.add(input.uri.toString())
    else if (input instanceof vscode.TabInputTextDiff) uris.add(input.original.toString()).add(input.modified.toString())
  }
  return uris
}
