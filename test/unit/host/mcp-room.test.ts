import { afterEach, describe, expect, it } from 'vitest'
import type { Mcp, McpReport, McpServerReport, NewServer } from '../../../extension/features/mcp/service.ts'
import { MAX_FOLLOWING } from '../../../extension/host/mcp-logs.ts'
import { chatRig, type RigOptions } from './chat-rig.ts'
import { serverFacts, toolFacts } from './mcp-server-facts.ts'

/** The chat over MCP servers that a test plays. */
async function setUp(servers: readonly McpServerReport[] = [], options: RigOptions = {}) {
  const calls: unknown[] = []
  const changed = new Set<() => void>()
  const heard = new Set<(name: string, line: string) => void>()
  const kept = new Map<string, string[]>()
  let visibleAgent: Parameters<Mcp['attachChat']>[0] = () => null
  let report: McpReport = { isRead: true, servers, skipped: [] }
  const note = (name: string) => async (...given: readonly unknown[]) => void calls.push([name, ...given])
  const rig = await chatRig({
    ...options,
    mcp: {
      wake: () => void calls.push(['wake']),
      report: () => report,
      reread: note('reread'),
      allow: note('allow'),
      forget: note('forget'),
      restart: note('restart'),
      stop: note('stop'),
      signIn: note('sign-in'),
      signOut: async (name) => (calls.push(['sign-out', name]), name === 'kept' ? 'It may count there.' : null),
      setTool: note('tool'),
      setTrusted: note('trust'),
      add: async (server: NewServer) => void calls.push(['add', server]),
      askInput: async (name, id) => (calls.push(['input', name, id]), id !== 'refused'),
      log: (name) => kept.get(name) ?? [],
      onLog: (listener) => (heard.add(listener), () => void heard.delete(listener)),
      onDidChange: (listener) => (changed.add(listener), () => void changed.delete(listener)),
      attachChat: (agent) => ((visibleAgent = agent), () => (visibleAgent = () => null)),
      ...options.mcp,
    },
  })
  rigs.push(rig)
  const are = async (next: readonly McpServerReport[], more: Partial<McpReport> = {}) => {
    report = { isRead: true, skipped: [], ...more, servers: next }
    for (const listener of changed) listener()
    await rig.settle()
  }
  const say = (name: string, line: string) => {
    const lines = kept.get(name) ?? []
    lines.push(line)
    kept.set(name, lines.slice(-3))
    for (const listener of heard) listener(name, line)
  }
  return { rig, calls, are, say, visible: () => visibleAgent()?.id ?? null, listeners: () => changed.size + heard.size, run: async (...asked: Parameters<typeof rig.controller.runMcp>) => (await rig.controller.runMcp(...asked), rig.settle()) }
}

const rigs: Awaited<ReturnType<typeof chatRig>>[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.controller.dispose()
})

const waiting = (name: string, more: Partial<McpServerReport> = {}) => serverFacts(name, { state: 'waits', needsConsent: true, file: { path: '/project/.bosun/mcp.json', line: 4 }, source: '/project/.bosun/mcp.json', target: `node ${name}.js`, ...more })
const noticesOf = ({ state }: Awaited<ReturnType<typeof chatRig>>) => state().notices.filter(({ id }) => id !== 'model').map(({ id, level, text, actions }) => [id, level, text, actions.map((action) => action.label)])

describe('the view of MCP servers', () => {
  it('says where what a sign-in gave may still count', async () => {
    const { rig, run } = await setUp([serverFacts('gone', { isSignedIn: true }), serverFacts('kept', { isSignedIn: true })])
    await run('sign-out', 'server:gone')
    expect(noticesOf(rig)).toEqual([])
    await run('sign-out', 'server:kept')
    expect(noticesOf(rig)).toEqual([['mcp:kept:signed-out', 'warning', 'You are signed out of the MCP server “kept”. It may count there.', []]])
  })
  it('reads nothing before somebody looks, draws what becomes of the servers, and lets go of them', async () => {
    const { rig, calls, are, listeners } = await setUp()
    expect([calls, rig.mcpTree.lines()]).toEqual([[], []])
    rig.mcpTree.setVisible(true)
    await are([serverFacts('demo', { tools: [toolFacts('echo')] })])
    expect([calls, rig.mcpTree.lines()]).toEqual([[['wake']], ['demo | running · 1 tool · your settings', '  npx -y my-server | your settings', '  echo | Does echo.']])
    await rig.controller.dispose()
    expect([listeners(), rig.mcpTree.lines()]).toEqual([0, []])
  })

  it('says which chat the person looks at, for what servers ask by themselves', async () => {
    const { rig, visible } = await setUp()
    expect(visible()).toBe(null)
    await rig.send('hello')
    expect(visible()).toBe('s1')
    await rig.controller.dispose()
    expect(visible()).toBe(null)
  })

  it('says where each is configured', async () => {
    const { rig, are } = await setUp()
    await are([
      serverFacts('a', { file: { path: '/project/.vscode/mcp.json', line: 1 } }),
      serverFacts('b', { file: { path: '/home/me/.bosun/mcp.json', line: 1 } }),
      serverFacts('c', { needsConsent: true }),
    ])
    expect(rig.mcpTree.state.nodes.map(({ description }) => description)).toEqual(['running · .vscode/mcp.json', 'running · ~/.bosun/mcp.json', 'running · workspace settings'])
  })

  it('switches tools by their ticks, and draws the tick back where that failed', async () => {
    const { rig, calls, are } = await setUp([], { mcp: { setTool: async (tool, isOn) => { calls.push(['tool', tool, isOn]); if (tool === 'mcp__demo__stuck') throw new Error('The settings cannot be written.') } } })
    await are([serverFacts('demo', { tools: [toolFacts('echo'), toolFacts('stuck')] })])
    rig.mcpTree.check('server:demo/tool:mcp__demo__echo', false)
    rig.mcpTree.check('server:demo/tool:mcp__demo__stuck', true)
    await rig.settle()
    expect(calls).toEqual([['tool', 'mcp__demo__echo', false], ['tool', 'mcp__demo__stuck', true]])
    expect(noticesOf(rig)).toEqual([['failure', 'error', 'The settings cannot be written.', []]])
  })

  it('keeps in sight why a server went that came back', async () => {
    const { rig, are } = await setUp([serverFacts('demo')])
    rig.mcpTree.setVisible(true)
    await are([serverFacts('demo', { state: 'retrying', reason: 'It ended with exit code 3.' })])
    await are([serverFacts('demo', { state: 'starting' })])
    await are([serverFacts('demo')])
    expect(rig.mcpTree.lines()[1]).toBe('  Came back just now: It ended with exit code 3.')
    rig.clock.advance(180_000)
    expect(rig.mcpTree.lines()[1]).toMatch(/Came back 3 min ago/)
    await are([serverFacts('demo', { state: 'stopped' })])
    await are([serverFacts('demo')])
    expect(rig.mcpTree.lines()[1]).toMatch(/npx/)
  })

  it('leaves a row open that becomes another one and comes back', async () => {
    const { rig, are } = await setUp([serverFacts('demo'), serverFacts('other')])
    rig.mcpTree.open('server:demo')
    await are([serverFacts('demo', { state: 'failed', reason: 'It ended.' }), serverFacts('other')])
    await are([serverFacts('demo'), serverFacts('other')])
    expect(rig.mcpTree.state.nodes.map(({ id, isOpen }) => [id, isOpen])).toEqual([['server:demo', true], ['server:other', false]])
  })

  it('tells menus and the palette what can be done', async () => {
    const { rig, are } = await setUp()
    expect([...rig.editor.conditions].filter((name) => name.startsWith('bosun.mcp'))).toEqual(['bosun.mcp.read'])
    await are([waiting('demo')], { skipped: [{ name: 'x', source: 's', file: null, reason: 'r' }] })
    expect([...rig.editor.conditions].filter((name) => name.startsWith('bosun.mcp')).toSorted()).toEqual(['bosun.mcp.read', 'bosun.mcp.server', 'bosun.mcp.skipped', 'bosun.mcp.waiting', 'bosun.mcp.waits'])
    await are([serverFacts('demo')])
    expect(rig.editor.conditions.has('bosun.mcp.waits')).toBe(false)
  })
})

describe('a command on MCP servers', () => {
  const inputs = [{ id: 'one', description: '', isSecret: true, fallback: null }, { id: 'two', description: '', isSecret: true, fallback: null }]
  it.each([
    ['allow', waiting('demo'), [['allow', ['demo']]]],
    ['forget', serverFacts('demo', { needsConsent: true }), [['forget', ['demo']]]],
    ['start', serverFacts('demo', { state: 'stopped' }), [['restart', 'demo']]],
    ['restart', serverFacts('demo'), [['restart', 'demo']]],
    ['stop', serverFacts('demo'), [['stop', 'demo']]],
    ['sign-in', serverFacts('demo', { state: 'needs-sign-in', canSignIn: true }), [['sign-in', 'demo']]],
    ['sign-out', serverFacts('demo', { isSignedIn: true }), [['sign-out', 'demo']]],
    ['trust', serverFacts('demo', { tools: [toolFacts('look', { isReadOnly: true })] }), [['trust', 'demo', true]]],
    ['distrust', serverFacts('demo', { isTrusted: true }), [['trust', 'demo', false]]],
    ['give-input', serverFacts('demo', { state: 'needs-input', inputs, missingInputs: inputs.slice(1) }), [['input', 'demo', 'two']]],
    ['give-input', serverFacts('demo', { inputs }), [['input', 'demo', 'one'], ['input', 'demo', 'two']]],
    ['give-input', serverFacts('demo', { inputs: [{ ...inputs[0]!, id: 'refused' }, ...inputs] }), [['input', 'demo', 'refused']]],
  ] as const)('%s is done with the row and with the only one that it fits', async (command, server, expected) => {
    const { rig, calls, run } = await setUp([server, serverFacts('other', { state: 'disabled' })], { memento: { 'mcp.notNow': ['digest of demo'] } })
    await run(command, 'server:demo/target')
    await run(command, null)
    expect(calls).toEqual([...expected, ...expected])
    expect(rig.editor.take()).toEqual([])
  })

  it('of the palette asks which, or says that there is none', async () => {
    const { rig, calls, run } = await setUp([serverFacts('a'), serverFacts('b'), serverFacts('c', { state: 'stopped' })])
    rig.editor.answers.push('b', null)
    await run('stop', null)
    await run('stop', null)
    await run('sign-in', null)
    expect(calls).toEqual([['stop', 'b']])
    expect(rig.editor.take()[0]).toEqual({ kind: 'pick', value: { title: 'Which MCP server?', items: [{ id: 'a', label: 'a', description: 'running · your settings' }, { id: 'b', label: 'b', description: 'running · your settings' }] } })
    expect(noticesOf(rig)).toEqual([['mcp', 'info', 'There is no MCP server that this can be done with.', []]])
  })

  it('opens where a server, or an entry that cannot be used, is written', async () => {
    const { rig, are, run } = await setUp()
    await are([serverFacts('a', { file: { path: '/project/.bosun/mcp.json', line: 7 } }), serverFacts('b'), serverFacts('c', { file: { path: '/missing', line: 1 } })], {
      skipped: [{ name: 'x', source: 's', file: null, reason: 'r' }, { name: 'y', source: '/f', file: { path: '/f', line: 2 }, reason: 'r' }, { name: 'z', source: '/f', file: { path: '/missing', line: 2 }, reason: 'r' }],
    })
    for (const node of ['server:a', 'server:b/target', 'skipped:0', 'skipped:1', 'skipped:9']) await run('open-configuration', node)
    expect(rig.editor.take().map(({ value }) => value)).toEqual([{ location: { path: '/project/.bosun/mcp.json', line: 7 }, cwd: '/' }, 'bosun.mcp.servers', 'bosun.mcp.servers', { location: { path: '/f', line: 2 }, cwd: '/' }])
    for (const node of ['server:c', 'skipped:2']) {
      await run('open-configuration', node)
      expect(noticesOf(rig).at(-1)).toEqual(['mcp', 'warning', '/missing is not there.', []])
    }
  })

  it('switches several tools at once, or the one of a row', async () => {
    const { rig, calls, run } = await setUp([serverFacts('demo', { tools: [toolFacts('a'), toolFacts('b', { isOn: false }), toolFacts('c'), toolFacts('d', { problem: 'no' })] })])
    rig.editor.answers.push(['mcp__demo__b', 'mcp__demo__c'], null)
    await run('tools', 'server:demo')
    await run('tools', 'server:demo')
    await run('tool-off', 'server:demo/tool:mcp__demo__c')
    await run('tool-on', 'server:demo/tool:mcp__demo__a')
    await run('tool-on', null)
    expect(calls).toEqual([['tool', 'mcp__demo__a', false], ['tool', 'mcp__demo__b', true], ['tool', 'mcp__demo__c', false], ['tool', 'mcp__demo__a', true]])
    expect((rig.editor.take()[0]!.value as { items: readonly { id: string; isCurrent: boolean }[] }).items.map(({ id, isCurrent }) => [id, isCurrent])).toEqual([['mcp__demo__a', true], ['mcp__demo__b', false], ['mcp__demo__c', true]])
  })

  it('adds a server that the person describes, and shows the view; reads all anew', async () => {
    const { rig, calls, run } = await setUp([serverFacts('old')])
    rig.editor.answers.push('program', 'node server.js', 'new', 'settings')
    await run('add', null)
    await run('add', null)
    await run('refresh', null)
    expect(calls).toEqual([['reread'], ['add', { name: 'new', entry: { command: 'node', args: ['server.js'] }, folder: null }], ['reread'], ['reread']])
    expect(rig.mcpTree.focused).toBe(1)
  })

  it('that fails says why', async () => {
    const { rig, run } = await setUp([serverFacts('demo')], { mcp: { stop: async () => { throw new Error('It does not stop.') } } })
    await run('stop', 'server:demo')
    expect(noticesOf(rig)).toEqual([['failure', 'error', 'It does not stop.', []]])
  })
})

describe('the log of an MCP server', () => {
  it('opens when asked for, goes on, stays bounded, and goes with its server', async () => {
    const { rig, are, say, run } = await setUp([serverFacts('demo'), serverFacts('other')])
    say('demo', '10:00:00 one')
    await run('show-log', 'server:demo')
    say('demo', '10:00:01 two')
    say('other', '10:00:02 not asked for')
    const [log] = rig.logViews.logs
    expect([rig.logViews.logs.length, log]).toEqual([1, { title: 'Bosun MCP: demo', text: '10:00:00 one\n10:00:01 two\n', state: 'shown' }])
    for (let count = 0; count < MAX_FOLLOWING; count += 1) say('demo', `line ${count}`)
    // Cut to what the server keeps, which are three lines here.
    expect(log?.text).toBe(`line ${MAX_FOLLOWING - 3}\nline ${MAX_FOLLOWING - 2}\nline ${MAX_FOLLOWING - 1}\n`)
    await run('show-log', 'server:demo')
    expect(rig.logViews.logs.length).toBe(1)
    await are([serverFacts('other')])
    expect(log?.state).toBe('gone')
  })
})

describe('an MCP server that does not run', () => {
  it('is told once in the chat, with what can be done, until it stands otherwise', async () => {
    const { rig, calls, are } = await setUp()
    const failed = serverFacts('demo', { state: 'failed', reason: 'It ended.' })
    await are([failed])
    const expected = [['mcp:demo', 'error', 'The MCP server “demo” does not run. It ended.', ['Restart', 'Show Log']]]
    expect(noticesOf(rig)).toEqual(expected)
    await rig.say({ type: 'notice-action', id: 'mcp:demo', action: 'restart' })
    await rig.say({ type: 'notice-action', id: 'mcp:demo', action: 'show-log' })
    expect([calls, rig.logViews.logs.map(({ title }) => title)]).toEqual([[['restart', 'demo']], ['Bosun MCP: demo']])
    await rig.say({ type: 'notice-close', id: 'mcp:demo' })
    await are([failed])
    expect(noticesOf(rig)).toEqual([])
    await are([serverFacts('demo', { state: 'starting' })])
    await are([failed])
    expect(noticesOf(rig)).toEqual(expected)
    await are([serverFacts('demo', { state: 'starting' })])
    await are([serverFacts('demo')])
    expect(noticesOf(rig)).toEqual([])
    await are([failed])
    await are([])
    expect(noticesOf(rig)).toEqual([])
  })

  it('among several is named in one line, which shows them, and stands alone when the others run', async () => {
    const { rig, are } = await setUp()
    const [demo, other] = [serverFacts('demo', { state: 'failed', reason: 'It ended.' }), serverFacts('other', { state: 'needs-input', reason: 'It needs word.' })]
    const both = [['mcp-troubles', 'error', '2 MCP servers do not run: demo, other.', ['Show Why']]]
    await are([demo])
    await are([demo, other])
    expect(noticesOf(rig)).toEqual(both)
    await are([demo, serverFacts('other')])
    expect(noticesOf(rig)).toEqual([['mcp:demo', 'error', 'The MCP server “demo” does not run. It ended.', ['Restart', 'Show Log']]])
    await are([demo, other])
    expect(noticesOf(rig)).toEqual(both)
    await rig.say({ type: 'notice-close', id: 'mcp-troubles' })
    await are([serverFacts('demo'), other])
    expect(noticesOf(rig)).toEqual([])
  })

  it.each([
    ['lacks a value', { state: 'needs-input', reason: 'It needs word.' }, ['Give It…']],
    ['wants a sign-in', { state: 'needs-sign-in', reason: 'It wants you to sign in.', canSignIn: true }, ['Sign In…', 'Show Log']],
    ['wants a sign-in that nobody can do here', { state: 'needs-sign-in', reason: 'It wants you to sign in.' }, ['Show Log']],
  ] as const)('because it %s offers what can be done', async (_name, more, actions) => {
    const { rig, are } = await setUp()
    await are([serverFacts('demo', more)])
    expect(noticesOf(rig)).toEqual([['mcp:demo', 'warning', `The MCP server “demo” does not run. ${more.reason}`, actions]])
  })
})

describe('consent to a server of the workspace', () => {
  const words = 'The MCP server “demo” of this workspace waits for your consent. It would run: node demo.js (.bosun/mcp.json).'
  it('is asked for once, says what it would run and from where, and shows it before the answer', async () => {
    const { rig, calls, are } = await setUp()
    rig.attention.clicks.push('show', 'allow')
    await are([waiting('demo')])
    expect(rig.attention.told).toEqual([{ level: 'warning', text: words }, { level: 'warning', text: words }])
    expect([rig.editor.take().map(({ value }) => value), calls]).toEqual([[{ location: { path: '/project/.bosun/mcp.json', line: 4 }, cwd: '/' }], [['allow', ['demo']]]])
    await are([waiting('demo')])
    expect(rig.attention.told.length).toBe(2)
  })

  it.each([
    ['what its entry gives it', waiting('demo', { given: ['A=1', `B=${'x'.repeat(200)}`, 'C=a\u202eb'] }), `${words.slice(0, -1)}, with A=1, B=${'x'.repeat(77)}…, C=a\\u{202e}b.`],
    ['an address', waiting('demo', { target: 'https://x/mcp' }), 'The MCP server “demo” of this workspace waits for your consent. It would be reached at https://x/mcp (.bosun/mcp.json).'],
    ['a name of its own', waiting('demo_0', { title: 'my/demo' }), 'The MCP server “my/demo” of this workspace waits for your consent. It would run: node demo_0.js (.bosun/mcp.json).'],
    ['a long line by both of its ends', waiting('demo', { target: `run ${'x'.repeat(300)} now` }), `The MCP server “demo” of this workspace waits for your consent. It would run: run ${'x'.repeat(96)}…${'x'.repeat(96)} now (.bosun/mcp.json).`],
    ['a link that it hides', waiting('demo', { target: '[x](command:evil)' }), 'The MCP server “demo” of this workspace waits for your consent. It would run: [x] (command:evil) (.bosun/mcp.json).'],
  ])('says of %s', async (_name, server, text) => {
    const { rig, are } = await setUp()
    await are([server])
    expect(rig.attention.told.map((told) => told.text)).toEqual([text])
  })

  it('that was put off is not asked for again, in another window neither, unless the entry changes', async () => {
    const { rig, calls, are } = await setUp()
    rig.attention.clicks.push('not-now')
    await are([waiting('demo')])
    await are([waiting('demo')])
    expect([rig.attention.told.length, noticesOf(rig), calls, rig.memento.get('mcp.notNow')]).toEqual([1, [], [], ['digest of demo']])
    const again = await setUp([waiting('demo')], { memento: { 'mcp.notNow': ['digest of demo'] } })
    expect(again.rig.attention.told).toEqual([])
    expect(again.rig.mcpTree.state.badge?.count).toBe(1)
    await again.are([waiting('demo', { digest: 'another' })])
    expect(again.rig.attention.told.length).toBe(1)
  })

  it('counts for the very entry that was shown', async () => {
    let change: (() => Promise<void>) | null = null
    const { rig, calls, are } = await setUp([], {})
    rig.attention.tell = async ({ level, text }) => {
      ;(rig.attention.told as { level: string; text: string }[]).push({ level, text })
      const changing = change
      change = null
      await changing?.()
      return changing === null ? null : 'allow'
    }
    change = () => are([waiting('demo', { digest: 'another', target: 'rm -rf /' })])
    await are([waiting('demo')])
    expect(calls).toEqual([])
    expect(rig.attention.told.map(({ text }) => /rm -rf/.test(text))).toEqual([false, true])
  })

  it('stands in the chat too, and there may be given', async () => {
    const { rig, calls, are } = await setUp()
    await are([waiting('demo')])
    expect(noticesOf(rig)).toEqual([['mcp-consent', 'info', 'The MCP server “demo” of this workspace waits for your consent and does not run.', ['Review…']]])
    rig.editor.answers.push(['demo'])
    await rig.say({ type: 'notice-action', id: 'mcp-consent', action: 'review' })
    expect(rig.editor.take().map(({ value }) => (value as { items: unknown }).items)).toEqual([[{ id: 'demo', label: 'demo', description: '.bosun/mcp.json', detail: 'node demo.js' }]])
    expect(calls).toEqual([['allow', ['demo']]])
    await rig.say({ type: 'notice-close', id: 'mcp-consent' })
    await are([waiting('demo'), serverFacts('other')])
    expect(noticesOf(rig)).toEqual([])
    await are([serverFacts('demo')])
    await are([waiting('demo')])
    expect(noticesOf(rig).length).toBe(1)
  })

  it('for several is one question, with a list to tick', async () => {
    const { rig, calls, are } = await setUp()
    rig.attention.clicks.push('review')
    rig.editor.answers.push(['b'])
    await are([waiting('a'), waiting('b')])
    expect(rig.attention.told.map(({ text }) => text)).toEqual(['2 MCP servers of this workspace wait for your consent: a, b. None runs before.'])
    expect(rig.editor.take().map(({ value }) => (value as { items: unknown }).items)).toEqual([[{ id: 'a', label: 'a', description: '.bosun/mcp.json', detail: 'node a.js' }, { id: 'b', label: 'b', description: '.bosun/mcp.json', detail: 'node b.js' }]])
    expect([calls, rig.memento.get('mcp.notNow')]).toEqual([[['allow', ['b']]], ['digest of a']])
  })

  it('for several stands in the chat as a list, and may be put off together', async () => {
    const { rig, calls, are } = await setUp()
    await are([waiting('a'), waiting('b')])
    expect(noticesOf(rig)).toEqual([['mcp-consent', 'info', '2 MCP servers of this workspace wait for your consent and do not run.', ['Review…']]])
    rig.editor.answers.push(null, ['a', 'b'])
    await rig.say({ type: 'notice-action', id: 'mcp-consent', action: 'review' })
    expect(calls).toEqual([])
    await rig.say({ type: 'notice-action', id: 'mcp-consent', action: 'review' })
    expect(calls).toEqual([['allow', ['a', 'b']]])
    rig.attention.clicks.push('not-now')
    await are([waiting('c'), waiting('d')])
    expect([rig.memento.get('mcp.notNow'), noticesOf(rig).length]).toEqual([['digest of c', 'digest of d'], 0])
  })
})
