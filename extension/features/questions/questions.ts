import { Emitter } from '../../base/emitter.ts'
import type { Undo } from '../../base/undo.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { EventDraft, EventMap } from '../../core/log/event.ts'
import type { UserMessage } from '../../core/log/message.ts'
import { noticeMessage } from '../../core/log/notice.ts'
import type { Agent } from '../../core/session/agent.ts'
import { problemOfAnswers } from './check-answers.ts'
import { QuestionError } from './error.ts'
import type { Answer, PendingQuestions, Question, Questions } from './service.ts'

type Outcome = readonly Answer[] | QuestionError

interface Waiting extends PendingQuestions {
  readonly settle: (outcome: Outcome) => void
  /** The surface or the agent goes; the question itself stands open in the log. */
  readonly withdraw: () => void
}

export interface QuestionDesk extends Questions {
  /** Ask again what the log of a resumed session says is open; answers come as a message of their own. */
  restore(agent: Agent): void
  /** Withdraw what waits for an agent that goes; its log keeps it open. */
  withdraw(agent: Agent): void
  /** Withdraw everything. */
  dispose(): void
}

export interface QuestionDeskNeeds {
  readonly liveAgent: (id: string) => Agent | undefined
  readonly newId: () => string
  readonly logger: Logger
}

/**
 * Holds what waits for the person, until the first valid answer, a close, or the end of the turn.
 *
 * Each set is logged when it is asked and when it is settled, so one that a closing window cut off is asked again.
 * Source: agent tools specification 3; the checks of `ask` run in the order of that chapter.
 */
export function createQuestions({ liveAgent, newId, logger }: QuestionDeskNeeds): QuestionDesk {
  const waiting = new Map<string, Waiting>()
  const changes = new Emitter<void>((error) => logger.error('A listener of the questions failed.', { error: String(error) }))
  let hasProvider = false

  const put = (set: PendingQuestions, onSettle: (outcome: Outcome) => void) => {
    const end = (outcome: Outcome, before: () => void) => {
      if (!waiting.delete(set.id)) return
      before()
      onSettle(outcome)
      changes.emit()
    }
    const settle = (outcome: Outcome) => end(outcome, () => logSettled(set, outcome))
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
  const logSettled = ({ id, agent }: PendingQuestions, outcome: Outcome) => {
    // The stop that comes with a closing window leaves the question open.
    if (agent.isDisposed) return
    const word = !(outcome instanceof QuestionError) ? 'answered' : outcome.code === 'ASK_CANCELLED' ? 'closed' : 'interrupted'
    append(agent, { type: 'question/settled', data: { id, outcome: word }, ignorable: true })
  }

  return {
    async ask({ agent, callId, questions, signal }) {
      if (signal.aborted) throw interrupted()
      if (questions.length === 0) throw new QuestionError('EMPTY_QUESTIONS', 'There is no question to ask. Give at least one.')
      if (liveAgent(agent.id) !== agent) throw new QuestionError('CALLER_NOT_LIVE', 'The session that asks is not live any more.')
      if (agent.owner !== undefined)
        throw new QuestionError('DELEGATED_CALLER', 'A child agent cannot ask the person. Put the open question into your final result instead.')
      if (!hasProvider) throw new QuestionError('NO_PROVIDER', 'Nobody can be asked here. Decide yourself and say what you assumed.')
      const set: PendingQuestions = { id: newId(), agent, ...(callId !== undefined && { callId }), questions }
      const { promise, resolve, reject } = Promise.withResolvers<readonly Answer[]>()
      append(agent, { type: 'question/asked', data: { id: set.id, ...(callId !== undefined && { callId }), questions }, ignorable: true })
      const settle = put(set, (outcome) => (outcome instanceof QuestionError ? reject(outcome) : resolve(outcome)))
      const onAbort = () => settle(interrupted())
      signal.addEventListener('abort', onAbort)
      // Whoever heard of the question may have stopped the turn at once.
      if (signal.aborted) onAbort()
      try {
        return await promise
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    },

    pending: () => [...waiting.values()].map(({ settle: _settle, withdraw: _withdraw, ...pending }) => pending),

    answer(id, answers) {
      const set = waiting.get(id)
      if (set === undefined) return { ok: false, problem: 'This question is not pending any more: it was answered elsewhere or its turn ended.' }
      if (answers === null) {
        set.settle(new QuestionError('ASK_CANCELLED', 'The person closed the questions without answering. Go on without an answer, or ask in plain text.'))
        return { ok: true }
      }
      const problem = problemOfAnswers(set.questions, answers)
      if (problem !== undefined) return { ok: false, problem }
      set.settle(answers)
      return { ok: true }
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
      for (const { id, callId, questions } of openQuestions(agent)) {
        if (waiting.has(id)) continue
        put({ id, agent, ...(callId !== undefined && { callId }), questions }, (outcome) => {
          if (!(outcome instanceof QuestionError) && !agent.isDisposed) agent.followup(lateAnswer(newId(), questions, outcome))
        })
      }
    },

    withdraw: (agent) => withdrawAll((set) => set.agent === agent),
    dispose: () => withdrawAll(() => true),
  }
}

function openQuestions(agent: Agent): readonly EventMap['question/asked'][] {
  const open = new Map<string, EventMap['question/asked']>()
  for (const { type, data } of agent.session.events()) {
    if (type === 'question/asked') open.set(data.id, data)
    else if (type === 'question/settled') open.delete(data.id)
  }
  return [...open.values()]
}

const lateAnswer = (id: string, questions: readonly Question[], answers: readonly Answer[]): UserMessage =>
  noticeMessage({
    id,
    plugin: 'questions',
    text: `The person now answered what you had asked before the window closed.\n${JSON.stringify({ questions: questions.map(({ id, question }) => ({ id, question })), answers })}`,
    summary: 'Answers to questions from before the window closed',
  })

const interrupted = () => new QuestionError('ASK_ABORTED', 'The questions were interrupted before the person answered.')
