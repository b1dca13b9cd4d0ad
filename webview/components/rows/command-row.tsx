import type { CommandRow } from '../../../extension/protocol/view-state.ts'
import { t } from '../../l10n.ts'
import type { RowEntry } from '../../store/chat-store.ts'
import { useApp } from '../app-context.ts'
import { FoldLine } from '../fold-line.tsx'

/** Longer answers of a command stand under its line. */
const ONE_LINE_CHARS = 60

/** A command the person ran, and what came of it. A short answer stands on the line, a longer one opens by itself: they asked. */
export function CommandRowView({ entry }: { readonly entry: RowEntry }) {
  const { ui } = useApp()
  const row = entry.row.value as CommandRow
  const typed = row.args === '' ? `/${row.name}` : `/${row.name} ${row.args}`
  const text = row.text ?? ''
  const isLong = text.length > ONE_LINE_CHARS || text.includes('\n')
  const isOpen = isLong && (ui.isOpen(row.id) ?? true)
  const name = row.state === 'failed' ? t('{0}, failed', typed) : typed
  return (
    <article class={`command state-${row.state}`} aria-label={isLong || text === '' ? name : `${name}: ${text}`}>
      <FoldLine
        icon={row.state === 'failed' ? 'error' : 'terminal'}
        isRunning={row.state === 'running'}
        tone={row.state === 'failed' ? 'bad' : 'quiet'}
        name={name}
        text={
          <>
            <code>/{row.name}</code>
            {row.args !== '' && <span class="command-args"> {row.args}</span>}
            {!isLong && text !== '' && <span class="command-text"> · {text}</span>}
          </>
        }
        isOpen={isOpen}
        onToggle={isLong ? () => ui.setOpen(row.id, !isOpen) : undefined}
      >
        <pre class="command-body" dir="auto" tabIndex={0} role="group" aria-label={name}>
          {text}
        </pre>
      </FoldLine>
    </article>
  )
}
