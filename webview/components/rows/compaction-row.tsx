import type { CompactionRow } from '../../../extension/protocol/view-state.ts'
import { plural, t } from '../../l10n.ts'
import type { RowEntry } from '../../store/chat-store.ts'
import { useApp } from '../app-context.ts'
import { FoldLine } from '../fold-line.tsx'
import { Markdown } from '../markdown.tsx'

/** Where older messages were summarised for the model; opens to the summary and leads to the messages themselves. */
export function CompactionRowView({ entry }: { readonly entry: RowEntry }) {
  const { store, ui, actions } = useApp()
  const row = entry.row.value as CompactionRow
  const { state, summary, firstRowId } = row
  const isOpen = summary !== null && (ui.isOpen(row.id) ?? false)
  const text = lineOf(row)
  return (
    <article class={`compaction state-${state}`} aria-label={text}>
      <FoldLine
        icon={state === 'failed' ? 'warning' : 'fold'}
        isRunning={state === 'running'}
        tone={state === 'failed' ? 'bad' : 'quiet'}
        name={text}
        text={text}
        outcome={state === 'running' ? <button type="button" class="link" onClick={() => actions.stop()}>{t('Stop')}</button> : undefined}
        isOpen={isOpen}
        onToggle={summary === null ? undefined : () => ui.setOpen(row.id, !isOpen)}
      >
        <p class="compaction-note">{t('The model goes on from this summary. Everything above is still here for you.')}</p>
        <Markdown text={summary ?? ''} isStreaming={false} />
        {firstRowId !== null && (
          <button type="button" class="link" onClick={() => (ui.wantedRow.value = { sessionId: store.state.session.peek()?.id ?? '', rowId: firstRowId, isFound: false })}>
            {t('Show the original messages')}
          </button>
        )}
      </FoldLine>
    </article>
  )
}

function lineOf({ state, messages, error }: CompactionRow): string {
  switch (state) {
    case 'running':
      return t('Summarizing older messages')
    case 'ok':
      return plural(messages, 'Summarized {0} older message', 'Summarized {0} older messages')
    case 'failed':
      return error ?? t('The conversation could not be compacted')
  }
}
