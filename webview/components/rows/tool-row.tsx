import { useMemo } from 'preact/hooks'
import type { FileDiff } from '../../../extension/protocol/cards.ts'
import type { CommandView, ToolRow } from '../../../extension/protocol/view-state.ts'
import { CardBody, cardKind } from '../../cards/card-body.tsx'
import { CommandButtons, CommandStrip, useCommand } from '../../cards/command-buttons.tsx'
import { CardContents } from '../../cards/generic-card.tsx'
import { diffCounts } from '../../cards/diff-card.tsx'
import { t } from '../../l10n.ts'
import type { RowEntry } from '../../store/chat-store.ts'
import { formatDuration, formatSeconds } from '../../text/format.ts'
import { changedPaths, plainLine, toolLine, type Outcome } from '../../text/tool-line.ts'
import { useApp } from '../app-context.ts'
import { CodeText } from '../code-text.tsx'
import { FoldLine } from '../fold-line.tsx'
import { Icon } from '../icon.tsx'
import { IconButton } from '../icon-button.tsx'
import { LineSentence, OutcomeText } from '../sentence.tsx'

/** One tool call: a line that says what happened, and its card under it when open. */
export function ToolRowView({ entry }: { readonly entry: RowEntry }) {
  const { ui } = useApp()
  const row = entry.row.value as ToolRow
  const line = toolLine(row)
  const counts = useDiffCounts(row)
  const command = useCommand(row)
  const isRunning = row.state === 'running'
  // A failure stays open with its reason; everything else opens by hand.
  const isOpen = ui.isOpen(row.id) ?? false
  const hasFailed = row.state === 'failed' || row.state === 'denied'
  return (
    <article class="tool" aria-label={plainLine(line)} data-card={cardKind(row)} data-tool={row.tool} data-state={row.state}>
      <FoldLine
        icon={line.icon}
        isRunning={isRunning}
        tone={row.state === 'failed' ? 'bad' : 'plain'}
        name={plainLine(line)}
        hint={row.policy?.replaceAll('`', '')}
        text={<LineSentence text={line.sentence} parts={line.parts} />}
        outcome={
          <>
            {counts.map((outcome) => (
              <OutcomeText key={outcome.tone} outcome={outcome} />
            ))}
            {line.outcome.map((outcome) => (
              <OutcomeText key={outcome.text} outcome={outcome} />
            ))}
            {isRunning && <Elapsed since={row.startedAt} />}
            {command !== undefined && command.jobId !== null && <JobState command={command} />}
          </>
        }
        actions={<LineActions row={row} command={command} isOpen={isOpen} />}
        isOpen={isOpen}
        onToggle={() => ui.setOpen(row.id, !isOpen)}
      >
        <CardBody row={row} />
        {row.policy !== undefined && row.policy !== row.error && (
          <div class="line-policy" dir="auto">
            <Icon name="shield" />
            <span>
              <CodeText text={row.policy} />
            </span>
          </div>
        )}
      </FoldLine>
      {hasFailed && row.error !== null && (
        <div class={row.state === 'failed' ? 'line-error' : 'line-error is-denied'} dir="auto">
          {row.error}
        </div>
      )}
      <CommandStrip command={command} />
      <Pictures row={row} />
    </article>
  )
}

/** The editor's own view of what the call did, one click away. */
function LineActions({ row, command, isOpen }: { readonly row: ToolRow; readonly command: CommandView | undefined; readonly isOpen: boolean }) {
  const { actions, store } = useApp()
  // An open card has them under its output.
  if (command !== undefined) return isOpen ? null : <CommandButtons command={command} />
  if (row.result?.card === 'diff') {
    const isWaiting = store.state.review.value?.calls.includes(row.callId) === true
    return (
      <>
        {isWaiting && <IconButton icon="check" label={t('Keep')} onPress={() => actions.keepCall(row.callId)} />}
        {isWaiting && <IconButton icon="discard" label={t('Undo')} onPress={() => actions.undoCall(row.callId)} />}
        <IconButton icon="diff" label={t('Open diff')} onPress={() => actions.openDiff(row.callId)} />
      </>
    )
  }
  if (row.result?.card === 'terminal') return <IconButton icon="link-external" label={t('Open output')} onPress={() => actions.openOutput(row.callId)} />
  return null
}

/** Pictures that a call gave are seen without opening anything. */
function Pictures({ row }: { readonly row: ToolRow }) {
  const content = row.result?.card === 'read' || row.result?.card === 'generic' ? (row.result.content ?? []) : []
  const pictures = content.filter(({ type }) => type === 'image')
  return pictures.length === 0 ? null : (
    <div class="line-body">
      <CardContents content={pictures} />
    </div>
  )
}

const SHOWN_FROM_MS = 2_000

/** How long it has run; only what takes a while says so. */
function Elapsed({ since }: { readonly since: number }) {
  const { now } = useApp()
  const elapsedMs = now.value - since
  return elapsedMs < SHOWN_FROM_MS ? null : <span class="outcome outcome-quiet">{formatSeconds(elapsedMs)}</span>
}

/** Where it is narrower, the command needs the room. */
const ROOM_FOR_TIME_PX = 400

/** How the job of a call is doing, for as long as the window knows it. */
function JobState({ command: { state, startedAt, end, durationMs } }: { readonly command: CommandView }) {
  const { width } = useApp()
  if (state === 'stopping') return <span class="outcome outcome-quiet">{t('stopping')}</span>
  if (state === 'running')
    return (
      <>
        <span class="outcome outcome-quiet">{t('running')}</span>
        {startedAt !== undefined && width.value >= ROOM_FOR_TIME_PX && <Elapsed since={startedAt} />}
      </>
    )
  return (
    <>
      {end !== undefined && <span class={`outcome outcome-${end.isBad ? 'bad' : 'quiet'}`}>{end.words}</span>}
      {durationMs !== undefined && width.value >= ROOM_FOR_TIME_PX && <span class="outcome outcome-quiet">{formatDuration(durationMs)}</span>}
    </>
  )
}

function useDiffCounts({ call, result }: ToolRow): readonly Outcome[] {
  const diffs: readonly FileDiff[] | undefined = result?.card === 'diff' ? result.diffs : call?.card === 'diff' && result === null ? call.diffs : undefined
  return useMemo(() => {
    if (diffs === undefined || changedPaths(diffs).length === 0) return []
    const { added, removed } = diffCounts(diffs)
    return [
      ...(added > 0 ? [{ text: `+${added}`, tone: 'added' } as const] : []),
      ...(removed > 0 ? [{ text: `−${removed}`, tone: 'removed' } as const] : []),
    ]
  }, [diffs])
}
