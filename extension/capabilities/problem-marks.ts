import type { LanguageProblem } from './languages.ts'

/** Puts problems that Bosun knows of beside those of the language services: in the list of problems, and under the text. */
export interface ProblemMarks {
  /** The problems of `owner`, whole; they take the place of those it had. */
  set(owner: string, problems: readonly MarkedProblem[]): void
  /** It has none any more, and none will come. */
  remove(owner: string): void
}

export type MarkedProblem = LanguageProblem & {
  /** Against `folder`, unless it is absolute. */
  readonly path: string
  readonly folder: string
  readonly code?: string
}
