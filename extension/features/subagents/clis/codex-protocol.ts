import type { JsonObject } from '../../../base/json.ts'
import { MAX_ANSWER, type CliProtocol, type CliStage, type CliStep, type CliVerdict } from './cli.ts'
import { at, textAt } from './fields.ts'

/** What a thread may do. Source: `thread/start` of the app server's protocol. */
export interface CodexRights {
  readonly approvalPolicy: 'never' | 'on-request'
  /** Who decides what it asks for; absent: whoever holds the other end, and that is nobody. */
  readonly approvalsReviewer?: 'auto_review'
  readonly sandbox: 'read-only' | 'workspace-write' | 'danger-full-access'
}

type Step = 'initialize' | 'thread-start' | 'turn-start' | 'turn' | 'ended'
type Word = 'initialized' | 'thread-started' | 'turn-accepted' | 'turn-ended'

/** What may be heard when, and where it leads. A turn may be over before its start was answered. */
export const codexMoves: Readonly<Record<Step, Partial<Record<Word, Step>>>> = {
  initialize: { initialized: 'thread-start' },
  'thread-start': { 'thread-started': 'turn-start' },
  'turn-start': { 'turn-accepted': 'turn', 'turn-ended': 'ended' },
  turn: { 'turn-ended': 'ended' },
  ended: {},
}

/** Ids of our requests, and what their answers mean. */
const answers: Readonly<Record<number, Word>> = { 1: 'initialized', 2: 'thread-started', 3: 'turn-accepted' }
const INTERRUPT_ID = 4

/** Nobody is there to be asked: each of these gets its no, and the work goes on without. Source: server requests of the app server's protocol. */
export const codexRefusals: Readonly<Record<string, JsonObject>> = {
  'item/commandExecution/requestApproval': { decision: 'decline' },
  'item/fileChange/requestApproval': { decision: 'decline' },
  'item/permissions/requestApproval': { permissions: {}, scope: 'turn' },
  'item/tool/requestUserInput': { answers: {} },
  'mcpServer/elicitation/request': { action: 'decline', content: null },
  execCommandApproval: { decision: 'denied' },
  applyPatchApproval: { decision: 'denied' },
}

/**
 * One task for `codex app-server --stdio`: initialize, an ephemeral thread, one turn.
 *
 * The answer is the last message of the phase `final_answer`, else the last one without a phase.
 * Source: openai/codex, app-server README, "Lifecycle Overview", "Approvals".
 */
export class CodexProtocol implements CliProtocol {
  readonly #prompt: string
  readonly #rights: CodexRights
  #step: Step = 'initialize'
  #threadId: string | undefined
  #turnId: string | undefined
  #final: string | undefined
  #plain: string | undefined
  #streaming = ''
  #streamingItem: string | undefined
  #complaint: { readonly message: string; readonly isContextFull: boolean } | undefined

  constructor(prompt: string, rights: CodexRights) {
    this.#prompt = prompt
    this.#rights = rights
  }

  get stage(): CliStage {
    return this.#step === 'ended' ? 'teardown' : this.#step
  }

  get isWorking(): boolean {
    return this.#step === 'turn'
  }

  get partial(): string {
    return this.#streaming !== '' ? this.#streaming : (this.#final ?? this.#plain ?? '')
  }

  begin(): readonly JsonObject[] {
    return [{ id: 1, method: 'initialize', params: { clientInfo: { name: 'bosun', title: 'Bosun', version: '1' } } }]
  }

  interrupt(): readonly JsonObject[] {
    if (this.#step !== 'turn' || this.#threadId === undefined || this.#turnId === undefined) return []
    return [{ id: INTERRUPT_ID, method: 'turn/interrupt', params: { threadId: this.#threadId, turnId: this.#turnId } }]
  }

  receive(message: JsonObject): CliStep {
    if (this.#step === 'ended') return {}
    const { id, method } = message
    if (typeof method === 'string') return id === undefined ? this.#notified(method, message) : this.#asked(method, message)
    return typeof id === 'number' ? this.#answered(id, message) : {}
  }

  #asked(method: string, { id }: JsonObject): CliStep {
    const refusal = Object.hasOwn(codexRefusals, method) ? codexRefusals[method] : undefined
    if (refusal !== undefined && id !== undefined) return { send: [{ id, result: refusal }] }
    return {
      send: [{ id: id ?? null, error: { code: -32_601, message: 'Not supported.' } }],
      ...this.#over({ stopReason: 'error', problem: 'It asked for something that Bosun does not know how to answer. A newer Bosun, or an older Codex, may go together.' }),
    }
  }

  #answered(id: number, message: JsonObject): CliStep {
    const word = answers[id]
    if (word === undefined) return {}
    const refused = textAt(message, 'error', 'message')
    if (message['error'] !== undefined) return this.#failed('It refused.', refused)
    const next = codexMoves[this.#step][word]
    if (next === undefined) return this.#failed('It answered out of turn.')
    switch (word) {
      case 'initialized':
        this.#step = next
        return { send: [{ method: 'initialized' }, { id: 2, method: 'thread/start', params: { ephemeral: true, ...this.#rights } }] }
      case 'thread-started':
        this.#threadId = textAt(message, 'result', 'thread', 'id')
        if (this.#threadId === undefined) return this.#failed('It started a thread without a name.')
        this.#step = next
        return { send: [{ id: 3, method: 'turn/start', params: { threadId: this.#threadId, input: [{ type: 'text', text: this.#prompt, text_elements: [] }] } }] }
      default:
        this.#turnId = textAt(message, 'result', 'turn', 'id')
        this.#step = next
        return {}
    }
  }

  #notified(method: string, message: JsonObject): CliStep {
    const params = at(message, 'params')
    const threadId = textAt(params, 'threadId')
    // Agents that it starts itself have threads of their own.
    if (threadId !== undefined && threadId !== this.#threadId) return {}
    switch (method) {
      case 'item/agentMessage/delta':
        this.#stream(textAt(params, 'itemId'), textAt(params, 'delta') ?? '')
        return {}
      case 'item/completed':
        this.#completed(params)
        return {}
      case 'error':
        if (at(params, 'willRetry') !== true) this.#complain(params)
        return {}
      case 'turn/completed':
        return this.#turnEnded(params)
      default:
        return {}
    }
  }

  #stream(item: string | undefined, delta: string): void {
    if (item !== this.#streamingItem) this.#streaming = ''
    this.#streamingItem = item
    if (this.#streaming.length < MAX_ANSWER) this.#streaming += delta
  }

  #completed(params: ReturnType<typeof at>): void {
    const text = textAt(params, 'item', 'text')
    if (textAt(params, 'item', 'type') !== 'agentMessage' || text === undefined) return
    this.#streaming = ''
    const phase = at(params, 'item', 'phase') ?? null
    if (phase === 'final_answer') this.#final = text.slice(0, MAX_ANSWER)
    else if (phase === null) this.#plain = text.slice(0, MAX_ANSWER)
  }

  #complain(params: ReturnType<typeof at>): void {
    const message = textAt(params, 'error', 'message')
    if (message !== undefined) this.#complaint = { message, isContextFull: at(params, 'error', 'codexErrorInfo') === 'contextWindowExceeded' }
  }

  #turnEnded(params: ReturnType<typeof at>): CliStep {
    const turn = textAt(params, 'turn', 'id')
    if (this.#turnId !== undefined && turn !== this.#turnId) return {}
    if (codexMoves[this.#step]['turn-ended'] === undefined) return this.#failed('It ended a turn that had not begun.')
    this.#complain(at(params, 'turn'))
    const status = textAt(params, 'turn', 'status')
    const answer = this.#final ?? this.#plain ?? ''
    const said = this.#complaint === undefined ? {} : { said: this.#complaint.message }
    if (status === 'interrupted') return this.#over({ stopReason: 'aborted', ...said })
    if (status === 'completed' && answer.trim() !== '') return this.#over({ stopReason: 'completed', output: answer })
    if (status === 'completed') return this.#over({ stopReason: 'error', output: '', problem: 'It ended without an answer.' })
    if (this.#complaint?.isContextFull === true) return this.#over({ stopReason: 'max-tokens', problem: 'Its context window is full. Give it a smaller task.', ...said })
    return this.#over({ stopReason: 'error', problem: 'Its turn failed.', ...said })
  }

  #failed(problem: string, said?: string): CliStep {
    return this.#over({ stopReason: 'error', problem, ...(said !== undefined && { said }) })
  }

  /** With what it said so far, unless there is an answer. */
  #over(verdict: Omit<CliVerdict, 'output' | 'stage'> & { readonly output?: string }): CliStep {
    const end = { output: this.partial, ...verdict, stage: this.stage }
    this.#step = 'ended'
    return { end }
  }
}
