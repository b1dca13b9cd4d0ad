import type { SessionUsage } from '../capabilities/blob-store.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { SessionSummary } from '../core/session/session.ts'
import { plainCell, tableRow } from './markdown-table.ts'

/** Rows of the page; the rest is one row. */
const MAX_ROWS = 200

export interface StorageReport {
  /** The largest first. */
  readonly usage: readonly SessionUsage[]
  readonly sessions: readonly Pick<SessionSummary, 'id' | 'title' | 'updatedAt'>[]
  /** 0: no limit. */
  readonly maxSpillMb: number
  /** 0: every session is kept. */
  readonly retentionDays: number
}

type Sizes = Omit<SessionUsage, 'sessionId'>

/** What Bosun's sessions take on the disk, and what limits it, as a page of Markdown. */
export function storageDocument({ usage, sessions, maxSpillMb, retentionDays }: StorageReport, l10n: Localization): string {
  const total = summed(usage)
  const byId = new Map(sessions.map((session) => [session.id, session]))
  const name = (id: string) => byId.get(id)?.title ?? l10n.t('(no session: {id})', { id })
  const day = (id: string) => {
    const touched = byId.get(id)?.updatedAt
    return touched === undefined ? '' : new Date(touched).toISOString().slice(0, 10)
  }
  const head = [l10n.t('Session'), l10n.t('Last touched'), l10n.t('Total'), l10n.t('Talk'), l10n.t('Attachments'), l10n.t('Earlier versions of files'), l10n.t('Long output')]
  const rest = usage.slice(MAX_ROWS)
  return [
    `# ${l10n.t('Storage')}`,
    '',
    l10n.t('Bosun’s sessions take {total}. Deleting a session frees all of it.', { total: `**${shownBytes(totalOf(total))}**` }),
    '',
    `- ${maxSpillMb === 0 ? l10n.t('Long output: {used}, without a limit ({setting}).', { used: shownBytes(total.spill), setting: '`bosun.sessions.maxSpillMb`' }) : l10n.t('Long output: {used} of {cap} ({setting}). More makes that of the sessions untouched for longest go.', { used: shownBytes(total.spill), cap: shownBytes(maxSpillMb * 1e6), setting: '`bosun.sessions.maxSpillMb`' })}`,
    `- ${retentionDays === 0 ? l10n.t('Every session is kept ({setting}).', { setting: '`bosun.sessions.retentionDays`' }) : l10n.t('Sessions that nobody touched for {days} days are deleted ({setting}).', { days: retentionDays, setting: '`bosun.sessions.retentionDays`' })}`,
    '',
    tableRow(head),
    '| --- | --- | ---: | ---: | ---: | ---: | ---: |',
    ...usage.slice(0, MAX_ROWS).map((one) => tableRow([plainCell(name(one.sessionId)), day(one.sessionId), ...cells(one)])),
    ...(rest.length === 0 ? [] : [tableRow([l10n.t('{count} more', { count: rest.length }), '', ...cells(summed(rest))])]),
    '',
  ].join('\n')
}

const cells = (sizes: Sizes): readonly string[] => [totalOf(sizes), sizes.log, sizes.attachments, sizes.before, sizes.spill].map(shownBytes)

const totalOf = ({ attachments, before, spill, log }: Sizes): number => attachments + before + spill + log

const summed = (all: readonly Sizes[]): Sizes =>
  all.reduce<Sizes>((sum, one) => ({ attachments: sum.attachments + one.attachments, before: sum.before + one.before, spill: sum.spill + one.spill, log: sum.log + one.log }), { attachments: 0, before: 0, spill: 0, log: 0 })

/** In the unit that leaves three digits at most before the point. */
export function shownBytes(bytes: number): string {
  if (bytes < 1e3) return `${bytes} B`
  const [size, unit] = bytes < 1e6 ? [bytes / 1e3, 'kB'] : bytes < 1e9 ? [bytes / 1e6, 'MB'] : [bytes / 1e9, 'GB']
  return `${size.toFixed(size < 10 ? 1 : 0)} ${unit}`
}
