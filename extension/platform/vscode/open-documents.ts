import * as vscode from 'vscode'
import type { FileTarget } from '../../capabilities/file-system.ts'

/** Finds the document that the person has open for a file, also when it was opened through a link. */
export class OpenDocuments {
  readonly #canonical: (uri: vscode.Uri) => Promise<string>
  /** Canonical keys of documents by their address; links are rare, so an answer holds while the document is open. */
  readonly #keys = new Map<string, Promise<string>>()
  readonly #undo: vscode.Disposable

  constructor(canonical: (uri: vscode.Uri) => Promise<string>) {
    this.#canonical = canonical
    this.#undo = vscode.Disposable.from(
      vscode.workspace.onDidCloseTextDocument(({ uri }) => void this.#keys.delete(uri.toString())),
      vscode.workspace.onDidRenameFiles(() => this.#keys.clear()),
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

  /** Unsaved documents with their canonical paths. */
  async unsaved(): Promise<readonly { readonly document: vscode.TextDocument; readonly key: string }[]> {
    const dirty = vscode.workspace.textDocuments.filter(({ isDirty, isUntitled, uri }) => isDirty && !isUntitled && isFileLike(uri))
    return await Promise.all(dirty.map(async (document) => ({ document, key: await this.#keyOf(document.uri) })))
  }

  #keyOf(uri: vscode.Uri): Promise<string> {
    const address = uri.toString()
    let key = this.#keys.get(address)
    if (key === undefined) {
      key = this.#canonical(uri)
      this.#keys.set(address, key)
    }
    return key
  }
}

const isFileLike = ({ scheme }: vscode.Uri) => !['untitled', 'output', 'git', 'vscode-notebook-cell', 'bosun', 'vscode-scm', 'comment'].includes(scheme)

function shownUris(): ReadonlySet<string> {
  const uris = new Set<string>()
  for (const { input } of vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs)) {
    if (input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom || input instanceof vscode.TabInputNotebook) uris.add(input.uri.toString())
    else if (input instanceof vscode.TabInputTextDiff) uris.add(input.original.toString()).add(input.modified.toString())
  }
  return uris
}
