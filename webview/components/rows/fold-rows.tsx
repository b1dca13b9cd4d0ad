import type { TranscriptItem } from '../../store/transcript-items.ts'
import { plural, t } from '../../l10n.ts'
import { formatDuration } from '../../text/format.ts'
import { groupLine } from '../../text/group-line.ts'
import { useApp } from '../app-context.ts'
import { FoldLine } from '../fold-line.tsx'
import { RowView } from './row-view.tsx'

/** Reads and searches side by side as one line; open, each with its own card. */
export function GroupView({ item }: { readonly item: Extract<TranscriptItem, { kind: 'group' }> }) {
  const { ui, store } = useApp()
  const isOpen = ui.isOpen(item.id) ?? false
  const entries = item.rowIds.flatMap((id) => store.entry(id) ?? [])
  const { text, isRunning } = groupLine(entries.map(({ row }) => row.value))
  return (
    <div class="group" role="group" aria-label={text}>
      <FoldLine icon="search" isRunning={isRunning} name={text} text={text} isOpen={isOpen} onToggle={() => ui.setOpen(item.id, !isOpen)} />
      {/* Folded rows stay in the page: they are articles of the log all the same, and finding in the page can reach them. */}
      <div class="group-rows" hidden={!isOpen}>
        {entries.map((entry) => (
          <div key={entry.id} class={ui.foundRow.value === entry.id ? 'row-found' : undefined}>
            <RowView entry={entry} />
          </div>
        ))}
      </div>
    </div>
  )
}

/** The way to an ended turn's answer as one line. */
export function TurnFoldView({ item }: { readonly item: Extract<TranscriptItem, { kind: 'turn-fold' }> }) {
  const { ui, store } = useApp()
  const end = store.entries.value.findLast(({ turn, kind }) => turn === item.turn && kind === 'turn-end')?.row.value
  const took = end?.kind === 'turn-end' ? t('Worked for {0}, {1}', formatDuration(end.durationMs), plural(end.steps, '{0} step', '{0} steps')) : t('Worked')
  return (
    <div class="turn-fold" role="group" aria-label={took}>
      <FoldLine icon="check-all" tone="quiet" name={took} text={took} isOpen={item.isOpen} onToggle={() => ui.setOpen(item.id, !item.isOpen)} />
    </div>
  )
}
