import type { Json } from '../base/json.ts'
import type { WorkflowState } from './editor-page.ts'
import type { PluginFrameView } from './plugin-frame.ts'
import type { CardContent, ToolCallView, ToolResultView } from './cards.ts'

/** Everything the chat view draws. Data only; built by the host from the log, never by the view. */
export interface ViewState {
  /** Null before a session exists: the view shows its welcome page. */
  readonly session: SessionView | null
  readonly transcript: RowWindow
  readonly composer: ComposerView
  readonly approvals: readonly ApprovalView[]
  readonly questions: readonly QuestionSetView[]
  readonly queue: readonly QueuedMessageView[]
  readonly tasks: readonly TaskView[] | null
  /** Tasks that the model left out of its list unfinished. */
  readonly droppedTasks: readonly { readonly id: string; readonly content: string }[]
  /** The plan that waits for the person; null while none does. */
  readonly planReview: PlanReviewView | null
  readonly reminders: RemindersView
  /** Null where the session has none. */
  readonly goal: GoalView | null
  readonly sessions: readonly SessionListItem[]
  readonly notices: readonly NoticeView[]
  /** The page of rules over the chat; null while it is closed. */
  readonly rules: RulesPageView | null
  /** What waits for the person; null without a session that can be written. */
  readonly review: ReviewStateView | null
  /** Commands of the session on screen that run, and those that ran in the background. */
  readonly commands: readonly CommandView[]
  /** Runs of workflows that calls of the session on screen began, each as the newest run that goes on from it. */
  readonly workflows: readonly WorkflowCardView[]
  /** Agents that calls of the session on screen started, as far as this window knows them. */
  readonly agents: readonly AgentView[]
  /** Plugins of the session on screen that draw something. */
  readonly plugins: readonly PluginFrameView[]
  readonly isTrusted: boolean
}

/** What Bosun works towards by itself in the session on screen. */
export interface GoalView {
  readonly id: string
  readonly revision: number
  readonly objective: string
  readonly phase: 'active' | 'paused' | 'blocked' | 'complete'
  /** It goes on by itself; else it waits for the person, also where it is active. */
  readonly isArmed: boolean
  /** Why no round begins although it is armed: the folder is not trusted, or agents of the session are at work, which are heard first. */
  readonly heldBy: 'trust' | 'agents' | null
  readonly round: number
  readonly maxRounds: number
  readonly blocked: { readonly message: string; /** A budget is used up, and can be extended. */ readonly isLimit: boolean } | null
  readonly used: {
    readonly tokens: number
    /** Dollars; at least that when `isWhole` is false. */
    readonly amount: number
    readonly isWhole: boolean
    /** As of `countsSince`, or of now where that is null. */
    readonly minutes: number
    /** Epoch ms since when minutes go on; null at rest. */
    readonly countsSince: number | null
  }
  readonly maxTokens: number | null
  readonly maxCost: number | null
  readonly maxMinutes: number | null
  readonly checks: readonly string[]
  /** The editor knows of errors, so none may be new can be a check. */
  readonly canCheckErrors: boolean
  /** Of the last time they were run; null before. */
  readonly results: readonly { readonly check: string; readonly isOk: boolean; readonly outcome: string; readonly output: string; readonly durationMs: number }[] | null
}

/** An agent that another one started, with those that it started itself. */
export interface AgentView {
  readonly id: string
  /** The call that started it. */
  readonly callId: string | null
  readonly label: string
  /** `waiting`: for the person, or for agents of its own. */
  readonly state: 'queued' | 'running' | 'waiting' | 'idle' | 'ready' | 'completed' | 'failed' | 'aborted'
  readonly isAsking: boolean
  /** What it does or said last. */
  readonly lastLine: string | null
  /** Money, or tokens while no price is known; null before the first request. */
  readonly cost: string | null
  /** Epoch ms. */
  readonly startedAt: number
  /** Null while it lives. */
  readonly endedAt: number | null
  /** It is a session, which can be read. */
  readonly canOpen: boolean
  readonly canInterrupt: boolean
  readonly children: readonly AgentView[]
}

/** What a session that an agent drives says of itself when it is on screen. */
export interface ChildSessionView {
  readonly parentId: string
  readonly parentTitle: string
  /** A message can be sent to it. */
  readonly canWrite: boolean
  /** Why not, with what to do instead; null when it can. */
  readonly blockedBy: string | null
  /** The person can make it a session of their own. */
  readonly canTakeOver: boolean
}

export interface WorkflowCardView {
  readonly callId: string
  readonly runId: string
  readonly state: WorkflowState
  /** Agents that were started or taken over. */
  readonly total: number
  readonly finished: number
  readonly failed: number
  /** That of the newest agent; null without one. */
  readonly phase: string | null
  /** A person let it go on after its call had ended. */
  readonly isResumed: boolean
}

/** What can be done with a command right now; its card finds it by its call, or by the job it is. */
export interface CommandView {
  /** The call that waits for it, or that waited until it became a job; null for one that was a job from its beginning. */
  readonly callId: string | null
  /** Null while a call waits for it. */
  readonly jobId: string | null
  readonly state: 'running' | 'stopping' | 'ended'
  /** Of a job that has ended. */
  readonly end?: { readonly words: string; readonly isBad: boolean }
  readonly durationMs?: number
  /** Of a job. */
  readonly startedAt?: number
  readonly takesInput: boolean
  /** Something of it waits for what the person types. */
  readonly waitsForInput: boolean
  /** It can become a job. */
  readonly canMove: boolean
  /** It has ended and can run again. */
  readonly canRestart: boolean
  readonly ports: readonly { readonly port: number; readonly url: string }[]
}

export interface ReviewStateView {
  /** Turns that changed files. */
  readonly turns: readonly { readonly turn: number; readonly state: 'pending' | 'kept' | 'undone' }[]
  /** Calls whose changes wait. */
  readonly calls: readonly string[]
}

export interface RulesPageView {
  readonly rules: readonly RuleView[]
}

/** One standing answer of the person. */
export interface RuleView {
  readonly id: string
  readonly decision: 'allow' | 'ask' | 'deny'
  readonly scope: 'session' | 'workspace' | 'always' | 'workspace-settings'
  /** What it speaks of: "Commands that begin with `npm test`". */
  readonly text: string
  /** The folder it holds in; null: everywhere. */
  readonly folder: string | null
  /** How often it had a say in this session. */
  readonly uses: number
}

export interface SessionView {
  readonly id: string
  readonly title: string
  readonly cwd: string
  readonly access: 'write' | 'read-only'
  /** Who writes when it is read-only. */
  readonly writer?: string
  readonly status: 'idle' | 'running' | 'waiting'
  /** Present for one that an agent started and still drives. */
  readonly child?: ChildSessionView
  readonly usage: UsageView
  /** Share of the model's window that the next request fills, 0 to 1; null while unknown. */
  readonly contextShare: number | null
  /** Null before anything fills it. */
  readonly window: WindowView | null
  /** Null before the first request. */
  readonly cost: CostView | null
}

/** What the next request will hold, in tokens: estimated, scaled to what the provider counted. */
export interface WindowView {
  readonly usedTokens: number
  readonly windowTokens: number | null
  /** Largest first; they add up to `usedTokens`. */
  readonly parts: readonly WindowPartView[]
  /** The output of tools by tool, largest first; null names all others together. */
  readonly tools: readonly { readonly name: string | null; readonly tokens: number }[]
}
export interface WindowPartView {
  readonly part: 'system' | 'tools' | 'instructions' | 'runtimeContext' | 'prompts' | 'notices' | 'assistantText' | 'reasoning' | 'toolCalls' | 'toolResults' | 'summary'
  readonly tokens: number
}

/** What a session and those it started used and cost. Tokens are disjoint counts. */
export interface CostView {
  /** Dollars; null while no price is known. */
  readonly amount: number | null
  /** False: requests without a known price are left out, so it is at least that. */
  readonly isWhole: boolean
  /** The same in words. */
  readonly words: string
  /** What those it started cost of it; null without any. */
  readonly startedWords: string | null
  readonly inputTokens: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly outputTokens: number
  readonly reasoning: number
  /** Limits that are set, with the share that is used, 0 to 1. */
  readonly budgets: readonly { readonly words: string; readonly share: number }[]
}

/** Tokens of the whole session, disjoint counts. */
export interface UsageView {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheRead: number
  readonly reasoning: number
  readonly steps: number
  readonly turns: number
}

/** A window on the rows: `rows[0]` is row number `firstIndex` of `total`. The host sends the newest rows first and older ones on demand. */
export interface RowWindow {
  readonly rows: readonly Row[]
  readonly firstIndex: number
  readonly total: number
}

/** `id` is stable over replays (made from the log), so that what is folded open stays open. */
export type Row = PromptRow | RoundRow | TextRow | ReasoningRow | ToolRow | RetryRow | ContextRow | TurnEndRow | NoticeRow | CommandRow | CompactionRow

export interface PromptRow {
  readonly kind: 'prompt'
  readonly id: string
  readonly turn: number
  readonly text: string
  readonly attachments: readonly CardContent[]
  readonly sentAt: number
}
/** A round of a goal begins: what was asked is not the person's, and stays folded. */
export interface RoundRow {
  readonly kind: 'round'
  readonly id: string
  readonly turn: number
  readonly round: number
  /** Null where the log does not say. */
  readonly maxRounds: number | null
  readonly text: string
}
export interface TextRow {
  readonly kind: 'text'
  readonly id: string
  readonly turn: number
  /** Markdown. */
  readonly text: string
  readonly isStreaming: boolean
  readonly isInterrupted: boolean
}
export interface ReasoningRow {
  readonly kind: 'reasoning'
  readonly id: string
  readonly turn: number
  readonly text: string
  readonly isStreaming: boolean
  /** Null while it streams. */
  readonly durationMs: number | null
}
export interface ToolRow {
  readonly kind: 'tool'
  readonly id: string
  readonly turn: number
  readonly callId: string
  readonly tool: string
  readonly state: 'running' | 'waiting' | 'ok' | 'failed' | 'denied' | 'cancelled'
  /** Null: draw the generic card from `tool` and `rawArguments`. */
  readonly call: ToolCallView | null
  readonly result: ToolResultView | null
  readonly rawArguments: Json
  /** Text the model got, cut to what a card may hold; null while it runs. */
  readonly output: string | null
  readonly error: string | null
  /** Live tail of a running body; never durable. */
  readonly progress: string
  /** Why it was allowed or refused, in words; absent where nothing is to be said. */
  readonly policy?: string
  /** The row of the call whose program made this one. */
  readonly parent?: string
  /** The other extension of the editor whose tool it is, by its id. */
  readonly from?: string
  /** Plan mode alone refused it: the person may let this one call through. */
  readonly isHeldByPlan?: true
  readonly startedAt: number
  readonly endedAt: number | null
}
export interface RetryRow {
  readonly kind: 'retry'
  readonly id: string
  readonly turn: number
  readonly reason: string
  /** Of the failure, such as `RATE_LIMIT`. */
  readonly code: string
  readonly retry: number
  readonly maxRetries: number | null
  /** Epoch ms when the next attempt starts; null once it has. */
  readonly resumesAt: number | null
}
/** Context that was put before the model without the person typing it; one folded line. */
export interface ContextRow {
  readonly kind: 'context'
  readonly id: string
  readonly turn: number
  readonly title: string
  readonly text: string
}
export interface TurnEndRow {
  readonly kind: 'turn-end'
  readonly id: string
  readonly turn: number
  readonly outcome: 'completed' | 'stopped' | 'blocked' | 'failed' | 'max-tokens' | 'interrupted' | 'paused'
  readonly message: string | null
  /** What a button may do next. */
  readonly next: 'none' | 'continue' | 'retry'
  /** Epoch ms when the provider lets requests through again, when it said so. */
  readonly resumesAt: number | null
  readonly steps: number
  readonly usage: UsageView
  /** What it cost, in words; null while nothing was metered. */
  readonly cost: string | null
  /** Why the provider's cache was missed, in words, in order. */
  readonly cacheMisses: readonly string[]
  readonly durationMs: number
  readonly changedFiles: readonly ChangedFileView[]
}
export interface ChangedFileView {
  readonly path: string
  readonly added: number
  readonly removed: number
}
export interface NoticeRow {
  readonly kind: 'notice'
  readonly id: string
  readonly turn: number
  readonly level: 'info' | 'warning' | 'error'
  readonly text: string
}

/** A command that a person ran; nothing of it reached the model. */
export interface CommandRow {
  readonly kind: 'command'
  readonly id: string
  readonly turn: number
  readonly name: string
  readonly args: string
  readonly state: 'running' | 'ok' | 'failed'
  /** Null while it runs, and where another row of the talk says it better. */
  readonly text: string | null
}

/** The place where older messages were replaced by a summary for the model. The rows of those messages stay where they are. */
export interface CompactionRow {
  readonly kind: 'compaction'
  readonly id: string
  readonly turn: number
  readonly state: 'running' | 'ok' | 'failed'
  /** Markdown, as the model wrote it; null without one. */
  readonly summary: string | null
  /** Messages it stands for; 0 without a summary. */
  readonly messages: number
  /** Where those begin. */
  readonly firstRowId: string | null
  /** Why there is none, where no command says so. */
  readonly error: string | null
}

export interface ComposerView {
  readonly draft: string
  readonly canSend: boolean
  /** Why sending is not possible, with what to do next. */
  readonly blockedBy: string | null
  readonly preset: string
  readonly presets: readonly { readonly id: string; readonly name: string; readonly description: string }[]
  readonly permission: 'read-only' | 'workspace-write' | 'danger-full-access'
  /** Whatever the permissions say, nothing is changed. */
  readonly isPlanning?: true
  readonly model: ModelChoiceView | null
  /** What sends: Enter (then Shift+Enter breaks the line), or Ctrl+Enter. Enter when absent. */
  readonly sendKey?: 'enter' | 'mod-enter'
  /** None when absent. */
  readonly attachments?: readonly AttachmentView[]
}

/** What goes with the message that is being written. */
export interface AttachmentView {
  readonly id: string
  readonly kind: 'image' | 'selection'
  /** A file's name; may be empty for a pasted image. */
  readonly label: string
  /** Its range or its size. */
  readonly detail: string
  /** Of an image, for its thumbnail. */
  readonly attachmentId?: string
}

export interface ModelChoiceView {
  readonly provider: string
  readonly model: string
  readonly label: string
  readonly isScripted: boolean
  readonly reasoningEffort: string | null
}

export interface ApprovalView {
  readonly id: string
  readonly callId: string | null
  readonly tool: string
  /** The effect first: "Run npm test in web/". */
  readonly effect: string
  readonly why: string
  /** What a yes lets happen from then on. */
  readonly covers?: string
  readonly card: ToolCallView | null
  /** What "Always allow…" may mean, in words; the index answers. */
  readonly always: readonly string[]
  /** What the person may change before they allow it: the command, or the text of the edit. */
  readonly editable?: string
  /** The editor can show what would change before it is allowed. */
  readonly canPreview?: true
  /** The session it is of, when another is on screen. */
  readonly who: string | null
  /** The same session, to be opened. */
  readonly sessionId?: string
  readonly draft?: WaitingDraft
}

/** What the person has filled in and not yet answered. */
export interface WaitingDraft {
  /** Of questions, in their order. */
  readonly filled?: readonly { readonly selected: readonly string[]; readonly custom: string; readonly isSkipped: boolean }[]
  /** The question that was open. */
  readonly current?: number
  /** Words for a refusal. */
  readonly note?: string
  /** The command or text as it is to be allowed. */
  readonly edited?: string
}

export interface QuestionSetView {
  readonly id: string
  readonly callId: string | null
  /** The session it is of, when another is on screen. */
  readonly who?: string
  /** The same session, to be opened. */
  readonly sessionId?: string
  readonly draft?: WaitingDraft
  /** Epoch ms: then the recommended options are taken, unless the person has begun to answer. */
  readonly answersAt?: number
  readonly questions: readonly {
    readonly id: string
    readonly header: string | null
    readonly question: string
    readonly options: readonly { readonly label: string; readonly description: string | null }[]
    readonly isMultiSelect: boolean
    /** Markdown to read before answering. */
    readonly detail?: string
    /** What the answer decides; `approve` is the label of the option that says yes. */
    readonly intent?: { readonly kind: 'plan-review'; readonly approve: string }
  }[]
}

export interface QueuedMessageView {
  readonly id: string
  readonly text: string
  /** Images that go with it; none when absent. */
  readonly images?: number
  readonly target: 'next-turn' | 'next-step'
}

export interface TaskView {
  readonly id: string
  readonly content: string
  readonly status: 'pending' | 'in_progress' | 'completed'
  /** Of the person. */
  readonly note?: string
  /** What changed while it was worked on: how many files, and the turn whose changes can be looked at. */
  readonly changes?: { readonly files: number; readonly turn: number }
}

/** A plan that the person reads, changes and decides on. */
export interface PlanReviewView {
  /** Of the question that waits. */
  readonly id: string
  readonly callId: string
  readonly title: string
  /** Markdown, as the person left it. */
  readonly text: string
  /** Their text is not the model's any more. */
  readonly isEdited: boolean
  readonly comments: number
  /** Which session asks, when it is not the one on screen. */
  readonly who: string | null
  /** The same session, to be opened. */
  readonly sessionId?: string
  readonly draft?: WaitingDraft
}

/** Reminders of the session on screen, the next one first. */
export interface RemindersView {
  readonly items: readonly ReminderView[]
  /** Why none is delivered now, with what to do next; null when they are. */
  readonly problem: string | null
}
export interface ReminderView {
  readonly id: string
  readonly text: string
  /** Epoch ms of its next delivery, which may be over while it waits; null while it is paused. */
  readonly at: number | null
  /** `every day at 09:00`; null for one that comes once. */
  readonly recurrence: string | null
  /** Bosun works by itself then; else it only tells. */
  readonly isTask: boolean
  readonly isPaused: boolean
  readonly isSnoozed: boolean
  /** A time that went by unattended is left out. */
  readonly skipsMissed: boolean
}

export interface SessionListItem {
  readonly id: string
  readonly title: string
  readonly updatedAt: number
  readonly state: 'idle' | 'running' | 'waiting' | 'broken'
  readonly problem: string | null
  readonly isArchived: boolean
  /** Title of the session it was forked from; null for one of its own. */
  readonly forkedFrom: string | null
}

/** A line over the composer that stays until it is mended or closed. */
export interface NoticeView {
  readonly id: string
  readonly level: 'info' | 'warning' | 'error'
  readonly text: string
  readonly actions: readonly { readonly id: string; readonly label: string }[]
}
