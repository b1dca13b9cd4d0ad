import { formatDollars } from '../base/money.ts'
import type { GoalStatus } from '../capabilities/editor.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { GoalState } from '../features/goals/service.ts'
import { isLimit } from '../features/goals/terms.ts'
import type { GoalView } from '../protocol/view-state.ts'

/** The goal as pages draw it. `nowMs`: what minutes are counted up to. */
export function goalView({ goal, activation, heldBy, used, maxTokens, maxCost, maxMinutes, checks, checked }: GoalState, { nowMs, canCheckErrors }: { readonly nowMs: number; readonly canCheckErrors: boolean }): GoalView {
  const { countsSince } = used
  return {
    id: goal.id,
    revision: goal.revision,
    objective: goal.objective,
    phase: goal.phase,
    isArmed: activation === 'armed',
    heldBy: heldBy === 'agents' ? 'agents' : heldBy === null ? null : 'trust',
    round: goal.roundsStarted,
    maxRounds: goal.maxGoalRounds,
    blocked: goal.blockedReason === undefined ? null : { message: goal.blockedReason.message, isLimit: isLimit(goal.blockedReason.code) },
    used: {
      tokens: used.tokens,
      amount: used.amount,
      isWhole: used.isWhole,
      minutes: countsSince === null ? used.minutes : used.minutes - Math.max(0, nowMs - countsSince) / 60_000,
      countsSince,
    },
    maxTokens: maxTokens ?? null,
    maxCost: maxCost ?? null,
    maxMinutes: maxMinutes ?? null,
    checks,
    canCheckErrors,
    results: checked,
  }
}

/** Where the goal stands, in a few words: an active one that waits for the person is told apart from one that goes on. */
function standingWords({ phase, isArmed, heldBy }: Pick<GoalView, 'phase' | 'isArmed' | 'heldBy'>, { t }: Localization): string {
  switch (phase) {
    case 'active':
      return !isArmed ? t('waits for you') : heldBy === 'trust' ? t('waits for trust') : heldBy === 'agents' ? t('waits for agents') : t('active')
    case 'paused':
      return t('paused')
    case 'blocked':
      return t('blocked')
    case 'complete':
      return t('complete')
  }
}

/** The item of the status bar; none without an unfinished goal. */
export function goalStatus(view: GoalView | null, l10n: Localization): GoalStatus | null {
  if (view === null || view.phase === 'complete') return null
  const { t } = l10n
  const standing = standingWords(view, l10n)
  return {
    text: [`$(target) ${standing} ${view.round}/${view.maxRounds}`, ...burnOf(view)].join(' '),
    heading: t('Goal: {objective}', { objective: view.objective.length > 400 ? `${view.objective.slice(0, 399)}…` : view.objective }),
    lines: [
      t('{standing}, round {round} of {max}', { standing, round: view.round, max: view.maxRounds }),
      ...(view.blocked === null ? [] : [view.blocked.message]),
      ...budgetLines(view, l10n),
    ],
    isWarning: view.phase === 'blocked',
  }
}

/** How far the budget is used that runs out first, in percent; nothing without one. */
function burnOf({ used, maxTokens, maxCost, maxMinutes }: GoalView): readonly string[] {
  const shares = [maxTokens === null ? 0 : used.tokens / maxTokens, maxCost === null ? 0 : used.amount / maxCost, maxMinutes === null ? 0 : used.minutes / maxMinutes]
  return maxTokens === null && maxCost === null && maxMinutes === null ? [] : [`${Math.floor(Math.max(...shares) * 100)}%`]
}

function budgetLines({ used, maxTokens, maxCost, maxMinutes }: GoalView, { t }: Localization): readonly string[] {
  const count = (value: number) => value.toLocaleString('en-US')
  return [
    ...(maxTokens === null ? [] : [t('{used} of {limit} tokens', { used: count(used.tokens), limit: count(maxTokens) })]),
    ...(maxCost === null ? [] : [t('{used} of {limit}', { used: formatDollars(used.amount), limit: formatDollars(maxCost) })]),
    ...(maxMinutes === null ? [] : [t('{used} of {limit} minutes', { used: count(Math.floor(used.minutes)), limit: count(maxMinutes) })]),
  ]
}
