import type { FileLocation } from '../../extension/protocol/cards.ts'
import { PROTOCOL_VERSION, type CommandPlace, type CompletionKind, type ViewMessage } from '../../extension/protocol/messages.ts'

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
    closeQuestions: (id: string) => post({ type: 'question', id, answers: null }),
    openLocation: (location: FileLocation) => post({ type: 'open-location', location }),
    previewApproval: (id: string, path?: string) => post({ type: 'approval-preview', id, ...(path === undefined ? {} : { path }) }),
    openDiff: (callId: string, path?: string) => post({ type: 'open-diff', callId, ...(path === undefined ? {} : { path }) }),
    openOutput: (callId: string) => post({ type: 'open-output', callId }),
    command: (of: CommandPlace, action: CommandAction) => post({ type: 'command', of, action }),
    openPort: (jobId: string, port: number) => post({ type: 'open-port', jobId, port }),
    openLink: (url: string) => post({ type: 'open-link', url }),
    needImage: (attachmentId: string) => post({ type: 'need-image', attachmentId }),
    openImage: (attachmentId: string) => post({ type: 'open-image', attachmentId }),
    reviewTurn: (turn: number, path?: string) => post({ type: 'review-turn', turn, ...(path === undefined ? {} : { path }) }),
    copy: (text: string) => post({ type: 'copy', text }),
    newSession: () => post({ type: 'session-new' }),
    openSession: (id: string) => post({ type: 'session-open', id }),
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
