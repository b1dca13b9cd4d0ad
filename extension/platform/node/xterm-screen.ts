import type { IBuffer, IMarker, Terminal } from '@xterm/headless'
import { MESSAGE_SEQUENCE, SCROLLBACK_LINES, type ScreenLines, type ScreenMark, type TerminalScreen } from '../../capabilities/terminal-screen.ts'
import type { TerminalSize } from '../../capabilities/terminal.ts'

/** A screen by the emulator of VS Code's own terminal, loaded with the first one. */
export async function createXtermScreen({ columns, rows }: TerminalSize): Promise<TerminalScreen> {
  const loaded = await import('@xterm/headless')
  // A CommonJS package: Node gives what it exports as the default, a bundle by name too.
  const Emulator = loaded.Terminal ?? loaded.default.Terminal
  return new XtermScreen(new Emulator({ cols: columns, rows, scrollback: SCROLLBACK_LINES, allowProposedApi: true, logLevel: 'off' }))
}

class XtermScreen implements TerminalScreen {
  pendingBytes = 0
  readonly #terminal: Terminal
  #written: Promise<void> = Promise.resolve()
  /** On the first line ever: gone when that line is. */
  readonly #origin: IMarker | undefined

  constructor(terminal: Terminal) {
    this.#terminal = terminal
    this.#origin = terminal.registerMarker(0)
  }

  write(bytes: Uint8Array): void {
    this.pendingBytes += bytes.length
    this.#written = new Promise((resolve) =>
      this.#terminal.write(bytes, () => {
        this.pendingBytes -= bytes.length
        resolve()
      }),
    )
  }

  async settled(): Promise<void> {
    let last: Promise<void> | undefined
    while (last !== this.#written) {
      last = this.#written
      await last
    }
  }

  resize({ columns, rows }: TerminalSize): void {
    this.#terminal.resize(columns, rows)
  }

  mark(): ScreenMark {
    return new Place(this.#terminal)
  }

  since(mark: ScreenMark): { readonly text: string; readonly isLost: boolean } {
    if (!(mark instanceof Place)) throw new TypeError('The mark is of another screen.')
    const { buffer } = this.#terminal
    if (buffer.active.type === 'alternate') return { text: this.snapshot().text, isLost: false }
    const normal = buffer.normal
    const isLost = mark.line === null
    const start = mark.line ?? 0
    const rows = logicalLines(normal, start, normal.baseY + normal.cursorY)
    const text = rows.join('\n')
    return { text: isLost ? text : text.slice(Math.min(mark.column, rows[0]?.length ?? 0)), isLost }
  }

  lines({ offset, count }: { readonly offset: number; readonly count: number }): ScreenLines {
    const normal = this.#terminal.buffer.normal
    const starts: number[] = []
    const end = lastUsedRow(normal)
    for (let row = 0; row <= end; row++) if (row === 0 || normal.getLine(row)?.isWrapped !== true) starts.push(row)
    const total = starts.length
    const last = Math.max(0, total - offset)
    const first = Math.max(1, last - count + 1)
    const isLost = this.#origin?.isDisposed !== false
    if (last === 0) return { text: '', total, first: 0, last: 0, isLost }
    const text = logicalLines(normal, starts[first - 1] ?? 0, (starts[last] ?? end + 1) - 1).join('\n')
    return { text, total, first, last, isLost }
  }

  snapshot(): { readonly text: string; readonly isFullScreen: boolean } {
    const active = this.#terminal.buffer.active
    const rows = Array.from({ length: this.#terminal.rows }, (_, row) => active.getLine(active.baseY + row)?.translateToString(true).trimEnd() ?? '')
    return { text: rows.join('\n').trimEnd(), isFullScreen: active.type === 'alternate' }
  }

  onMessage(listener: (data: string) => void): () => void {
    const handler = this.#terminal.parser.registerOscHandler(MESSAGE_SEQUENCE, (data) => {
      listener(data)
      return true
    })
    return () => handler.dispose()
  }

  onReply(listener: (text: string) => void): () => void {
    const handler = this.#terminal.onData(listener)
    return () => handler.dispose()
  }

  dispose(): void {
    this.#terminal.dispose()
  }
}

/** A place in the normal buffer that moves with its line. */
class Place implements ScreenMark {
  readonly column: number
  readonly #terminal: Terminal
  readonly #marker: IMarker | undefined
  /** Where a full-screen program, which has a screen of its own, will leave one. */
  readonly #returnLine: number

  constructor(terminal: Terminal) {
    const { active, normal } = terminal.buffer
    this.column = normal.cursorX
    this.#terminal = terminal
    this.#returnLine = normal.baseY + normal.cursorY
    // A marker is set in the buffer in use.
    this.#marker = active.type === 'normal' ? terminal.registerMarker(0) : undefined
  }

  get line(): number | null {
    if (this.#marker !== undefined) return this.#marker.isDisposed ? null : this.#marker.line
    // Lines keep their number until the first ones leave a full scrollback.
    return this.#terminal.buffer.normal.length < this.#terminal.rows + SCROLLBACK_LINES ? this.#returnLine : null
  }

  dispose(): void {
    this.#marker?.dispose()
  }
}

/** Rows as the program wrote its lines. */
function logicalLines(buffer: IBuffer, first: number, last: number): string[] {
  const lines: string[] = []
  for (let row = first; row <= last; row++) {
    const line = buffer.getLine(row)
    if (line === undefined) break
    const goesOn = buffer.getLine(row + 1)?.isWrapped === true && row < last
    const text = line.translateToString(!goesOn)
    if (line.isWrapped && lines.length > 0) lines.push(`${lines.pop() ?? ''}${text}`)
    else lines.push(text)
  }
  return lines
}

/** The cursor's row, or a later one that something stands in. */
function lastUsedRow(buffer: IBuffer): number {
  const cursor = buffer.baseY + buffer.cursorY
  for (let row = buffer.length - 1; row > cursor; row--) if (buffer.getLine(row)?.translateToString(true) !== '') return row
  return cursor
}
