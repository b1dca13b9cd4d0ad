import { HarnessError } from '../../base/harness-error.ts'
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

/** Undone can be more: every change of a turn and of all after it, also what was kept; with `from` only what was changed from that instant on (epoch milliseconds). */
export type UndoTarget = ReviewTarget | { readonly kind: 'since'; readonly turn: number; readonly from?: number }

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

/** What somebody made of a file elsewhere, from what it was there when they began. Null bytes: no file. */
export interface OtherSide {
  /** Absolute: the file of the person that it is about. */
  readonly path: string
  readonly base: Uint8Array | null
  readonly theirs: Uint8Array | null
}

/** A region in which the other side differs from where it began; places in its base and in what it made. */
export interface OtherHunk extends HunkPlace {
  readonly removed: readonly string[]
  readonly added: readonly string[]
  /** The person has changed the same lines since. */
  readonly isInConflict: boolean
  /** The person's file has it already. */
  readonly isTaken: boolean
}

/** The three texts of a merge; null: no file. */
export interface OtherView {
  readonly path: string
  /** False: no text, or too large to be merged; it is taken over as a whole or not at all. */
  readonly isText: boolean
  readonly base: string | null
  readonly theirs: string | null
  readonly ours: string | null
  readonly hunks: readonly OtherHunk[]
  readonly isInConflict: boolean
  /** Nothing is left to take over. */
  readonly isTaken: boolean
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
  /** What taking over the other side of a file would mean now. Errors: `FileError`. */
  compare(session: Session, side: OtherSide): Promise<OtherView>
  /**
   * Carry what others made over into the person's files, as changes of the call that wait for review: a merge of where they began, what
   * they made and what is there now. `hunks`: these regions alone. A file in conflict is not touched at all, unless regions without one are named.
   */
  takeOver(session: Session, callId: string, sides: readonly (OtherSide & { readonly hunks?: readonly HunkPlace[] })[]): Promise<ReviewOutcome>
  /** What waits in a session changed. */
  onDidChange(listener: (sessionId: string) => void): Undo
}

/** A file as it was before `turn` of `session`, where it was changed first. */
export interface FileAtStart {
  readonly path: string
  /** Null: there was none, or it cannot be had. */
  readonly before: string | null
  readonly session: string
  readonly turn: number
}

export class AgentChangesError extends HarnessError<'UNKNOWN_AGENT' | 'AGENTS_AT_WORK'> {}

/**
 * What the agents of a tree changed: children, members of a workflow, rounds of Ralph, each a session of its own.
 * Source: agent tools specification 12.8.
 */
export interface AgentChanges {
  /** The files that these sessions changed, those of a worktree by their place in it. Unknown sessions have none. */
  filesOf(sessionIds: readonly string[]): Promise<readonly string[]>
  /** Each file that the session's agent and those it started changed, as it was before the first of these changes. Errors: as opening the sessions. */
  startOf(sessionId: string): Promise<readonly FileAtStart[]>
  /**
   * What a restore to before `sessionId` began would look at: files that it, those it started and all agents of its tree in the same folder
   * changed since.
   * Errors: `AgentChangesError`.
   */
  planBefore(sessionId: string): Promise<{ readonly paths: readonly string[]; readonly agents: number }>
  /** Take that back, the newest first; what the person typed since stays. Its owners hear of it. Errors: as `planBefore`; nothing was changed then. */
  restoreBefore(sessionId: string, options?: { readonly overConflicts?: boolean }): Promise<ReviewOutcome>
}

declare module '../../core/kernel/plugin.ts' {
  interface Services {
    reviews: Reviews
    agentChanges: AgentChanges
  }
}
