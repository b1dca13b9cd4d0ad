import { assertNever } from '../../extension/base/assert-never.ts'
import type { ToolCallView } from '../../extension/protocol/cards.ts'
import type { ToolRow } from '../../extension/protocol/view-state.ts'
import { useApp } from '../components/app-context.ts'
import { DiffCard } from './diff-card.tsx'
import { GenericCard } from './generic-card.tsx'
import { PlanCard } from './plan-card.tsx'
import { QuestionCard } from './question-card.tsx'
import { ReadCard } from './read-card.tsx'
import { SearchCard } from './search-card.tsx'
import { TerminalCard } from './terminal-card.tsx'
import { WebCard } from './web-card.tsx'

/** The kind of card that draws a call: the result's once there is one. */
export const cardKind = ({ call, result }: ToolRow): string => (call?.card === 'generic' ? call.face : undefined) ?? result?.card ?? call?.card ?? 'generic'

/** The open part of a call's card, by kind. */
export function CardBody({ row }: { readonly row: ToolRow }) {
  const { actions, store } = useApp()
  const { call, result } = row
  if (call?.card === 'generic' && call.face === 'plan') return <PlanCard call={call} result={result?.card === 'generic' ? result : null} hasFailed={row.state === 'failed'} />
  if (result === null) return <PendingBody row={row} />
  switch (result.card) {
    case 'generic':
      if (result.jobId !== undefined && call?.card === 'generic' && call.face !== 'agent') return <JobBody row={row} call={call} />
      return <GenericCard row={row} content={result.content ?? []} />
    case 'terminal': {
      const pending = call?.card === 'terminal' ? call : undefined
      return (
        <TerminalCard
          row={row}
          command={result.title ?? pending?.title ?? row.tool}
          cwd={pending?.cwd ?? (result.cwd === store.state.session.value?.cwd ? undefined : result.cwd)}
          description={pending?.description}
          output={result.output ?? row.progress}
          omittedBytes={result.omittedBytes}
          sandbox={result.sandbox}
          isJob={result.jobId !== undefined}
        />
      )
    }
    case 'diff':
      return <DiffCard diffs={result.diffs} note={result.note} onOpen={(path) => actions.openDiff(row.callId, path)} />
    case 'read':
      return <ReadCard result={result} />
    case 'search':
      return <SearchCard result={result} onOpenSearch={() => actions.openSearch(row.callId)} />
    case 'web':
      return <WebCard result={result} output={row.output} onShowAll={() => actions.openOutput(row.callId)} />
    case 'question':
      return <QuestionCard result={result} />
    default:
      return assertNever(result, 'card')
  }
}

/** A command that was a job from its beginning. */
function JobBody({ row, call }: { readonly row: ToolRow; readonly call: Extract<ToolCallView, { card: 'generic' }> }) {
  const command = typeof call.rawInput === 'string' ? call.rawInput : (call.subject ?? call.title)
  const description = call.content?.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  return <TerminalCard row={row} command={command} cwd={call.cwd} description={description} output="" isJob />
}

function PendingBody({ row }: { readonly row: ToolRow }) {
  const { call } = row
  if (call?.card === 'terminal') return <TerminalCard row={row} command={call.title} cwd={call.cwd} description={call.description} output={row.progress} />
  if (call?.card === 'diff') return <DiffCard diffs={call.diffs} isAhead />
  return <GenericCard row={row} content={call?.content ?? []} />
}
