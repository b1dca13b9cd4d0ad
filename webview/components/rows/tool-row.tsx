import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { FileDiff } from '../../../extension/protocol/cards.ts'
import type { AgentView, CommandView, ToolRow, WorkflowCardView } from '../../../extension/protocol/view-state.ts'
import { AgentLines, agentState, isAtWork, useAgentFacts } from '../../cards/agent-lines.tsx'
import { BodyMore, firstLines } from '../../cards/body-text.tsx'
import { CardBody, cardKind } from '../../cards/card-body.tsx'
import { CommandButtons, CommandStrip, useCommand } from '../../cards/command-buttons.tsx'
import { CardContents } from '../../cards/generic-card.tsx'
import { diffCounts } from '../../cards/diff-card.tsx'
import { plural, t } from '../../l10n.ts'
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
  const { ui, actions } = useApp()
  const told = entry.row.value as ToolRow
  const run = useApp().store.state.workflows.value.find(({ callId }) => callId === told.callId)
  const row = madeGood(told, run)
  const line = toolLine(row)
  const counts = useDiffCounts(row)
  const command = useCommand(row)
  const agents = useAgents(row, run)
  const [agent] = agents
  const sole = agents.length === 1 && isAgentCall(row) ? agent : undefined
  // Results of calls side by side come in their order, so an agent may be done before its call is.
  const isRunning = sole === undefined ? row.state === 'running' || run?.state === 'running' : isAtWork(sole) && !sole.isAsking
  const calls = useApp().store.callsInside.value.get(row.id) ?? 0
  // A failure stays open with its reason; everything else opens by hand.
  const isOpen = ui.isOpen(row.id) ?? false
  const hasFailed = row.state === 'failed' || row.state === 'denied'
  const reason = firstLines(row.error ?? '')
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
            {calls > 0 && <span class="outcome outcome-quiet">{plural(calls, '{0} call', '{0} calls')}</span>}
            {run !== undefined ? <RunState run={run} /> : sole !== undefined ? <AgentFacts agent={sole} isOver={row.endedAt !== null} /> : line.outcome.map((outcome) => <OutcomeText key={outcome.text} outcome={outcome} />)}
            {isRunning && sole === undefined && <Elapsed since={row.startedAt} />}
            {sole === undefined && command !== undefined && command.jobId !== null && <JobState command={command} />}
          </>
        }
        actions={<LineActions row={row} run={run} agent={sole} command={command} isOpen={isOpen} />}
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
          {reason.shown}
          <BodyMore hidden={reason.hidden} onShowAll={() => actions.openOutput(row.callId)} />
        </div>
      )}
      {row.isHeldByPlan === true && <PlanException callId={row.callId} />}
      {agents.length > 0 && <AgentLines agents={agents} isNamed={sole === undefined} />}
      <CommandStrip command={command} />
      <Pictures row={row} />
    </article>
  )
}

/** Agents that a call started; those of a workflow stand in its run. */
function useAgents({ callId }: ToolRow, run: WorkflowCardView | undefined): readonly AgentView[] {
  const { store } = useApp()
  return run === undefined ? store.state.agents.value.filter((agent) => agent.callId === callId) : []
}

/** Its line names the one agent; a program that started some names none. */
const isAgentCall = ({ call }: ToolRow): boolean => call?.card === 'generic' && call.face === 'agent'

/** How the agent of a call is doing, also after the call ended. That it works is what the turning icon says, while the call waits for it. */
function AgentFacts({ agent, isOver }: { readonly agent: AgentView; readonly isOver: boolean }) {
  const { width } = useApp()
  const facts = useAgentFacts(agent)
  const isPlain = agent.state === 'completed' || (agent.state === 'running' && !agent.isAsking && !isOver)
  const isNarrow = width.value < ROOM_FOR_TIME_PX
  return (
    <>
      {!isPlain && <span class={`outcome outcome-${agent.state === 'failed' ? 'bad' : 'quiet'}`}>{agentState(agent)}</span>}
      {(isNarrow ? (isPlain ? facts.slice(-1) : []) : facts).map((fact) => (
        <span key={fact} class="outcome outcome-quiet">
          {fact}
        </span>
      ))}
    </>
  )
}

/** While the session still plans, the person may let this one call through. */
function PlanException({ callId }: { readonly callId: string }) {
  const { actions, store } = useApp()
  const isAsked = useSignal(false)
  if (store.state.composer.value.isPlanning !== true || store.state.session.value?.access !== 'write') return null
  return (
    <div class="line-exception">
      <button
        type="button"
        class="link"
        disabled={isAsked.value}
        title={t('Bosun may make exactly this call once; plan mode stays on')}
        onClick={() => {
          isAsked.value = true
          actions.allowOnceAlthoughPlanning(callId)
        }}
      >
        {isAsked.value ? t('Allowed once') : t('Allow once anyway')}
      </button>
    </div>
  )
}

/** The editor's own view of what the call did, one click away. */
function LineActions({ row, run, agent, command, isOpen }: { readonly row: ToolRow; readonly run: WorkflowCardView | undefined; readonly agent: AgentView | undefined; readonly command: CommandView | undefined; readonly isOpen: boolean }) {
  const { actions, store } = useApp()
  if (agent !== undefined)
    return (
      <>
        {agent.canInterrupt && <IconButton icon="debug-stop" label={t('Interrupt')} onPress={() => actions.interruptAgent(agent.id)} />}
        {agent.canOpen && <IconButton icon="comment-discussion" label={t('Open transcript')} onPress={() => actions.openSession(agent.id)} />}
      </>
    )
  const agentId = row.result?.card === 'generic' ? row.result.agentId : undefined
  if (agentId !== undefined) return <IconButton icon="comment-discussion" label={t('Open transcript')} onPress={() => actions.openSession(agentId)} />
  // An open card has them under its output.
  if (command !== undefined) return isOpen ? null : <CommandButtons command={command} />
  if (run !== undefined) return <IconButton icon="open-preview" label={t('Open run')} onPress={() => actions.openRun(run.runId)} />
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

/** A call that was cut off and whose run the person let go on: what the run came to is what happened. */
function madeGood(row: ToolRow, run: WorkflowCardView | undefined): ToolRow {
  if (run === undefined || !run.isResumed || (run.state !== 'completed' && run.state !== 'running')) return row
  return { ...row, state: run.state === 'completed' ? 'ok' : 'running', error: null }
}

const runWords = { running: null, completed: null, failed: 'failed', cancelled: 'cancelled', interrupted: 'cut off' } as const

/** How far the run of a workflow came: where it is, how many of its agents are done, and how it ended unless it went well. */
function RunState({ run: { state, total, finished, failed, phase, isResumed } }: { readonly run: WorkflowCardView }) {
  const { width } = useApp()
  const words = runWords[state]
  return (
    <>
      {isResumed && <span class="outcome outcome-quiet">{t('resumed')}</span>}
      {state === 'running' && phase !== null && width.value >= ROOM_FOR_TIME_PX && <span class="outcome outcome-quiet">{phase}</span>}
      {total > 0 && <span class="outcome outcome-quiet">{t('{0} of {1}', finished, total)}</span>}
      {failed > 0 && <span class="outcome outcome-bad">{t('{0} failed', failed)}</span>}
      {words !== null && <span class={`outcome outcome-${state === 'cancelled' ? 'quiet' : 'bad'}`}>{t(words)}</span>}
    </>
  )
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
