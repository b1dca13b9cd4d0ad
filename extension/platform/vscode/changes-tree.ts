import * as vscode from 'vscode'
import type { RegionPlace, ShownFile, ShownRegion } from '../../capabilities/review-surface.ts'
import { uriOf } from './address.ts'

const CHANGES_VIEW = 'bosun.changes'

/** What a line of the tree stands for; the commands of its menus get it. */
export type ChangeNode = FileNode | RegionNode

interface FileNode {
  readonly resourceUri: vscode.Uri
  readonly file: ShownFile
}

interface RegionNode {
  readonly resourceUri: vscode.Uri
  readonly region: ShownRegion
  readonly place: RegionPlace
}

/** The tree of changes that wait: files, and under each its regions. */
export class ChangesTree implements vscode.TreeDataProvider<ChangeNode> {
  readonly #changes = new vscode.EventEmitter<void>()
  readonly onDidChangeTreeData = this.#changes.event
  #files: readonly ShownFile[] = []
  #view: vscode.TreeView<ChangeNode> | null = null

  /** `onSeen`: the person looks at it, so what waits has to be known. */
  register(onSeen: () => void): vscode.Disposable {
    const view = vscode.window.createTreeView(CHANGES_VIEW, { treeDataProvider: this })
    this.#view = view
    if (view.visible) onSeen()
    const seen = view.onDidChangeVisibility(({ visible }) => {
      if (visible) onSeen()
    })
    return vscode.Disposable.from(view, seen, this.#changes)
  }

  set(files: readonly ShownFile[]): void {
    if (this.#files.length === 0 && files.length === 0) return
    this.#files = files
    if (this.#view !== null) {
      const count = files.length
      this.#view.description = count === 0 ? '' : count === 1 ? vscode.l10n.t('1 file') : vscode.l10n.t('{count} files', { count })
    }
    void vscode.commands.executeCommand('setContext', 'bosun.hasChanges', files.length > 0)
    void vscode.commands.executeCommand('setContext', 'bosun.reviewedPaths', files.map(({ path }) => uriOf(path).fsPath))
    this.#changes.fire()
  }

  getChildren(node?: ChangeNode): readonly ChangeNode[] & ChangeNode[] {
    if (node === undefined) return this.#files.map((file) => ({ resourceUri: uriOf(file.path), file }))
    return 'file' in node ? regionsOf(node.file).map((region) => ({ resourceUri: node.resourceUri, region, place: region.place })) : []
  }

  getTreeItem(node: ChangeNode): vscode.TreeItem {
    return 'file' in node ? fileItem(node) : regionItem(node)
  }
}

/** A file that is gone has no place to show one in. */
const regionsOf = ({ kind, regions }: ShownFile): readonly ShownRegion[] => (kind === 'deleted' ? [] : regions)

function fileItem(node: FileNode): vscode.TreeItem {
  const { file, resourceUri } = node
  const item = new vscode.TreeItem(resourceUri, regionsOf(file).length > 0 ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None)
  const folder = vscode.workspace.asRelativePath(vscode.Uri.joinPath(resourceUri, '..'))
  const isTop = vscode.workspace.workspaceFolders?.some(({ uri, name }) => folder === uri.fsPath || folder === name) === true
  const kind = { created: vscode.l10n.t('new'), changed: '', deleted: vscode.l10n.t('deleted') }[file.kind]
  item.id = file.path
  item.description = [isTop ? '' : folder, kind, counts(file)].filter((part) => part !== '').join('  ')
  item.tooltip = [vscode.workspace.asRelativePath(resourceUri), kind, counts(file)].filter((part) => part !== '').join(' · ')
  item.iconPath = vscode.ThemeIcon.File
  item.contextValue = 'file'
  item.command = { command: 'bosun.openFileChanges', title: vscode.l10n.t('Open Changes'), arguments: [node] }
  return item
}

function regionItem({ region, resourceUri, place }: RegionNode): vscode.TreeItem {
  const item = new vscode.TreeItem(region.label === '' ? vscode.l10n.t('Line {line}', { line: region.startLine }) : region.label)
  item.id = `${resourceUri.toString()}#${place.baseFrom}-${place.baseTo}:${place.from}-${place.to}`
  item.description = [vscode.l10n.t('line {line}', { line: region.startLine }), counts(region)].join('  ')
  item.iconPath = new vscode.ThemeIcon(region.added === 0 ? 'diff-removed' : region.removed === 0 ? 'diff-added' : 'diff-modified')
  item.contextValue = 'region'
  const at = new vscode.Position(region.startLine - 1, 0)
  item.command = { command: 'vscode.open', title: vscode.l10n.t('Open'), arguments: [resourceUri, { preview: true, selection: new vscode.Range(at, at) }] }
  return item
}

const counts = ({ added, removed }: { readonly added: number; readonly removed: number }) => [...(added > 0 ? [`+${added}`] : []), ...(removed > 0 ? [`−${removed}`] : [])].join(' ')

