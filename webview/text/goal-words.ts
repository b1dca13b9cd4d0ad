import { formatDollars } from '../../extension/base/money.ts'
import type { GoalView } from '../../extension/protocol/view-state.ts'
import { formatNumber, t } from '../l10n.ts'
import { formatDuration, formatTokens } from './format.ts'

/** Where the goal stands, in a few words: an active one that waits for the person is told apart from one that goes on. */
export function goalStanding({ phase, isArmed, heldBy }: Pick<GoalView, 'phase' | 'isArmed' | 'heldBy'>): string {
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

/** What follows from it; null where nothing does. */
export function goalSentence({ phase, isArmed, heldBy }: Pick<GoalView, 'phase' | 'isArmed' | 'heldBy'>): string | null {
  switch (phase) {
    case 'active':
      return !isArmed ? t('Active, but it waits for you: Bosun never goes on by itself after a reload or a failure.') : heldBy === 'trust' ? t('Active, but it begins no round while this folder is not trusted.') : heldBy === 'agents' ? t('Active: the next round begins when the agents at work have said what they found.') : t('Active: Bosun goes on by itself, round after round.')
    case 'paused':
      return t('Paused: it goes on when you resume it.')
    case 'blocked':
      return t('Blocked: it goes on when you resume it.')
    case 'complete':
      return null
  }
}

/** One thing that is used up as a goal goes on. `share` of its budget from 0 on; null without one. */
export interface GoalMeter {
  readonly name: string
  readonly words: string
  readonly share: number | null
}

/** What the goal has used, as of `nowMs`, against what it may. */
export function goalMeters({ round, maxRounds, used, maxTokens, maxCost, maxMinutes }: GoalView, nowMs: number): readonly GoalMeter[] {
  const minutes = used.minutes + (used.countsSince === null ? 0 : Math.max(0, nowMs - used.countsSince) / 60_000)
  const cost = used.amount === 0 && !used.isWhole ? t('price unknown') : `${formatDollars(used.amount)}${used.isWhole ? '' : '+'}`
  return [
    { name: t('Rounds'), words: t('{0} of {1}', formatNumber(round), formatNumber(maxRounds)), share: round / maxRounds },
    meter(t('Tokens'), formatTokens(used.tokens), maxTokens === null ? null : formatTokens(maxTokens), shareOf(used.tokens, maxTokens)),
    meter(t('Cost'), cost, maxCost === null ? null : formatDollars(maxCost), shareOf(used.amount, maxCost)),
    meter(t('Time'), formatDuration(minutes * 60_000), maxMinutes === null ? null : formatDuration(maxMinutes * 60_000), shareOf(minutes, maxMinutes)),
  ]
}

const shareOf = (used: number, limit: number | null): number | null => (limit === null ? null : used / limit)

const meter = (name: string, used: string, limit: string | null, share: number | null): GoalMeter => ({ name, words: limit === null ? used : t('{0} of {1}', used, limit), share })
