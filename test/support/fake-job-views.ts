import type { LogViews } from '../../extension/capabilities/log-view.ts'
import type { MarkedProblem, ProblemMarks } from '../../extension/capabilities/problem-marks.ts'
import type { ShownTerminal, TerminalViews } from '../../extension/capabilities/terminal-view.ts'
import type { TreeNode, TreeState, TreeView } from '../../extension/capabilities/tree-view.ts'

export interface FakeTree extends TreeView {
  readonly state: TreeState
  /** The rows as text, indented by their depth: label, then what stands beside it. */
  readonly lines: () => readonly string[]
  readonly node: (id: string) => TreeNode | undefined
  setVisible(isVisible: boolean): void
  /** As the person does. */
  open(id: string): void
  /** As the person does. */
  check(id: string, isChecked: boolean): void
  focused: number
}

/** A tree that a test reads. */
export function createFakeTree(): FakeTree {
  const listeners = new Set<() => void>()
  const openers = new Set<(id: string) => void>()
  const checkers = new Set<(id: string, isChecked: boolean) => void>()
  let state: TreeState = { nodes: [] }
  let isVisible = false
  return {
    focused: 0,
    get state() {
      return state
    },
    lines: () => linesOf(state.nodes, ''),
    node: (id) => allOf(state.nodes).find((node) => node.id === id),
    show: (next) => void (state = next),
    async focus() {
      this.focused += 1
    },
    isVisible: () => isVisible,
    onDidChangeVisible(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    onDidOpen(listener) {
      openers.add(listener)
      return () => void openers.delete(listener)
    },
    onDidCheck(listener) {
      checkers.add(listener)
      return () => void checkers.delete(listener)
    },
    check: (id, isChecked) => checkers.forEach((checker) => checker(id, isChecked)),
    open: (id) => openers.forEach((opener) => opener(id)),
    setVisible(next) {
      isVisible = next
      for (const listener of listeners) listener()
    },
  }
}

const linesOf = (nodes: readonly TreeNode[], indent: string): readonly string[] =>
  nodes.flatMap(({ label, description, children = [] }) => [`${indent}${[label, description].filter((part) => part !== undefined && part !== '').join(' | ')}`, ...linesOf(children, `${indent}  `)])

const allOf = (nodes: readonly TreeNode[]): readonly TreeNode[] => nodes.flatMap((node) => [node, ...allOf(node.children ?? [])])

export interface FakeTab {
  readonly name: string
  text: string
  state: 'open' | 'closed'
  revealed: number
  /** As the person does. */
  close(): void
}

/** Tabs of terminals that nobody draws. */
export function createFakeTerminalViews(): TerminalViews & { readonly tabs: readonly FakeTab[] } {
  const tabs: FakeTab[] = []
  return {
    tabs,
    show(terminal: ShownTerminal) {
      const tab: FakeTab = {
        name: terminal.name,
        text: '',
        state: 'open',
        revealed: 0,
        close() {
          tab.state = 'closed'
          terminal.onClose()
        },
      }
      tabs.push(tab)
      return {
        write: (bytes) => void (tab.text += new TextDecoder().decode(bytes)),
        reveal: () => void (tab.revealed += 1),
        end: () => {},
        dispose: () => void (tab.state = 'closed'),
      }
    },
  }
}

/** Marks by owner. */
export function createFakeMarks(): ProblemMarks & { readonly marks: ReadonlyMap<string, readonly MarkedProblem[]> } {
  const marks = new Map<string, readonly MarkedProblem[]>()
  return { marks, set: (owner, problems) => void marks.set(owner, problems), remove: (owner) => void marks.delete(owner) }
}

export interface FakeLog {
  readonly title: string
  text: string
  state: 'hidden' | 'shown' | 'gone'
}

/** Logs that nobody draws. */
export function createFakeLogs(): LogViews & { readonly logs: readonly FakeLog[] } {
  const logs: FakeLog[] = []
  return {
    logs,
    open(title) {
      const log: FakeLog = { title, text: '', state: 'hidden' }
      logs.push(log)
      return {
        replace: (text) => void (log.text = text),
        append: (text) => void (log.text += text),
        reveal: () => void (log.state = 'shown'),
        dispose: () => void (log.state = 'gone'),
      }
    },
  }
}
