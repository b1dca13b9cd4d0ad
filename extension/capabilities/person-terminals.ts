import type { TerminalProcess } from './terminal.ts'

/** Terminals that the person opened. Absent where there is no editor. */
export interface PersonTerminals {
  list(): readonly PersonTerminal[]
  /**
   * Read and type in one of them from now on; what it showed before stays unseen. `terminate` gives it back and ends nothing.
   * Errors: `TerminalError` `ENDED` when it is gone, `NO_BACKEND` when the editor tells nothing of what runs there.
   */
  adopt(id: string, spec: AdoptSpec): Promise<TerminalProcess>
}

export interface PersonTerminal {
  readonly id: string
  readonly name: string
  /** Such as `zsh`; null where the editor does not know. */
  readonly shell: string | null
  /** Where its shell stands; null where the editor does not know, or it is on another machine. Follows a command that changes it by a moment. */
  readonly folder: string | null
  /** The editor tells what runs there and what it writes. */
  readonly isReadable: boolean
}

export interface AdoptSpec {
  /** The commands that start from now on, each as a line of its own, and what they write. */
  readonly onOutput: (chunk: Uint8Array) => void
  /** The shell waits for a command, which will stand alone on its line. */
  readonly onPrompt: (exitCode: number | null) => void
  /** Somebody started a command. */
  readonly onCommand: () => void
}
