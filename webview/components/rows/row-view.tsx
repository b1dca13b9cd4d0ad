import { assertNever } from '../../../extension/base/assert-never.ts'
import type { RowEntry } from '../../store/chat-store.ts'
import { useApp } from '../app-context.ts'
import { ErrorBoundary } from '../error-boundary.tsx'
import { CommandRowView } from './command-row.tsx'
import { CompactionRowView } from './compaction-row.tsx'
import { PromptRowView } from './prompt-row.tsx'
import { ReasoningRowView } from './reasoning-row.tsx'
import { ContextRowView, NoticeRowView, RetryRowView } from './small-rows.tsx'
import { RoundRowView } from './round-row.tsx'
import { TextRowView } from './text-row.tsx'
import { ToolRowView } from './tool-row.tsx'
import { TurnEndRowView } from './turn-end-row.tsx'

/** One row by its kind. A row that cannot be drawn says so in its own place. */
export function RowView({ entry }: { readonly entry: RowEntry }) {
  const { actions } = useApp()
  return (
    <ErrorBoundary scope="row" onError={actions.reportError} onReload={actions.reloadView} resetOn={entry.row.value}>
      <AnyRow entry={entry} />
    </ErrorBoundary>
  )
}

function AnyRow({ entry }: { readonly entry: RowEntry }) {
  switch (entry.kind) {
    case 'prompt':
      return <PromptRowView entry={entry} />
    case 'round':
      return <RoundRowView entry={entry} />
    case 'text':
      return <TextRowView entry={entry} />
    case 'reasoning':
      return <ReasoningRowView entry={entry} />
    case 'tool':
      return <ToolRowView entry={entry} />
    case 'retry':
      return <RetryRowView entry={entry} />
    case 'context':
      return <ContextRowView entry={entry} />
    case 'turn-end':
      return <TurnEndRowView entry={entry} />
    case 'notice':
      return <NoticeRowView entry={entry} />
    case 'compaction':
      return <CompactionRowView entry={entry} />
    case 'command':
      return <CommandRowView entry={entry} />
    default:
      return assertNever(entry.kind, 'row')
  }
}
