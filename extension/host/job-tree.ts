import type { Localization } from '../capabilities/localization.ts'
import type { TreeNode, TreeState } from '../capabilities/tree-view.ts'
import type { Job } from '../features/jobs/service.ts'
import type { ShownPort } from './job-ports.ts'
import { endOf, isBadEnd, isLive } from './job-words.ts'
import { plainCell } from './markdown-table.ts'
import { ageOf, agoOf } from './time-words.ts'

/** A background job with all that its row, its children and its tooltip say. */
export type TreeJob = Pick<Job, 'id' | 'label' | 'status' | 'detail' | 'exitCode' | 'signal' | 'startedAt' | 'finishedAt' | 'pid' | 'cwd'> & {
  readonly isPinned: boolean
  readonly takesInput: boolean
  readonly waitsForInput: boolean
  readonly canRestart: boolean
  readonly ports: readonly ShownPort[]
  /** It listens, or did before it ended. */
  readonly hasListened: boolean
  /** Null: its output names none. */
  readonly problems: { readonly errors: number; readonly warnings: number } | null
  /** What wakes the agent, as a pattern. */
  readonly wakesAt?: string
  /** Without looks, oldest first. */
  readonly lastLines: readonly string[]
  /** Null: nobody's, or of the session on screen. */
  readonly session: { readonly id: string; readonly title: string } | null
}

interface Facts {
  readonly jobs: readonly TreeJob[]
  readonly now: number
}

/** Lines of output under a job. */
export const SHOWN_LINES = 5
const MAX_LABEL_CHARS = 120
const MAX_COMMAND_CHARS = 2_000

/** The tree of jobs: what is on screen first, then the other sessions by their titles; in each what is pinned, what runs, what ended. */
export function jobTree({ jobs, now }: Facts, l10n: Localization): TreeState {
  const { t } = l10n
  const live = jobs.filter(isLive).length
  const own = jobs.filter(({ session }) => session === null)
  const others = new Map<string, TreeJob[]>()
  for (const job of jobs) if (job.session !== null) others.set(job.session.id, [...(others.get(job.session.id) ?? []), job])
  const nodes = (of: readonly TreeJob[]) => sorted(of).map((job) => jobNode(job, now, l10n))
  const count = live === 0 ? undefined : live === 1 ? t('1 running') : t('{count} running', { count: live })
  return {
    nodes: [...nodes(own), ...[...others.values()].map((of) => sessionNode(of, nodes(of), l10n))],
    ...(count !== undefined && { description: count, badge: { count: live, tooltip: live === 1 ? t('1 job runs in the background') : t('{count} jobs run in the background', { count: live }) } }),
  }
}

/** The job that a node of the tree stands for or below, and its port, if it is one. */
export function jobOfNode(nodeId: string): { readonly jobId: string; readonly port: number | null } | null {
  const [, jobId, port] = /^job:([^/~]+)(?:~\w+)?(?:\/(?:port:(\d+)|\w+(?::\d+)?))?$/.exec(nodeId) ?? []
  return jobId === undefined ? null : { jobId, port: port === undefined ? null : Number(port) }
}

/** Pinned before others, live before ended, the newest first. */
function sorted(jobs: readonly TreeJob[]): readonly TreeJob[] {
  const rank = (job: TreeJob) => (job.isPinned ? 0 : 2) + (isLive(job) ? 0 : 1)
  return jobs.toSorted((a, b) => rank(a) - rank(b) || (b.finishedAt ?? b.startedAt) - (a.finishedAt ?? a.startedAt))
}

function sessionNode(jobs: readonly TreeJob[], children: readonly TreeNode[], { t }: Localization): TreeNode {
  const live = jobs.filter(isLive).length
  const { id, title } = jobs[0]!.session!
  return {
    id: `session:${id}`,
    label: title,
    icon: 'comment-discussion',
    kinds: ['session'],
    tooltip: t('Jobs of the session {title}', { title: plainCell(title) }),
    isOpen: live > 0,
    children,
    ...(live > 0 && { description: live === 1 ? t('1 running') : t('{count} running', { count: live }) }),
  }
}

function jobNode(job: TreeJob, now: number, l10n: Localization): TreeNode {
  const { t } = l10n
  const words = [stateWords(job, now, l10n), ...(job.waitsForInput ? [t('waits for input')] : []), ...job.ports.map(({ port }) => `:${port}`), ...(job.problems === null ? [] : problemWords(job.problems, l10n))]
  const label = oneLine(job.label)
  return {
    id: nodeId(job),
    label,
    description: words.join(' · '),
    ...iconOf(job),
    tooltip: tooltipOf(job, now, l10n),
    spoken: [label, ...words].join(', '),
    kinds: [
      'job',
      isLive(job) ? 'live' : 'ended',
      job.isPinned ? 'pinned' : 'unpinned',
      ...(job.takesInput ? ['input'] : []),
      ...(job.canRestart ? ['restartable'] : []),
      ...(job.ports.length > 0 ? ['listening'] : []),
      ...(job.problems === null ? [] : ['watching']),
    ],
    press: 'jobShowOutput',
    isOpen: isLive(job) && (job.waitsForInput || job.ports.length > 0 || (job.problems?.errors ?? 0) > 0),
    children: childrenOf(job, l10n),
  }
}

/** The state by its shape as much as by its colour. Source: the icons of the editor's ports and tests. */
function iconOf(job: TreeJob): Pick<TreeNode, 'icon' | 'iconColor'> {
  if (job.status === 'running') return { icon: job.waitsForInput ? 'bell-dot' : job.isPinned ? 'pinned' : 'circle-filled', iconColor: 'ports.iconRunningProcessForeground' }
  if (job.status === 'stopping') return { icon: 'loading~spin' }
  if (job.status === 'killed') return { icon: 'circle-slash', iconColor: 'disabledForeground' }
  return isBadEnd(job) ? { icon: 'error', iconColor: 'testing.iconFailed' } : { icon: 'pass', iconColor: 'testing.iconPassed' }
}

/** The editor keeps what is folded by id, so a job whose first port is found is a new row to it: one that opens. */
const nodeId = ({ id, hasListened }: TreeJob) => `job:${id}${hasListened ? '~listening' : ''}`

function stateWords(job: TreeJob, now: number, l10n: Localization): string {
  const { t } = l10n
  if (job.status === 'running') return now - job.startedAt < 60_000 ? t('just started') : t('running {time}', { time: ageOf(now - job.startedAt, l10n) })
  if (job.status === 'stopping') return t('stopping')
  const end = endOf(job, l10n)
  return job.finishedAt === undefined ? end : `${end} · ${agoOf(now - job.finishedAt, l10n)}`
}

function problemWords({ errors, warnings }: NonNullable<TreeJob['problems']>, { t }: Localization): readonly string[] {
  return [
    ...(errors === 0 ? [] : [errors === 1 ? t('1 error') : t('{count} errors', { count: errors })]),
    ...(warnings === 0 ? [] : [warnings === 1 ? t('1 warning') : t('{count} warnings', { count: warnings })]),
  ]
}

function childrenOf(job: TreeJob, l10n: Localization): readonly TreeNode[] {
  const { t } = l10n
  const id = (part: string) => `${nodeId(job)}/${part}`
  const problems = job.problems === null ? [] : problemWords(job.problems, l10n)
  return [
    ...job.ports.map(
      ({ port, url }): TreeNode => ({
        id: id(`port:${port}`),
        label: hostOf(url),
        description: t('open in the browser'),
        icon: 'globe',
        tooltip: t('Opens {address}', { address: plainCell(url) }),
        spoken: t('{address}, open in the browser', { address: hostOf(url) }),
        kinds: ['port'],
        press: 'jobOpenPort',
      }),
    ),
    ...(job.problems === null
      ? []
      : [
          {
            id: id('problems'),
            label: problems.length === 0 ? t('No problems') : problems.join(', '),
            icon: job.problems.errors > 0 ? 'error' : job.problems.warnings > 0 ? 'warning' : 'check',
            ...(job.problems.errors > 0 ? { iconColor: 'problemsErrorIcon.foreground' } : job.problems.warnings > 0 ? { iconColor: 'problemsWarningIcon.foreground' } : {}),
            kinds: ['problems'],
            press: 'jobShowProblems',
          } satisfies TreeNode,
        ]),
    ...(job.wakesAt === undefined
      ? []
      : [{ id: id('wake'), label: t('Wakes the agent'), description: `/${oneLine(job.wakesAt)}/`, icon: 'bell', kinds: ['wake'] } satisfies TreeNode]),
    ...job.lastLines.slice(-SHOWN_LINES).map(
      (line, index): TreeNode => ({
        id: id(`line:${index}`),
        label: '',
        description: line.trim() === '' ? ' ' : line,
        spoken: line,
        kinds: ['line'],
        press: 'jobShowOutput',
      }),
    ),
  ]
}

function tooltipOf(job: TreeJob, now: number, l10n: Localization): string {
  const { t } = l10n
  const state =
    job.status === 'running'
      ? t('Running for {time}', { time: ageOf(now - job.startedAt, l10n) })
      : job.status === 'stopping'
        ? t('Stopping')
        : t('Ended: {end}, after {time}', { end: endOf(job, l10n), time: ageOf((job.finishedAt ?? now) - job.startedAt, l10n) })
  const facts = [
    state,
    ...(job.pid === undefined || !isLive(job) ? [] : [t('Process {pid}', { pid: job.pid })]),
    ...(job.cwd === undefined ? [] : [t('In {folder}', { folder: plainCell(job.cwd) })]),
    ...(job.session === null ? [] : [t('Session: {title}', { title: plainCell(job.session.title) })]),
  ]
  return `${fenced(job.label.slice(0, MAX_COMMAND_CHARS))}\n\n${facts.map(plainBreak).join('  \n')}`
}

const plainBreak = (line: string) => line.replaceAll('\n', ' ')

/** In a fence that the command cannot close. */
function fenced(command: string): string {
  const longest = Math.max(2, ...[...command.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}sh\n${command}\n${fence}`
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url)

function oneLine(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ')
  const chars = Array.from(line.slice(0, 2 * MAX_LABEL_CHARS))
  return chars.length > MAX_LABEL_CHARS ? `${chars.slice(0, MAX_LABEL_CHARS).join('')}…` : line
}
