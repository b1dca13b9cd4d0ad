import * as vscode from 'vscode'
import type { ShownFile } from '../../capabilities/review-surface.ts'
import { uriOf } from './address.ts'

/** Scheme of texts without the changes that wait, which the editor's quick diff compares with. */
const BASELINE_SCHEME = 'bosun-before'

/**
 * Marks in the gutter of what waits, with the editor's own peek, and Keep and Undo over each region.
 *
 * Made with the first file that waits. Source control names it only while something does; the lenses stay registered, because the
 * editor shows those of a provider that left for another half minute.
 */
export class ReviewMarks implements vscode.QuickDiffProvider, vscode.CodeLensProvider, vscode.TextDocumentContentProvider {
  readonly #texts = new vscode.EventEmitter<vscode.Uri>()
  readonly #lenses = new vscode.EventEmitter<void>()
  readonly onDidChange = this.#texts.event
  readonly onDidChangeCodeLenses = this.#lenses.event
  readonly #registered: vscode.Disposable
  #control: { readonly source: vscode.SourceControl; readonly group: vscode.SourceControlResourceGroup } | null = null
  #files = new Map<string, ShownFile>()

  constructor() {
    this.#registered = vscode.Disposable.from(
      this.#texts,
      this.#lenses,
      { dispose: () => this.#control?.source.dispose() },
      vscode.workspace.registerTextDocumentContentProvider(BASELINE_SCHEME, this),
      vscode.languages.registerCodeLensProvider([{ scheme: 'file' }, { scheme: 'vscode-remote' }, { scheme: 'vscode-vfs' }], this),
    )
  }

  /** `all`: for the list in Source Control, which would be empty otherwise; `files`: those of them that have marks. */
  set(files: readonly ShownFile[], all: readonly ShownFile[] = files): void {
    const before = this.#files
    this.#files = new Map(files.map((file) => [uriOf(file.path).toString(), file]))
    for (const [key, file] of this.#files) if (before.get(key)?.baseline !== file.baseline) this.#texts.fire(baselineUri(uriOf(file.path)))
    if (files.length === 0) {
      this.#control?.source.dispose()
      this.#control = null
    } else this.#control ??= createControl()
    const hasOthers = before.size !== this.#files.size || [...this.#files.keys()].some((key) => !before.has(key))
    // The editor asks for originals anew when the provider is set.
    if (this.#control !== null) this.#control.group.resourceStates = all.map(resourceOf)
    if (hasOthers && this.#control !== null) this.#control.source.quickDiffProvider = { provideOriginalResource: (uri) => this.provideOriginalResource(uri) }
    this.#lenses.fire()
  }

  provideOriginalResource(uri: vscode.Uri): vscode.Uri | undefined {
    const file = this.#files.get(uri.toString())
    return file === undefined || file.baseline === null ? undefined : baselineUri(uri)
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#files.get(decodeURIComponent(uri.query))?.baseline ?? ''
  }

  provideCodeLenses({ uri, lineCount }: vscode.TextDocument): vscode.CodeLens[] {
    const regions = this.#files.get(uri.toString())?.regions ?? []
    return regions.flatMap(({ startLine, place }, index) => {
      const line = Math.min(startLine, lineCount) - 1
      const range = new vscode.Range(line, 0, line, 0)
      const given = [{ resourceUri: uri, place }]
      const number = regions.length > 1 ? [new vscode.CodeLens(range, { command: '', title: vscode.l10n.t('Bosun, {number} of {count}', { number: index + 1, count: regions.length }) })] : []
      return [
        new vscode.CodeLens(range, { command: 'bosun.keepChange', title: `$(check) ${vscode.l10n.t('Keep')}`, tooltip: vscode.l10n.t('Keep this change of Bosun'), arguments: given }),
        new vscode.CodeLens(range, { command: 'bosun.undoChange', title: `$(discard) ${vscode.l10n.t('Undo')}`, tooltip: vscode.l10n.t('Take this change of Bosun back'), arguments: given }),
        ...number,
      ]
    })
  }

  dispose(): void {
    this.#registered.dispose()
  }
}

function createControl() {
  const source = vscode.scm.createSourceControl('bosun', vscode.l10n.t('Bosun: Changes to Review'))
  source.inputBox.visible = false
  // The badge of the view counts what is to be committed; these wait in a view of their own.
  source.count = 0
  return { source, group: source.createResourceGroup('changes', vscode.l10n.t('Changes to review')) }
}

function resourceOf({ path, kind }: ShownFile): vscode.SourceControlResourceState {
  const resourceUri = uriOf(path)
  const tooltip = { created: vscode.l10n.t('New file of Bosun'), changed: vscode.l10n.t('Changed by Bosun'), deleted: vscode.l10n.t('Deleted by Bosun') }[kind]
  return {
    resourceUri,
    decorations: { tooltip, strikeThrough: kind === 'deleted' },
    command: { command: 'bosun.openFileChanges', title: vscode.l10n.t('Open Changes'), arguments: [{ resourceUri }] },
  }
}

const baselineUri = (uri: vscode.Uri) => vscode.Uri.from({ scheme: BASELINE_SCHEME, path: uri.path, query: encodeURIComponent(uri.toString()) })
