import type { FileLocation } from '../../extension/protocol/cards.ts'
import { PROTOCOL_VERSION, type CommandPlace, type CompletionKind, type GoalForm, type PlanAction, type ViewMessage } from '../../extension/protocol/messages.ts'
import type { PluginMessage } from '../../extension/protocol/plugin-frame.ts'
import type { TaskEdit } from '../../extension/protocol/task-edit.ts'
import type { WaitingDraft } from '../../extension/protocol/view-state.ts'

type ReminderAction = Extract<ViewMessage, { type: 'reminder' }>['action']
type GoalAction = Extract<ViewMessage, { type: 'goal' }>['action']
type GoalRef = { readonly id: string; readonly revision: number }
type CommandAction = Extract<ViewMessage, { type: 'command' }>['action']
export type Answers = NonNullable<Extract<ViewMessage, { type: 'question' }>['answers']>

/** Everything a person can ask of the host: one function an intent, nothing decided here. */
export type ChatActions = ReturnType<typeof createChatActions>

export function createChatActions(post: (message: ViewMessage) => void) {
  return {
    ready: () => post({ type: 'ready', version: PROTOCOL_VERSION }),
    needSnapshot: () => post({ type: 'need-snapshot' }),
    loadOlder: (before: number, count: number) => post({ type: 'load-older', before, count }),
    send: (id: string, text: string, target: 'next-turn' | 'next-step') => post({ type: 'send', id, text, target }),
    complete: (id: string, kind: CompletionKind, query: string) => post({ type: 'completions', id, kind, query }),
    attachImage: (id: string, name: string, data: string) => post({ type: 'attach-image', id, name, data }),
    attachSelection: () => post({ type: 'attach-selection' }),
    detach: (id: string) => post({ type: 'detach', id }),
    mention: (uris: readonly string[]) => post({ type: 'mention', uris }),
    stop: () => post({ type: 'stop' }),
    continueTurn: () => post({ type: 'continue' }),
    retry: () => post({ type: 'retry' }),
    saveDraft: (text: string) => post({ type: 'draft', text }),
    editQueued: (id: string, text: string) => post({ type: 'queue-edit', id, text }),
    deleteQueued: (id: string) => post({ type: 'queue-delete', id }),
    steerQueued: (id: string) => post({ type: 'queue-steer', id }),
    allowOnce: (id: string) => post({ type: 'approval', id, answer: 'allow' }),
    allowAlways: (id: string, always: number) => post({ type: 'approval', id, answer: 'allow', always }),
    allowEdited: (id: string, edited: string) => post({ type: 'approval', id, answer: 'allow', edited }),
    deny: (id: string, note: string) => post({ type: 'approval', id, answer: 'deny', ...(note === '' ? {} : { note }) }),
    answerQuestions: (id: string, answers: Answers) => post({ type: 'question', id, answers }),
    keepWaiting: (id: string, draft: WaitingDraft) => post({ type: 'waiting-draft', id, draft }),
    closeQuestions: (id: string) => post({ type: 'question', id, answers: null }),
    editTasks: (edit: TaskEdit) => post({ type: 'task', edit }),
    showTaskHistory: () => post({ type: 'task-history' }),
    actOnPlan: (id: string, action: PlanAction) => post({ type: 'plan', id, action }),
    allowOnceAlthoughPlanning: (callId: string) => post({ type: 'plan-allow-once', callId }),
    openLocation: (location: FileLocation) => post({ type: 'open-location', location }),
    previewApproval: (id: string, path?: string) => post({ type: 'approval-preview', id, ...(path === undefined ? {} : { path }) }),
    openDiff: (callId: string, path?: string) => post({ type: 'open-diff', callId, ...(path === undefined ? {} : { path }) }),
    openOutput: (callId: string) => post({ type: 'open-output', callId }),
    openInput: (callId: string) => post({ type: 'open-input', callId }),
    openSearch: (callId: string) => post({ type: 'open-search', callId }),
    command: (of: CommandPlace, action: CommandAction) => post({ type: 'command', of, action }),
    reminder: (id: string, action: ReminderAction) => post({ type: 'reminder', id, action }),
    newReminder: () => post({ type: 'reminder-new' }),
    interruptAgent: (id: string) => post({ type: 'agent', id, action: 'interrupt' }),
    takeOverAgent: (id: string) => post({ type: 'agent', id, action: 'take-over' }),
    plugin: (message: PluginMessage) => post(message),
    openRun: (runId: string) => post({ type: 'open-run', runId }),
    openPort: (jobId: string, port: number) => post({ type: 'open-port', jobId, port }),
    openLink: (url: string) => post({ type: 'open-link', url }),
    needImage: (attachmentId: string) => post({ type: 'need-image', attachmentId }),
    openImage: (attachmentId: string) => post({ type: 'open-image', attachmentId }),
    reviewTurn: (turn: number, path?: string) => post({ type: 'review-turn', turn, ...(path === undefined ? {} : { path }) }),
    keepCall: (callId: string) => post({ type: 'review', verb: 'keep', what: { callId } }),
    undoCall: (callId: string) => post({ type: 'review', verb: 'undo', what: { callId } }),
    keepTurn: (turn: number) => post({ type: 'review', verb: 'keep', what: { turn } }),
    undoTurn: (turn: number) => post({ type: 'review', verb: 'undo', what: { turn } }),
    restoreTo: (turn: number) => post({ type: 'restore-to', turn }),
    goal: (action: GoalAction, { id, revision }: GoalRef) => post({ type: 'goal', action, id, revision }),
    createGoal: (form: GoalForm) => post({ type: 'goal-create', ...form }),
    editGoal: ({ id, revision }: GoalRef, form: GoalForm) => post({ type: 'goal-edit', id, revision, ...form }),
    copy: (text: string) => post({ type: 'copy', text }),
    newSession: () => post({ type: 'session-new' }),
    openSession: (id: string, seq?: number) => post({ type: 'session-open', id, ...(seq === undefined ? {} : { seq }) }),
    findSessions: (id: string, query: string) => post({ type: 'session-find', id, query }),
    renameSession: (id: string, title: string) => post({ type: 'session-rename', id, title }),
    deleteSession: (id: string) => post({ type: 'session-delete', id }),
    archiveSession: (id: string, isArchived: boolean) => post({ type: 'session-archive', id, isArchived }),
    exportSession: () => post({ type: 'session-export' }),
    forkSession: (rowId: string) => post({ type: 'session-fork', rowId }),
    askAgain: (rowId: string) => post({ type: 'prompt-again', rowId }),
    pickModel: () => post({ type: 'pick-model' }),
    pickPreset: () => post({ type: 'pick-preset' }),
    pickPermission: () => post({ type: 'pick-permission' }),
    showRules: () => post({ type: 'rules-show' }),
    closeRules: () => post({ type: 'rules-close' }),
    revokeRule: (id: string) => post({ type: 'rule-revoke', id }),
    manageTrust: () => post({ type: 'manage-trust' }),
    openSettings: () => post({ type: 'open-settings' }),
    openLog: () => post({ type: 'open-log' }),
    reloadView: () => post({ type: 'reload-view' }),
    reportError: (text: string) => post({ type: 'view-error', text: text.slice(0, 20_000) }),
    noticeAction: (id: string, action: string) => post({ type: 'notice-action', id, action }),
    closeNotice: (id: string) => post({ type: 'notice-close', id }),
  }
}
