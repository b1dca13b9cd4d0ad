import type { EventMap } from '../../core/log/event.ts'
import type { Agent } from '../../core/session/agent.ts'
import { areAnswers, areQuestions } from './read-questions.ts'
import type { Answer, Question } from './service.ts'

/** A set of questions that a resumed session still has to do with. */
export interface LoggedQuestions {
  readonly id: string
  readonly callId?: string
  readonly server?: string
  readonly questions: readonly Question[]
  /** What the person had answered when a crash kept the call from returning it. */
  readonly answers?: readonly Answer[]
  /** Its call has no result and may run again. */
  readonly isOfOpenCall: boolean
}

/** What the log says was asked and is not done with, oldest first. */
export function loggedQuestions({ session }: Agent): readonly LoggedQuestions[] {
  const { seedLength = 0 } = session.header
  const openCalls = new Set(session.openTurn()?.step?.unanswered.flatMap(({ callId, hasAsked }) => (hasAsked === true ? [callId] : [])))
  const asked = new Map<string, EventMap['question/asked']>()
  const answered = new Map<string, readonly Answer[]>()
  for (const { seq, type, data } of session.milestones()) {
    // What came with a fork or an import waits where it was asked, unless its call goes on here.
    const isOwn = seq >= seedLength || (type === 'question/asked' && data.callId !== undefined && openCalls.has(data.callId))
    if (type === 'question/asked' && isOwn && areQuestions(data.questions)) asked.set(data.id, data)
    if (type !== 'question/settled') continue
    const { questions, server } = asked.get(data.id) ?? {}
    // What a server was told is kept nowhere, so such an answer stands without its words.
    if (data.outcome !== 'answered' || server !== undefined) asked.delete(data.id)
    else if (questions !== undefined && areAnswers(questions, data.answers)) answered.set(data.id, data.answers)
  }
  return [...asked.values()].flatMap((set) => {
    const answers = answered.get(set.id)
    const isOfOpenCall = set.callId !== undefined && openCalls.has(set.callId)
    return answers !== undefined && !isOfOpenCall ? [] : [{ ...set, ...(answers !== undefined && { answers }), isOfOpenCall }]
  })
}
