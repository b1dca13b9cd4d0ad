import * as vscode from 'vscode'
import type { Undo } from '../../base/undo.ts'
import type { TreeNode, TreeState, TreeView } from '../../capabilities/tree-view.ts'

/**
 * A native tree over nodes that are plain data.
 *
 * It is there with the activation, so that its view never says that nobody fills it; the nodes come with the application.
 */
export class EditorTree implements TreeView, vscode.TreeDataProvider<TreeNode> {
  readonly #view: vscode.TreeView<TreeNode>
  readonly #changes = new vscode.EventEmitter<TreeNode | undefined>()
  readonly #id: string
  #state: TreeState = { nodes: [] }
  #isTicked = false

  constructor(id: string) {
    this.#id = id
    this.#view = vscode.window.createTreeView(id, { treeDataProvider: this })
  }

  show(state: TreeState): void {
    const before = this.#state
    this.#state = state
    if (this.#isTicked || JSON.stringify(before.nodes) !== JSON.stringify(state.nodes)) this.#changes.fire(undefined)
    this.#isTicked = false
    if (before.description !== state.description) this.#view.description = state.description ?? ''
    if (before.message !== state.message) this.#view.message = state.message ?? ''
    if (before.badge?.count !== state.badge?.count || before.badge?.tooltip !== state.badge?.tooltip) {
      this.#view.badge = state.badge === undefined ? undefined : { value: state.badge.count, tooltip: state.badge.tooltip }
    }
  }

  async focus(): Promise<void> {
    await vscode.commands.executeCommand(`${this.#id}.focus`)
  }

  isVisible(): boolean {
    return this.#view.visible
  }

  onDidChangeVisible(listener: () => void): Undo {
    const subscription = this.#view.onDidChangeVisibility(listener)
    return () => subscription.dispose()
  }

  onDidOpen(listener: (nodeId: string) => void): Undo {
    const subscription = this.#view.onDidExpandElement(({ element }) => listener(element.id))
    return () => subscription.dispose()
  }

  onDidCheck(listener: (nodeId: string, isChecked: boolean) => void): Undo {
    const subscription = this.#view.onDidChangeCheckboxState(({ items }) => {
      // The editor shows the tick already; should it not stay, the same nodes are drawn again.
      this.#isTicked = true
      for (const [node, state] of items) listener(node.id, state === vscode.TreeItemCheckboxState.Checked)
    })
    return () => subscription.dispose()
  }

  dispose(): void {
    this.#view.dispose()
    this.#changes.dispose()
  }

  // The provider that the editor asks

  readonly onDidChangeTreeData = this.#changes.event

  getChildren(node?: TreeNode): TreeNode[] {
    return [...(node === undefined ? this.#state.nodes : (node.children ?? []))]
  }

  getTreeItem(node: TreeNode): vscode.TreeItem {
    return treeItemOf(node)
  }
}

/** A node as the editor draws it. */
export function treeItemOf(node: TreeNode): vscode.TreeItem {
  const item = new vscode.TreeItem(node.label, foldingOf(node))
  item.id = node.id
  item.contextValue = (node.kinds ?? []).join(' ')
  if (node.description !== undefined) item.description = node.description
  if (node.icon !== undefined) item.iconPath = new vscode.ThemeIcon(node.icon, node.iconColor === undefined ? undefined : new vscode.ThemeColor(node.iconColor))
  if (node.tooltip !== undefined) item.tooltip = new vscode.MarkdownString(node.tooltip)
  if (node.spoken !== undefined) item.accessibilityInformation = { label: node.spoken }
  if (node.check !== undefined) {
    const { isChecked, tooltip } = node.check
    item.checkboxState = { state: isChecked ? vscode.TreeItemCheckboxState.Checked : vscode.TreeItemCheckboxState.Unchecked, tooltip, accessibilityInformation: { label: tooltip, role: 'checkbox' } }
  }
  if (node.press !== undefined) item.command = { command: `bosun.${node.press}`, title: '', arguments: [node] }
  return item
}

function foldingOf({ children, isOpen, isLazy }: TreeNode): vscode.TreeItemCollapsibleState {
  if (isLazy !== true && (children === undefined || children.length === 0)) return vscode.TreeItemCollapsibleState.None
  return isOpen === true ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed
}
