import { isErrorOf } from '../../base/harness-error.ts'
import { messageOf } from '../../base/message-of.ts'
import type { Undo } from '../../base/undo.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { UserMessage } from '../../core/log/message.ts'
import { AgentError, type Agent } from '../../core/session/agent.ts'
import { endingOf, firstDue, isDue, nextTarget, occurrenceOf, slotAfter, targetOf, viewOf } from './due.ts'
import type { FullSchedule, ScheduleAdjustment } from './events.ts'
import { isRecurring, startOfSchedules, stepSchedules, type ScheduleEntry, type ScheduleState } from './fold.ts'
import { batchMessage, reminderMessage, taskMessage } from './framing.ts'
import { instantFrom, msOf } from './instants.ts'
import { failure, MAX_PROMPT_CHARS, MAX_SCHEDULES, scheduleFrom, type CreateRequest } from './request.ts'
import type { DeliveryState, ScheduleDeletion, ScheduleEdit, ScheduleFailure, ScheduleView } from './service.ts'

/** What a timer can count. Source: agent tools specification 5.3. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** Late by more than this when it is first seen: nobody was there at its time. */
const MISSED_AFTER_MS = 300_000

export interface RuntimeParts {
  readonly agent: Agent
  readonly clock: Clock
  readonly logger: Logger
  readonly newId: () => string
  /** The folder is trusted, and the host stays. */
  readonly mayDeliver: () => boolean
  readonly onDidChange: () => void
  readonly onDidDeliver: (delivered: readonly FullSchedule[]) => void
}

/**
 * The reminders of one root agent: what is asked of them and what falls due, one after the other.
 *
 * It never interrupts and never steers. Dispatch means that the message is queued, not that it was answered, and a crash between
 * the two repeats a reminder. Source: agent tools specification 5.2, 5.3.
 */
export class ScheduleRuntime {
  readonly #parts: RuntimeParts
  #state: ScheduleState
  /** Events that the state holds. */
  #seen = 0
  #tail: Promise<void> = Promise.resolve()
  #stopTimer: Undo | null = null
  #isFaulted = false
  #isDisposed = false
  #waitsForIdle = false
  #isLooking = false
  /** Of what is due and asks not to be caught up with: its target, and whether its time was over when it was seen first. */
  readonly #firstSeen = new Map<string, { readonly target: number; readonly isMissed: boolean }>()

  constructor(parts: RuntimeParts) {
    this.#parts = parts
    this.#state = startOfSchedules(parts.agent.session.header)
  }

  get state(): ScheduleState {
    const { session } = this.#parts.agent
    if (this.#seen === session.length) return this.#state
    const events = this.#seen === 0 ? session.milestones() : session.events(this.#seen)
    this.#state = events.reduce(stepSchedules, this.#state)
    this.#seen = session.length
    return this.#state
  }

  get delivery(): DeliveryState {
    if (this.#isFaulted || this.state.problem !== null) return 'faulted'
    return this.#mayDeliver() ? 'running' : 'held'
  }

  // What is asked

  create(request: CreateRequest, signal: AbortSignal): Promise<ScheduleView | ScheduleFailure> {
    return this.#change({ operation: 'create', signal }, async (state) => {
      if (state.entries.length >= MAX_SCHEDULES) return failure('too_many_schedules', `A session holds at most ${MAX_SCHEDULES} reminders. Delete some first.`)
      const schedule = await scheduleFrom(request, `schedule-${state.lastNumber + 1}`, this.#parts.clock.now())
      if ('code' in schedule) return schedule
      signal.throwIfAborted()
      const { action, catchUp, ...record } = schedule
      const { session } = this.#parts.agent
      if (action === 'tell' && catchUp === 'once' && record.kind !== 'calendar') session.append({ type: 'schedule/change', data: { version: 1, operation: 'create', schedule: record } })
      else session.append({ type: 'schedule/adjust', data: { version: 1, operation: 'create', schedule } })
      return schedule.id
    })
  }

  list(signal: AbortSignal): Promise<readonly ScheduleView[] | ScheduleFailure> {
    return this.#enqueue('list', signal, async () => {
      const state = await this.#readable('list')
      const now = this.#parts.clock.now()
      return 'code' in state ? state : state.entries.map((entry) => viewOf(entry, now))
    })
  }

  remove(id: string, signal: AbortSignal): Promise<ScheduleDeletion | ScheduleFailure> {
    return this.#enqueue('delete', signal, async () => {
      const state = await this.#readable('delete', id)
      if ('code' in state) return state
      const entry = entryOf(state, id)
      if (entry === undefined) return { id, deleted: false, code: 'schedule_not_found' as const }
      signal.throwIfAborted()
      this.#parts.agent.session.append({ type: entry.isPlain ? 'schedule/change' : 'schedule/adjust', data: { version: 1, operation: 'delete', id } })
      return (await this.#stored('delete', id)) ?? { id, deleted: true as const }
    })
  }

  // What the person does

  adjust(id: string, make: (entry: ScheduleEntry, nowMs: number) => Promise<ScheduleAdjustment | ScheduleFailure>): Promise<ScheduleView | ScheduleFailure> {
    return this.#change({ operation: 'change', id, signal: never }, async (state) => {
      const entry = entryOf(state, id)
      if (entry === undefined) return failure('schedule_not_found', `There is no reminder ${id} any more.`)
      const data = await make(entry, this.#parts.clock.now())
      if ('code' in data) return data
      this.#parts.agent.session.append({ type: 'schedule/adjust', data })
      return id
    })
  }

  // What falls due

  /** Look at the clock and the log, once more if that is under way. */
  look(): void {
    if (this.#isDisposed || this.#isLooking) return
    this.#isLooking = true
    void this.#inTurn(async () => {
      this.#isLooking = false
      await this.#pass()
    }).catch((error: unknown) => this.#fault('What is due could not be worked out.', error))
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true
    this.#stopTimer?.()
    await this.#tail
  }

  async #pass(): Promise<void> {
    const { agent, clock, logger } = this.#parts
    if (this.#isDisposed) return
    const { problem } = this.state
    if (problem !== null && !this.#isFaulted) this.#fault('The reminders of a session cannot be read.', new Error(problem))
    this.#arm()
    const now = clock.now()
    const due = this.state.entries.filter((entry) => isDue(entry, now))
    if (!this.#mayDeliver() || this.#isFaulted || due.length === 0) return
    await this.#judge(due, now)
    try {
      await agent.session.flush()
    } catch (error) {
      // The next time that somebody looks tries again.
      logger.warn('A reminder waits: the log cannot be written.', { session: agent.id, error: String(error) })
      return
    }
    if (agent.status === 'running') return this.#lookWhenIdle()
    let delivered: readonly FullSchedule[] | null
    try {
      delivered = await agent.runMaintenance(() => this.#deliver())
    } catch (error) {
      if (isErrorOf(AgentError, error, 'BUSY')) return this.#lookWhenIdle()
      if (isErrorOf(AgentError, error, 'DISPOSED')) return
      throw error
    }
    if (delivered === null) return
    this.#parts.onDidChange()
    if (delivered.length > 0) this.#parts.onDidDeliver(delivered)
    try {
      await agent.session.flush()
    } catch (error) {
      logger.warn('A reminder was delivered and the log cannot say so yet.', { session: agent.id, error: String(error) })
      return
    }
    this.look()
  }

  /** In the idle agent: what is due by now, first things first. Gives what was delivered, null when nothing more is to be tried now. */
  async #deliver(): Promise<readonly FullSchedule[] | null> {
    const { agent, clock, logger } = this.#parts
    const now = clock.now()
    const due = this.state.entries.filter((entry) => isDue(entry, now))
    // Something may have fallen due since.
    await this.#judge(due, now)
    const missed = due.filter((entry) => this.#firstSeen.get(entry.schedule.id)?.isMissed === true)
    const chosen = missed.length > 0 ? [] : firstDue(due, now)
    const endings = await Promise.all([...missed.map((entry) => endingOf(entry, 'skip', now)), ...chosen.map((entry) => endingOf(entry, 'dispatch', now))])
    if (endings.length === 0) return null
    if (chosen.length > 0) {
      try {
        const occurrences = await Promise.all(chosen.map((entry) => occurrenceOf(entry, now)))
        agent.followup(this.#framed(chosen, occurrences))
      } catch (error) {
        // Nothing was queued: it stays overdue until something else happens here.
        logger.warn('A reminder could not be delivered yet.', { session: agent.id, error: String(error) })
        return null
      }
    }
    try {
      for (const ending of endings) agent.session.append(ending)
    } catch (error) {
      this.#fault('A reminder was queued and the log took no note of it; no more are delivered here.', error)
      return null
    }
    return chosen.map(({ schedule }) => schedule)
  }

  #framed(chosen: readonly ScheduleEntry[], occurrences: readonly Parameters<typeof reminderMessage>[1][]): UserMessage {
    const [first] = chosen
    const [occurrence] = occurrences
    if (first === undefined || occurrence === undefined) throw new RangeError('A delivery without a reminder.')
    const id = this.#parts.newId()
    if (first.schedule.action === 'do') return taskMessage(id, occurrence)
    return isRecurring(first.schedule) ? batchMessage(id, occurrences) : reminderMessage(id, occurrence)
  }

  /** What is not to be caught up with is judged when it is first seen due, so that a wait for an agent at work does not count. */
  async #judge(due: readonly ScheduleEntry[], now: number): Promise<void> {
    for (const entry of due) {
      const { id, catchUp } = entry.schedule
      const target = targetOf(entry) ?? now
      if (this.#firstSeen.get(id)?.target === target) continue
      const isLate = catchUp === 'skip' && entry.instead === null && now - msOf((await occurrenceOf(entry, now)).at) > MISSED_AFTER_MS
      this.#firstSeen.set(id, { target, isMissed: isLate })
    }
  }

  #arm(): void {
    this.#stopTimer?.()
    this.#stopTimer = null
    if (this.#isDisposed || this.#isFaulted) return
    const { clock } = this.#parts
    const now = clock.now()
    const target = nextTarget(this.state, now)
    if (target !== null) this.#stopTimer = clock.schedule(Math.min(target - now, LONGEST_TIMER_MS), () => this.look())
  }

  #lookWhenIdle(): void {
    if (this.#waitsForIdle) return
    this.#waitsForIdle = true
    void this.#parts.agent.whenIdle().then(() => {
      this.#waitsForIdle = false
      this.look()
    })
  }

  #mayDeliver(): boolean {
    const { agent, mayDeliver } = this.#parts
    return !agent.isDisposed && agent.session.access === 'write' && mayDeliver()
  }

  #fault(message: string, error: unknown): void {
    this.#isFaulted = true
    this.#stopTimer?.()
    this.#stopTimer = null
    this.#parts.logger.error(message, { session: this.#parts.agent.id, error: messageOf(error) })
    this.#parts.onDidChange()
  }

  // How it is written

  /** A change of the log between two flushes; `make` appends it and names what it changed, or says why not. */
  #change(of: { readonly operation: 'create' | 'change'; readonly id?: string; readonly signal: AbortSignal }, make: (state: ScheduleState) => Promise<string | ScheduleFailure>): Promise<ScheduleView | ScheduleFailure> {
    return this.#enqueue(of.operation, of.signal, async () => {
      const state = await this.#readable(of.operation, of.id)
      if ('code' in state) return state
      const id = await make(state)
      if (typeof id !== 'string') return id
      const uncertain = await this.#stored(of.operation, id)
      if (uncertain !== null) return uncertain
      const entry = entryOf(this.state, id)
      return entry === undefined ? failure('internal_error', `${id} was written and is not there.`) : viewOf(entry, this.#parts.clock.now())
    })
  }

  /** The state, once all of it is on the disk. */
  async #readable(operation: NonNullable<ScheduleFailure['operation']>, id?: string): Promise<ScheduleState | ScheduleFailure> {
    const { session } = this.#parts.agent
    if (session.access !== 'write') return uncertain(operation, id, 'another window writes this session')
    try {
      await session.flush()
    } catch (error) {
      return uncertain(operation, id, messageOf(error))
    }
    const { state } = this
    return state.problem === null ? state : failure('corrupt_schedule_log', `The reminders of this session cannot be read: ${state.problem}. Go on in a fork, which begins without them.`)
  }

  /** Null once what was appended is on the disk. */
  async #stored(operation: NonNullable<ScheduleFailure['operation']>, id: string): Promise<ScheduleFailure | null> {
    this.#parts.onDidChange()
    this.look()
    try {
      await this.#parts.agent.session.flush()
      return null
    } catch (error) {
      return uncertain(operation, id, messageOf(error))
    }
  }

  async #enqueue<T>(operation: NonNullable<ScheduleFailure['operation']>, signal: AbortSignal, work: () => Promise<T | ScheduleFailure>): Promise<T | ScheduleFailure> {
    return this.#inTurn(async () => {
      signal.throwIfAborted()
      try {
        return await work()
      } catch (error) {
        signal.throwIfAborted()
        this.#parts.logger.error('A reminder could not be changed.', { session: this.#parts.agent.id, operation, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
        return failure('internal_error', `The reminder could not be changed: ${messageOf(error)}`)
      }
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work)
    this.#tail = result.then(
      () => undefined,
      () => undefined,
    )
    return result
  }
}

/** What the person does is not cut off. */
const never = new AbortController().signal

const entryOf = ({ entries }: ScheduleState, id: string): ScheduleEntry | undefined => entries.find(({ schedule }) => schedule.id === id)

const uncertain = (operation: NonNullable<ScheduleFailure['operation']>, id: string | undefined, why: string): ScheduleFailure =>
  failure('persistence_uncertain', `It is not known whether this is on the disk (${why}). List the reminders before you try again.`, { operation, ...(id !== undefined && { id }) })

/** The adjustments that a person can make. Each is asked with the entry and the time, and may refuse. */
export const adjustments = {
  pause: () => async ({ schedule: { id }, isPaused }: ScheduleEntry) => (isPaused ? failure('invalid_rule', 'It is paused already.') : ({ version: 1, operation: 'pause', id } as const)),
  /** What a pause went over is left out of what recurs; what comes once is due when its time is over. */
  resume: () => async (entry: ScheduleEntry, nowMs: number) => {
    const { schedule, isPaused } = entry
    if (!isPaused) return failure('invalid_rule', 'It is not paused.')
    const next = isRecurring(schedule) && msOf(schedule.scheduledAt) <= nowMs ? await slotAfter(schedule, nowMs) : schedule.scheduledAt
    return next === null ? failure('invalid_rule', 'It never comes again. Delete it.') : ({ version: 1, operation: 'resume', id: schedule.id, next } as const)
  },
  snooze: (untilMs: number) => async ({ schedule: { id }, isPaused }: ScheduleEntry, nowMs: number) => {
    const until = instantFrom(untilMs)
    if (isPaused) return failure('invalid_rule', 'It is paused. Resume it first.')
    if (until === null) return failure('time_out_of_range', 'The time lies outside of the years 0001 to 9999.')
    return untilMs <= nowMs ? failure('not_future', 'A reminder is put off to a time that is still to come.') : ({ version: 1, operation: 'snooze', id, until } as const)
  },
  run: () => async ({ schedule: { id } }: ScheduleEntry, nowMs: number) => {
    const until = instantFrom(nowMs)
    return until === null ? failure('time_out_of_range', 'The clock is outside of the years 0001 to 9999.') : ({ version: 1, operation: 'run', id, until } as const)
  },
  edit: ({ prompt, when }: ScheduleEdit) => async ({ schedule, isPlain }: ScheduleEntry, nowMs: number): Promise<ScheduleAdjustment | ScheduleFailure> => {
    const text = (prompt ?? schedule.prompt).trim()
    if (text === '' || text.length > MAX_PROMPT_CHARS) return failure('invalid_prompt', `A reminder says something, in at most ${MAX_PROMPT_CHARS} characters.`)
    const edited = (next: FullSchedule): ScheduleAdjustment => ({ version: 1, operation: 'edit', id: schedule.id, schedule: next })
    if (when === undefined) return edited({ ...schedule, prompt: text })
    if (isRecurring(schedule) === 'atMs' in when) return failure('invalid_rule', 'What comes once stays so, and what recurs. Make a new reminder instead.')
    if (isPlain && 'rule' in when) return failure('invalid_rule', 'This reminder comes every so many seconds. Make a new one with a calendar rule instead.')
    const selector = 'atMs' in when ? ({ kind: 'at', at: new Date(when.atMs).toISOString() } as const) : 'rule' in when ? ({ kind: 'calendar', ...when } as const) : ({ kind: 'every', seconds: when.everySeconds } as const)
    const { action, catchUp, id } = schedule
    const next = await scheduleFrom({ prompt: text, selector, action, catchUp }, id, nowMs)
    return 'code' in next ? next : edited(next)
  },
}
