import type { RoundRow } from '../../../extension/protocol/view-state.ts'
import { BodyText } from '../../cards/body-text.tsx'
import { t } from '../../l10n.ts'
import type { RowEntry } from '../../store/chat-store.ts'
import { useApp } from '../app-context.ts'
import { FoldLine } from '../fold-line.tsx'
import { IconButton } from '../icon-button.tsx'

/** A round of the goal begins here. What was done since can be taken back as from a message of the person. */
export function RoundRowView({ entry }: { readonly entry: RowEntry }) {
  const { actions, store, ui } = useApp()
  const row = entry.row.value as RoundRow
  const isOpen = ui.isOpen(row.id) ?? false
  const hasChangesSince = store.state.review.value?.turns.some(({ turn, state }) => turn >= row.turn && state !== 'undone') === true
  const name = row.maxRounds === null ? t('Round {0}', row.round) : t('Round {0} of {1}', row.round, row.maxRounds)
  return (
    <article class="round" aria-label={name}>
      <h2 class="sr-only">{name}</h2>
      <FoldLine
        icon="target"
        tone="quiet"
        name={name}
        text={name}
        actions={hasChangesSince && <IconButton icon="history" label={t('Restore files to before this round')} onPress={() => actions.restoreTo(row.turn)} />}
        isOpen={isOpen}
        onToggle={() => ui.setOpen(row.id, !isOpen)}
      >
        <BodyText text={row.text} label={name} />
      </FoldLine>
    </article>
  )
}
