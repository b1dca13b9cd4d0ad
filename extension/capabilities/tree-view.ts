import type { Undo } from '../base/undo.ts'

/** One of the editor's own trees, drawn from data. */
export interface TreeView {
  /** Draw this in the place of what was there. What is the same stays as it is; what the person opened stays open. */
  show(state: TreeState): void
  /** Bring it before the person, who asked for it. */
  focus(): Promise<void>
  isVisible(): boolean
  onDidChangeVisible(listener: () => void): Undo
  /** The person opened a node; what is under a lazy one may be asked for now. */
  onDidOpen(listener: (nodeId: string) => void): Undo
  /** The person set or took away the tick of a node; the next state says whether it stays so. */
  onDidCheck(listener: (nodeId: string, isChecked: boolean) => void): Undo
}

export interface TreeState {
  readonly nodes: readonly TreeNode[]
  /** Beside the title, also while the view is folded. */
  readonly description?: string
  /** Over the nodes, when something must be said. */
  readonly message?: string
  /** On the icon of the view's container. */
  readonly badge?: { readonly count: number; readonly tooltip: string }
}

export interface TreeNode {
  /** Its own among all nodes of the tree, and the same from one state to the next. Commands of its menu get it. */
  readonly id: string
  readonly label: string
  readonly description?: string
  /** A codicon. */
  readonly icon?: string
  /** An id of the theme, such as `testing.iconPassed`. */
  readonly iconColor?: string
  /** Markdown; wait for the pointer to rest. */
  readonly tooltip?: string
  /** What a screen reader says in the place of label and description. */
  readonly spoken?: string
  /** Words that `viewItem` of a menu's condition may ask for. */
  readonly kinds?: readonly string[]
  /** What a click does: a command, without the product prefix; it gets the id of the node. */
  readonly press?: string
  /** A tick beside it. */
  readonly check?: { readonly isChecked: boolean; readonly tooltip: string }
  readonly children?: readonly TreeNode[]
  /** There are children, which come once somebody opens it. */
  readonly isLazy?: boolean
  /** Whether the children show before the person opened or closed it. */
  readonly isOpen?: boolean
}
