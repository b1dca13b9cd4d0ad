import type { QuestionSetView } from '../../extension/protocol/view-state.ts'
import type { Answers } from '../actions/chat-actions.ts'

export type Question = QuestionSetView['questions'][number]

/** What is filled in for one question. `isSkipped` was said by the person; an untouched one is neither answered nor skipped. */
export interface FilledAnswer {
  readonly selected: readonly string[]
  readonly custom: string
  readonly isSkipped: boolean
}

export const emptyAnswer: FilledAnswer = { selected: [], custom: '', isSkipped: false }

export const isAnswered = ({ selected, custom }: FilledAnswer): boolean => selected.length > 0 || custom.trim() !== ''

export const isSettled = (answer: FilledAnswer): boolean => answer.isSkipped || isAnswered(answer)

/** Pick an option: the one and only of a single choice, one more or one fewer of several. */
export function withChoice(question: Question, answer: FilledAnswer, label: string): FilledAnswer {
  if (!question.isMultiSelect) return { selected: [label], custom: '', isSkipped: false }
  const isChosen = answer.selected.includes(label)
  // In the order of the options, however they were ticked.
  const selected = question.options.map((option) => option.label).filter((option) => (option === label ? !isChosen : answer.selected.includes(option)))
  return { ...answer, selected, isSkipped: false }
}

/** Own words: beside the ticks of a multiple choice, in the place of a single one. */
export const withWords = (question: Question, answer: FilledAnswer, custom: string): FilledAnswer => ({
  selected: question.isMultiSelect || custom.trim() === '' ? answer.selected : [],
  custom,
  isSkipped: false,
})

/** The answers as the host wants them: in the order of the questions, a skipped one without any choice. */
export const answersOf = (questions: readonly Question[], filled: readonly FilledAnswer[]): Answers =>
  questions.map(({ id }, index) => {
    const { selected, custom, isSkipped } = filled[index] ?? emptyAnswer
    if (isSkipped) return { id, selected: [] }
    return custom.trim() === '' ? { id, selected } : { id, selected, custom: custom.trim() }
  })

/** The next question that is neither answered nor skipped, from `after` on and around; -1 when there is none. */
export function nextOpen(filled: readonly FilledAnswer[], after: number): number {
  for (let step = 1; step <= filled.length; step += 1) {
    const index = (after + step) % filled.length
    if (!isSettled(filled[index]!)) return index
  }
  return -1
}
