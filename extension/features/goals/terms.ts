import { GoalError } from './error.ts'
import { NO_NEW_ERRORS, type BlockedReason, type GoalTerms } from './events.ts'
import type { GoalUse } from './service.ts'

export const MAX_CHECKS = 20
/** UTF-16 units. */
export const MAX_CHECK_CHARS = 4_000

/**
 * The terms as they are kept: no blank or repeated check, no key without a value.
 *
 * Errors: `GoalError` `GOAL_INVALID_TERMS`.
 */
export function checkTerms({ maxTokens, maxCost, maxMinutes, checks }: GoalTerms, { knowsErrors }: { readonly knowsErrors: boolean }): GoalTerms {
  if (maxTokens !== undefined && (!Number.isSafeInteger(maxTokens) || maxTokens < 1)) throw invalid(`A budget of tokens is a whole number from 1, not ${maxTokens}.`)
  if (maxCost !== undefined && !(Number.isFinite(maxCost) && maxCost > 0)) throw invalid(`A budget of money is dollars above 0, not ${maxCost}.`)
  if (maxMinutes !== undefined && !(Number.isFinite(maxMinutes) && maxMinutes > 0)) throw invalid(`A budget of time is minutes above 0, not ${maxMinutes}.`)
  const kept = [...new Set(checks.map((check) => check.trim()).filter((check) => check !== ''))]
  if (kept.length > MAX_CHECKS) throw invalid(`A goal has at most ${MAX_CHECKS} checks, not ${kept.length}. Put several commands into one script.`)
  if (kept.some((check) => check.length > MAX_CHECK_CHARS)) throw invalid(`A check has at most ${MAX_CHECK_CHARS} characters. Put a longer one into a script.`)
  if (kept.includes(NO_NEW_ERRORS) && !knowsErrors) throw invalid(`The check ${NO_NEW_ERRORS} needs an editor with language services, and there is none here. Give a command that finds errors in its place.`)
  return { ...(maxTokens !== undefined && { maxTokens }), ...(maxCost !== undefined && { maxCost }), ...(maxMinutes !== undefined && { maxMinutes }), checks: kept }
}

const invalid = (message: string) => new GoalError('GOAL_INVALID_TERMS', message)

export type LimitCode = 'token-limit' | 'cost-limit' | 'time-limit'

/** The budget that is used up, or null. Source: agent tools specification 12.1. */
export function usedUp(terms: GoalTerms, used: GoalUse): (BlockedReason & { readonly code: LimitCode }) | null {
  const { maxTokens, maxCost, maxMinutes } = terms
  if (maxTokens !== undefined && used.tokens >= maxTokens) return { code: 'token-limit', message: `The goal has used ${count(used.tokens)} of its ${count(maxTokens)} tokens.` }
  if (maxCost !== undefined && used.amount >= maxCost) return { code: 'cost-limit', message: `The goal has cost $${used.amount.toFixed(2)} of its $${maxCost.toFixed(2)}.` }
  if (maxMinutes !== undefined && used.minutes >= maxMinutes) return { code: 'time-limit', message: `The goal has worked ${count(Math.floor(used.minutes))} of its ${count(maxMinutes)} minutes.` }
  return null
}

export const isLimit = (code: string | undefined): code is LimitCode => code === 'token-limit' || code === 'cost-limit' || code === 'time-limit'

/** The terms with as much again of what ran out, counted from what is used. */
export function extended(terms: GoalTerms, code: LimitCode, used: GoalUse): GoalTerms {
  const { maxTokens = 0, maxCost = 0, maxMinutes = 0 } = terms
  switch (code) {
    case 'token-limit':
      return { ...terms, maxTokens: Math.ceil(Math.max(maxTokens, used.tokens) + maxTokens) }
    case 'cost-limit':
      return { ...terms, maxCost: Math.ceil((Math.max(maxCost, used.amount) + maxCost) * 100) / 100 }
    case 'time-limit':
      return { ...terms, maxMinutes: Math.ceil(Math.max(maxMinutes, used.minutes) + maxMinutes) }
  }
}

const count = (value: number): string => value.toLocaleString('en-US')
