import * as vscode from 'vscode'
import type { ShownTerminal, TerminalViewHandle, TerminalViews } from '../../capabilities/terminal-view.ts'

/** Longer output than this before the editor asks for it loses its beginning; in UTF-16 units. */
const MAX_EARLY_CHARS = 100_000
const RESIZE_PAUSE_MS = 150

/** Terminals of agents as tabs of the editor's own terminal panel. They are not brought back after a reload: their programs are gone. */
export const vscodeTerminalViews: TerminalViews = { show: (terminal) => new TabOfTerminal(terminal) }

class TabOfTerminal implements TerminalViewHandle {
  readonly #written = new vscode.EventEmitter<string>()
  readonly #closed = new vscode.EventEmitter<number | void>()
  readonly #tab: vscode.Terminal
  readonly #decoder = new TextDecoder()
  #early: string | null = ''
  #isOver = false
  #resizing: NodeJS.Timeout | undefined
  readonly #closing: vscode.Disposable

  constructor(shown: ShownTerminal) {
    this.#tab = vscode.window.createTerminal({
      name: shown.name,
      iconPath: new vscode.ThemeIcon(shown.icon ?? 'hubot'),
      isTransient: true,
      pty: {
        onDidWrite: this.#written.event,
        onDidClose: this.#closed.event,
        open: (size: vscode.TerminalDimensions | undefined) => {
          const early = this.#early ?? ''
          this.#early = null
          if (early !== '') this.#written.fire(early)
          if (size) shown.onResize({ columns: size.columns, rows: size.rows })
        },
        // Who closed it is known only when the editor tells of the end of the tab.
        close: () => clearTimeout(this.#resizing),
        handleInput: (text: string) => {
          if (!this.#isOver && !isReply(text)) shown.onInput(text)
        },
        setDimensions: ({ columns, rows }: vscode.TerminalDimensions) => {
          clearTimeout(this.#resizing)
          this.#resizing = setTimeout(() => shown.onResize({ columns, rows }), RESIZE_PAUSE_MS)
        },
      },
    })
    this.#closing = vscode.window.onDidCloseTerminal((closed) => {
      if (closed !== this.#tab) return
      this.#closing.dispose()
      if (!this.#isOver && closed.exitStatus?.reason !== vscode.TerminalExitReason.Shutdown) shown.onClose()
    })
  }

  write(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true })
    if (this.#early === null) this.#written.fire(text)
    else this.#early = (this.#early + text).slice(-MAX_EARLY_CHARS)
  }

  reveal(): void {
    this.#tab.show()
  }

  end(exitCode: number | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#written.fire(`\r\n${vscode.l10n.t('The program of this terminal has ended ({0}).', exitCode ?? '–')}\r\n`)
  }

  dispose(): void {
    this.#isOver = true
    clearTimeout(this.#resizing)
    this.#closing.dispose()
    this.#tab.dispose()
    this.#written.dispose()
    this.#closed.dispose()
  }
}

/** What the editor's emulator answers to programs by itself: the headless screen answers already. */
const isReply = (text: string) => /^(\u001b\[[?>]?[\d;]*[cRn]|\u001b\][\d;]+[^\u0007]*(\u0007|\u001b\\)|\u001bP[^\u001b]*\u001b\\)+$/.test(text)
