import { deepFreeze, snapshotJson } from '../../base/json.ts'
import type { Carrier } from '../../capabilities/machine.ts'
import { waitingStep } from '../log/crash-repair.ts'
import type { CancelCause, InboxTarget, SessionEvent, TurnEndReason } from '../log/event.ts'
import type { OpenStep } from '../log/invariants.ts'
import type { UserMessage } from '../log/message.ts'
import { noticeMessage, summaryProblem } from '../log/notice.ts'
import type { ScopeKey } from '../kernel/plugin.ts'
import { RuntimeContextWatch } from '../prompt/runtime-context.ts'
import { AgentError } from '../session/agent.ts'
import type { Agent } from '../session/agent.ts'
import { Inbox, inboxFrom } from '../session/inbox.ts'
import type { Session } from '../session/session.ts'
import { brokenRule } from '../session/session-error.ts'
import { AgentLog } from './agent-log.ts'
import { CallIds, callsOf } from './answer.ts'
import { DurableBarrier } from './durable-barrier.ts'
import { failureFrom } from './failure.ts'
import type { AgentOptions } from './points.ts'
import { ModelFacts, RequestHistory } from './request.ts'
import { runTurn } from './turn.ts'
import type { LoopServices, TurnContext } from './turn-context.ts'

export interface LiveAgentParts {
  readonly session: Session
  readonly scope: ScopeKey
  readonly loop: LoopServices
  readonly options: AgentOptions
  /** Names the agent to whatever its work reaches. */
  readonly work: Carrier<Agent>
  readonly owner?: Agent
  /** Everything that goes with the agent, once it is idle. */
  readonly tearDown: (agent: LiveAgent) => Promise<void>
}

/**
 * The worker of one session: takes in messages, runs turns while there is something to do, one at a time.
 *
 * Source: runtime specification 10.
 */
export class LiveAgent implements Agent {
  readonly id: string
  readonly session: Session
  readonly scope: ScopeKey
  readonly owner?: Agent
  options: AgentOptions
  readonly #loop: LoopServices
  readonly #work: Carrier<Agent>
  readonly #log: AgentLog
  readonly #inbox: Inbox
  /** What all turns share. */
  readonly #shared: Pick<TurnContext, 'history' | 'facts' | 'callIds' | 'barrier' | 'runtimeContext'>
  readonly #tearDown: LiveAgentParts['tearDown']
  #lastTurn: number
  #cancellation = new Cancellation()
  /** The run of turns that is under way; null when idle. */
  #run: Promise<void> | null = null
  #maintenance: { readonly done: Promise<void>; readonly controller: AbortController } | null = null
  /** The outcome of the turn stands: what comes now is for later. */
  #isEnding = false
  /** Somebody woke the agent when it could not begin a turn at once. */
  #isWakeWanted = false
  /** The next turn goes on with the talk as it stands. */
  #isContinuation = false
  /** The step that waited for the person when the session was opened, until the turn is gone on with. */
  #unfinished: OpenStep | null
  readonly #untimed: UntimedWork
  #disposal: Promise<void> | null = null
  /** Its session is closed. */
  #isGone = false

  constructor({ session, scope, loop, options, work, owner, tearDown }: LiveAgentParts) {
    this.id = session.id
    this.session = session
    this.scope = scope
    this.options = options
    if (owner) this.owner = owner
    this.#loop = loop
    this.#work = work
    this.#tearDown = tearDown
    this.#untimed = new UntimedWork(() => loop.clock.monotonicMs())
    this.#log = new AgentLog(session, (error) => this.#report('An inbox change could not be logged.', error))
    const events = session.milestones()
    const { lists, lost } = inboxFrom(events)
    const { dispatch } = loop
    this.#inbox = new Inbox({
      restored: lists,
      record: (splice) => this.#log.appendSoon({ type: 'agent/inbox/spliced', data: splice }),
      onInserted: (message) => dispatch.emit('agent/inbox/inserted', scope, [{ agent: this, message }]),
      onClaimed: (message, turn) => dispatch.emit('agent/inbox/claimed', scope, [{ agent: this, message, turn }]),
      onDiscarded: (message) => dispatch.emit('agent/inbox/discarded', scope, [{ agent: this, message }]),
    })
    if (lost.length > 0 && session.access === 'write') this.#inbox.putBack({ nextStep: [], nextTurn: lost })
    this.#lastTurn = lastTurnOf(events)
    this.#unfinished = session.access === 'write' ? waitingStep(session.openTurn()) : null
    this.#shared = {
      history: new RequestHistory(this.#log, { hasHeader: events.some(({ type }) => type === 'request/header') }),
      facts: new ModelFacts(),
      callIds: new CallIds(callIdsOf(events)),
      barrier: new DurableBarrier(session),
      runtimeContext: new RuntimeContextWatch(session),
    }
  }

  get status(): 'idle' | 'running' {
    return this.#run ? 'running' : 'idle'
  }
  get inbox() {
    return this.#inbox.lists
  }
  get isDisposed(): boolean {
    return this.#disposal !== null
  }

  send(message: UserMessage, target: InboxTarget, wakeup: boolean): void {
    // What only waits for the next turn is still taken while the agent goes: it is there again when the session is resumed.
    if (wakeup || this.#isGone) this.#assertLive()
    const kept = snapshotOf(message, 'message')
    const problem = summaryProblem(kept)
    if (problem !== null) throw brokenRule('envelope', 'user/message', problem)
    // The turn that was cancelled takes no more steps: what should wake it begins a turn of its own.
    const isLate = wakeup && this.#run !== null && this.#cancellation.signal.aborted
    this.#inbox.insert(isLate ? 'next-turn' : target, kept)
    if (wakeup) this.#wake()
  }
  followup(message: UserMessage): void {
    this.send(message, 'next-turn', true)
  }
  steer(message: UserMessage): void {
    this.send(message, 'next-step', true)
  }
  inject(message: UserMessage): void {
    this.send(message, 'next-step', false)
  }

  cancel(cause: CancelCause, { keepInbox = false }: { readonly keepInbox?: boolean } = {}): void {
    // What waits for maintenance to end goes on waiting for its turn.
    this.#maintenance?.controller.abort(new DOMException('This was stopped.', 'AbortError'))
    if (!this.#run) return
    this.#isWakeWanted = false
    this.#isContinuation = false
    if (!keepInbox) this.#inbox.discardAll()
    this.#cancellation.cancel(cause, keepInbox)
  }

  continueTurn(): void {
    this.#assertLive()
    if (this.#run || this.#isContinuation) return
    const last = this.session.messages().at(-1)
    if (!last && this.#inbox.isEmpty) return
    if (last?.role === 'assistant' && this.#inbox.isEmpty) this.#inbox.insert('next-step', goOn(this.#loop.newId()))
    this.#isContinuation = true
    this.#wake()
  }

  /** Go on with the turn that waited for the person when the session was opened; nothing where none did. Once the agent is known. */
  resumeTurn(): void {
    if (this.#unfinished !== null) this.#wake()
  }

  /** Leave a turn that waits for the person open in the log: nothing more of it is written here. Nothing for any other. */
  suspend(): void {
    if (waitingStep(this.session.openTurn()) !== null) this.#log.suspend()
  }

  readonly queue: Agent['queue'] = {
    edit: (messageId, content) => !this.isDisposed && this.#inbox.edit(messageId, snapshotOf(content, 'content')),
    remove: (messageId) => !this.isDisposed && this.#inbox.remove(messageId),
    steerNow: (messageId) => {
      if (this.isDisposed || !this.#inbox.moveToStep(messageId)) return false
      this.#wake()
      return true
    },
  }

  untimed<T>(work: () => Promise<T>): Promise<T> {
    return this.#untimed.run(work)
  }

  async whenIdle(): Promise<void> {
    while (this.#run || this.#maintenance) await (this.#run ?? this.#maintenance?.done)
  }

  async runMaintenance<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#assertLive()
    if (this.#run || this.#maintenance) throw new AgentError('BUSY', 'The agent is at work. Stop it or wait until it is done, then try again.')
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const controller = new AbortController()
    this.#maintenance = { done, controller }
    try {
      return await this.#work.run(this, () => task(controller.signal))
    } finally {
      this.#maintenance = null
      resolve()
      if (this.#isWakeWanted) this.#wake()
    }
  }

  dispose(): Promise<void> {
    this.#disposal ??= Promise.resolve().then(() => this.#end())
    return this.#disposal
  }

  async #end(): Promise<void> {
    this.#maintenance?.controller.abort(new DOMException('The agent is closed.', 'AbortError'))
    // What waits is kept: it is there again when the session is resumed.
    this.suspend()
    this.cancel({ kind: 'disposed' }, { keepInbox: true })
    await this.whenIdle()
    await this.#tearDown(this)
    this.#isGone = true
  }

  #wake(): void {
    if (this.isDisposed) return
    if (this.#run ? this.#isEnding || this.#cancellation.signal.aborted : this.#maintenance) {
      this.#isWakeWanted = !this.#cancellation.isForGood
      return
    }
    if (this.#run) return
    this.#isWakeWanted = false
    this.#cancellation = new Cancellation()
    // Not at once: whoever wakes the agent may stand inside an observer of the log, where no turn can begin.
    this.#run = Promise.resolve().then(() => this.#work.run(this, () => this.#runTurns()))
    this.#loop.dispatch.emit('agent/status', this.scope, [this, 'running'])
  }

  /** Turns, until nothing waits, or what waits must wait for somebody to wake the agent. */
  async #runTurns(): Promise<void> {
    try {
      do {
        // A turn that stands open is ended by its own stop.
        const isStopped = this.#cancellation.signal.aborted && this.#unfinished === null
        const reason = isStopped || !this.#hasWork ? null : await this.#turn()
        const stops = reason === null || this.#cancellation.signal.aborted || reason.kind === 'error' || reason.kind === 'paused'
        if (stops && !this.#isWakeWanted) return
        this.#isWakeWanted = false
        this.#cancellation = new Cancellation()
        this.#isEnding = false
      } while (this.#hasWork)
    } catch (error) {
      // Its turn waits for the person in the log, where it was left.
      if (this.#log.isSuspended) return
      this.#report('A turn could not be logged.', error)
      this.#emitError(error)
    } finally {
      this.#isEnding = false
      this.#run = null
      this.#loop.dispatch.emit('agent/status', this.scope, [this, 'idle'])
    }
  }

  get #hasWork(): boolean {
    return !this.isDisposed && !this.#log.isSuspended && (this.#unfinished !== null || this.#isContinuation || !this.#inbox.isEmpty)
  }

  async #turn(): Promise<TurnEndReason> {
    const unfinished = this.#unfinished
    const turn = unfinished === null ? this.#lastTurn + 1 : this.#lastTurn
    const cancellation = this.#cancellation
    const isContinuation = unfinished === null && this.#isContinuation
    this.#isContinuation &&= unfinished !== null
    this.#unfinished = null
    const reason = await runTurn({
      ...this.#shared,
      loop: this.#loop,
      agent: this,
      log: this.#log,
      inbox: this.#inbox,
      options: () => this.options,
      turn,
      signal: cancellation.signal,
      untimedMs: () => this.#untimed.ms,
      cancellation: () => cancellation,
      onStarted: () => {
        this.#lastTurn = turn
      },
      onEnding: () => {
        this.#isEnding = true
      },
      isContinuation,
      unfinished,
    })
    try {
      await this.session.flush()
    } catch (error) {
      this.#report('The end of a turn is not on the disk.', error)
      // A turn that failed over this very store has said so already.
      if (reason.kind !== 'error') this.#emitError(error)
      return { kind: 'error', failure: failureFrom(error) }
    }
    return reason
  }

  #emitError(error: unknown): void {
    const news = { agent: this, turn: this.#lastTurn, step: 0, error: failureFrom(error) }
    this.#loop.dispatch.emit('agent/error', this.scope, [news])
  }

  #report(message: string, error: unknown): void {
    this.#loop.logger.error(message, { session: this.id, error: failureFrom(error).message })
  }

  #assertLive(): void {
    if (this.isDisposed) throw new AgentError('DISPOSED', 'This agent is closed. Open its session again to go on.')
  }
}

/** Time spent on waits that are not the agent's own, each moment counted once however many wait. */
class UntimedWork {
  readonly #nowMs: () => number
  #running = 0
  #sinceMs = 0
  #sumMs = 0

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  get ms(): number {
    return this.#sumMs + (this.#running === 0 ? 0 : this.#nowMs() - this.#sinceMs)
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running === 0) this.#sinceMs = this.#nowMs()
    this.#running += 1
    try {
      return await work()
    } finally {
      this.#running -= 1
      if (this.#running === 0) this.#sumMs += this.#nowMs() - this.#sinceMs
    }
  }
}

/** The right to stop one turn. The first cause counts. */
class Cancellation {
  readonly #controller = new AbortController()
  #cause: CancelCause = { kind: 'user' }
  #keepsInbox = true

  get signal(): AbortSignal {
    return this.#controller.signal
  }
  get cause(): CancelCause {
    return this.#cause
  }
  /** The agent is going: nothing that comes now begins a turn. */
  get isForGood(): boolean {
    return this.signal.aborted && this.#cause.kind === 'disposed'
  }
  /** Of several cancels, one that clears the inbox is enough. */
  get keepsInbox(): boolean {
    return this.#keepsInbox
  }

  cancel(cause: CancelCause, keepsInbox: boolean): void {
    this.#keepsInbox &&= keepsInbox
    if (this.signal.aborted) return
    this.#cause = cause
    this.#controller.abort(new DOMException('The turn was stopped.', 'AbortError'))
  }
}

/** So that the sender's object can change without the log and the inbox parting. Errors: `JsonError`. */
const snapshotOf = <T>(value: T, name: string): T => deepFreeze(snapshotJson(value, name)) as unknown as T

const goOn = (id: string): UserMessage => noticeMessage({ id, plugin: 'agent', text: 'Go on where you stopped.', summary: 'Continue' })

function lastTurnOf(events: readonly SessionEvent[]): number {
  const last = events.findLast((event) => event.type === 'turn/start')
  return last?.data.turn ?? 0
}

function* callIdsOf(events: readonly SessionEvent[]): Iterable<string> {
  for (const event of events) {
    if (event.type === 'assistant/message') for (const { id } of callsOf(event.data.message.content)) yield id
  }
}
