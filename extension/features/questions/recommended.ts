import { recommendation } from '../../base/recommendation.ts'
import type { Answer, Question } from './service.ts'

/**
 * The answers that can stand in for a person who is not there: the options that say they are recommended, else the first of each.
 * Undefined where a question offers none, or decides on something that only a person may, such as a plan.
 */
export function recommended(questions: readonly Question[]): readonly Answer[] | undefined {
  if (questions.some(({ intent, options = [] }) => intent !== undefined || options.length === 0)) return undefined
  return questions.map(({ id, options = [], multi_select: isMultiSelect = false }) => {
    const labels = options.map(({ label }) => label).filter((label) => recommendation(label).isRecommended)
    return { id, selected: labels.length === 0 ? [options[0]!.label] : isMultiSelect ? labels : [labels[0]!] }
  })
}
