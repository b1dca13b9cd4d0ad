import { fillIn, type WordValues } from '../../base/fill-in.ts'
import { formatDollars } from '../../base/money.ts'
import type { PauseCause } from '../log/event.ts'
import type { CostSum } from './cost-projection.ts'
import type { BudgetUse, CacheMiss } from './events.ts'

/** Words in the person's language; English without a translation. */
export type Translate = (text: string, values?: WordValues) => string

export const english: Translate = (text, values) => fillIn(text, values)

/** Why the provider's cache was missed: "The tools changed (grep came), so 12,000 tokens were read anew." */
export function missWords({ lostTokens, sinceMs, reason }: CacheMiss, t: Translate): string {
  const tokens = lostTokens.toLocaleString('en-US')
  switch (reason.kind) {
    case 'model':
      return t('The model changed from {from} to {to}, so {tokens} tokens were read anew.', { from: reason.from, to: reason.to, tokens })
    case 'system':
      return t('The system prompt changed, so {tokens} tokens were read anew.', { tokens })
    case 'tools': {
      const more = reason.total - reason.tools.length
      const tools = `${reason.tools.join(', ')}${more > 0 ? ` +${more}` : ''}`
      const texts = {
        added: t('Tools came ({tools}), so {tokens} tokens were read anew.', { tools, tokens }),
        removed: t('Tools went ({tools}), so {tokens} tokens were read anew.', { tools, tokens }),
        changed: t('Tools changed ({tools}), so {tokens} tokens were read anew.', { tools, tokens }),
        moved: t('Tools stood in another order, so {tokens} tokens were read anew.', { tokens }),
      }
      return texts[reason.change]
    }
    case 'config':
      return t('The request was configured otherwise ({fields}), so {tokens} tokens were read anew.', { fields: reason.fields.join(', '), tokens })
    case 'messages': {
      const texts = {
        summary: t('A summary took the place of earlier messages, so {tokens} tokens were read anew.', { tokens }),
        result: t('Earlier tool output was shortened, so {tokens} tokens were read anew.', { tokens }),
        message: t('An earlier message changed, so {tokens} tokens were read anew.', { tokens }),
        removed: t('Earlier messages were taken out, so {tokens} tokens were read anew.', { tokens }),
      }
      return texts[reason.what]
    }
    case 'dropped':
      return t('The provider no longer had the conversation in its cache, {time} after the last request: {tokens} tokens were read anew.', { time: timeWords(sinceMs, t), tokens })
  }
}

/** How far a limit is used, and what it is counted over. */
export function budgetWords({ cap, per, limit, used }: BudgetUse, t: Translate): string {
  const values = { used: cap === 'cost' ? formatDollars(used) : used.toLocaleString('en-US'), limit: cap === 'cost' ? formatDollars(limit) : limit.toLocaleString('en-US') }
  const texts =
    cap === 'cost'
      ? { turn: t('{used} of the {limit} that a turn may cost', values), session: t('{used} of the {limit} that this session may cost', values), day: t('{used} of the {limit} that a day may cost', values) }
      : { turn: t('{used} of the {limit} tokens that a turn may use', values), session: t('{used} of the {limit} tokens that this session may use', values), day: t('{used} of the {limit} tokens that a day may use', values) }
  return texts[per]
}

/** Why a turn was paused. */
export function pauseWords({ cap, limit, per = 'session', used = 0, next }: PauseCause, t: Translate): string {
  if (cap === 'steps') return t('Bosun paused after {limit} steps.', { limit })
  if (cap === 'minutes') return t('Bosun paused: the turn ran for {limit} min.', { limit })
  const budget = budgetWords({ cap, per, limit, used }, t)
  if (next === undefined) return t('Bosun paused: {budget} are used.', { budget })
  return t('Bosun paused: {budget} are used, and the next request alone would add {next}.', { budget, next: cap === 'cost' ? formatDollars(next) : next.toLocaleString('en-US') })
}

/** "at least" where a price was unknown, "about" where tokens were not counted; never a part as if it were the whole. */
export function amountWords({ amount, requests, unpriced, estimated }: CostSum, t: Translate): string {
  if (requests === unpriced) return t('price unknown')
  const dollars = formatDollars(amount)
  if (unpriced > 0) return t('at least {amount}', { amount: dollars })
  return estimated > 0 ? t('about {amount}', { amount: dollars }) : dollars
}

function timeWords(ms: number, t: Translate): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 1) return t('{count} s', { count: Math.round(ms / 1_000) })
  return minutes < 120 ? t('{count} min', { count: minutes }) : t('{count} h', { count: Math.round(minutes / 60) })
}
