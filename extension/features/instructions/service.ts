import type { Session } from '../../core/session/session.ts'

/** Where an instruction file applies. */
export interface InstructionScope {
  /** `user`: everywhere. `project`: from the project's root down to a workspace folder. `nested`: a folder below one, met during the work. */
  readonly kind: 'user' | 'project' | 'nested'
  /** Its instructions hold in here. */
  readonly folder: string
  /** The workspace folder it belongs to, named where the window has several. */
  readonly label?: string
}

/** A file as it is now, read and ready to be told. */
export interface InstructionFile {
  readonly path: string
  readonly scope: InstructionScope
  /** Trimmed, well formed. */
  readonly text: string
  readonly digest: string
  /** UTF-8 bytes of `text`. */
  readonly bytes: number
  /** The file that names it with `@path`. */
  readonly importedBy?: string
}

/** A file that is there and not told, with the reason in words for the person. */
export interface IgnoredFile {
  readonly path: string
  readonly scope: InstructionScope
  readonly bytes: number | null
  readonly reason: string
  /** It may be readable again in a moment: what was told of it holds on. */
  readonly isUnreadable?: true
}

/** What became of one file in a message. */
export type InstructionOutcome = 'whole' | 'cut' | 'dropped' | 'removed'

/** One file of a message; `digest` is that of the whole text, whatever part of it was told. */
export type ToldFile = {
  readonly path: string
  readonly digest: string
  readonly outcome: InstructionOutcome
}

export interface InstructionRow {
  readonly path: string
  readonly scope: InstructionScope
  readonly bytes: number | null
  /** `pending`: comes with the next message. */
  readonly state: 'delivered' | 'cut' | 'dropped' | 'ignored' | 'pending'
  readonly reason?: string
}

/** What a model was told from instruction files and what not. */
export interface InstructionReport {
  /** Broad first. */
  readonly rows: readonly InstructionRow[]
  readonly maxBytes: number
  /** Why none are read at all. */
  readonly note?: string
}

/** The instruction files of live sessions. Source: runtime specification 15.1. */
export interface Instructions {
  /** For a session; for a folder, what a new session there would be told. Reads the files anew. Never rejects for a file. */
  report(of: { readonly session: Session } | { readonly cwd: string }): Promise<InstructionReport>
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    instructions: Instructions
  }
}
declare module '../../core/log/message.ts' {
  interface UserSources {
    'agent-instructions': { readonly files: readonly ToldFile[] }
  }
}
