import { Emitter } from '../../base/emitter.ts'
import type { Undo } from '../../base/undo.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { EventDraft } from '../../core/log/event.ts'
import type { UserMessage } from '../../core/log/message.ts'
import { noticeMessage } from '../../core/log/notice.ts'
import type { Agent } from '../../core/session/agent.ts'
import { problemOfAnswers } from './check-answers.ts'
import { recommended } from './recommended.ts'
import { problemOfIntent } from './check-intent.ts'
import { QuestionError } from './error.ts'
import { loggedQuestions, type LoggedQuestions } from './logged-questions.ts'
import type { Answer, PendingQuestions, Question, Questions } from './service.ts'

type Outcome = { readonly answers: readonly Answer[]; readonly contexts: readonly UserMessage[] } | QuestionError

interface Waiting extends PendingQuestions {
  readonly settle: (outcome: Outcome) => void
  /** The surface or the agent goes; the question itself stands open in the log. */
  readonly withdraw: () => void
}

export interface QuestionDesk extends Questions {
  /**
   * Hold what the log of a resumed session says is open for the calls that ask it again. What no call asks again is asked
   * here, and its answers come as a message of their own.
   */
  restore(agent: Agent): void
  /** The call has its result: what was held for it and not asked again is done with. `isLost`: the call did not run again. */
  callEnded(agent: Agent, callId: string, isLost: boolean): void
  /** Withdraw what waits for an agent that goes; its log keeps it open. */
  withdraw(agent: Agent): void
  /** Withdraw everything. */
  dispose(): void
}

export interface QuestionDeskNeeds {
  readonly liveAgent: (id: string) => Agent | undefined
  readonly newId: () => string
  readonly logger: Logger
  readonly clock: Pick<Clock, 'now' | 'schedule'>
  /** How long a question waits before its recommended options are taken; 0: for good. */
  readonly timeOutMs: () => number
}

/**
 * Holds what waits for the person, until the first valid answer, a close, or the end of the turn.
 *
 * Each set is logged when it is asked and when it is settled, so one that a closing window cut off is asked again.
 * Source: agent tools specification 3; the checks of `ask` run in the order of that chapter.
 */
export function createQuestions({ liveAgent, newId, logger, clock, timeOutMs }: QuestionDeskNeeds): QuestionDesk {
  const waiting = new Map<string, Waiting>()
  /** Of resumed sessions, until their calls ask again. */
  const held = new Map<Agent, LoggedQuestions[]>()
  const changes = new Emitter<void>((error) => logger.error('A listener of the questions failed.', { error: String(error) }))
  let hasProvider = false

  /** Ends the wait for a time-out, by set. */
  const timers = new Map<string, Undo>()

  const put = (asked: PendingQuestions, onSettle: (outcome: Outcome) => void) => {
    const defaults = asked.server === undefined ? recommended(asked.questions) : undefined
    const delayMs = defaults === undefined ? 0 : timeOutMs()
    const set: PendingQuestions = { ...asked, ...(delayMs > 0 && { answersAt: clock.now() + delayMs }) }
    const end = (outcome: Outcome, before: () => void) => {
      if (!waiting.delete(set.id)) return
      timers.get(set.id)?.()
      timers.delete(set.id)
      before()
      onSettle(outcome)
      changes.emit()
    }
    const settle = (outcome: Outcome) => end(outcome, () => logSettled(set, outcome))
    if (defaults !== undefined && delayMs > 0) timers.set(set.id, clock.schedule(delayMs, () => settle({ answers: defaults, contexts: [nobodyAnswered(newId(), delayMs)] })))
    waiting.set(set.id, { ...set, settle, withdraw: () => end(interrupted(), () => {}) })
    changes.emit()
    return settle
  }
  const withdrawAll = (isMeant: (set: Waiting) => boolean) => {
    for (const set of [...waiting.values()]) if (isMeant(set)) set.withdraw()
  }
  const append = (agent: Agent, event: EventDraft<'question/asked' | 'question/settled'>) => {
    try {
      agent.session.append(event)
    } catch (error) {
      logger.warn('A question could not be written into its session’s log; a reload would lose it.', { error: String(error) })
    }
  }
  const logSettled = ({ id, agent, server }: PendingQuestions, outcome: Outcome) => {
    // The stop that comes with a closing window leaves the question open.
    if (agent.isDisposed) return
    const word = !(outcome instanceof QuestionError) ? 'answered' : outcome.code === 'ASK_CANCELLED' ? 'closed' : 'interrupted'
    append(agent, { type: 'question/settled', data: { id, outcome: word, ...(!(outcome instanceof QuestionError) && server === undefined && { answers: outcome.answers }) }, ignorable: true })
  }
  const askAgain = (agent: Agent, { id, callId, questions }: LoggedQuestions) =>
    put({ id, agent, ...(callId !== undefined && { callId }), questions }, (outcome) => {
      if (outcome instanceof QuestionError || agent.isDisposed) return
      for (const context of outcome.contexts) agent.inject(context)
      agent.followup(lateAnswer(newId(), questions, outcome.answers))
    })
  const takeHeld = (agent: Agent, isMeant: (set: LoggedQuestions) => boolean): readonly LoggedQuestions[] => {
    const sets = held.get(agent) ?? []
    const taken = sets.filter(isMeant)
    if (taken.length > 0) held.set(agent, sets.filter((set) => !taken.includes(set)))
    return taken
  }

  return {
    async ask({ agent, callId, server, questions, signal, addContext }) {
      if (signal.aborted) throw interrupted()
      if (questions.length === 0) throw new QuestionError('EMPTY_QUESTIONS', 'There is no question to ask. Give at least one.')
      if (liveAgent(agent.id) !== agent) throw new QuestionError('CALLER_NOT_LIVE', 'The session that asks is not live any more.')
      if (agent.owner !== undefined)
        throw new QuestionError('DELEGATED_CALLER', 'A child agent cannot ask the person. Put the open question into your final result instead.')
      const badIntent = questions.map(problemOfIntent).find((problem) => problem !== undefined)
      if (badIntent !== undefined) throw new QuestionError('BAD_INTENT', badIntent)
      if (!hasProvider) throw new QuestionError('NO_PROVIDER', 'Nobody can be asked here. Decide yourself and say what you assumed.')
      const [before] = takeHeld(agent, (one) => one.callId === callId && JSON.stringify(one.questions) === JSON.stringify(questions))
      if (before?.answers !== undefined) return before.answers
      // A copy of a session was asked under the same id; whoever answers must mean one of them.
      const isKept = before !== undefined && !waiting.has(before.id)
      const set: PendingQuestions = { id: isKept ? before.id : newId(), agent, ...(callId !== undefined && { callId }), ...(server !== undefined && { server }), questions }
      const { promise, resolve, reject } = Promise.withResolvers<Exclude<Outcome, QuestionError>>()
      if (!isKept) append(agent, { type: 'question/asked', data: { id: set.id, ...(callId !== undefined && { callId }), ...(server !== undefined && { server }), questions }, ignorable: true })
      const settle = put(set, (outcome) => (outcome instanceof QuestionError ? reject(outcome) : resolve(outcome)))
      const onAbort = () => settle(interrupted())
      signal.addEventListener('abort', onAbort)
      // Whoever heard of the question may have stopped the turn at once.
      if (signal.aborted) onAbort()
      try {
        const { answers, contexts } = await promise
        for (const context of contexts) addContext?.(context)
        return answers
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    },

    pending: () => [...waiting.values()].map(({ settle: _settle, withdraw: _withdraw, ...pending }) => pending),

    answer(id, answers, contexts = []) {
      const set = waiting.get(id)
      if (set === undefined) return { ok: false, problem: 'This question is not pending any more: it was answered elsewhere or its turn ended.' }
      if (answers === null) {
        set.settle(new QuestionError('ASK_CANCELLED', 'The person closed the questions without answering. Go on without an answer, or ask in plain text.'))
        return { ok: true }
      }
      const problem = problemOfAnswers(set.questions, answers)
      if (problem !== undefined) return { ok: false, problem }
      set.settle({ answers, contexts })
      return { ok: true }
    },

    touch(id) {
      const set = waiting.get(id)
      const undo = timers.get(id)
      if (set === undefined || undo === undefined) return
      undo()
      timers.delete(id)
      const { answersAt: _answersAt, ...rest } = set
      waiting.set(id, rest)
      changes.emit()
    },

    onDidChange: (listener) => changes.listen(listener),

    attach(): Undo {
      if (hasProvider) throw new QuestionError('DUPLICATE_PROVIDER', 'Questions are answered by one surface only, and one is attached already.')
      hasProvider = true
      let isAttached = true
      return () => {
        if (!isAttached) return
        isAttached = false
        hasProvider = false
        withdrawAll(() => true)
      }
    },

    restore(agent) {
      for (const set of loggedQuestions(agent)) {
        if (waiting.has(set.id) || held.get(agent)?.some(({ id }) => id === set.id) === true) continue
        // Whoever asked from outside went with the window.
        if (set.server !== undefined) queueMicrotask(() => logSettled({ ...set, agent }, interrupted()))
        else if (set.isOfOpenCall) held.set(agent, [...(held.get(agent) ?? []), set])
        else askAgain(agent, set)
      }
    },

    callEnded(agent, callId, isLost) {
      for (const set of takeHeld(agent, (one) => one.callId === callId)) {
        if (set.answers !== undefined) continue
        if (isLost) askAgain(agent, set)
        // Not at once: whoever tells of the result stands inside the log.
        else queueMicrotask(() => logSettled({ ...set, agent }, interrupted()))
      }
    },

    withdraw(agent) {
      held.delete(agent)
      withdrawAll((set) => set.agent === agent)
    },
    dispose: () => withdrawAll(() => true),
  }
}

const lateAnswer = (id: string, questions: readonly Question[], answers: readonly Answer[]): UserMessage =>
  noticeMessage({
    id,
    plugin: 'questions',
    text: `The person now answered what you had asked before the window closed.\n${JSON.stringify({ questions: questions.map(({ id, question }) => ({ id, question })), answers })}`,
    summary: 'Answers to questions from before the window closed',
  })

/** Nobody was there: the model is to know that no person chose this. */
const nobodyAnswered = (id: string, delayMs: number): UserMessage =>
  noticeMessage({
    id,
    plugin: 'questions',
    text: `Nobody answered within ${Math.round(delayMs / 1_000)} s, so the recommended options were taken. The person may still decide otherwise.`,
    summary: 'Nobody answered in time: the recommended options were taken',
  })

const interrupted = () => new QuestionError('ASK_ABORTED', 'The questions were interrupted before the person answered.')
