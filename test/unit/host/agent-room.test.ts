import { afterEach, describe, expect, it } from 'vitest'
import { AgentChangesError, type AgentChanges, type ReviewOutcome } from '../../../extension/features/checkpoints/service.ts'
import type { ChildFacts } from '../../../extension/features/subagents/service.ts'
import { chatRig, type RigOptions } from './chat-rig.ts'

type Rig = Awaited<ReturnType<typeof chatRig>>

const child = (id: string, more: Partial<ChildFacts> = {}): ChildFacts => ({
  id, parentId: 's1', label: `task ${id}`, provider: 'spawn', mode: 'one-shot', status: 'running', depth: 1, purpose: { kind: 'subagent' }, callId: `call-${id}`, createdAt: 1, ...more,
})
const kept = (id: string, more: Partial<ChildFacts> = {}) => child(id, { mode: 'continuable', ...more })

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.controller.dispose()
})

/** The chat with a session on screen whose agents a test plays. */
async function setUp(agents: readonly ChildFacts[] = [], options: RigOptions = {}) {
  const rig = await chatRig({ ...options, stored: { ...Object.fromEntries([...agents, ...(options.storedAgents ?? [])].map(({ id }) => [id, []])), ...options.stored } })
  rigs.push(rig)
  // Its id says how many were there before.
  await rig.send('begin')
  rig.titles.set('s1', 'Ship it')
  await rig.agentsAre(agents)
  return rig
}
const called = (rig: Rig, what: string) => rig.calls.filter((call) => Array.isArray(call) && call[0] === what)

describe('the room of agents', () => {
  it('draws the agents of the session on screen with those below them, and counts who works', async () => {
    const rig = await setUp([child('a', { lastLine: 'Running npm test' }), child('b', { parentId: 'a', status: 'queued' })])
    Object.assign(rig.governor, { running: 1, queued: 1 })
    await rig.agentsAre([child('a', { lastLine: 'Running npm test' }), child('b', { parentId: 'a', status: 'queued' })])
    expect(rig.agentTree.lines()).toEqual(['Ship it | 2 at work', '  task a | running · Running npm test', '    task b | queued'])
    expect([rig.agentTree.state.description, rig.agentTree.state.badge?.count]).toEqual(['1 running, 1 queued of 10', 1])
  })

  it('gives cards what their agents do, also after the call, with those below them', async () => {
    const rig = await setUp([kept('a', { status: 'idle', lastLine: 'Done.' }), child('b', { parentId: 'a', endedAt: 9, status: 'completed' }), child('x', { parentId: 'elsewhere' })])
    const below = { id: 'b', callId: 'call-b', label: 'task b', state: 'completed', isAsking: false, lastLine: null, cost: null, startedAt: 1, endedAt: 9, canOpen: true, canInterrupt: false, children: [] }
    expect(rig.state().agents).toEqual([{ ...below, id: 'a', callId: 'call-a', label: 'task a', state: 'idle', lastLine: 'Done.', endedAt: null, children: [below] }])
  })

  it('shows agents of other sessions while something happens in them', async () => {
    const rig = await setUp([child('x', { parentId: 's9' }), child('y', { parentId: 's8', status: 'completed' })])
    expect(rig.agentTree.lines()).toEqual(['New session | 1 at work', '  task x | running'])
  })

  it('looks up stored agents once somebody sees the tree, and those below them when a row is opened', async () => {
    const rig = await setUp([], { storedAgents: [kept('old', { status: 'ready' }), child('deep', { parentId: 'old', status: 'completed' })] })
    expect(rig.agentTree.lines()).toEqual([])
    rig.agentTree.setVisible(true)
    await rig.settle()
    expect(rig.agentTree.lines()).toEqual(['Ship it | 1 agent', '  task old | ready for a message'])
    expect(rig.agentTree.node('agent:old')?.isLazy).toBe(true)
    rig.agentTree.open('agent:old')
    await rig.settle()
    expect(rig.agentTree.lines().at(-1)).toBe('    task deep | done')
  })

  it('interrupts for the person, and says so when there is nothing to interrupt', async () => {
    const rig = await setUp([child('a'), child('b', { status: 'completed' })])
    await rig.controller.runAgent('interrupt', 'agent:a')
    await rig.say({ type: 'agent', id: 'b', action: 'interrupt' })
    expect(called(rig, 'interrupt')).toEqual([['interrupt', 'a'], ['interrupt', 'b']])
    expect(rig.state().notices.map(({ text }) => text)).toEqual(['This agent does not work now, so there is nothing to interrupt.'])
  })

  it('takes a message for a turn of its own, from whoever started it', async () => {
    const rig = await setUp([kept('a', { status: 'idle' })])
    rig.editor.answers.push('And the docs?')
    await rig.controller.runAgent('message', 'agent:a')
    expect(called(rig, 'tell')).toEqual([['tell', 's1', 'a', [{ type: 'text', text: 'And the docs?' }], 'user', 'next-turn']])
  })

  it('stops a job, copies an id, and leads to the limits', async () => {
    const rig = await setUp([child('a', { jobId: 'subagent-7' })])
    await rig.controller.runAgent('copy-id', 'agent:a')
    await rig.controller.runAgent('limits', null)
    expect(rig.agentTree.node('agent:a')?.kinds).toContain('job')
    expect(rig.editor.shown).toContainEqual(expect.objectContaining({ kind: 'settings' }))
  })

  it('asks which agent when the palette does not say, and says so when none fits', async () => {
    const rig = await setUp([child('a'), child('b')])
    rig.editor.answers.push('b')
    await rig.controller.runAgent('interrupt', null)
    expect(called(rig, 'interrupt')).toEqual([['interrupt', 'b']])
    await rig.controller.runAgent('message', null)
    await rig.settle()
    expect(rig.state().notices.map(({ text }) => text)).toEqual(['There is no agent that this can be done with.'])
  })
})

describe('what an agent changed', () => {
  const say = async (more: Partial<AgentChanges> = {}, label = 'task a') => {
    const rig = await setUp([child('a', { label })], { agentChanges: more })
    rig.editor.answers.push(true)
    await rig.controller.runAgent('restore', 'agent:a')
    await rig.settle()
    return { rig, said: rig.state().notices.map(({ text }) => text) }
  }
  const restored = (more: Partial<ReviewOutcome>) => ({ restoreBefore: async () => ({ paths: [], conflicts: [], problems: [], ...more }) })

  it('is shown in one diff, each file as it was before the first of the changes', async () => {
    const startOf = async () => [{ path: '/project/a.ts', before: 'old', session: 'a', turn: 3 }, { path: '/project/b.ts', before: null, session: 'b', turn: 1 }]
    const rig = await setUp([child('a')], { agentChanges: { startOf } })
    await rig.controller.runAgent('changes', 'agent:a')
    expect(rig.editor.shown.filter(({ kind }) => kind === 'diffs').map(({ value }) => value)).toEqual([
      { title: 'Changes of “task a”', files: [{ path: '/project/a.ts', before: { name: 'turn-start/a/3/%2Fproject%2Fa.ts/a.ts', text: 'old' } }, { path: '/project/b.ts', before: null }] },
    ])
  })

  it('is taken back when the person says so', async () => {
    const rig = await setUp([child('a')])
    await rig.controller.runAgent('restore', 'agent:a')
    expect(called(rig, 'restore-before')).toEqual([])
    rig.editor.answers.push(true)
    await rig.controller.runAgent('restore', 'agent:a')
    expect(called(rig, 'restore-before')).toEqual([['restore-before', 'a']])
  })

  it.each<[string, Partial<AgentChanges>, string]>([
    ['how many files went back', restored({ paths: ['/project/a.ts', '/project/b.ts'] }), '2 files restored to before “task a”.'],
    ['that nothing was changed', { planBefore: async () => ({ paths: [], agents: 0 }) }, 'Nothing that was changed since “task a” began is left to take back.'],
    ['that nothing was left to take back', restored({}), 'Nothing that was changed since “task a” began is left to take back.'],
    ['where the person changed the same lines, after how many went back', restored({ paths: ['/project/b.ts', '/project/a.ts'], conflicts: ['/project/a.ts'] }), '1 file restored to before “task a”. You changed the same lines of a.ts since. They stay as they are.'],
    ['only where, when nothing else went back', restored({ conflicts: ['/project/a.ts', '/project/b.ts'] }), 'You changed the same lines in 2 files since. They stay as they are.'],
    ['what keeps several files as they are, and how many went back', restored({ paths: ['/project/c.ts', '/project/d.ts'], problems: ['a', 'b'].map((name) => ({ path: `/project/${name}.ts`, problem: 'It is locked.' })) }), '2 files restored to before “task a”. 2 files stay as they are. It is locked.'],
    ['what keeps a file as it is', restored({ problems: [{ path: '/project/a.ts', problem: 'It is locked.' }] }), 'a.ts stays as it is. It is locked.'],
    ['that others are at work', { planBefore: () => Promise.reject(new AgentChangesError('AGENTS_AT_WORK', 'busy')) }, 'Agents are still at work on these files. Stop them or wait, then restore.'],
  ])('says %s', async (_, more, words) => expect((await say(more)).said).toEqual([words]))

  it('asks in one line, whatever a model called the agent', async () => {
    const { rig } = await say({}, 'task\n  a')
    expect(rig.editor.shown.find(({ kind }) => kind === 'confirm')?.value).toMatchObject({ text: 'Restore 1 file to before “task a”?' })
  })
})

describe('the transcript of an agent', () => {
  const openChild = async (facts: ChildFacts, isLive = true) => {
    const rig = await setUp([facts])
    if (isLive) rig.wake(facts.id)
    await rig.say({ type: 'session-open', id: facts.id })
    return rig
  }

  it('says whose it is, and takes words for one that stays while the session that started it is open', async () => {
    const rig = await openChild(kept('a'))
    expect(rig.state().session).toMatchObject({ id: 'a', title: 'task a', access: 'read-only', child: { parentId: 's1', parentTitle: 'Ship it', canWrite: true, blockedBy: null, canTakeOver: true } })
    expect(await rig.send('And the docs?')).toBeNull()
    expect(await rig.send('Now!', 'next-step')).toBeNull()
    expect(called(rig, 'tell').map((call) => (call as readonly unknown[]).slice(1))).toEqual([
      ['s1', 'a', [{ type: 'text', text: 'And the docs?' }], 'user', 'next-turn'],
      ['s1', 'a', [{ type: 'text', text: 'Now!' }], 'user', 'now'],
    ])
    expect(rig.agent('a').received).toEqual([])
  })

  it('shows what waits for it, to be changed and taken back, and interrupts in the place of a stop', async () => {
    const rig = await openChild(kept('a'))
    Object.assign(rig.agent('a').inbox, { nextTurn: [{ id: 'm1', role: 'user', content: [{ type: 'text', text: 'later' }], source: { kind: 'user' } }] })
    await rig.agentsAre([kept('a')])
    expect(rig.state().queue).toEqual([{ id: 'm1', text: 'later', target: 'next-turn' }])
    await rig.say({ type: 'queue-edit', id: 'm1', text: 'sooner' })
    await rig.say({ type: 'queue-delete', id: 'm1' })
    await rig.say({ type: 'stop' })
    expect([called(rig, 'edit'), called(rig, 'remove'), called(rig, 'interrupt'), called(rig, 'cancel')]).toEqual([[['edit', 'm1', [{ type: 'text', text: 'sooner' }]]], [['remove', 'm1']], [['interrupt', 'a']], []])
  })

  it('takes no words for one that gives one answer, and says why', async () => {
    const rig = await openChild(child('a'))
    expect(rig.state().session?.child).toMatchObject({ canWrite: false, blockedBy: 'This agent gives one answer and takes no messages.', canTakeOver: false })
    expect(await rig.send('x')).toBe('This agent gives one answer and takes no messages.')
  })

  it('runs no commands in it', async () => {
    const rig = await openChild(kept('a'))
    expect(await rig.send('/model')).toBe('Commands work in sessions of your own. Take this conversation over first, or send words without the slash.')
  })

  it('reads a stored one without making it live', async () => {
    const rig = await openChild(kept('a', { status: 'ready' }), false)
    expect(rig.state().session).toMatchObject({ id: 'a', child: { canWrite: true } })
    expect(called(rig, 'resume')).toEqual([])
  })

  it('stays on screen when the agent ends', async () => {
    const rig = await openChild(child('a'))
    await rig.agent('a').dispose()
    rig.controller.noteClosed('a')
    await rig.agentsAre([child('a', { status: 'completed', endedAt: 5 })])
    expect(rig.state().session).toMatchObject({ id: 'a', child: { canTakeOver: true } })
  })

  it('becomes a session of the person when they take it over, who are asked first', async () => {
    const rig = await openChild(kept('a'))
    rig.editor.answers.push(false)
    await rig.say({ type: 'agent', id: 'a', action: 'take-over' })
    expect(called(rig, 'promote')).toEqual([])
    rig.editor.answers.push(true)
    await rig.say({ type: 'agent', id: 'a', action: 'take-over' })
    expect(called(rig, 'promote')).toEqual([['promote', 'a']])
    expect(rig.state().session).toMatchObject({ id: 'a', access: 'write' })
    expect(rig.state().session).not.toHaveProperty('child')
    await rig.send('mine now')
    expect(rig.agent('a').received.map(({ verb }) => verb)).toEqual(['followup'])
    expect(rig.agentTree.lines()).toEqual([])
  })
})
