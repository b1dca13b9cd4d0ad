import type { Json } from '../base/json.ts'
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
  readonly sessions: readonly SessionListItem[]
  readonly notices: readonly NoticeView[]
  /** The page of rules over the chat; null while it is closed. */
  readonly rules: RulesPageView | null
  /** What waits for the person; null without a session that can be written. */
  readonly review: ReviewStateView | null
  /** Commands of the session on screen that run, and those that ran in the background. */
  readonly commands: readonly CommandView[]
  readonly isTrusted: boolean
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
export type Row = PromptRow | TextRow | ReasoningRow | ToolRow | RetryRow | ContextRow | TurnEndRow | NoticeRow | CommandRow | CompactionRow

export interface PromptRow {
  readonly kind: 'prompt'
  readonly id: string
  readonly turn: number
  readonly text: string
  readonly attachments: readonly CardContent[]
  readonly sentAt: number
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
  readonly card: ToolCallView | null
  /** What "Always allow…" may mean, in words; the index answers. */
  readonly always: readonly string[]
  /** What the person may change before they allow it: the command, or the text of the edit. */
  readonly editable?: string
  /** The editor can show what would change before it is allowed. */
  readonly canPreview?: true
  readonly who: string | null
}

export interface QuestionSetView {
  readonly id: string
  readonly callId: string | null
  readonly questions: readonly {
    readonly id: string
    readonly header: string | null
    readonly question: string
    readonly options: readonly { readonly label: string; readonly description: string | null }[]
    readonly isMultiSelect: boolean
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
  readonly content: string
  readonly status: 'pending' | 'in_progress' | 'completed'
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
