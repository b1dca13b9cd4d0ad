import type { Localization } from '../capabilities/localization.ts'
import type { TerminalViewHandle, TerminalViews } from '../capabilities/terminal-view.ts'

interface Parts {
  readonly terminalViews: TerminalViews
  readonly l10n: Localization
}

export interface TabContent {
  readonly title: string
  /** What it showed until now, escape sequences included. */
  readonly text: string
  /** Bytes before it that are gone. */
  readonly omittedBytes: number
  /** How it ended, in words; null while it runs. */
  readonly end: string | null
}

const MAX_TITLE_CHARS = 40

/** Tabs that show the output of commands as a terminal does, with nothing to type into. Closing one ends nothing but the tab. */
export class JobTabs {
  readonly #parts: Parts
  readonly #open = new Map<string, { readonly handle: TerminalViewHandle; isOver: boolean }>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Bring the tab of `key` before the person; a new one begins with what was shown until now. */
  show(key: string, content: () => TabContent): void {
    const known = this.#open.get(key)
    if (known !== undefined) return known.handle.reveal()
    const { title, text, omittedBytes, end } = content()
    const { terminalViews, l10n } = this.#parts
    const handle = terminalViews.show({
      name: shortened(title),
      icon: 'output',
      onInput() {},
      onResize() {},
      onClose: () => void this.#open.delete(key),
    })
    this.#open.set(key, { handle, isOver: false })
    if (omittedBytes > 0) handle.write(quiet(l10n.t('{count} bytes before this are left out here.', { count: omittedBytes })))
    this.write(key, text)
    if (end !== null) this.end(key, end)
    handle.reveal()
  }

  isOpen(key: string): boolean {
    return this.#open.has(key)
  }

  write(key: string, text: string): void {
    if (text !== '') this.#open.get(key)?.handle.write(bytesOf(text))
  }

  /** Say how it ended; what it showed stays. */
  end(key: string, words: string): void {
    const tab = this.#open.get(key)
    if (tab === undefined || tab.isOver) return
    tab.isOver = true
    tab.handle.write(quiet(words))
  }

  close(key: string): void {
    this.#open.get(key)?.handle.dispose()
    this.#open.delete(key)
  }

  dispose(): void {
    for (const key of [...this.#open.keys()]) this.close(key)
  }
}

/** A terminal wants a carriage return before each line feed; programs at a pipe write none. */
const bytesOf = (text: string) => new TextEncoder().encode(text.replaceAll(/\r?\n/g, '\r\n'))

/** On a line of its own, whatever the program left the cursor at. */
const quiet = (words: string) => bytesOf(`\u001b[0m\r\n\u001b[2m${words}\u001b[0m\n`)

function shortened(title: string): string {
  const line = title.trim().replaceAll(/\s+/g, ' ')
  const chars = Array.from(line.slice(0, 2 * MAX_TITLE_CHARS))
  return chars.length > MAX_TITLE_CHARS ? `${chars.slice(0, MAX_TITLE_CHARS - 1).join('')}…` : line
}
