import type { Localization } from '../capabilities/localization.ts'

export interface StatusFacts {
  readonly state: 'idle' | 'running' | 'waiting'
  /** How many approvals and questions wait. */
  readonly waiting: number
  /** How many agents work, in sessions on screen or not. */
  readonly running: number
  readonly model: string | null
  readonly isScripted: boolean
  readonly contextShare: number | null
  /** How many commands run in the background. */
  readonly jobs: number
  /** What fills the window and what was paid, a line each. */
  readonly details: readonly string[]
  readonly title: string | null
}

/** The words of the one status bar item: state glyph, model, share of the model's window, how many work when it is not one. */
export function statusOf(facts: StatusFacts, { t }: Localization): { readonly text: string; readonly tooltip: string; readonly isWarning: boolean } {
  const glyph = facts.state === 'waiting' ? '$(bell-dot)' : facts.state === 'running' ? '$(loading~spin)' : '$(comment-discussion)'
  const model = facts.model === null ? t('Bosun') : facts.model
  const share = facts.contextShare === null ? null : `${Math.round(facts.contextShare * 100)}%`
  const lines = [
    facts.title === null ? t('Bosun') : t('Bosun: {title}', { title: facts.title }),
    facts.state === 'waiting'
      ? t('{count} waiting for you', { count: facts.waiting })
      : facts.state === 'running'
        ? runningWords(facts.running, t)
        : t('Ready'),
    ...(facts.state === 'waiting' && facts.running > 0 ? [runningWords(facts.running, t)] : []),
    ...(facts.model === null ? [] : [facts.isScripted ? t('Plays a script: {model}', { model: facts.model }) : t('Model: {model}', { model: facts.model })]),
    ...(share === null ? [] : [t('{share} of the model’s window in use', { share })]),
    ...(facts.jobs === 0 ? [] : [facts.jobs === 1 ? t('1 job runs in the background') : t('{count} jobs run in the background', { count: facts.jobs })]),
    ...facts.details,
  ]
  // One that works is what the glyph says.
  const running = facts.running > 1 ? [t('{count} working', { count: facts.running })] : []
  return { text: [glyph, model, ...(share === null ? [] : [share]), ...running].join(' '), tooltip: lines.join('\n'), isWarning: facts.state === 'waiting' }
}

const runningWords = (count: number, t: Localization['t']): string => (count > 1 ? t('{count} working', { count }) : t('Working'))
