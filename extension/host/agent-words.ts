import { formatDollars } from '../base/money.ts'
import { visibleText } from '../base/visible-text.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { CostSum } from '../core/cost/cost-projection.ts'
import type { ChildFacts, ChildStatus } from '../features/subagents/service.ts'

const MAX_CHARS = 120

/** Whether it is at work, or may be without a word from anybody. */
export const isAtWork = ({ status }: Pick<ChildFacts, 'status'>): boolean => status === 'queued' || status === 'running' || status === 'waiting'

/** It is in this process: it can be spoken to at once, and stopped. */
export const isLiveChild = ({ status }: Pick<ChildFacts, 'status'>): boolean => isAtWork({ status }) || status === 'idle'

/** `isAsking`: an approval or question of it waits for the person. */
export function stateWords(status: ChildStatus, isAsking: boolean, { t }: Localization): string {
  if (isAsking) return t('waits for you')
  const words: Readonly<Record<ChildStatus, string>> = {
    queued: t('queued'),
    running: t('running'),
    waiting: t('waits for its agents'),
    idle: t('idle'),
    ready: t('ready for a message'),
    completed: t('done'),
    failed: t('failed'),
    aborted: t('stopped'),
  }
  return words[status]
}

/** Money where a price is known, else tokens; null before the first request. */
export function costWords(sum: CostSum | undefined, { t }: Localization): string | null {
  if (sum === undefined || sum.requests === 0) return null
  if (sum.amount > 0) return formatDollars(sum.amount)
  const tokens = sum.inputTokens + sum.cacheRead + sum.cacheWrite + sum.outputTokens
  return tokens === 0 ? null : t('{count} tokens', { count: tokens < 1_000 ? tokens : `${(tokens / 1_000).toFixed(tokens < 99_950 ? 1 : 0)}k` })
}

/** One line of what a model wrote, with nothing in it that cannot be seen. */
export function oneLine(text: string): string {
  const line = visibleText(text).trim().replaceAll(/\s+/g, ' ')
  const chars = Array.from(line.slice(0, 2 * MAX_CHARS))
  return chars.length > MAX_CHARS ? `${chars.slice(0, MAX_CHARS).join('')}…` : line
}
