import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { TreeNode } from '../../../extension/capabilities/tree-view.ts'
import { jobOfNode, jobTree, type TreeJob } from '../../../extension/host/job-tree.ts'

const l10n = { t: fillIn }
const MINUTE = 60_000
const now = 100 * MINUTE

const job = (id: string, more: Partial<TreeJob> = {}): TreeJob => ({
  id,
  label: `run ${id}`,
  status: 'running',
  startedAt: now - 3 * MINUTE,
  isPinned: false,
  takesInput: false,
  waitsForInput: false,
  canRestart: false,
  ports: [],
  hasListened: false,
  problems: null,
  lastLines: [],
  session: null,
  ...more,
})
const ended = (id: string, more: Partial<TreeJob> = {}) => job(id, { status: 'completed', exitCode: 0, finishedAt: now - 2 * MINUTE, ...more })
const tree = (...jobs: readonly TreeJob[]) => jobTree({ jobs, now }, l10n)
const only = (of: TreeJob): TreeNode => tree(of).nodes[0]!
const elsewhere = { id: 's2', title: 'Fix the flaky test' }

describe('the tree of jobs', () => {
  it('says nothing while there are none', () => expect(tree()).toEqual({ nodes: [] }))

  it.each<[string, TreeJob, Partial<TreeNode>]>([
    ['one that has just begun', job('a', { startedAt: now - 5_000 }), { description: 'just started', icon: 'circle-filled' }],
    ['one that runs', job('a'), { description: 'running 3 min', icon: 'circle-filled', iconColor: 'ports.iconRunningProcessForeground' }],
    ['one that listens', job('a', { ports: [{ port: 5173, url: 'http://localhost:5173/' }] }), { description: 'running 3 min · :5173', isOpen: true }],
    ['one that names problems', job('a', { problems: { errors: 2, warnings: 1 } }), { description: 'running 3 min · 2 errors · 1 warning', isOpen: true }],
    ['one that waits for the person', job('a', { waitsForInput: true }), { description: 'running 3 min · waits for input', icon: 'bell-dot' }],
    ['one that is being stopped', job('a', { status: 'stopping' }), { description: 'stopping', icon: 'loading~spin' }],
    ['one that went well', ended('a'), { description: 'exit 0 · 2 min ago', icon: 'pass', iconColor: 'testing.iconPassed' }],
    ['one that went wrong', ended('a', { exitCode: 2 }), { description: 'exit 2 · 2 min ago', icon: 'error', iconColor: 'testing.iconFailed' }],
    ['one that was killed', job('a', { status: 'killed', signal: 'SIGTERM', finishedAt: now - 2 * MINUTE }), { description: 'killed · 2 min ago', icon: 'circle-slash' }],
    ['one that the system killed', job('a', { status: 'killed', signal: 'SIGKILL', finishedAt: now - 2 * MINUTE }), { description: 'ended by SIGKILL · 2 min ago', icon: 'circle-slash' }],
    ['one that could not be started', job('a', { status: 'failed', detail: 'no such program', finishedAt: now - 2 * MINUTE }), { description: 'no such program · 2 min ago', icon: 'error' }],
    ['one that is pinned', job('a', { isPinned: true }), { icon: 'pinned' }],
  ])('draws %s', (_name, of, expected) => expect(only(of)).toMatchObject({ id: 'job:a', label: 'run a', press: 'jobShowOutput', ...expected }))

  it.each<[string, TreeJob, readonly string[]]>([
    ['lives', job('a'), ['job', 'live', 'unpinned']],
    ['takes input, listens, watches and can run again', job('a', { takesInput: true, canRestart: true, ports: [{ port: 1, url: 'http://localhost:1' }], problems: { errors: 0, warnings: 0 } }), ['job', 'live', 'unpinned', 'input', 'restartable', 'listening', 'watching']],
    ['has ended and is pinned', ended('a', { isPinned: true }), ['job', 'ended', 'pinned']],
  ])('offers by its menu what fits one that %s', (_name, of, kinds) => expect(only(of).kinds).toEqual(kinds))

  it('puts ports, problems, what wakes the agent and the last lines under a job', () => {
    const children = only(job('a', { ports: [{ port: 5173, url: 'http://localhost:5173/' }], problems: { errors: 0, warnings: 0 }, wakesAt: 'ready', lastLines: ['one', '', 'two'] })).children!
    expect(children.map(({ id, label, description, icon, press }) => [id, label, description, icon, press])).toEqual([
      ['job:a/port:5173', 'localhost:5173', 'open in the browser', 'globe', 'jobOpenPort'],
      ['job:a/problems', 'No problems', undefined, 'check', 'jobShowProblems'],
      ['job:a/wake', 'Wakes the agent', '/ready/', 'bell', undefined],
      ['job:a/line:0', '', 'one', undefined, 'jobShowOutput'],
      ['job:a/line:1', '', ' ', undefined, 'jobShowOutput'],
      ['job:a/line:2', '', 'two', undefined, 'jobShowOutput'],
    ])
  })

  it('opens a job anew when its first port is found, and leaves it as the person has it from then on', () => {
    const ids = [job('a'), job('a', { hasListened: true, ports: [{ port: 1, url: 'http://localhost:1' }] }), ended('a', { hasListened: true })].map((of) => [only(of).id, only(of).isOpen])
    expect(ids).toEqual([['job:a', false], ['job:a~listening', true], ['job:a~listening', false]])
  })

  it('puts what is pinned first, then what runs, then what ended, the newest first', () => {
    const jobs = [ended('old', { finishedAt: now - 9 * MINUTE }), ended('new'), job('first', { startedAt: now - 8 * MINUTE }), job('second'), ended('kept', { isPinned: true })]
    expect(tree(...jobs).nodes.map(({ id }) => id)).toEqual(['job:kept', 'job:second', 'job:first', 'job:new', 'job:old'])
  })

  it('puts the jobs of other sessions under their titles', () => {
    const { nodes } = tree(job('b', { session: elsewhere }), job('a'), ended('c', { session: elsewhere }))
    expect(nodes.map(({ id, label, description, isOpen, children }) => ({ id, label, description, isOpen, jobs: children?.map((child) => child.id) }))).toEqual([
      { id: 'job:a', label: 'run a', description: 'running 3 min', isOpen: false, jobs: [] },
      { id: 'session:s2', label: 'Fix the flaky test', description: '1 running', isOpen: true, jobs: ['job:b', 'job:c'] },
    ])
  })

  it('counts what runs beside its title and in the badge', () => {
    expect(tree(job('a'), job('b', { status: 'stopping', session: elsewhere }), ended('c'))).toMatchObject({ description: '2 running', badge: { count: 2, tooltip: '2 jobs run in the background' } })
    expect(tree(ended('c'))).not.toHaveProperty('badge')
  })

  it('tells command, state, process, folder and session in the tooltip, and no command can break out of it', () => {
    const { tooltip } = only(job('a', { label: 'echo "```" [x](command:evil)\nsleep 9', pid: 41, cwd: '/w/[x](y)', session: null }))
    expect(tooltip).toBe('````sh\necho "```" [x](command:evil)\nsleep 9\n````\n\nRunning for 3 min  \nProcess 41  \nIn /w/\\[x\\](y)')
    const other = tree(ended('a', { exitCode: 1, startedAt: now - 5 * MINUTE, pid: 41, session: { id: 's', title: '*T*' } })).nodes[0]!.children![0]!
    expect(other.tooltip).toBe('```sh\nrun a\n```\n\nEnded: exit 1, after 3 min  \nSession: \\*T\\*')
  })

  it('keeps a long command of many lines on one line', () => expect(only(job('a', { label: `cd web &&\n  ${'x'.repeat(500)}` })).label).toBe(`cd web && ${'x'.repeat(110)}…`))

  it.each([
    ['job:bash-1', { jobId: 'bash-1', port: null }],
    ['job:bash-1/port:5173', { jobId: 'bash-1', port: 5173 }],
    ['job:bash-1/line:0', { jobId: 'bash-1', port: null }],
    ['job:bash-1/problems', { jobId: 'bash-1', port: null }],
    ['job:bash-1~listening', { jobId: 'bash-1', port: null }],
    ['job:bash-1~listening/port:80', { jobId: 'bash-1', port: 80 }],
    ['session:s1', null],
  ])('knows the job behind the row %s', (id, expected) => expect(jobOfNode(id)).toEqual(expected))
})
