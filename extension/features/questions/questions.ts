import { Emitter } from '../../base/emitter.ts'
import type { Undo } from '../../base/undo.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Agent } from '../../core/session/agent.ts'
import { problemOfAnswers } from './check-answers.ts'
import { QuestionError } from './error.ts'
import type { Answer, PendingQuestions, Questions } from './service.ts'

interface Waiting extends PendingQuestions {
  readonly settle: (outcome: readonly Answer[] | QuestionError) => void
}

/**
 * Holds what waits for the person, until the first valid answer, a close, or the end of the turn.
 *
 * Source: agent tools specification 3; the checks of `ask` run in the order of that chapter.
 */
export function createQuestions(needs: {
  readonly liveAgent: (id: string) => Agent | undefined
  readonly newId: () => string
  readonly logger: Logger
}): Questions & { readonly dispose: () => void } {
  const waiting = new Map<string, Waiting>()
  const changes = new Emitter<void>((error) => needs.logger.error('A listener of the questions failed.', { error: String(error) }))
  let hasProvider = false

  const remove = (id: string) => {
    if (waiting.delete(id)) changes.emit()
  }
  const closeAll = (error: QuestionError) => {
    for (const { settle } of [...waiting.values()]) settle(error)
  }

  return {
    async ask({ agent, callId, questions, signal }) {
      if (signal.aborted) throw interrupted()
      if (questions.length === 0) throw new QuestionError('EMPTY_QUESTIONS', 'There is no question to ask. Give at least one.')
      if (needs.liveAgent(agent.id) !== agent) throw new QuestionError('CALLER_NOT_LIVE', 'The session that asks is not live any more.')
      if (agent.owner !== undefined)
        throw new QuestionError('DELEGATED_CALLER', 'A child agent cannot ask the person. Put the open question into your final result instead.')
      if (!hasProvider) throw new QuestionError('NO_PROVIDER', 'Nobody can be asked here. Decide yourself and say what you assumed.')
      const id = needs.newId()
      return new Promise<readonly Answer[]>((resolve, reject) => {
        const onAbort = () => settle(interrupted())
        const settle = (outcome: readonly Answer[] | QuestionError) => {
          signal.removeEventListener('abort', onAbort)
          remove(id)
          if (outcome instanceof QuestionError) reject(outcome)
          else resolve(outcome)
        }
        signal.addEventListener('abort', onAbort)
        waiting.set(id, { id, agent, ...(callId !== undefined && { callId }), questions, settle })
        changes.emit()
      })
    },

    pending: () => [...waiting.values()].map(({ settle: _settle, ...pending }) => pending),

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
        closeAll(interrupted())
      }
    },

    dispose: () => closeAll(interrupted()),
  }
}

const interrupted = () => new QuestionError('ASK_ABORTED', 'The questions were interrupted before the person answered.')
