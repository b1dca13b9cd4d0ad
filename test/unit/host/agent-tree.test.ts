import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { TreeNode } from '../../../extension/capabilities/tree-view.ts'
import { agentOfNode, agentTree, governorWords, type TreeAgent, type TreeFamily } from '../../../extension/host/agent-tree.ts'

const l10n = { t: fillIn }
const now = 1_000_000
const limits = { maxConcurrent: 10, maxDepth: 3, maxTotal: 100 }

const agent = (id: string, more: Partial<TreeAgent> = {}): TreeAgent => ({
  id, label: `task ${id}`, provider: 'spawn', mode: 'one-shot', status: 'running', purpose: { kind: 'subagent' }, createdAt: now - 20_000, startedAt: now - 12_000,
  isAsking: false, cost: null, isSession: true, canMessage: false, canTakeOver: false, hasJob: false, hasWork: false, children: [], hasMore: false, ...more,
})
const ended = (id: string, more: Partial<TreeAgent> = {}) => agent(id, { status: 'completed', endedAt: now - 2_000, ...more })
const family = (...agents: readonly TreeAgent[]): TreeFamily => ({ id: 's1', title: 'Ship it', agents })
const tree = (families: readonly TreeFamily[], governor = { running: 0, queued: 0, limits }) => agentTree({ families, governor, now }, l10n)
const nodesOf = (...agents: readonly TreeAgent[]): readonly TreeNode[] => tree([family(...agents)]).nodes[0]!.children!
const only = (of: TreeAgent): TreeNode => nodesOf(of)[0]!

describe('the tree of agents', () => {
  it('says nothing while there are none', () => expect(tree([family()])).toEqual({ nodes: [] }))

  it.each<[string, TreeAgent, Partial<TreeNode>]>([
    ['one that waits for a place', agent('a', { status: 'queued', lastLine: 'x' }), { description: 'queued', icon: 'clock' }],
    ['one that works', agent('a', { cost: '$0.04', lastLine: 'Running npm test' }), { description: 'running · $0.04 · 12 s · Running npm test', icon: 'loading~spin' }],
    ['one that asks the person', agent('a', { isAsking: true }), { description: 'waits for you · 12 s', icon: 'bell-dot' }],
    ['one that waits for its own', agent('a', { status: 'waiting' }), { description: 'waits for its agents · 12 s', icon: 'watch' }],
    ['one that is quiet', agent('a', { status: 'idle', mode: 'continuable' }), { description: 'idle · 12 s', icon: 'circle-filled' }],
    ['one that is stored', agent('a', { status: 'ready', mode: 'continuable', endedAt: now - 2_000, lastLine: 'Done.' }), { description: 'ready for a message · 10 s · Done.', icon: 'circle-outline' }],
    ['one that went well', ended('a', { cost: '8.1k tokens' }), { description: 'done · 8.1k tokens · 10 s', icon: 'pass', iconColor: 'testing.iconPassed' }],
    ['one that failed', ended('a', { status: 'failed' }), { description: 'failed · 10 s', icon: 'error', iconColor: 'testing.iconFailed' }],
    ['one that was stopped', ended('a', { status: 'aborted' }), { description: 'stopped · 10 s', icon: 'circle-slash' }],
  ])('draws %s', (_name, of, expected) => expect(only(of)).toMatchObject({ id: 'agent:a', label: 'task a', press: 'agentOpen', ...expected }))

  it('says to a screen reader what it draws', () => expect(only(agent('a', { cost: '$1.00', lastLine: 'Reading\ta.ts' })).spoken).toBe('task a, running, $1.00, 12 s, Reading a.ts'))

  it.each<[string, TreeAgent, readonly string[]]>([
    ['works', agent('a'), ['agent', 'working', 'once', 'session', 'interruptible']],
    ['takes messages and can be taken over', agent('a', { status: 'idle', mode: 'continuable', canMessage: true, canTakeOver: true }), ['agent', 'resting', 'kept', 'session', 'writable', 'takeable']],
    ['is a job of another program', agent('a', { isSession: false, hasJob: true }), ['agent', 'working', 'once', 'job']],
    ['has ended as a job and left work', ended('a', { hasJob: true, hasWork: true }), ['agent', 'resting', 'once', 'session', 'work']],
  ])('offers by its menu what fits one that %s', (_name, of, kinds) => expect(only(of).kinds).toEqual(kinds))

  it('opens nothing where there is no session', () => expect(only(agent('a', { isSession: false }))).not.toHaveProperty('press'))

  it('puts agents under the one that started them, and says where more can be looked up', () => {
    const [node] = nodesOf(agent('a', { children: [agent('b')] }), ended('c', { hasMore: true }))
    expect([node!.isOpen, node!.children!.map(({ id }) => id)]).toEqual([true, ['agent:b']])
    expect(nodesOf(ended('c', { hasMore: true }))[0]).toMatchObject({ isLazy: true, isOpen: false })
  })

  it('puts those of one run together, where the first of them stands', () => {
    const run = { kind: 'workflow', runId: 'r', name: 'Review all' } as const
    const nodes = nodesOf(agent('a'), ended('b', { purpose: { ...run, phase: 'Read' } }), agent('c'), agent('d', { purpose: run }), agent('e', { purpose: { kind: 'ralph', runId: 'x', round: 2 } }), agent('f', { purpose: { kind: 'team', name: 'ada' } }))
    expect(nodes.map(({ id, label, description, children }) => [id, label, id.startsWith('group:') ? description : '', children?.map((child) => child.label)])).toEqual([
      ['agent:a', 'task a', '', []],
      ['group:workflow:r', 'Workflow: Review all', '1 of 2 done', ['Read: task b', 'task d']],
      ['agent:c', 'task c', '', []],
      ['group:ralph:x', 'Ralph', '0 of 1 done', ['Round 2: task e']],
      ['group:team:ada', 'Team', '0 of 1 done', ['task f']],
    ])
  })

  it('counts what works in the badge, below others too', () => {
    expect(tree([family(agent('a', { children: [agent('b')] }), ended('c'))]).badge).toEqual({ count: 2, tooltip: '2 agents work for others' })
    expect(tree([family(ended('c'))])).not.toHaveProperty('badge')
  })

  it.each([
    [0, 0, null],
    [3, 0, '3 running of 10'],
    [10, 2, '10 running, 2 queued of 10'],
  ])('says beside its title who works and who waits: %s, %s', (running, queued, words) => {
    expect(governorWords({ running, queued, limits }, l10n)).toBe(words)
    expect(tree([family(agent('a'))], { running, queued, limits }).description).toBe(words ?? undefined)
  })

  it('lets nothing out of its tooltip', () => {
    const { tooltip } = only(ended('a', { label: '[x](command:evil)\n# b', lastLine: '<b>', cost: '$0.10', worktree: { path: '/w', branch: 'bosun/a_b' } }))
    expect(tooltip).toBe('**\\[x\\](command:evil) # b**\n\ndone  \nGives one answer  \nMade by spawn  \nUsed $0.10  \nStarted just now  \nIn a worktree of its own, on bosun/a\\_b  \n\\<b\\>')
  })

  it('tells an agent from other rows', () => expect(['agent:a:b', 'session:s1', 'group:team:x'].map(agentOfNode)).toEqual(['a:b', null, null]))
})
