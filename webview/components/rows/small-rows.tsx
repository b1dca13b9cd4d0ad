import type { ContextRow, NoticeRow, RetryRow } from '../../../extension/protocol/view-state.ts'
import { t } from '../../l10n.ts'
import type { RowEntry } from '../../store/chat-store.ts'
import { formatSeconds } from '../../text/format.ts'
import { BodyText } from '../../cards/body-text.tsx'
import { useApp } from '../app-context.ts'
import { FoldLine } from '../fold-line.tsx'
import { Icon } from '../icon.tsx'

/** A wait before the next try, counted down. */
export function RetryRowView({ entry }: { readonly entry: RowEntry }) {
  const { now } = useApp()
  const row = entry.row.value as RetryRow
  const tries = row.maxRetries === null ? t('try {0}', row.retry) : t('try {0} of {1}', row.retry, row.maxRetries)
  const left = row.resumesAt === null ? null : Math.max(0, row.resumesAt - now.value)
  return (
    <article class="retry" aria-label={t('{0}, {1}', row.reason, tries)}>
      <FoldLine
        icon="history"
        isRunning={left !== null}
        tone="quiet"
        name={row.reason}
        text={row.reason}
        outcome={<span class="outcome outcome-quiet">{left === null ? tries : t('again in {0}, {1}', formatSeconds(left), tries)}</span>}
        isOpen={false}
      />
    </article>
  )
}

/** What the model was told beside the person's words. */
export function ContextRowView({ entry }: { readonly entry: RowEntry }) {
  const { ui } = useApp()
  const row = entry.row.value as ContextRow
  const isOpen = ui.isOpen(row.id) ?? false
  return (
    <article class="context" aria-label={row.title}>
      <FoldLine icon="note" tone="quiet" name={row.title} text={row.title} isOpen={isOpen} onToggle={() => ui.setOpen(row.id, !isOpen)}>
        <BodyText text={row.text} label={row.title} />
      </FoldLine>
    </article>
  )
}

export const noticeIcons = { info: 'info', warning: 'warning', error: 'error' } as const

/** Something the person should know, where it happened. */
export function NoticeRowView({ entry }: { readonly entry: RowEntry }) {
  const row = entry.row.value as NoticeRow
  return (
    <article class={`notice-row level-${row.level}`} aria-label={row.text}>
      <Icon name={noticeIcons[row.level]} />
      <span dir="auto">{row.text}</span>
    </article>
  )
}
