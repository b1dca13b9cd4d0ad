import type { FileLocation } from './cards.ts'
import type { PluginMessage, PluginPart } from './plugin-frame.ts'
import type { TaskEdit } from './task-edit.ts'
import type { Row, RowWindow, ViewState, WaitingDraft } from './view-state.ts'

/** Both sides refuse to talk to another number and ask for a reload of the view. */
export const PROTOCOL_VERSION = 1

/** The largest message a view may send, UTF-8 bytes of its JSON. A larger one is refused with a notice that says so. */
export const MAX_MESSAGE_BYTES = 8_000_000

/**
 * Host to view. Every `snapshot`, `patch` and `older-rows` takes the next `frame` number; on a gap the view asks for a
 * snapshot, which may carry any number. The other messages stand outside the count.
 */
export type HostMessage =
  | { readonly type: 'snapshot'; readonly version: number; readonly frame: number; readonly state: ViewState }
  | { readonly type: 'patch'; readonly frame: number; readonly changes: readonly ViewChange[] }
  | { readonly type: 'older-rows'; readonly frame: number; readonly window: RowWindow }
  | { readonly type: 'focus-composer' }
  | { readonly type: 'insert-text'; readonly text: string }
  /** Take the person to that row and mark it, once the session is on screen. */
  | { readonly type: 'reveal-row'; readonly sessionId: string; readonly rowId: string }
  /** Answers `session-find`: the best hit of each session that has the words, best first. Partial: ask again for more. */
  | { readonly type: 'sessions-found'; readonly id: string; readonly hits: readonly SessionHit[]; readonly isPartial: boolean }
  /** Open the panel of the goal, or the form for a new or the current one. */
  | { readonly type: 'show-goal'; readonly form: 'none' | 'create' | 'edit' }
  /** What became of a `send`; with a problem the view puts the words back into the composer. */
  | { readonly type: 'sent'; readonly id: string; readonly problem: string | null }
  /** Answers `completions`; may come several times, each holding everything found so far, until `isComplete`. */
  | { readonly type: 'completions'; readonly id: string; readonly items: readonly CompletionItem[]; readonly isComplete: boolean }
  /** What became of an `attach-image`; with a problem it was not taken. */
  | { readonly type: 'attached'; readonly id: string; readonly problem: string | null }
  /** For the frames of a plugin. */
  | { readonly type: 'plugin'; readonly frameId: string; readonly part: PluginPart }
  /** Answers `need-image`. `uri` is a `data:` or webview address; null when the attachment is gone. */
  | { readonly type: 'image'; readonly attachmentId: string; readonly uri: string | null; readonly byteLength: number }

/** Where the words were found in a session, with what stands around them. */
export interface SessionHit {
  readonly sessionId: string
  readonly seq: number
  readonly snippet: string
}

/** What the form of a goal holds; null: no budget, or as many rounds as the setting says. */
export interface GoalForm {
  readonly objective: string
  readonly maxRounds: number | null
  readonly maxTokens: number | null
  readonly maxCost: number | null
  readonly maxMinutes: number | null
  readonly checks: readonly string[]
}

export type CommandPlace = { readonly callId: string } | { readonly jobId: string }

/** `refuse`: with what the plan still needs, which may be nothing. */
export type PlanAction = { readonly do: 'open' | 'approve' | 'discuss' } | { readonly do: 'refuse'; readonly feedback: string }

export type CompletionKind = '@' | '/'

/** One line of the menu over the composer, best first. */
export interface CompletionItem {
  readonly kind: 'file' | 'folder' | 'fact' | 'symbol' | 'session' | 'command' | 'skill'
  readonly label: string
  /** Tells lines of one label apart; may be empty. */
  readonly detail: string
  /** A codicon. */
  readonly icon: string
  /** Takes the place of what was typed from the `@` or `/` on. Without a blank at its end the menu stays, for more. */
  readonly insert: string
}

/**
 * At most one patch a display frame; text appends are merged within it.
 *
 * `row` replaces the row of that id, or adds it after the last one; `remove-row` takes it away. Both keep `total` right, and
 * `rows-total` corrects it. `append` to a row that the view does not hold is nothing.
 */
export type ViewChange =
  | { readonly change: 'row'; readonly row: Row }
  | { readonly change: 'rows-total'; readonly total: number }
  | { readonly change: 'append'; readonly rowId: string; readonly field: 'text' | 'progress'; readonly text: string }
  | { readonly change: 'remove-row'; readonly rowId: string }
  | {
      [Key in Exclude<keyof ViewState, 'transcript'>]: { readonly change: 'state'; readonly key: Key; readonly value: ViewState[Key] }
    }[Exclude<keyof ViewState, 'transcript'>]

/** View to host: the person's intents. Validated by the host; a bad one is refused with a notice and loses nothing. */
export type ViewMessage =
  | { readonly type: 'ready'; readonly version: number }
  | { readonly type: 'need-snapshot' }
  | { readonly type: 'load-older'; readonly before: number; readonly count: number }
  /** `id` is the view's own; the host answers each with `sent`. */
  | { readonly type: 'send'; readonly id: string; readonly text: string; readonly target: 'next-turn' | 'next-step' }
  /** What the person may mean by what follows the `@` or the `/`. A newer request of the page cancels an older one. */
  | { readonly type: 'completions'; readonly id: string; readonly kind: CompletionKind; readonly query: string }
  /** Put an image to the message that is being written; `data` is its bytes in Base64. The host answers with `attached`. */
  | { readonly type: 'attach-image'; readonly id: string; readonly name: string; readonly data: string }
  /** Put what is selected in the editor to it. */
  | { readonly type: 'attach-selection' }
  | { readonly type: 'detach'; readonly id: string }
  /** Name these files in the message: URIs as the editor's lists give them when they are dropped. The host answers with `insert-text`. */
  | { readonly type: 'mention'; readonly uris: readonly string[] }
  | { readonly type: 'stop' }
  | { readonly type: 'continue' }
  | { readonly type: 'retry' }
  | { readonly type: 'draft'; readonly text: string }
  | { readonly type: 'queue-edit'; readonly id: string; readonly text: string }
  | { readonly type: 'queue-delete'; readonly id: string }
  | { readonly type: 'queue-steer'; readonly id: string }
  | { readonly type: 'approval'; readonly id: string; readonly answer: 'allow' | 'deny'; readonly always?: number; readonly note?: string; readonly edited?: string }
  /** What a waiting call would change, of one file or of all: a native diff, or the multi-file one. */
  | { readonly type: 'approval-preview'; readonly id: string; readonly path?: string }
  | {
      readonly type: 'question'
      readonly id: string
      readonly answers: readonly { readonly id: string; readonly selected: readonly string[]; readonly custom?: string }[] | null
    }
  | { readonly type: 'task'; readonly edit: TaskEdit }
  /** What became of the list of tasks, in an editor. */
  | { readonly type: 'task-history' }
  /** The person's hand on a plan under review. `discuss` closes it without a decision. */
  | { readonly type: 'plan'; readonly id: string; readonly action: PlanAction }
  /** Let a call through that plan mode refused, once. */
  | { readonly type: 'plan-allow-once'; readonly callId: string }
  /** What the person has filled in so far. */
  | { readonly type: 'waiting-draft'; readonly id: string; readonly draft: WaitingDraft }
  | { readonly type: 'open-location'; readonly location: FileLocation }
  | { readonly type: 'open-diff'; readonly callId: string; readonly path?: string }
  | { readonly type: 'open-output'; readonly callId: string }
  /** What a call was given, such as the program it ran. */
  | { readonly type: 'open-input'; readonly callId: string }
  /** What a call searched for, in the editor's own view of searches. */
  | { readonly type: 'open-search'; readonly callId: string }
  /** The person's hand on a running command: the one that a call waits for, or a job. */
  | { readonly type: 'command'; readonly of: CommandPlace; readonly action: 'stop' | 'send-input' | 'to-background' | 'open-terminal' | 'restart' }
  /** The person's hand on a reminder of the shown session. */
  | { readonly type: 'reminder'; readonly id: string; readonly action: 'run' | 'snooze' | 'pause' | 'resume' | 'edit' | 'delete' }
  | { readonly type: 'reminder-new' }
  | PluginMessage
  /** The person's hand on an agent that another one started; the host asks before it takes one over. */
  | { readonly type: 'agent'; readonly id: string; readonly action: 'interrupt' | 'take-over' }
  /** A run of a workflow as an editor. */
  | { readonly type: 'open-run'; readonly runId: string }
  /** A port that a job listens at, in a browser. */
  | { readonly type: 'open-port'; readonly jobId: string; readonly port: number }
  /** The host asks before it opens one. */
  | { readonly type: 'open-link'; readonly url: string }
  | { readonly type: 'need-image'; readonly attachmentId: string }
  | { readonly type: 'open-image'; readonly attachmentId: string }
  /** The changes of a turn, of one file or of all: a native diff, or the multi-file one. */
  | { readonly type: 'review-turn'; readonly turn: number; readonly path?: string }
  /** Keep the changes of a call or a turn, or take them back. */
  | { readonly type: 'review'; readonly verb: 'keep' | 'undo'; readonly what: { readonly callId: string } | { readonly turn: number } }
  /** Take back what was changed since this message of the person. The host asks first. */
  | { readonly type: 'restore-to'; readonly turn: number }
  /** The goal as the page saw it at the click; one that has changed since is refused and shown anew. */
  | { readonly type: 'goal'; readonly action: 'pause' | 'resume' | 'complete' | 'clear' | 'extend'; readonly id: string; readonly revision: number }
  | ({ readonly type: 'goal-create' } & GoalForm)
  | ({ readonly type: 'goal-edit'; readonly id: string; readonly revision: number } & GoalForm)
  | { readonly type: 'copy'; readonly text: string }
  | { readonly type: 'session-new' }
  /** With `seq`: at that event. */
  | { readonly type: 'session-open'; readonly id: string; readonly seq?: number }
  /** Which sessions have these words in their talk. A newer request cancels an older one. */
  | { readonly type: 'session-find'; readonly id: string; readonly query: string }
  | { readonly type: 'session-rename'; readonly id: string; readonly title: string }
  | { readonly type: 'session-delete'; readonly id: string }
  | { readonly type: 'session-archive'; readonly id: string; readonly isArchived: boolean }
  /** The shown one, into a file that the person chooses. */
  | { readonly type: 'session-export' }
  /** Go on in a copy of the shown session that ends with the turn of this row. */
  | { readonly type: 'session-fork'; readonly rowId: string }
  /** Change a message of the person: a copy that ends before its turn, with its words in the box. */
  | { readonly type: 'prompt-again'; readonly rowId: string }
  | { readonly type: 'pick-model' }
  | { readonly type: 'pick-preset' }
  | { readonly type: 'pick-permission' }
  | { readonly type: 'rules-show' }
  | { readonly type: 'rules-close' }
  | { readonly type: 'rule-revoke'; readonly id: string }
  | { readonly type: 'manage-trust' }
  | { readonly type: 'open-settings' }
  /** The session's event log, in a read-only editor. */
  | { readonly type: 'open-log' }
  /** Load the page anew: something in it broke. */
  | { readonly type: 'reload-view' }
  /** For the log of the extension; the view goes on. */
  | { readonly type: 'view-error'; readonly text: string }
  | { readonly type: 'notice-action'; readonly id: string; readonly action: string }
  | { readonly type: 'notice-close'; readonly id: string }
