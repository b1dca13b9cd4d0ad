import type { ToolCallView, ToolResultView } from '../../../extension/protocol/cards.ts'
import type { HostMessage, ViewChange } from '../../../extension/protocol/messages.ts'
import { PROTOCOL_VERSION } from '../../../extension/protocol/messages.ts'
import type { CommandRow, Row, RowWindow, TextRow, ToolRow, ViewState } from '../../../extension/protocol/view-state.ts'

export const usage = { inputTokens: 0, outputTokens: 0, cacheRead: 0, reasoning: 0, steps: 0, turns: 0 }

export const textRow = (id: string, text = id, more: Partial<TextRow> = {}): TextRow => ({ kind: 'text', id, turn: 1, text, isStreaming: false, isInterrupted: false, ...more })

export const promptRow = (id: string, text = id, turn = 1): Row => ({ kind: 'prompt', id, turn, text, attachments: [], sentAt: 0 })

export const commandRow = (id: string, more: Partial<CommandRow> = {}): CommandRow => ({ kind: 'command', id, turn: 1, name: 'model', args: 'deep', state: 'ok', text: null, ...more })

export const toolRow = (id: string, call: ToolCallView | null, result: ToolResultView | null, more: Partial<ToolRow> = {}): ToolRow => ({
  kind: 'tool',
  id,
  turn: 1,
  callId: `call-${id}`,
  tool: 'some_tool',
  state: result === null ? 'running' : 'ok',
  call,
  result,
  rawArguments: {},
  output: null,
  error: null,
  progress: '',
  startedAt: 0,
  endedAt: result === null ? null : 0,
  ...more,
})

export const turnEndRow = (id: string, turn = 1): Row => ({ kind: 'turn-end', id, turn, outcome: 'completed', message: null, next: 'none', resumesAt: null, steps: 3, usage, cost: null, cacheMisses: [], durationMs: 5_000, changedFiles: [] })

export const viewState = (rows: readonly Row[], more: Partial<ViewState> = {}, window: Partial<RowWindow> = {}): ViewState => ({
  session: { id: 's1', title: 'A session', cwd: '/w', access: 'write', status: 'idle', usage, contextShare: null, window: null, cost: null },
  transcript: { rows, firstIndex: 0, total: rows.length, ...window },
  composer: { draft: '', canSend: true, blockedBy: null, preset: 'editor', presets: [], permission: 'workspace-write', model: { provider: 'p', model: 'm', label: 'M', isScripted: false, reasoningEffort: null } },
  approvals: [],
  questions: [],
  queue: [],
  tasks: null,
  droppedTasks: [],
  planReview: null,
  reminders: { items: [], problem: null },
  goal: null,
  sessions: [],
  notices: [],
  rules: null,
  commands: [],
  workflows: [], agents: [], plugins: [],
  review: null,
  isTrusted: true,
  ...more,
})

export const snapshot = (frame: number, state: ViewState): HostMessage => ({ type: 'snapshot', version: PROTOCOL_VERSION, frame, state })
export const patch = (frame: number, ...changes: readonly ViewChange[]): HostMessage => ({ type: 'patch', frame, changes })
