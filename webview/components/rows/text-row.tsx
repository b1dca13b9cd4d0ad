import type { TextRow } from '../../../extension/protocol/view-state.ts'
import { t } from '../../l10n.ts'
import type { RowEntry } from '../../store/chat-store.ts'
import { CopyButton } from '../copy-button.tsx'
import { Markdown } from '../markdown.tsx'

/** The model's words, plain and full width. */
export function TextRowView({ entry }: { readonly entry: RowEntry }) {
  const row = entry.row.value as TextRow
  return (
    <article class={row.isStreaming ? 'text is-streaming' : 'text'} aria-label={t('Bosun')} aria-busy={row.isStreaming}>
      <Markdown text={row.text} isStreaming={row.isStreaming} />
      {row.isInterrupted && <div class="cut-note">{t('Cut off here')}</div>}
      {!row.isStreaming && (
        <div class="text-actions">
          <CopyButton text={() => row.text} label={t('Copy answer')} />
        </div>
      )}
    </article>
  )
}
