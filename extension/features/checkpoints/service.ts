import type { Undo } from '../../base/undo.ts'
import type { RegionPlace } from '../../capabilities/review-surface.ts'
import type { Session } from '../../core/session/session.ts'
import type { ReviewView } from './projection.ts'

/** Which changes of the agent are meant. */
export type ReviewTarget =
  | { readonly kind: 'hunk'; readonly path: string; readonly hunk: HunkPlace }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'call'; readonly callId: string }
  | { readonly kind: 'turn'; readonly turn: number }
  | { readonly kind: 'all' }

/** Undone can be more: every change of a turn and of all after it, also what was kept. */
export type UndoTarget = ReviewTarget | { readonly kind: 'since'; readonly turn: number }

export type HunkPlace = RegionPlace

export interface ReviewHunk extends HunkPlace {
  readonly removed: readonly string[]
  readonly added: readonly string[]
  /** The person changed lines of it since: undoing it would take their words too, and asks. */
  readonly isMixed: boolean
}

/** One file as it waits for the person. */
export interface FileReview {
  readonly path: string
  /** The file without the changes that wait; null: there would be none. */
  readonly baseline: string | null
  /** Null: it is gone. */
  readonly now: string | null
  /** None where nothing is left to settle, and for what is no text. */
  readonly hunks: readonly ReviewHunk[]
  readonly isText: boolean
  /** It changed, as a whole where it is no text. */
  readonly isChanged: boolean
  /** Where a region is mixed: the text as the agent left it, and the same without its changes; neither has what the person typed since. */
  readonly sides?: { readonly agent: string; readonly without: string }
}

export interface ReviewOutcome {
  /** What was kept or undone. */
  readonly paths: readonly string[]
  /** The person changed the same lines since: left as they are, unless asked to undo them all the same. */
  readonly conflicts: readonly string[]
  /** Left as they are, with the reason in words. */
  readonly problems: readonly { readonly path: string; readonly problem: string }[]
}

/** What an undo would do, before it does. */
export interface UndoPlan {
  readonly paths: readonly string[]
  readonly conflicts: readonly string[]
  readonly problems: ReviewOutcome['problems']
}

/**
 * The changes of a session that wait for the person, and what becomes of them.
 *
 * An undo takes back what the agent did and keeps what the person typed since: a merge of the file before, after and now. The person’s
 * repository is never touched. The model is told. One action of a session after the other.
 */
export interface Reviews {
  of(session: Session): ReviewView
  /** Errors: none; a file that cannot be read counts as no text. Null when it does not wait. */
  file(session: Session, path: string): Promise<FileReview | null>
  /** Which files an undo would change, and where it meets what the person typed. */
  plan(session: Session, target: UndoTarget): Promise<UndoPlan>
  undo(session: Session, target: UndoTarget, options?: { readonly overConflicts?: boolean }): Promise<ReviewOutcome>
  /** Each file that a turn changed, as it was before it; null: there was none. Also what was settled. */
  turnStart(session: Session, turn: number): Promise<readonly { readonly path: string; readonly before: string | null }[]>
  keep(session: Session, target: ReviewTarget): Promise<ReviewOutcome>
  /** What waits in a session changed. */
  onDidChange(listener: (sessionId: string) => void): Undo
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    reviews: Reviews
  }
}
