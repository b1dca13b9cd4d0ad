import type { ReasoningRow } from '../../../extension/protocol/view-state.ts'
import { t } from '../../l10n.ts'
import type { RowEntry } from '../../store/chat-store.ts'
import { firstLine, formatDuration } from '../../text/format.ts'
import { useApp } from '../app-context.ts'
import { FoldLine } from '../fold-line.tsx'
import { Markdown } from '../markdown.tsx'

const PREVIEW_CHARS = 160

/** Thoughts as one line: how long, and while they come what they are about. */
export function ReasoningRowView({ entry }: { readonly entry: RowEntry }) {
  const { ui } = useApp()
  const row = entry.row.value as ReasoningRow
  const isOpen = ui.isOpen(row.id) ?? false
  const title = row.isStreaming ? t('Thinking') : row.durationMs !== null && row.durationMs >= 500 ? t('Thought for {0}', formatDuration(row.durationMs)) : t('Thought')
  const preview = isOpen ? '' : firstLine(row.isStreaming ? lastLine(row.text) : '', PREVIEW_CHARS)
  return (
    <article class="reasoning" aria-label={title}>
      <FoldLine
        icon="lightbulb"
        isRunning={row.isStreaming}
        tone="quiet"
        name={title}
        text={
          <>
            {title}
            {preview !== '' && <span class="preview"> {preview}</span>}
          </>
        }
        isOpen={isOpen}
        onToggle={row.text.trim() === '' ? undefined : () => ui.setOpen(row.id, !isOpen)}
      >
        <Markdown text={row.text} isStreaming={row.isStreaming} />
      </FoldLine>
    </article>
  )
}

/** Only the end of a long thought is looked at: this runs for each frame of it. */
const lastLine = (text: string): string => text.slice(-400).trimEnd().split('\n').at(-1) ?? ''
