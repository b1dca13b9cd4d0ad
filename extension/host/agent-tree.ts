import type { Localization } from '../capabilities/localization.ts'
import type { TreeNode, TreeState } from '../capabilities/tree-view.ts'
import type { ChildFacts, Governor } from '../features/subagents/service.ts'
import { isAtWork, isLiveChild, oneLine, stateWords } from './agent-words.ts'
import { plainCell } from './markdown-table.ts'
import { ageOf, agoOf } from './time-words.ts'

/** An agent that another one started, with all that its row, its menu and its tooltip say. */
export type TreeAgent = Pick<ChildFacts, 'id' | 'label' | 'provider' | 'mode' | 'status' | 'purpose' | 'createdAt' | 'startedAt' | 'endedAt' | 'lastLine' | 'worktree'> & {
  readonly isAsking: boolean
  /** In words; null while nothing was metered. */
  readonly cost: string | null
  /** A session that can be read, and whose changes can be looked at. */
  readonly isSession: boolean
  readonly canMessage: boolean
  readonly canTakeOver: boolean
  /** It runs as a background job. */
  readonly hasJob: boolean
  /** What it made in its worktree waits for the person. */
  readonly hasWork: boolean
  readonly children: readonly TreeAgent[]
  /** It started agents that were not looked up yet. */
  readonly hasMore: boolean
}

/** A session with the agents that it started. */
export interface TreeFamily {
  readonly id: string
  readonly title: string
  readonly agents: readonly TreeAgent[]
}

interface Facts {
  /** That of the session on screen first. */
  readonly families: readonly TreeFamily[]
  readonly governor: Pick<Governor, 'running' | 'queued' | 'limits'>
  readonly now: number
}

/** The tree of agents: sessions, under each the agents that it started, those of one workflow, Ralph or team together. */
export function agentTree({ families, governor, now }: Facts, l10n: Localization): TreeState {
  const { t } = l10n
  const count = governorWords(governor, l10n)
  const working = allOf(families.flatMap(({ agents }) => agents)).filter(({ status }) => status === 'running').length
  return {
    nodes: families.filter(({ agents }) => agents.length > 0).map((family) => familyNode(family, now, l10n)),
    ...(count !== null && { description: count }),
    ...(working > 0 && { badge: { count: working, tooltip: working === 1 ? t('1 agent works for another') : t('{count} agents work for others', { count: working }) } }),
  }
}

/** The agent that a node of the tree stands for. */
export const agentOfNode = (nodeId: string): string | null => (nodeId.startsWith('agent:') ? nodeId.slice('agent:'.length) : null)

/** "3 running, 2 queued of 10"; null while nothing is at work. */
export function governorWords({ running, queued, limits }: Pick<Governor, 'running' | 'queued' | 'limits'>, { t }: Localization): string | null {
  const max = limits.maxConcurrent
  if (queued > 0) return t('{running} running, {queued} queued of {max}', { running, queued, max })
  return running > 0 ? t('{running} running of {max}', { running, max }) : null
}

const allOf = (agents: readonly TreeAgent[]): readonly TreeAgent[] => agents.flatMap((agent) => [agent, ...allOf(agent.children)])

function familyNode({ id, title, agents }: TreeFamily, now: number, l10n: Localization): TreeNode {
  const { t } = l10n
  const working = allOf(agents).filter(isAtWork).length
  const count = working > 0 ? t('{count} at work', { count: working }) : agents.length === 1 ? t('1 agent') : t('{count} agents', { count: agents.length })
  return {
    id: `session:${id}`,
    label: oneLine(title),
    description: count,
    icon: 'comment-discussion',
    kinds: ['session'],
    tooltip: t('Agents of the session {title}', { title: plainCell(title) }),
    spoken: [oneLine(title), count].join(', '),
    isOpen: true,
    press: 'agentOpen',
    children: grouped(agents, now, l10n),
  }
}

/** In order; the members of a run or a team stand under its name, where the first of them does. */
function grouped(agents: readonly TreeAgent[], now: number, l10n: Localization): readonly TreeNode[] {
  const groups = Map.groupBy(agents, groupOf)
  return [...groups].flatMap(([key, members]) => (key === null ? members.map((agent) => agentNode(agent, now, l10n)) : [groupNode(key, members, now, l10n)])).toSorted((a, b) => orderOf(a, agents) - orderOf(b, agents))
}

function groupOf({ purpose }: TreeAgent): string | null {
  switch (purpose.kind) {
    case 'workflow':
    case 'ralph':
      return `${purpose.kind}:${purpose.runId}`
    case 'team':
      return `team:${purpose.name}`
    default:
      return null
  }
}

function orderOf({ id }: TreeNode, agents: readonly TreeAgent[]): number {
  return agents.findIndex((agent) => id === `agent:${agent.id}` || id === `group:${groupOf(agent) ?? ''}`)
}

function groupNode(key: string, members: readonly TreeAgent[], now: number, l10n: Localization): TreeNode {
  const { t } = l10n
  const { purpose } = members[0]!
  const label = purpose.kind === 'workflow' ? t('Workflow: {name}', { name: oneLine(purpose.name) }) : purpose.kind === 'team' ? t('Team') : t('Ralph')
  const done = members.filter((agent) => !isLiveChild(agent)).length
  const description = t('{done} of {count} done', { done, count: members.length })
  return {
    id: `group:${key}`,
    label,
    description,
    icon: purpose.kind === 'team' ? 'organization' : purpose.kind === 'workflow' ? 'run-all' : 'sync',
    kinds: ['group'],
    spoken: [label, description].join(', '),
    isOpen: done < members.length,
    children: members.map((agent) => agentNode(agent, now, l10n)),
  }
}

function agentNode(agent: TreeAgent, now: number, l10n: Localization): TreeNode {
  const { status, isAsking, cost, lastLine } = agent
  const label = labelOf(agent, l10n)
  const words = [
    stateWords(status, isAsking, l10n),
    ...(cost === null ? [] : [cost]),
    ...activeWords(agent, now, l10n),
    ...(lastLine === undefined || status === 'queued' ? [] : [oneLine(lastLine)]),
  ]
  return {
    id: `agent:${agent.id}`,
    label,
    description: words.join(' · '),
    ...iconOf(agent),
    tooltip: tooltipOf(agent, now, l10n),
    spoken: [label, ...words].join(', '),
    kinds: [
      'agent',
      isAtWork(agent) ? 'working' : 'resting',
      agent.mode === 'continuable' ? 'kept' : 'once',
      ...(agent.isSession ? ['session'] : []),
      ...(agent.isSession && isAtWork(agent) ? ['interruptible'] : []),
      ...(agent.canMessage ? ['writable'] : []),
      ...(agent.canTakeOver ? ['takeable'] : []),
      ...(agent.hasJob && isLiveChild(agent) ? ['job'] : []),
      ...(agent.hasWork ? ['work'] : []),
    ],
    ...(agent.isSession && { press: 'agentOpen' }),
    isOpen: isLiveChild(agent),
    ...(agent.hasMore && { isLazy: true }),
    children: grouped(agent.children, now, l10n),
  }
}

function labelOf({ label, purpose }: TreeAgent, { t }: Localization): string {
  const name = oneLine(label)
  if (purpose.kind === 'ralph') return t('Round {round}: {label}', { round: purpose.round, label: name })
  return purpose.kind === 'workflow' && purpose.phase !== undefined ? t('{phase}: {label}', { phase: oneLine(purpose.phase), label: name }) : name
}

/** The state by its shape as much as by its colour. Source: the icons of the editor's ports and tests, as in the tree of jobs. */
function iconOf({ status, isAsking }: TreeAgent): Pick<TreeNode, 'icon' | 'iconColor'> {
  if (isAsking) return { icon: 'bell-dot', iconColor: 'ports.iconRunningProcessForeground' }
  switch (status) {
    case 'queued':
      return { icon: 'clock' }
    case 'running':
      return { icon: 'loading~spin' }
    case 'waiting':
      return { icon: 'watch' }
    case 'idle':
      return { icon: 'circle-filled' }
    case 'ready':
      return { icon: 'circle-outline' }
    case 'completed':
      return { icon: 'pass', iconColor: 'testing.iconPassed' }
    case 'failed':
      return { icon: 'error', iconColor: 'testing.iconFailed' }
    default:
      return { icon: 'circle-slash', iconColor: 'disabledForeground' }
  }
}

/** Shorter is not worth a word. */
const SHOWN_FROM_MS = 1_000

function activeWords({ status, startedAt, endedAt }: TreeAgent, now: number, l10n: Localization): readonly string[] {
  if (startedAt === undefined) return endedAt === undefined ? [] : [agoOf(now - endedAt, l10n)]
  const ms = (endedAt ?? now) - startedAt
  return status === 'queued' || ms < SHOWN_FROM_MS ? [] : [ageOf(ms, l10n)]
}

function tooltipOf(agent: TreeAgent, now: number, l10n: Localization): string {
  const { t } = l10n
  const { label, status, isAsking, mode, provider, cost, createdAt, worktree, lastLine } = agent
  const facts = [
    stateWords(status, isAsking, l10n),
    mode === 'continuable' ? t('Takes more messages') : t('Gives one answer'),
    t('Made by {provider}', { provider: plainCell(provider) }),
    ...(cost === null ? [] : [t('Used {cost}', { cost })]),
    ...(createdAt === undefined ? [] : [t('Started {ago}', { ago: agoOf(now - createdAt, l10n) })]),
    ...(worktree === undefined ? [] : [t('In a worktree of its own, on {branch}', { branch: plainCell(worktree.branch) })]),
    ...(lastLine === undefined ? [] : [plainCell(oneLine(lastLine))]),
  ]
  return `**${plainCell(oneLine(label))}**\n\n${facts.join('  \n')}`
}
