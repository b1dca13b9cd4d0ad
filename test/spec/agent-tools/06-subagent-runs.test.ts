import { describe, expect, it } from 'vitest'
import { callParts, callTools, failWith, sayText, someUsage, textParts, type ScriptedAnswer } from '../../support/scripted-adapter.ts'
import { fakeTool, linesOf, prompt, settled, textOf } from '../../support/loop-rig.ts'
import { createMemoryEventStore } from '../../support/memory-event-store.ts'
import { createSubagentRig } from '../../support/subagent-rig.ts'
import type { ChildOutcome } from '../../../extension/features/subagents/service.ts'

const says = (text: string) => [sayText(text)]

describe('6.1 a one-shot run', () => {
  it('is a session of its own under the parent: its header and its descriptor say whose, how deep and what', async () => {
    const { subagents, request, root, ctx, store } = await createSubagentRig({ minds: { one: says('done') } })
    const { childId, outcome } = await subagents.start(request('one'))
    const child = ctx.agents.live(childId)
    expect(child?.owner).toBe(root)
    expect(child?.session.header).toEqual({ version: 0, id: childId, createdAt: expect.any(Number), cwd: '/w', parentSession: root.id, origin: 'subagent', delegationDepth: 1, agentPreset: 'all' })
    expect(await outcome).toEqual({ stopReason: 'completed', output: 'done' })
    expect(store.lines(childId)[0]).toMatchObject({ type: 'subagent/descriptor', data: { version: 2, mode: 'one-shot', provider: 'spawn', label: 'work of one' } })
    expect([ctx.agents.live(childId), subagents.governor.running, subagents.facts(childId)?.status]).toEqual([undefined, 0, 'completed'])
  })

  it('hears its task from its parent, never from a person, and that its scope is fixed', async () => {
    const { subagents, request, root, asked, ctx } = await createSubagentRig({ minds: { one: says('done') } })
    const { childId, outcome } = await subagents.start(request('one'))
    const child = ctx.agents.live(childId)
    await outcome
    const users = child?.session.events().flatMap((event) => (event.type === 'user/message' ? [event.data] : [])) ?? []
    expect(users.at(-1)).toMatchObject({ content: [{ text: '@one work' }], source: { kind: 'coordinator', form: 'relay', senderSessionId: root.id } })
    expect(users.some(({ source }) => source.kind === 'user')).toBe(false)
    expect(asked('one')[0]?.messages.map(textOf).join('\n')).toContain('Your permissions are fixed')
  })

  it('takes over provider, model, cap of tokens and preset, unless it is told otherwise', async () => {
    const { subagents, request, root, asked, agents } = await createSubagentRig({ minds: { one: says('a'), two: says('b') } })
    agents.configure(root.id, { provider: 'scripted', model: 'm9', maxTokens: 77, reasoningEffort: 'low' })
    await (await subagents.start(request('one'))).outcome
    await (await subagents.start(request('two', { model: { model: 'm2', maxTokens: 5 } }))).outcome
    expect(asked('one')[0]?.config).toMatchObject({ model: 'm9', maxTokens: 77, reasoningEffort: 'low' })
    expect(asked('two')[0]?.config).toMatchObject({ model: 'm2', maxTokens: 5, reasoningEffort: 'low' })
  })

  it('shares the bytes of its system prompt and tools with every other child of the preset, and with its parent', async () => {
    const { subagents, request, root, asked, say } = await createSubagentRig({ minds: { root: says('r'), one: says('a'), two: says('b') }, tools: [fakeTool('look')] })
    await say('@root hello')
    await (await subagents.start(request('one'))).outcome
    await (await subagents.start(request('two', { provider: 'fork' }))).outcome
    const prefix = (name: string) => JSON.stringify([asked(name)[0]?.system, asked(name)[0]?.tools])
    expect(prefix('one')).toBe(prefix('two'))
    expect(prefix('one')).toBe(prefix('root'))
    expect(root.status).toBe('idle')
  })

  describe('ends by why its last turn did, with what it said', () => {
    const failure = { code: 'SERVER', message: 'No.' } as const
    const rows: readonly [what: string, answers: readonly ScriptedAnswer[], outcome: Partial<ChildOutcome>][] = [
      ['completed', [sayText('fine')], { stopReason: 'completed', output: 'fine' }],
      ['an answer before a tool counts when the last one is empty of text', [[...textParts('before'), ...callParts({ id: 'c', name: 'look', args: {} }, 1), { type: 'usage', usage: someUsage }, { type: 'finish', reason: { kind: 'tool-calls' } }], failWith(failure)], { stopReason: 'error', output: 'before' }],
      ['an error, with what went wrong', [failWith(failure)], { stopReason: 'error', output: '', diagnostic: 'SERVER: No.' }],
      ['what was streamed when there is no answer', [[...textParts('half an ans'), { type: 'finish', reason: { kind: 'error', failure } }]], { stopReason: 'error', output: 'half an ans' }],
      ['an answer cut at its limit', [[...textParts('long'), { type: 'usage', usage: someUsage }, { type: 'finish', reason: { kind: 'max-tokens' } }]], { stopReason: 'max-tokens', output: 'long' }],
    ]
    it.each(rows)('%s', async (_what, answers, outcome) => {
      const { subagents, request } = await createSubagentRig({ minds: { one: answers }, tools: [fakeTool('look')], settings: { 'llm.retry.maxRetries': 0 } })
      expect(await (await subagents.start(request('one'))).outcome).toMatchObject(outcome)
    })
    it('a turn that a listener kept from beginning is a refusal', async () => {
      const { subagents, request, ctx } = await createSubagentRig({ minds: { one: says('x') } })
      ctx.on('agent/pre-step', ({ agent }, next) => (agent.owner === undefined ? next() : { kind: 'reject' }))
      expect(await (await subagents.start(request('one'))).outcome).toEqual({ stopReason: 'refusal', output: '' })
    })
    it('a cap of steps ends it as an error that names the cap', async () => {
      const { subagents, request } = await createSubagentRig({ minds: { one: [callTools({ id: null, name: 'look', args: {} })] }, tools: [fakeTool('look')], settings: { 'agent.maxStepsPerTurn': 3 } })
      expect(await (await subagents.start(request('one'))).outcome).toMatchObject({ stopReason: 'error', diagnostic: expect.stringContaining('3 steps') })
    })
  })

  it('that is stopped while it runs is aborted and released; one that was over stays as it was', async () => {
    const { subagents, request, ctx } = await createSubagentRig({ minds: { one: [[...textParts('so far'), { type: 'hang' }]], two: says('over') } })
    const stop = new AbortController()
    const { childId, outcome } = await subagents.start(request('one', { signal: stop.signal }))
    await settled()
    stop.abort()
    expect(await outcome).toEqual({ stopReason: 'aborted', output: 'so far' })
    expect([ctx.agents.live(childId), subagents.governor.running]).toEqual([undefined, 0])
    const late = new AbortController()
    const two = await subagents.start(request('two', { signal: late.signal }))
    const end = await two.outcome
    late.abort()
    expect([end, await two.outcome]).toEqual([{ stopReason: 'completed', output: 'over' }, end])
  })

  it('that is stopped while it waits for its place leaves nothing', async () => {
    const { subagents, request, agents, store } = await createSubagentRig({ minds: { one: [[{ type: 'hang' }]] }, settings: { 'subagents.maxConcurrent': 1 } })
    const stop = new AbortController()
    const first = await subagents.start(request('one', { signal: stop.signal }))
    const late = new AbortController()
    const second = subagents.start(request('one', { signal: late.signal }))
    await settled()
    expect(subagents.governor.queued).toBe(1)
    late.abort(new Error('not any more'))
    await expect(second).rejects.toThrow('not any more')
    stop.abort()
    await first.outcome
    expect([agents.list().length, [...store.disk.logs.keys()].length, subagents.governor.running, subagents.governor.queued]).toEqual([1, 1, 0, 0])
  })

  it('that cannot be set up is taken back whole, with an error that says why', async () => {
    const { subagents, request, agents, store } = await createSubagentRig({ tools: [fakeTool('look')] })
    const rows: readonly [more: object, code: string][] = [
      [{ provider: 'nobody' }, 'NO_PROVIDER'],
      [{ toolFilter: {} }, 'UNSUPPORTED_CAPABILITY'],
      [{ toolFilter: { allow: ['nothing_like_it'] } }, 'INVALID_RESTRICTION'],
      [{ schema: { type: 'array' } }, 'UNSUPPORTED_CAPABILITY'],
      [{ schema: { type: 'object', patternProperties: {} } }, 'UNSUPPORTED_CAPABILITY'],
      [{ maxDepth: 0 }, 'DEPTH_EXCEEDED'],
    ]
    for (const [more, code] of rows) await expect(subagents.start(request('one', more)), code).rejects.toMatchObject({ code })
    expect([agents.list().length, subagents.known(), subagents.governor.running, [...store.disk.logs.keys()].length]).toEqual([1, [], 0, 0])
  })

  it('of a provider without a capability is refused', async () => {
    const { subagents, request } = await createSubagentRig()
    const none = { outputSchema: false, depthLimit: false, toolFilter: false, persona: false, continuable: false }
    subagents.registerProvider({ name: 'bare', supports: none, inheritsParentContext: false, isLocal: false, start: () => Promise.reject(new Error('not asked')) })
    for (const more of [{ schema: { type: 'object' } }, { toolFilter: { allow: ['x'] } }, { persona: 'p' }, { maxDepth: 2 }]) {
      await expect(subagents.start(request('one', { provider: 'bare', ...more }))).rejects.toMatchObject({ code: 'UNSUPPORTED_CAPABILITY' })
    }
    await expect(subagents.startContinuable(request('one', { provider: 'bare' }))).rejects.toMatchObject({ code: 'UNSUPPORTED_CAPABILITY' })
    await expect(subagents.start(request('one', { provider: 'bare' }))).rejects.toThrow('not asked')
    expect(subagents.governor.running).toBe(0)
  })

  it('of another transport counts, is announced and ends as it says', async () => {
    const { subagents, request, ctx } = await createSubagentRig()
    const news: string[] = []
    ctx.on('subagent/start', ({ id, local }) => void news.push(`start ${id} ${local}`))
    ctx.on('subagent/end', ({ id, stopReason, lastAssistantMessage }) => void news.push(`end ${id} ${stopReason} ${lastAssistantMessage}`))
    const end = Promise.withResolvers<ChildOutcome>()
    subagents.registerProvider({
      name: 'cli', isLocal: false, inheritsParentContext: false,
      supports: { outputSchema: false, depthLimit: false, toolFilter: false, persona: false, continuable: false },
      async start({ onText, cwd }) {
        onText(`in ${cwd}\nworking`)
        return { childId: 'cli-1', outcome: end.promise }
      },
    })
    const running = await subagents.start(request('one', { provider: 'cli' }))
    expect([running.childId, subagents.governor.running, subagents.facts('cli-1')]).toEqual(['cli-1', 1, expect.objectContaining({ status: 'running', lastLine: 'working', provider: 'cli' })])
    end.resolve({ stopReason: 'max-tokens', output: 'part' })
    expect(await running.outcome).toEqual({ stopReason: 'max-tokens', output: 'part' })
    expect([news, subagents.governor.running, subagents.facts('cli-1')?.status]).toEqual([['start cli-1 true', 'end cli-1 max-tokens part'].map((line) => line.replace('true', 'false')), 0, 'failed'])
  })

  it('that started children of its own waits for them, and answers last', async () => {
    const { subagents, request, ctx } = await createSubagentRig({ minds: { one: [sayText('started'), sayText('both are done')], two: says('inner') }, settings: { 'subagents.maxConcurrent': 1 } })
    const { childId, outcome } = await subagents.start(request('one'))
    const child = ctx.agents.live(childId)
    if (child === undefined) return expect.unreachable()
    await subagents.startContinuable(request('two', { parent: child }))
    expect(await outcome).toEqual({ stopReason: 'completed', output: 'both are done' })
  })
})

describe('6.1 a fork', () => {
  it('begins with the talk of its parent up to the last finished turn, marked as copied, and not with the turn under way', async () => {
    const store = createMemoryEventStore()
    let started: Promise<unknown> = Promise.resolve()
    const rig = await createSubagentRig({ store, minds: { root: [sayText('first answer'), callTools({ id: 'c1', name: 'act', args: {} }), sayText('end')], one: says('forked') }, tools: [fakeTool('act', () => {
      started = rig.subagents.start(rig.request('one', { provider: 'fork' })).then(({ outcome }) => outcome)
      return started.then(() => 'ok')
    })] })
    await rig.say('@root first')
    const seed = rig.root.session.length
    await rig.say('@root second')
    expect(await started).toEqual({ stopReason: 'completed', output: 'forked' })
    const messages = rig.asked('one')[0]?.messages.map(textOf) ?? []
    expect(messages.filter((text) => !text.startsWith('<surroundings>'))).toEqual(['@root first', 'first answer', '@one work'])
    const child = rig.subagents.known()[0]
    expect([child?.status, JSON.parse(store.disk.logs.get(child?.id ?? '')?.text.split('\n')[0] ?? '{}')]).toMatchObject(['completed', { parentSession: rig.root.id, seedLength: seed, origin: 'subagent', delegationDepth: 1 }])
  })
  it('without a finished turn is as a fresh one', async () => {
    const { subagents, request, ctx } = await createSubagentRig({ minds: { one: says('x') } })
    const { childId, outcome } = await subagents.start(request('one', { provider: 'fork' }))
    expect(ctx.agents.live(childId)?.session.header.seedLength).toBeUndefined()
    await outcome
  })
  it('does not take over what its parent is to somebody else', async () => {
    const { subagents, request, ctx, quiet } = await createSubagentRig({ minds: { one: [sayText('one'), [{ type: 'hang' }]], two: says('two') } })
    const { childId } = await subagents.startContinuable(request('one'))
    const parent = ctx.agents.live(childId)
    if (parent === undefined) return expect.unreachable()
    parent.followup(prompt('@one more'))
    await settled()
    const { outcome, childId: forked } = await subagents.start(request('two', { provider: 'fork', parent }))
    await outcome
    subagents.interrupt({ from: 'person', childId })
    await quiet()
    expect(await ctx.sessions.valueOf(forked, 'subagent')).toMatchObject({ descriptor: { mode: 'one-shot', provider: 'fork', label: 'work of two' } })
  })
})

it('announces each start and each end once', async () => {
  const { subagents, request, ctx, root } = await createSubagentRig({ minds: { one: says('done') } })
  const news: unknown[] = []
  ctx.on('subagent/start', ({ parent, ...rest }) => void news.push(['start', parent === root, rest]))
  ctx.on('subagent/end', ({ parent, ...rest }) => void news.push(['end', parent === root, rest]))
  const { childId: id, runId, outcome } = await subagents.start(request('one'))
  await outcome
  expect(news).toEqual([['start', true, { runId, provider: 'spawn', id, local: true }], ['end', true, { runId, provider: 'spawn', id, stopReason: 'completed', lastAssistantMessage: 'done' }]])
  expect(linesOf(root.session)).toEqual([])
})
