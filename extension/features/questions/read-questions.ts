import { problemOfAnswers } from './check-answers.ts'
import { problemOfIntent } from './check-intent.ts'
import type { Answer, Question } from './service.ts'

/*
 * The log holds these to being lists; what stands in them may come from another build or a foreign hand. What cannot be read is not
 * asked, rather than breaking the window that opens the session.
 */

export const areQuestions = (list: readonly unknown[]): list is readonly Question[] => list.length > 0 && list.every(isQuestion)

/** Answers that the person could give to these questions. */
export const areAnswers = (questions: readonly Question[], list: readonly unknown[] | undefined): list is readonly Answer[] =>
  list !== undefined && list.every(isAnswer) && problemOfAnswers(questions, list) === undefined

function isQuestion(value: unknown): value is Question {
  if (!isRecord(value)) return false
  const { id, question, header, options, multi_select: isMultiSelect, detail, intent } = value
  const isShaped = typeof id === 'string' && typeof question === 'string' && [header, detail].every(isMaybe('string')) && isMaybe('boolean')(isMultiSelect)
  if (!isShaped || (options !== undefined && !(Array.isArray(options) && options.every(isOption)))) return false
  if (intent === undefined) return true
  // Checked just above, but for the intent, which is looked at here.
  return isRecord(intent) && intent['kind'] === 'plan-review' && problemOfIntent(value as unknown as Question) === undefined
}

const isOption = (value: unknown): boolean => isRecord(value) && typeof value['label'] === 'string' && isMaybe('string')(value['description'])

const isAnswer = (value: unknown): value is Answer =>
  isRecord(value) && typeof value['id'] === 'string' && Array.isArray(value['selected']) && value['selected'].every((label) => typeof label === 'string') && isMaybe('string')(value['custom'])

const isMaybe = (type: 'string' | 'boolean') => (value: unknown): boolean => value === undefined || typeof value === type

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value)
