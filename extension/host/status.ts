import type { Localization } from '../capabilities/localization.ts'

export interface StatusFacts {
  readonly state: 'idle' | 'running' | 'waiting'
  /** How many approvals and questions wait. */
  readonly waiting: number
  readonly model: string | null
  readonly isScripted: boolean
  readonly contextShare: number | null
  /** What fills the window and what was paid, a line each. */
  readonly details: readonly string[]
  readonly title: string | null
}

/** The words of the one status bar item: state glyph, model, share of the model's window. */
export function statusOf(facts: StatusFacts, { t }: Localization): { readonly text: string; readonly tooltip: string; readonly isWarning: boolean } {
  const glyph = facts.state === 'waiting' ? '$(bell-dot)' : facts.state === 'running' ? '$(loading~spin)' : '$(comment-discussion)'
  const model = facts.model === null ? t('Bosun') : facts.model
  const share = facts.contextShare === null ? null : `${Math.round(facts.contextShare * 100)}%`
  const lines = [
    facts.title === null ? t('Bosun') : t('Bosun: {title}', { title: facts.title }),
    facts.state === 'waiting'
      ? t('{count} waiting for you', { count: facts.waiting })
      : facts.state === 'running'
        ? t('Working')
        : t('Ready'),
    ...(facts.model === null ? [] : [facts.isScripted ? t('Plays a script: {model}', { model: facts.model }) : t('Model: {model}', { model: facts.model })]),
    ...(share === null ? [] : [t('{share} of the model’s window in use', { share })]),
    ...facts.details,
  ]
  return { text: [glyph, model, ...(share === null ? [] : [share])].join(' '), tooltip: lines.join('\n'), isWarning: facts.state === 'waiting' }
}
