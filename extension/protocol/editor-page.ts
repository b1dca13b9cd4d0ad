/*
 * Pages of ours in the editor area, beside the chat: each shows one thing of one session, whole, and sends intents. What is said to a page
 * is its whole view, since such a view is small; the host says it as often as it changes, at most every `PAGE_MS`.
 */

/** Another page: a kind here with its view, what it may ask for, and its drawing in `webview/pages`. */
export type PageKind = 'workflow' | 'team'

/** What a page shows. It outlives the window, so it holds nothing but names. */
export interface PageKey {
  readonly kind: PageKind
  readonly sessionId: string
  /** Of the thing, within its session. */
  readonly id: string
}

export const PAGE_KINDS: readonly PageKind[] = ['workflow', 'team']

export type PageView =
  | { readonly kind: 'workflow'; /** Null while its session is not open. */ readonly run: WorkflowRunView | null }
  | { readonly kind: 'team'; /** Null while its session is not open. */ readonly board: TeamBoardView | null }

/** Host to page. */
export interface PageHostMessage {
  readonly type: 'page'
  readonly version: number
  readonly view: PageView
}

/** Page to host: validated there; a bad one does nothing. */
export type PageMessage =
  | { readonly type: 'ready'; readonly version: number }
  | { readonly type: 'reload-view' }
  | { readonly type: 'view-error'; readonly text: string }
  /** Open the session that the page belongs to. */
  | { readonly type: 'open-session' }
  /** `resume` also asks anew for those that failed. */
  | { readonly type: 'workflow'; readonly action: 'cancel' | 'resume' | 'show-script' }
  | { readonly type: 'workflow-member'; readonly seq: number; readonly open: 'result' | 'transcript' | 'changes' }
  /** Take back what this member, and all agents after it, changed. */
  | { readonly type: 'workflow-restore'; readonly seq: number }
  /** To another column, with the revision that the page showed. */
  | { readonly type: 'team-move'; readonly taskId: string; readonly revision: number; readonly to: TeamColumn }
  | { readonly type: 'team-task'; readonly taskId: string; readonly revision: number; readonly action: 'assign' | 'delete' }
  | { readonly type: 'team-add-task' }
  | { readonly type: 'team-member'; readonly memberId: string; readonly action: 'transcript' | 'message' | 'interrupt' }
  | { readonly type: 'team-dismiss' }

export type WorkflowState = 'running' | 'completed' | 'failed' | 'cancelled' | 'interrupted'

export interface WorkflowRunView {
  readonly runId: string
  readonly name: string
  readonly kind: 'workflow' | 'ralph'
  readonly description: string
  readonly state: WorkflowState
  readonly error: string | null
  readonly startedAt: number
  readonly endedAt: number | null
  /** In the order in which their first member started; a null title: members without a phase. */
  readonly phases: readonly { readonly title: string | null; readonly members: readonly WorkflowMemberView[] }[]
  readonly log: readonly { readonly at: number; readonly text: string; readonly isPhase: boolean }[]
  readonly total: number
  readonly finished: number
  readonly failed: number
  readonly reused: number
  /** What its members cost, in words; null while no price is known. */
  readonly cost: string | null
  /** It is over and some of it is not finished. */
  readonly canResume: boolean
  /** The run that goes on from it; null when none does. */
  readonly resumedBy: string | null
}

export interface WorkflowMemberView {
  readonly seq: number
  readonly label: string
  readonly state: 'queued' | WorkflowState
  readonly startedAt: number
  readonly endedAt: number | null
  /** Its result is that of an earlier run. */
  readonly isReused: boolean
  readonly hasResult: boolean
  readonly canOpen: boolean
  /** Files that it changed. */
  readonly files: number
  /** What it does right now. */
  readonly lastLine: string | null
  readonly cost: string | null
}

export type TeamColumn = 'pending' | 'in_progress' | 'completed'

/** The board of a team with its roster and mail. */
export interface TeamBoardView {
  readonly title: string
  /** Why the team cannot go on, in words. */
  readonly problem: string | null
  /** What became of the last thing the person wanted, where it did not happen. */
  readonly notice: string | null
  /** The Lead first. */
  readonly roster: readonly TeamMemberView[]
  /** In the order they were made. */
  readonly tasks: readonly TeamTaskCardView[]
  /** Oldest first. */
  readonly mail: readonly TeamMailView[]
}

export interface TeamMemberView {
  readonly id: string
  readonly name: string
  readonly isLead: boolean
  readonly status: 'running' | 'idle' | 'inactive' | 'provisioning' | 'failed'
  readonly description: string
  /** What it does right now, or why it failed. */
  readonly line: string | null
}

export interface TeamTaskCardView {
  readonly id: string
  readonly revision: number
  readonly subject: string
  readonly description: string
  readonly column: TeamColumn
  readonly owner: string | null
  readonly blockers: readonly { readonly id: string; readonly isDone: boolean }[]
  readonly scopes: readonly string[]
  readonly warnings: readonly string[]
  readonly isReady: boolean
}

export interface TeamMailView {
  readonly id: string
  readonly at: number
  readonly from: string
  readonly to: string
  readonly isWaking: boolean
  readonly isDelivered: boolean
  readonly text: string
}
