import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { TreeNode } from '../../../extension/capabilities/tree-view.ts'
import type { McpServerReport } from '../../../extension/features/mcp/service.ts'
import { kindsOf, mcpTree, serverOfNode, skippedOfNode, type TreeServer } from '../../../extension/host/mcp-tree.ts'
import { serverFacts, toolFacts } from './mcp-server-facts.ts'

const MINUTE = 60_000
const now = 100 * MINUTE
const row = (more: Partial<TreeServer> = {}): TreeServer => ({ ...serverFacts('demo'), place: 'your settings', lastEnd: null, isOpened: false, ...more })
const tree = (servers: readonly TreeServer[], more: Partial<Parameters<typeof mcpTree>[0]> = {}) => mcpTree({ servers, skipped: [], now, ...more }, { t: fillIn })
const only = (server: TreeServer): TreeNode => tree([server]).nodes[0]!
const partOf = (server: TreeServer, part: string) => only(server).children!.find(({ id }) => id.endsWith(part))
const tools = [toolFacts('echo'), toolFacts('look', { isReadOnly: true }), toolFacts('grow', { isOn: false })]

describe('the tree of MCP servers', () => {
  it('says nothing while there are none', () => expect(tree([], { note: 'The folder is not trusted.' })).toEqual({ nodes: [] }))

  it.each<[string, Partial<TreeServer>, Partial<TreeNode>]>([
    ['that runs', { tools: tools.slice(0, 2) }, { description: 'running · 2 tools · your settings', icon: 'circle-filled', isOpen: false }],
    ['with a single tool', { tools: tools.slice(0, 1) }, { description: 'running · 1 tool · your settings' }],
    ['with tools that are switched off', { tools }, { description: 'running · 2 of 3 tools · your settings' }],
    ['that is starting', { state: 'starting' }, { description: 'starting · your settings', icon: 'loading~spin' }],
    ['that nobody wanted yet', { state: 'ready' }, { description: 'not started · your settings', icon: 'circle-outline' }],
    ['that rests', { state: 'idle', tools: tools.slice(0, 1) }, { description: 'rests until it is used · 1 tool · your settings', icon: 'circle-outline' }],
    ['that went away', { state: 'retrying', reason: 'It ended with exit code 3.' }, { description: 'away, is reached again · It ended with exit code 3.', icon: 'sync', id: 'server:demo' }],
    ['that the person had open', { isOpened: true }, { isOpen: true, id: 'server:demo' }],
    ['that failed', { state: 'failed', reason: 'It\nended.', tools }, { description: 'failed · It ended.', icon: 'error', isOpen: true, id: 'server:demo~away' }],
    ['that lacks a value', { state: 'needs-input', reason: 'It needs word.' }, { description: 'needs a value · your settings', icon: 'key', isOpen: true }],
    ['that wants a sign-in', { state: 'needs-sign-in' }, { description: 'wants you to sign in · your settings', icon: 'sign-in', isOpen: true }],
    ['that the person stopped', { state: 'stopped' }, { description: 'stopped · your settings', icon: 'circle-slash', isOpen: false }],
    ['that is turned off', { state: 'disabled' }, { description: 'turned off where it is configured · your settings', icon: 'circle-slash' }],
    ['that waits for consent', { state: 'waits', needsConsent: true, place: '.bosun/mcp.json' }, { description: 'waits for your consent · .bosun/mcp.json', icon: 'shield', isOpen: true, id: 'server:demo~away' }],
  ])('draws one %s', (_name, more, expected) => expect(only(row(more))).toMatchObject({ label: 'demo', ...expected }))

  it('calls one as it is configured, and says what the model calls it where that is another name', () => {
    const named = only(row({ name: 'GitHub_Copilot_0', title: 'GitHub Copilot' }))
    expect(named).toMatchObject({ id: 'server:GitHub_Copilot_0', label: 'GitHub Copilot', spoken: expect.stringMatching(/^GitHub Copilot, /) as string })
    expect(named.tooltip).toMatch(/^\*\*GitHub Copilot\*\*[\s\S]*Called GitHub\\_Copilot\\_0 in commands and by the model/)
    expect(only(row()).tooltip).not.toContain('Called')
  })
  it.each<[string, Partial<McpServerReport>, readonly string[]]>([
    ['runs', { tools: [toolFacts('echo')] }, ['server', 'restartable', 'stoppable', 'logged', 'switchable']],
    ['has tools that only read', { tools: [toolFacts('look', { isReadOnly: true })] }, ['server', 'restartable', 'stoppable', 'logged', 'switchable', 'trustable']],
    ['is taken at its word', { isTrusted: true }, ['server', 'restartable', 'stoppable', 'logged', 'trusted']],
    ['is of the workspace and stopped', { state: 'stopped', needsConsent: true }, ['server', 'consented', 'startable', 'logged']],
    ['waits for consent', { state: 'waits', needsConsent: true, inputs: [{ id: 'word', description: '', isSecret: true, fallback: null }] }, ['server', 'waits']],
    ['lacks a value', { state: 'needs-input', inputs: [{ id: 'word', description: '', isSecret: true, fallback: null }] }, ['server', 'lacking', 'asking', 'logged']],
    ['can be signed in at', { state: 'needs-sign-in', canSignIn: true }, ['server', 'locked', 'logged']],
    ['cannot be signed in at', { state: 'needs-sign-in' }, ['server', 'logged']],
    ['is signed in at', { state: 'failed', canSignIn: true, isSignedIn: true }, ['server', 'restartable', 'signed', 'logged']],
    ['is turned off', { state: 'disabled' }, ['server']],
    ['has only tools that cannot be offered', { tools: [toolFacts('echo', { problem: 'It is a task.' })] }, ['server', 'restartable', 'stoppable', 'logged']],
  ])('offers by its menu what fits one that %s', (_name, more, kinds) => expect(kindsOf(serverFacts('demo', more))).toEqual(kinds))

  it('puts under a server why it is so, what it is and where, what else it has, and its tools', () => {
    const server = row({ state: 'failed', reason: 'It ended.', problem: 'Its list is wrong.', tools, prompts: [{ name: 'review', description: '', arguments: [] }], resources: [{ uri: 'a:1', name: 'notes', description: '', mediaType: null }, { uri: 'a:2', name: '', description: '', mediaType: null }] })
    expect(only(server).children!.map(({ id, label, description, icon, press }) => [id.slice('server:demo~away/'.length), label, description, icon, press])).toEqual([
      ['reason', 'It ended.', undefined, 'error', 'mcpShowLog'],
      ['problem', 'Its list is wrong.', undefined, 'warning', 'mcpShowLog'],
      ['target', 'npx -y my-server', 'your settings', 'terminal', 'mcpOpenConfiguration'],
      ['offers', '1 prompt, 2 resources', undefined, 'symbol-misc', undefined],
      ['tool:mcp__demo__echo', 'echo', 'Does echo.', undefined, undefined],
      ['tool:mcp__demo__look', 'look', 'Does look.', undefined, undefined],
      ['tool:mcp__demo__grow', 'grow', 'Does grow.', undefined, undefined],
    ])
    expect(partOf(server, '/offers')?.tooltip).toBe('review  \nnotes, a:2')
  })

  it.each([
    ['offered', {}, { check: { isChecked: true, tooltip: 'Offered to the model in this workspace' }, kinds: ['tool', 'on'], spoken: 'echo, offered: Does echo.' }],
    ['switched off', { isOn: false }, { check: { isChecked: false, tooltip: 'Not offered to the model in this workspace' }, kinds: ['tool', 'off'], spoken: 'echo, switched off: Does echo.' }],
    ['not to be offered', { problem: 'It is a task.' }, { icon: 'warning', description: 'It is a task.', kinds: ['refused'], spoken: 'echo, not offered: It is a task.' }],
  ])('draws a tool that is %s', (_name, more, expected) => {
    const node = partOf(row({ tools: [toolFacts('echo', more)] }), 'echo')
    expect(node).toMatchObject({ label: 'echo', ...expected })
    expect(node?.check !== undefined).toBe(!('problem' in more))
  })

  it('says what it would run before it may, and that one which came back had gone', () => {
    const waiting = row({ state: 'waits', needsConsent: true, target: 'node evil.js', place: '.bosun/mcp.json' })
    expect([partOf(waiting, '/target')?.label, tree([waiting]).nodes[0]?.tooltip?.includes('Runs only after you allow it, and waits again when its entry changes.')]).toEqual(['node evil.js', true])
    const back = row({ lastEnd: { reason: 'It ended with exit code 3.', at: now - 2 * MINUTE } })
    expect(partOf(back, '/came')).toMatchObject({ label: 'Came back 2 min ago: It ended with exit code 3.', press: 'mcpShowLog' })
    expect(partOf(row({ target: 'https://example.com/mcp' }), '/target')?.icon).toBe('globe')
  })

  it('lists entries that cannot be used behind the others, by their names or their files', () => {
    const { nodes } = tree([row()], { skipped: [{ name: 'both', source: 'the setting bosun.mcp.servers', file: null, reason: 'it has neither a "command" nor a "url"; give it one of them' }, { name: '', source: '/w/.bosun/mcp.json', file: { path: '/w/.bosun/mcp.json', line: 1 }, reason: 'It is not JSON.' }] })
    expect(nodes.slice(1).map(({ id, label, description, press }) => [id, label, description, press])).toEqual([
      ['skipped:0', 'both', 'cannot be used: it has neither a "command" nor a "url"; give it one of them', 'mcpOpenConfiguration'],
      ['skipped:1', '.bosun/mcp.json', 'cannot be used: It is not JSON.', 'mcpOpenConfiguration'],
    ])
    expect(nodes.slice(1).map(({ id }) => skippedOfNode(id))).toEqual([0, 1])
  })

  it('counts beside its title what runs, failed and waits, and in the badge what waits', () => {
    const one = (name: string, state: McpServerReport['state']) => row({ ...serverFacts(name, { state }) })
    const state = tree([one('a', 'running'), one('b', 'running'), one('c', 'failed'), one('d', 'waits'), one('e', 'needs-input')], { note: 'The folder is not trusted.' })
    expect([state.description, state.badge, state.message]).toEqual(['2 running · 1 failed · 2 wait for you', { count: 2, tooltip: '2 MCP servers wait for you' }, 'The folder is not trusted.'])
    expect(tree([one('a', 'stopped')])).not.toHaveProperty('badge')
  })

  it('shows before consent what the entry gives the server, and in the tooltip after', () => {
    const given = ['A=1', 'TOKEN=••••', ...Array.from({ length: 30 }, (_each, index) => `N${index}=x`)]
    const rows = (state: McpServerReport['state']) => only(row({ state, given })).children?.filter(({ icon }) => icon === 'symbol-constant').map(({ label, spoken, press }) => [label, spoken, press])
    expect(rows('waits')?.slice(0, 2)).toEqual([['A=1', 'A=1', 'mcpOpenConfiguration'], ['TOKEN=••••', 'TOKEN=••••', 'mcpOpenConfiguration']])
    expect([rows('waits')?.length, rows('running')]).toEqual([20, []])
    expect(only(row({ given })).tooltip).toMatch(/A=1 {2}\nTOKEN=•••• {2}\n(N\d+=x {2}\n){18}… {2}\n/)
  })

  it('tells all of it in the tooltip, and nothing of a server can break out of it', () => {
    expect(only(row({ target: 'x [y](command:evil)', given: ['A=1', 'B=[x](command:y)'], source: '/w/<b>', tools, isTrusted: true, reason: 'It *ended*.' })).tooltip).toBe(
      '**demo**\n\nrunning  \nIt \\*ended\\*.  \nx \\[y\\] (command:evil)  \nA=1  \nB=\\[x\\] (command:y)  \nConfigured in /w/\\<b\\>  \n3 tools, 0 prompts, 0 resources  \nIts word counts for which tools only read, and those may run beside each other.',
    )
    expect(partOf(row({ tools: [toolFacts('echo', { description: '[x](command:evil)', isReadOnly: true, isOffEverywhere: true, isOn: false })] }), 'echo')?.tooltip).toBe(
      '**echo**\n\n\\[x\\](command:evil)\n\nThe server says that it only reads.\n\nTurned off everywhere by the setting bosun.tools.disabled.\n\nmcp\\_\\_demo\\_\\_echo',
    )
  })

  it.each([
    ['server:demo', { server: 'demo', tool: null }],
    ['server:my-server_2~away', { server: 'my-server_2', tool: null }],
    ['server:demo~away/reason', { server: 'demo', tool: null }],
    ['server:demo~away/given_0', { server: 'demo', tool: null }],
    ['server:demo/tool:mcp__demo__look', { server: 'demo', tool: 'mcp__demo__look' }],
    ['skipped:1', null],
  ])('knows the server behind the row %s', (id, expected) => expect(serverOfNode(id)).toEqual(expected))
})
