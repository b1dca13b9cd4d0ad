import { useRef } from 'preact/hooks'
import type { ContextRow, NoticeRow, RetryRow } from '../../../extension/protocol/view-state.ts'
import { t } from '../../l10n.ts'
import type { RowEntry } from '../../store/chat-store.ts'
import { tryWords, waitWords } from '../../text/retry-words.ts'
import { BodyText } from '../../cards/body-text.tsx'
import { useApp } from '../app-context.ts'
import { FoldLine } from '../fold-line.tsx'
import { Icon } from '../icon.tsx'

/** A wait before the next try, counted down; what failed stands in its title. Once it is over: why there was one. */
export function RetryRowView({ entry }: { readonly entry: RowEntry }) {
  const { now } = useApp()
  const row = entry.row.value as RetryRow
  const tries = tryWords(row.retry, row.maxRetries)
  const left = useLeftMs(row.resumesAt, now.value)
  return (
    <article class="retry" aria-label={t('{0}, {1}', row.reason, tries)} title={row.reason}>
      <FoldLine
        icon="history"
        isRunning={left !== null}
        tone="quiet"
        name={row.reason}
        text={left === null ? row.reason : waitWords(row.code, left)}
        outcome={<span class="outcome outcome-quiet">{tries}</span>}
        isOpen={false}
      />
      {left !== null && <WaitActions />}
    </article>
  )
}

/** What is left of a wait. At its first sight there is most of it: a clock that is set back meanwhile makes it no longer. */
function useLeftMs(resumesAt: number | null, now: number): number | null {
  const first = useRef({ resumesAt, now })
  if (first.current.resumesAt !== resumesAt) first.current = { resumesAt, now }
  return resumesAt === null ? null : Math.max(0, resumesAt - Math.max(now, first.current.now))
}

function WaitActions() {
  const { store, actions } = useApp()
  if (store.state.session.value?.access !== 'write') return null
  return (
    <div class="buttons retry-buttons">
      <button type="button" class="link" onClick={actions.retry}>
        {t('Try now')}
      </button>
      <button type="button" class="link" onClick={actions.pickModel}>
        {t('Choose another model')}
      </button>
    </div>
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
