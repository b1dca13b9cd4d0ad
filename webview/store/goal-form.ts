import type { GoalForm } from '../../extension/protocol/messages.ts'
import type { GoalView } from '../../extension/protocol/view-state.ts'

/** The form of a goal as it is typed. */
export interface GoalDraft {
  readonly objective: string
  readonly maxRounds: string
  readonly maxTokens: string
  readonly maxCost: string
  readonly maxMinutes: string
  /** One command a line. */
  readonly checks: string
  readonly noNewErrors: boolean
}

const NO_NEW_ERRORS = 'no-new-errors'

export const emptyGoalDraft: GoalDraft = { objective: '', maxRounds: '', maxTokens: '', maxCost: '', maxMinutes: '', checks: '', noNewErrors: false }

export function draftOfGoal({ objective, maxRounds, maxTokens, maxCost, maxMinutes, checks }: GoalView): GoalDraft {
  const text = (value: number | null) => (value === null ? '' : String(value))
  return {
    objective,
    maxRounds: String(maxRounds),
    maxTokens: text(maxTokens),
    maxCost: text(maxCost),
    maxMinutes: text(maxMinutes),
    checks: checks.filter((check) => check !== NO_NEW_ERRORS).join('\n'),
    noNewErrors: checks.includes(NO_NEW_ERRORS),
  }
}

export type GoalField = keyof GoalDraft

/** What the form says, or the first field that cannot be what it says. */
export function goalFormOf(draft: GoalDraft): { readonly form: GoalForm } | { readonly bad: GoalField } {
  if (draft.objective.trim() === '') return { bad: 'objective' }
  const numbers = { maxRounds: wholeFrom(draft.maxRounds), maxTokens: wholeFrom(draft.maxTokens), maxCost: above(draft.maxCost), maxMinutes: above(draft.maxMinutes) }
  for (const field of ['maxRounds', 'maxTokens', 'maxCost', 'maxMinutes'] as const) if (numbers[field] === 'bad') return { bad: field }
  const checks = draft.checks.split('\n').map((line) => line.trim()).filter((line) => line !== '')
  // Those that are bad were told above.
  const good = numbers as { readonly [Field in keyof typeof numbers]: number | null }
  return { form: { objective: draft.objective.trim(), ...good, checks: [...checks, ...(draft.noNewErrors ? [NO_NEW_ERRORS] : [])] } }
}

/** Empty: none. Blanks and separators between digits are as people write them. */
function numberIn(text: string): number | null {
  const typed = text.replaceAll(/[\s_']/g, '')
  return typed === '' ? null : /^\d*[.,]?\d+$/.test(typed) ? Number(typed.replace(',', '.')) : Number.NaN
}

function wholeFrom(text: string): number | null | 'bad' {
  const value = numberIn(text)
  return value === null || (Number.isSafeInteger(value) && value >= 1) ? value : 'bad'
}

function above(text: string): number | null | 'bad' {
  const value = numberIn(text)
  return value === null || (Number.isFinite(value) && value > 0) ? value : 'bad'
}
