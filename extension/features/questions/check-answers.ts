import type { Answer, Question } from './service.ts'

/** What is wrong with `answers` to `questions`, in words for the person; undefined when they are fine. */
export function problemOfAnswers(questions: readonly Question[], answers: readonly Answer[]): string | undefined {
  if (answers.length !== questions.length) return `There are ${questions.length} questions, but ${answers.length} answers came.`
  for (const [index, question] of questions.entries()) {
    const problem = problemOfAnswer(question, answers[index])
    if (problem !== undefined) return `Answer ${index + 1} (“${question.question}”): ${problem}`
  }
  return undefined
}

function problemOfAnswer(question: Question, answer: Answer | undefined): string | undefined {
  if (answer?.id !== question.id) return `it answers “${answer?.id}”, but “${question.id}” was asked here.`
  const { selected, custom } = answer
  if (new Set(selected).size !== selected.length) return 'an option is chosen twice.'
  const offered = new Set(question.options?.map(({ label }) => label))
  const foreign = selected.find((label) => !offered.has(label))
  if (foreign !== undefined) return `“${foreign}” was not offered.`
  if (custom !== undefined && custom.trim() === '') return 'the text is empty; leave it out to skip the question.'
  if (question.multi_select === true) return undefined
  if (selected.length > 1) return 'only one option can be chosen.'
  if (selected.length === 1 && custom !== undefined) return 'choose an option or write a text, not both.'
  return undefined
}
