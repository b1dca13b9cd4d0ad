import type { TerminalSize } from './terminal.ts'

/** Stands, in what is told of the person's keys, for those that were kept secret. */
export const HIDDEN_KEYS = '⟪hidden⟫'

/** Shows terminals to the person, who can type into them. Absent where nobody looks. */
export interface TerminalViews {
  show(terminal: ShownTerminal): TerminalViewHandle
}

export interface ShownTerminal {
  readonly name: string
  /** A codicon; absent: the agent's. */
  readonly icon?: string
  /** Keys of the person, as a terminal sends them. */
  onInput(text: string): void
  /** The person's view has another size. */
  onResize(size: TerminalSize): void
  /** The person closed the view, which ends the terminal. Not called when the window closes, which ends it too. */
  onClose(): void
}

export interface TerminalViewHandle {
  /** Raw output. */
  write(bytes: Uint8Array): void
  /** Bring it before the person, who asked for it. */
  reveal(): void
  /** The program ended; what it showed stays to be read. */
  end(exitCode: number | null): void
  dispose(): void
}
