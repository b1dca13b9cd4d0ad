import type { AgentView } from '../../extension/protocol/view-state.ts'
import { useApp } from '../components/app-context.ts'
import { Icon } from '../components/icon.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { t } from '../l10n.ts'
import { formatSeconds } from '../text/format.ts'

/** Whether it may go on without a word from anybody. */
export const isAtWork = ({ state }: AgentView): boolean => state === 'queued' || state === 'running' || state === 'waiting'

const words = {
  queued: 'queued',
  running: 'running',
  waiting: 'waits for its agents',
  idle: 'idle',
  ready: 'ready for a message',
  completed: 'done',
  failed: 'failed',
  aborted: 'stopped',
} as const satisfies Readonly<Record<AgentView['state'], string>>

const icons = {
  queued: 'clock',
  running: 'loading',
  waiting: 'watch',
  idle: 'circle-filled',
  ready: 'circle-outline',
  completed: 'pass',
  failed: 'error',
  aborted: 'circle-slash',
} as const satisfies Readonly<Record<AgentView['state'], string>>

export const agentState = ({ state, isAsking }: AgentView): string => (isAsking ? t('waits for you') : t(words[state]))

/** What it costs and how long it has been at it, shortest first. */
export function useAgentFacts({ cost, startedAt, endedAt, state }: AgentView): readonly string[] {
  const { now } = useApp()
  const ms = (endedAt ?? now.value) - startedAt
  return [...(cost === null ? [] : [cost]), ...(state === 'queued' || ms < SHOWN_FROM_MS ? [] : [formatSeconds(ms)])]
}
const SHOWN_FROM_MS = 1_000

/** Under the line of a call: what its agent does now, and those that it started; each is a line that opens its transcript. */
export function AgentLines({ agents, isNamed }: { readonly agents: readonly AgentView[]; /** The line above does not say which ones. */ readonly isNamed: boolean }) {
  const shown = isNamed ? agents : agents.filter((agent) => isAtWork(agent) && agent.lastLine !== null)
  const below = isNamed ? [] : agents.flatMap(({ children }) => children)
  if (shown.length === 0 && below.length === 0) return null
  return (
    <ul class="agent-lines" aria-label={t('Agents')}>
      {shown.map((agent) => (
        <AgentLine key={agent.id} agent={agent} isNamed={isNamed} />
      ))}
      {below.map((agent) => (
        <AgentLine key={agent.id} agent={agent} isNamed />
      ))}
    </ul>
  )
}

function AgentLine({ agent, isNamed }: { readonly agent: AgentView; readonly isNamed: boolean }) {
  const facts = useAgentFacts(agent)
  const { actions } = useApp()
  const { id, label, state, isAsking, lastLine, canOpen, canInterrupt, children } = agent
  const standing = [agentState(agent), ...facts].join(' · ')
  // In the words that are seen, so that whoever speaks to the screen finds it by them.
  const said = [...(isNamed ? [label, standing] : []), ...(lastLine === null ? [] : [lastLine])].join(' ')
  const content = (
    <>
      {isNamed && <Icon name={isAsking ? 'bell-dot' : icons[state]} spin={!isAsking && state === 'running'} />}
      {isNamed && (
        <span class="agent-name" dir="auto">
          {label}
        </span>
      )}{' '}
      {isNamed && <span class={state === 'failed' ? 'agent-facts is-bad' : 'agent-facts'}>{standing}</span>}{' '}
      {lastLine !== null && (
        <span class="agent-last" dir="auto">
          {lastLine}
        </span>
      )}
    </>
  )
  return (
    <li>
      <div class="agent-line">
        {canOpen ? (
          <button type="button" class="agent-open" title={t('Open the transcript of “{0}”', label)} aria-label={t('{0}, open transcript', said)} onClick={() => actions.openSession(id)}>
            {content}
          </button>
        ) : (
          <span class="agent-open" title={label}>
            {content}
          </span>
        )}
        {isNamed && canInterrupt && <IconButton icon="debug-stop" label={t('Interrupt “{0}”', label)} onPress={() => actions.interruptAgent(id)} />}
      </div>
      {isNamed && children.length > 0 && (
        <ul class="agent-lines">
          {children.map((child) => (
            <AgentLine key={child.id} agent={child} isNamed />
          ))}
        </ul>
      )}
    </li>
  )
}
