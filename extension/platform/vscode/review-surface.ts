import * as vscode from 'vscode'
import type { PointedAt, ReviewSurface, ShownReview } from '../../capabilities/review-surface.ts'
import { pathOf, uriOf } from './address.ts'
import { ChangesTree } from './changes-tree.ts'
import { ReviewMarks } from './review-marks.ts'

/** The tree is there from the start; marks only while something waits. */
export class VscodeReviewSurface implements ReviewSurface {
  readonly #tree = new ChangesTree()
  readonly #changed = new vscode.EventEmitter<string>()
  #marks: ReviewMarks | null = null
  #disk: vscode.Disposable | null = null

  register(onSeen: () => void): vscode.Disposable {
    return vscode.Disposable.from(this.#tree.register(onSeen), this.#changed, { dispose: () => this.#marks?.dispose() }, { dispose: () => this.#disk?.dispose() })
  }

  show({ files, hasMarks }: ShownReview): void {
    this.#tree.set(files)
    if (files.length > 0) this.#disk ??= this.#watchDisk()
    else {
      this.#disk?.dispose()
      this.#disk = null
    }
    const marked = hasMarks ? files.filter(({ baseline, kind }) => baseline !== null && kind !== 'deleted') : []
    if (marked.length > 0) this.#marks ??= new ReviewMarks()
    this.#marks?.set(marked, files)
  }

  onDidChangeFile(listener: (path: string) => void): () => void {
    const subscription = vscode.Disposable.from(
      this.#changed.event(listener),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && document.uri.scheme !== 'output') listener(pathOf(document.uri))
      }),
    )
    return () => subscription.dispose()
  }

  /** Shares the editor's own watch of the workspace. */
  #watchDisk(): vscode.Disposable {
    const watcher = vscode.workspace.createFileSystemWatcher('**/*')
    const tell = (uri: vscode.Uri) => this.#changed.fire(pathOf(uri))
    return vscode.Disposable.from(watcher, watcher.onDidChange(tell), watcher.onDidCreate(tell), watcher.onDidDelete(tell))
  }

  cursor(): { readonly path: string; readonly line: number } | null {
    const editor = vscode.window.activeTextEditor
    return editor === undefined ? null : { path: pathOf(editor.document.uri), line: editor.selection.active.line + 1 }
  }

  async follow(path: string, line: number): Promise<void> {
    const at = new vscode.Position(line - 1, 0)
    try {
      await vscode.window.showTextDocument(uriOf(path), { preview: true, preserveFocus: true, selection: new vscode.Range(at, at) })
    } catch {
      // It is gone again, or no text: there is nothing to follow to.
    }
  }
}

/** What a lens, the tree or the editor's peek of a change points at; null from the palette. */
export function pointedAt(args: readonly unknown[]): PointedAt | null {
  const [first, changes, index] = args
  if (typeof first === 'object' && first !== null && 'place' in first) return { place: first.place as Extract<PointedAt, { place: unknown }>['place'] }
  // The peek gives the file, all its changes and which of them. Source: the menu `scm/change/title`, `LineChange` of VS Code.
  const change: unknown = Array.isArray(changes) && typeof index === 'number' ? (changes as readonly unknown[])[index] : undefined
  if (typeof change !== 'object' || change === null || !('modifiedStartLineNumber' in change) || !('modifiedEndLineNumber' in change)) return null
  const [start, end] = [Number(change.modifiedStartLineNumber), Number(change.modifiedEndLineNumber)]
  return { startLine: Math.max(1, start), endLine: Math.max(1, start, end) }
}

