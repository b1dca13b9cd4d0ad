import * as vscode from 'vscode'
import type { Editor, FoundItem } from '../../capabilities/editor.ts'
import { pickItem } from './pick-item.ts'

type Options = Parameters<Editor['pickFound']>[0]
type Row = vscode.QuickPickItem & { readonly id: string }

/** After the last key, before a search begins; after a partial answer, before it is asked for again; on a row, before it is looked at. */
const TYPED_MS = 120
const AGAIN_MS = 600
const FOCUS_MS = 150

/** A native list that is filled by a search while the person types. */
export class FoundPick {
  readonly #options: Options
  readonly #list = vscode.window.createQuickPick<Row>()
  #asking = new AbortController()
  #looking = new AbortController()
  #typedTimer: ReturnType<typeof setTimeout> | undefined
  #focusTimer: ReturnType<typeof setTimeout> | undefined

  constructor(options: Options) {
    this.#options = options
    this.#list.title = options.title
    this.#list.placeholder = options.placeholder
  }

  async show(): Promise<{ readonly id: string; readonly button: string | null } | null> {
    const list = this.#list
    try {
      return await new Promise((resolve) => {
        list.onDidChangeValue(() => this.#askIn(TYPED_MS))
        list.onDidChangeActive(([row]) => this.#focus(row))
        list.onDidTriggerItemButton(({ item, button }) => resolve({ id: item.id, button: buttonIds.get(button) ?? null }))
        list.onDidAccept(() => {
          const [row] = list.selectedItems
          if (row !== undefined) resolve({ id: row.id, button: null })
        })
        list.onDidHide(() => resolve(null))
        list.show()
      })
    } finally {
      clearTimeout(this.#typedTimer)
      clearTimeout(this.#focusTimer)
      this.#asking.abort()
      this.#looking.abort()
      list.dispose()
    }
  }

  #askIn(delayMs: number): void {
    clearTimeout(this.#typedTimer)
    this.#asking.abort()
    const asking = new AbortController()
    this.#asking = asking
    this.#list.busy = true
    this.#typedTimer = setTimeout(() => void this.#ask(asking.signal), delayMs)
  }

  async #ask(signal: AbortSignal): Promise<void> {
    try {
      const { items, isPartial, note } = await this.#options.find(this.#list.value, signal)
      if (signal.aborted) return
      this.#list.items = items.map(rowFrom)
      this.#list.title = note === undefined ? this.#options.title : `${this.#options.title} — ${note}`
      if (isPartial) return this.#askIn(AGAIN_MS)
    } catch {
      // Whoever searches says what failed in a note; a search that was overtaken has nothing to say.
    }
    if (!signal.aborted) this.#list.busy = false
  }

  #focus(row: Row | undefined): void {
    clearTimeout(this.#focusTimer)
    this.#looking.abort()
    if (row === undefined) return
    const looking = new AbortController()
    this.#looking = looking
    this.#focusTimer = setTimeout(() => this.#options.onFocus(row.id, looking.signal), FOCUS_MS)
  }
}

const buttonIds = new WeakMap<vscode.QuickInputButton, string>()

function rowFrom({ buttons = [], ...item }: FoundItem): Row {
  return {
    ...pickItem(item),
    // It was found already; the list's own filter would take away what stands in no line of it.
    alwaysShow: true,
    buttons: buttons.map(({ id: button, icon, label: tooltip }) => {
      const made: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon(icon), tooltip }
      buttonIds.set(made, button)
      return made
    }),
  }
}
