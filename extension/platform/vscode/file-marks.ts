import { sep } from 'node:path'
import * as vscode from 'vscode'
import type { FileMark, FileMarks } from '../../capabilities/file-marks.ts'

/** Marks as file decorations; the editor is asked for them only while there are some. */
export class VscodeFileMarks implements FileMarks, vscode.FileDecorationProvider {
  readonly #changes = new vscode.EventEmitter<undefined>()
  readonly onDidChangeFileDecorations = this.#changes.event
  #marks: readonly FileMark[] = []
  #registration: vscode.Disposable | null = null

  set(marks: readonly FileMark[]): void {
    this.#marks = marks
    this.#changes.fire(undefined)
    if (marks.length > 0) this.#registration ??= vscode.window.registerFileDecorationProvider(this)
    else this.#end()
  }

  provideFileDecoration({ scheme, fsPath }: vscode.Uri): vscode.FileDecoration | undefined {
    if (scheme !== 'file') return undefined
    const mark = this.#marks.find(({ path }) => fsPath === path || fsPath.startsWith(path + sep))
    return mark && new vscode.FileDecoration(mark.badge, mark.tooltip)
  }

  dispose(): void {
    this.#end()
    this.#changes.dispose()
  }

  #end(): void {
    this.#registration?.dispose()
    this.#registration = null
  }
}
