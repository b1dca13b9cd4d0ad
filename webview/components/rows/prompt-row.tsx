import type { PromptRow } from '../../../extension/protocol/view-state.ts'
import { CardContents } from '../../cards/generic-card.tsx'
import { language, t } from '../../l10n.ts'
import type { RowEntry } from '../../store/chat-store.ts'
import { firstLine } from '../../text/format.ts'
import { useApp } from '../app-context.ts'
import { CopyButton } from '../copy-button.tsx'
import { IconButton } from '../icon-button.tsx'

const HEADING_CHARS = 80

/** The person's words in a quiet box, with what can be done with them on hover or focus. */
export function PromptRowView({ entry }: { readonly entry: RowEntry }) {
  const { actions, store } = useApp()
  const row = entry.row.value as PromptRow
  const hasChangesSince = store.state.review.value?.turns.some(({ turn, state }) => turn >= row.turn && state !== 'undone') === true
  const heading = t('You: {0}', firstLine(row.text, HEADING_CHARS))
  return (
    <article class="prompt" aria-label={heading}>
      <h2 class="sr-only">{heading}</h2>
      <div class="prompt-box" title={new Date(row.sentAt).toLocaleString(language())}>
        <div class="prompt-text" dir="auto">
          {row.text}
        </div>
        {row.attachments.length > 0 && (
          <div class="prompt-attachments">
            <CardContents content={row.attachments} />
          </div>
        )}
        <div class="prompt-actions">
          <CopyButton text={() => row.text} label={t('Copy')} />
          <IconButton icon="edit" label={t('Change and ask again, in a copy of this session')} onPress={() => actions.askAgain(row.id)} />
          {hasChangesSince && <IconButton icon="history" label={t('Restore files to before this message')} onPress={() => actions.restoreTo(row.turn)} />}
          <IconButton icon="repo-forked" label={t('Fork from here')} onPress={() => actions.forkSession(row.id)} />
        </div>
      </div>
    </article>
  )
}
