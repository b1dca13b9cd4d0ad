import type { Undo } from '../base/undo.ts'
import type { LanguageProblem } from './languages.ts'

/**
 * What the editor's language services publish about files, by itself, whenever they have looked at one anew.
 * Paths are absolute, or URI text for other schemes than `file`.
 */
export interface ProblemFeed {
  /** Errors and warnings of the file as last published. */
  problemsOf(path: string): readonly LanguageProblem[]
  /** Every file of which errors or warnings are known, open or not. */
  all(): ReadonlyMap<string, readonly LanguageProblem[]>
  /**
   * Have the services look at a file as if a person had opened it, where that can be done without a tab and without taking the focus.
   *
   * Shape: null for what the services do not look at.
   * Errors: the signal's reason once it fired.
   */
  open(path: string, signal: AbortSignal): Promise<OpenedFile | null>
  /** A service published for a file, whatever it found. */
  onDidPublish(listener: (news: Publication) => void): Undo
}

export interface OpenedFile {
  readonly language: string
  /** Of its text in the editor; grows with each change. */
  readonly version: number
  /** The services have been at it already. */
  readonly wasOpen: boolean
}

export interface Publication {
  readonly path: string
  /** Absent for a file that is not open. */
  readonly open?: {
    readonly language: string
    /** Of the text in the editor at that moment. */
    readonly version: number
  }
}
