/** What the person set for their own terminals in the editor, workspaces left out. Absent where no editor is. */
export interface TerminalSettings {
  /** Added to the environment of terminals, variables replaced; null deletes a name. */
  environment(): Readonly<Record<string, string | null>>
  /** Those whose program is there. */
  profiles(): readonly TerminalProfile[]
}

/** A program that the person may open a terminal with. */
export interface TerminalProfile {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | null>>
}
