import { HarnessError } from '../../../base/harness-error.ts'
import type { Undo } from '../../../base/undo.ts'
import type { Agent } from '../../../core/session/agent.ts'
import type { Session } from '../../../core/session/session.ts'
import type { HunkPlace, OtherView, ReviewOutcome } from '../../checkpoints/service.ts'

/**
 * `NOT_A_REPOSITORY`: no git work tree there, or a bare one. `NO_COMMIT`: nothing to start from yet. `GIT_UNAVAILABLE`: git is missing or
 * silent. `INSIDE_REPOSITORY`: Bosun's own storage lies in the work tree. `NO_SPACE`: the disk is full. `WORKTREE_FAILED`: git's own words.
 * `WORKTREE_GONE`: somebody took it away. `PROVIDER_UNWALLED`: what was chosen for this child cannot be held to a folder.
 */
export type WorktreeErrorCode = 'NOT_A_REPOSITORY' | 'NO_COMMIT' | 'GIT_UNAVAILABLE' | 'INSIDE_REPOSITORY' | 'NO_SPACE' | 'WORKTREE_FAILED' | 'WORKTREE_GONE' | 'PROVIDER_UNWALLED'

export class WorktreeError extends HarnessError<WorktreeErrorCode> {}

export interface WorktreeRequest {
  readonly parent: Agent
  readonly runId: string
  /** For people: what the child is for. */
  readonly label: string
  /** The call that started the child; what is taken over from it counts as changed by this call. */
  readonly callId?: string
  /** The child takes later messages, so its worktree stays while it has changed nothing. */
  readonly mayReturn?: boolean
  readonly signal: AbortSignal
}

/** A git worktree of one child: a folder in Bosun's own storage, on a branch of its own. */
export interface ChildWorktree {
  readonly id: string
  /** Where the child works: the same folder within the worktree as its parent's within the repository. */
  readonly folder: string
  readonly branch: string
  /**
   * The child has stopped. Nothing changed: the worktree and its branch go, unless the child may come back to it. Else all of it stands in
   * a commit on the branch, and waits for the person. Never rejects; what fails leaves the worktree where it is, and the log says so.
   */
  end(): Promise<'removed' | 'kept'>
  /** The child did not come to be: all of it goes. Never rejects. */
  discard(): Promise<void>
}

/** How one file of a child differs. Paths are relative to the top of the repository, with forward slashes. */
export interface ChangedFile {
  readonly path: string
  readonly kind: 'created' | 'changed' | 'deleted'
  /** Absent for what is a plain file on both sides; `other`: a link or a submodule, which only git can take over. */
  readonly special?: 'other' | 'executable'
  /** Where it is in the person's work tree. */
  readonly target: string
}

/** What a child left and nobody has settled yet. */
export interface ChildWork {
  readonly id: string
  readonly label: string
  readonly branch: string
  /** The top of the worktree. */
  readonly root: string
  /** The top of the person's work tree. */
  readonly repository: string
  readonly callId?: string
  /** In which it differs from where it started. */
  readonly files: number
  /** Why its end could not be put in order; its files stand in the worktree all the same. */
  readonly problem?: string
}

/** One file of a child, with the three texts of a merge. `path` is that of the person's file. */
export interface WorkFile extends OtherView {
  readonly changed: ChangedFile
}

/** Worktrees of children, and what becomes of what they hold. Source: agent tools specification 12.7. */
export interface Worktrees {
  /** Errors: `WorktreeError`; the signal's reason. Nothing is left behind then. */
  create(request: WorktreeRequest): Promise<ChildWorktree>
  /** The worktree that a child of a session, which comes back, works in; undefined where it works elsewhere. Errors: `WorktreeError` `WORKTREE_GONE`. */
  of(session: Session, childFolder: string): ChildWorktree | undefined
  /** What children of a session left; empty while they work. */
  waiting(session: Session): readonly ChildWork[]
  /** The files in which it differs from where it started. Errors: `WorktreeError`. */
  files(session: Session, id: string): Promise<readonly ChangedFile[]>
  /** Errors: `WorktreeError`. Null when it does not differ there. */
  file(session: Session, id: string, path: string): Promise<WorkFile | null>
  /**
   * Take over files, or some regions of one, into the person's work tree: a merge of where the child started, what it made and what is
   * there now. Each file's text before is kept, so that the review can take it back. Errors: `WorktreeError`.
   */
  accept(session: Session, id: string, what: { readonly paths: readonly string[] } | { readonly path: string; readonly hunks: readonly HunkPlace[] }): Promise<ReviewOutcome>
  /** Take the worktree away; its branch stays when asked for. `isDone`: all that was wanted of it is taken over. Errors: `WorktreeError`. */
  close(session: Session, id: string, options: { readonly keepsBranch: boolean; readonly isDone?: boolean }): Promise<void>
  /** What waits in a session changed. */
  onDidChange(listener: (sessionId: string) => void): Undo
}

/** What a log says became of a worktree. */
export type WorktreeEnd = 'unchanged' | 'taken-over' | 'discarded' | 'branch-kept'

declare module '../../../core/log/event.ts' {
  interface EventMap {
    /** `ignorable`, in the log of the parent. A child got a worktree of its own. `gitDir`: what git keeps of it in the repository. */
    'worktree/opened': {
      readonly id: string
      readonly label: string
      readonly runId: string
      readonly callId?: string
      /** The child may come back to it. */
      readonly mayReturn?: boolean
      readonly repository: string
      readonly root: string
      readonly gitDir: string
      readonly branch: string
      /** The commit it began with. */
      readonly base: string
    }
    /** `ignorable`. The child stopped and left something; again when it came back and left more. `commit`: where all of it stands. */
    'worktree/waiting': { readonly id: string; readonly files: number; readonly commit?: string; readonly problem?: string }
    /** `ignorable`. It is gone, from the disk and from the repository. */
    'worktree/closed': { readonly id: string; readonly how: WorktreeEnd }
  }
}
declare module '../../../core/kernel/plugin.ts' {
  interface Services {
    worktrees: Worktrees
  }
}
