import { deepFreeze, snapshotJson, stableStringify, stringifyJson, type JsonObject } from '../../base/json.ts'
import { orAbort } from '../../base/or-abort.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Context } from '../../core/kernel/plugin.ts'
import type { SessionEvent } from '../../core/log/event.ts'
import { noticeMessage } from '../../core/log/notice.ts'
import type {} from '../../core/loop/points.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../../core/policy/approval.ts'
import type {} from '../../core/policy/foresight.ts'
import type {} from '../../core/policy/permissions.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { Session } from '../../core/session/session.ts'
import { settings } from '../../core/settings/specs.ts'
import type { ApprovalDetails, Execution, ToolResult } from '../../core/tools/definition.ts'
import type {} from '../../core/tools/service.ts'
import { EDITOR_CHAT_MODEL, EDITOR_CHAT_ROUTE, type PlannedCall } from './calls-model.ts'
import { EditorCallError } from './error.ts'
import type { CallQuestion, EditorCall, EditorCalls } from './service.ts'

export interface EditorCallsNeeds {
  readonly machine: Pick<Machine, 'randomId' | 'homeFolder'>
  readonly workspace: Pick<Workspace, 'folders'>
}

interface Waiting extends PlannedCall {
  readonly signal: AbortSignal
  /** What the person said yes to in the editor. */
  readonly allowed: CallQuestion | undefined
  readonly settle: (outcome: ToolResult | Error) => void
}

/** The calls of one chat in its session. */
interface Desk {
  /** Not yet asked for by the loop, oldest first. */
  readonly queue: Waiting[]
  /** Their answer stands in the log. */
  readonly running: Map<string, Waiting>
}

/** Questions that the editor has asked and that no call has come for yet; the oldest go first. */
const MAX_ASKED = 100
/** What the presets that have everything are called with: its tools are all that is offered. */
const PRESET = 'editor'

/** Source: issue 6, part 6. */
export class EditorChatCalls implements EditorCalls {
  readonly #ctx: Context
  readonly #needs: EditorCallsNeeds
  /** By chat, when the search for its session, or its making, is over: one at a time. Agents are asked for anew, since they may go. */
  readonly #searches = new Map<string | null, Promise<void>>()
  readonly #sessions = new Map<string | null, string>()
  readonly #desks = new Map<string, Desk>()
  readonly #asked = new Map<string, CallQuestion>()

  constructor(ctx: Context, needs: EditorCallsNeeds) {
    this.#ctx = ctx
    this.#needs = needs
  }

  async prepare(call: EditorCall): Promise<CallQuestion | null> {
    const key = keyOf(call)
    // Only what was asked last holds.
    this.#asked.delete(key)
    if (this.#refusal(call) !== null) return null
    const agent = await orAbort(this.#agentOf(call.chat), call.signal)
    const callId = this.#needs.machine.randomId()
    const exec: Execution = { callId, rootCallId: callId, name: call.tool, arguments: frozen(call.input), agent, token: { id: callId }, signal: call.signal }
    const decision = await orAbort(this.#ctx.foresight.decide(exec), call.signal)
    if (decision.kind !== 'ask' || !mayBeAskedElsewhere(decision.details)) return null
    const question = questionOf(call.tool, decision)
    this.#asked.set(key, question)
    for (const oldest of this.#asked.keys()) {
      if (this.#asked.size <= MAX_ASKED) break
      this.#asked.delete(oldest)
    }
    return question
  }

  async run(call: EditorCall): Promise<ToolResult> {
    const key = keyOf(call)
    const allowed = this.#asked.get(key)
    this.#asked.delete(key)
    const refusal = this.#refusal(call)
    if (refusal !== null) throw new EditorCallError('NOT_OFFERED', refusal)
    call.signal.throwIfAborted()
    const agent = await this.#agentOf(call.chat)
    call.signal.throwIfAborted()
    return await this.#made(agent, call, allowed)
  }

  sessionOf(chat: string | null): string | undefined {
    return this.#sessions.get(chat)
  }

  // What the loop and the pipeline ask and tell

  /** Everything that waits, for one answer of the "model". */
  take(sessionId: string): readonly PlannedCall[] {
    const desk = this.#desks.get(sessionId)
    const calls = desk?.queue.splice(0) ?? []
    for (const call of calls) desk?.running.set(call.callId, call)
    return calls
  }

  /** One call of several can be stopped alone. */
  async execute(exec: { readonly callId: string; readonly agent?: Agent; signal: AbortSignal }, next: () => Promise<ToolResult>): Promise<ToolResult> {
    const call = this.#running(exec)
    if (call === undefined) return await next()
    const outer = exec.signal
    exec.signal = AbortSignal.any([outer, call.signal])
    try {
      return await next()
    } finally {
      exec.signal = outer
    }
  }

  /** The person's yes in the editor is the answer to the very question that was put to them there. */
  async answer(request: ApprovalRequest, next: () => Promise<ApprovalAnswer>): Promise<ApprovalAnswer> {
    const call = request.callId === undefined ? undefined : this.#running({ callId: request.callId, agent: request.agent })
    if (call === undefined) return await next()
    if (call.signal.aborted) return { outcome: 'cancelled' }
    const asked = questionOf(request.toolName, request)
    if (call.allowed !== undefined && mayBeAskedElsewhere(request.details) && call.allowed.effect === asked.effect && call.allowed.why === asked.why) return { outcome: 'allowed-once' }
    try {
      return await orAbort(next(), call.signal)
    } catch (error) {
      if (call.signal.aborted) return { outcome: 'cancelled' }
      throw error
    }
  }

  noteResult({ callId, agent, parent }: Execution, result: ToolResult): void {
    if (parent !== undefined) return
    const call = this.#running({ callId, ...(agent && { agent }) })
    if (call === undefined || agent === undefined) return
    this.#desks.get(agent.id)?.running.delete(callId)
    call.settle(result)
  }

  /** Whatever the end was, nobody waits for ever. */
  noteEvent({ id }: Session, event: SessionEvent): void {
    const desk = this.#desks.get(id)
    if (desk === undefined || event.type !== 'turn/end') return
    const { reason } = event.data
    const words = reason.kind === 'error' ? reason.failure.message : `The turn ended (${reason.kind}) before this call had a result.`
    // A turn that could not even ask takes what waits with it, or it would be tried again without end.
    const left = [...desk.running.values(), ...(reason.kind === 'completed' ? [] : desk.queue.splice(0))]
    desk.running.clear()
    for (const call of left) call.settle(new EditorCallError('NOT_RUN', words))
  }

  noteIdle(agent: Agent): void {
    this.#wake(agent)
  }

  noteGone({ id }: { readonly id: string }): void {
    const desk = this.#desks.get(id)
    this.#desks.delete(id)
    for (const call of [...(desk?.running.values() ?? []), ...(desk?.queue ?? [])]) call.settle(new EditorCallError('NOT_RUN', 'The session of this chat was closed. Call the tool again.'))
  }

  dispose(): void {
    for (const id of [...this.#desks.keys()]) this.noteGone({ id })
  }

  #running({ callId, agent }: { readonly callId: string; readonly agent?: Agent }): Waiting | undefined {
    return agent === undefined ? undefined : this.#desks.get(agent.id)?.running.get(callId)
  }

  #made(agent: Agent, { tool, input, signal }: EditorCall, allowed: CallQuestion | undefined): Promise<ToolResult> {
    const desk = this.#deskOf(agent)
    return new Promise((resolve, reject) => {
      const callId = `editor-${this.#needs.machine.randomId()}`
      const stop = () => this.#stop(agent, callId)
      const settle = (outcome: ToolResult | Error) => {
        signal.removeEventListener('abort', stop)
        if (signal.aborted) reject(signal.reason as Error)
        else if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      }
      desk.queue.push({ callId, name: tool, arguments: stringifyJson(input), signal, allowed, settle })
      signal.addEventListener('abort', stop, { once: true })
      this.#wake(agent)
    })
  }

  /** What has not begun never does; the turn ends with the last of its calls, so that nothing runs for nobody. */
  #stop(agent: Agent, callId: string): void {
    const desk = this.#desks.get(agent.id)
    const queued = desk?.queue.findIndex((call) => call.callId === callId) ?? -1
    if (desk === undefined) return
    if (queued >= 0) desk.queue.splice(queued, 1)[0]?.settle(new EditorCallError('NOT_RUN', 'Stopped.'))
    else if (desk.queue.length === 0 && [...desk.running.values()].every((call) => call.signal.aborted)) agent.cancel({ kind: 'user' }, { keepInbox: true })
  }

  #wake(agent: Agent): void {
    const desk = this.#desks.get(agent.id)
    const [first] = desk?.queue ?? []
    if (first === undefined || agent.status !== 'idle' || agent.isDisposed) return
    const { machine } = this.#needs
    if (!agent.session.milestones().some(({ type }) => type === 'session/title')) agent.session.append({ type: 'session/title', data: { title: TITLE, messageSeqs: [], source: { kind: 'fallback' } } })
    agent.followup(noticeMessage({ id: machine.randomId(), plugin: 'editor-calls', text: `The editor’s chat calls ${first.name}.`, summary: 'Called from the editor’s chat' }))
  }

  #deskOf({ id }: Agent): Desk {
    const found = this.#desks.get(id)
    if (found !== undefined) return found
    const made: Desk = { queue: [], running: new Map() }
    this.#desks.set(id, made)
    return made
  }

  /** The agent of a chat's session. One that the person took over, by choosing a model for it, is theirs: the chat begins another one. */
  #agentOf(chat: string | null): Promise<Agent> {
    const agent = (this.#searches.get(chat) ?? Promise.resolve()).then(async () => {
      const known = this.#ctx.agents.live(this.#sessions.get(chat) ?? '')
      if (known !== undefined && !known.isDisposed && known.session.access === 'write' && this.#isOurs(known)) return known
      const made = await this.#ctx.agents.create({ cwd: this.#needs.workspace.folders()[0]?.path ?? this.#needs.machine.homeFolder, preset: PRESET, agent: { provider: EDITOR_CHAT_ROUTE, model: EDITOR_CHAT_MODEL } })
      this.#sessions.set(chat, made.id)
      return made
    })
    const isOver = () => {}
    // What failed is tried anew by the next call; whoever asked for it hears why.
    this.#searches.set(chat, agent.then(isOver, isOver))
    return agent
  }

  #isOurs({ id }: Agent): boolean {
    return this.#ctx.agents.optionsOf(id).provider === EDITOR_CHAT_ROUTE
  }

  /** Why the setting keeps a call out; null when it does not. */
  #refusal({ tool, input }: EditorCall): string | null {
    const offered = this.#ctx.settings.get(settings.editorChatOfferTools)
    if (offered === 'none') return `Bosun’s tools are not offered to the editor’s chat. The person can offer them with the setting bosun.${settings.editorChatOfferTools.key}.`
    if (offered === 'all' || readingEffects.has(this.#ctx.permissions.effectOf(tool, input).kind)) return null
    return `Bosun offers the editor’s chat only what reads and searches, and this call of ${tool} may do more. The person can offer everything with the setting bosun.${settings.editorChatOfferTools.key}.`
  }
}

const TITLE = 'The editor’s chat'
const readingEffects: ReadonlySet<string> = new Set(['none', 'read', 'network'])

/** Where work would be lost, and where a call wants more than the session may, Bosun asks itself: the editor may be set to ask nothing. */
const mayBeAskedElsewhere = (details: ApprovalDetails | undefined): boolean => details?.mustAsk !== true && details?.escalatesTo === undefined

const questionOf = (tool: string, { reason, details }: { readonly reason?: string; readonly details?: ApprovalDetails }): CallQuestion => ({ effect: details?.effect ?? `Use the tool \`${tool}\``, why: [details?.why ?? reason ?? '', ...(details?.covers === undefined ? [] : [details.covers])].join(' ') })

const keyOf = ({ tool, input }: EditorCall): string => `${tool} ${stableStringify(input)}`

const frozen = (input: JsonObject) => deepFreeze(snapshotJson(input, 'input'))
