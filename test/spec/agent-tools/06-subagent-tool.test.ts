import { describe, expect, it } from 'vitest'
import type { SessionEvent } from '../../../extension/core/log/event.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { SubagentProvider } from '../../../extension/features/subagents/service.ts'
import { agentTools, subagentTool } from '../../../extension/tools/agents/plugin.ts'
import { createSubagentTool, failureOf } from '../../../extension/tools/agents/subagent.ts'
import { fakeTool, gate, prompt, settled, textOf } from '../../support/loop-rig.ts'
import { callParts, callTools, failWith, sayText, someUsage, textParts, type ScriptedAnswer, type ScriptedCall } from '../../support/scripted-adapter.ts'
import { createSubagentRig, type SubagentRig } from '../../support/subagent-rig.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'

const tools = (forkMode: 'one-shot' | 'continuable' = 'one-shot') => agentTools({ machine: createFakeMachine(), forkMode: () => forkMode })
const rigWith = (options: Parameters<typeof createSubagentRig>[0] = {}) => createSubagentRig({ plugins: [tools()], ...options })
const delegate = (name: string, more: object = {}, tool = 'subagent'): ScriptedCall => ({ id: `call-${name}`, name: tool, args: { description: `work of ${name}`, prompt: `@${name} work`, ...more } })
const foreground = { run_in_background: false }

const resultsOf = (agent: Agent) => agent.session.events().flatMap((event: SessionEvent) => (event.type === 'tool/result' ? [{ id: event.data.message.source.callId, text: textOf(event.data.message), isError: event.data.message.content[0].isError, code: event.data.error?.code }] : []))
/** The root makes these calls in one answer and then says that it is done. */
async function called(rig: SubagentRig) {
  await rig.say('@root go')
  return resultsOf(rig.root)
}

describe('6.2 a call in the foreground', () => {
  it('gives the last words of a one-shot child, blocks joined, and its value says so', async () => {
    const rig = await rigWith({ minds: { root: [callTools(delegate('one', foreground)), sayText('end')], one: [[...textParts('Found '), ...textParts('it.', 1), { type: 'usage', usage: someUsage }, { type: 'finish', reason: { kind: 'stop' } }]] } })
    const values: unknown[] = []
    rig.ctx.on('tools/result', (_exec, result) => void values.push(result.isError ? null : result.value))
    expect(await called(rig)).toEqual([{ id: 'call-one', text: 'Found it.', isError: false, code: undefined }])
    expect(values).toEqual([{ kind: 'foreground', runId: expect.any(String), output: [{ type: 'text', text: 'Found it.' }] }])
    expect(rig.subagents.known()).toMatchObject([{ mode: 'one-shot', status: 'completed', callId: 'call-one', label: 'work of one' }])
  })

  describe('that does not succeed is an error: why, what the transport says, what was said before', () => {
    const failure = { code: 'SERVER', message: 'It broke.' } as const
    const rows: readonly [what: string, answers: readonly ScriptedAnswer[], code: string, text: string][] = [
      ['error', [failWith(failure)], 'CHILD_FAILED', 'Error: The agent failed.\nSERVER: It broke.'],
      ['error with partial text', [[...textParts('I saw that'), { type: 'finish', reason: { kind: 'error', failure } }]], 'CHILD_FAILED', 'Error: The agent failed.\nSERVER: It broke.\nWhat it had said:\nI saw that'],
      ['max-tokens', [[...textParts('cut'), { type: 'usage', usage: someUsage }, { type: 'finish', reason: { kind: 'max-tokens' } }]], 'CHILD_CUT_OFF', 'Error: The agent was cut off: its answer came to the limit of tokens.\nWhat it had said:\ncut'],
    ]
    it.each(rows)('%s', async (_what, answers, code, text) => {
      const rig = await rigWith({ minds: { root: [callTools(delegate('one', foreground)), sayText('end')], one: answers }, settings: { 'llm.retry.maxRetries': 0 } })
      expect(await called(rig)).toEqual([{ id: 'call-one', text, isError: true, code }])
    })
    it.each([['aborted', 'CHILD_ABORTED'], ['refusal', 'CHILD_REFUSED'], ['something new', 'CHILD_ABNORMAL']] as const)('%s', (stopReason, code) =>
      expect(failureOf({ stopReason: stopReason as 'aborted', output: 'part', diagnostic: 'because' })).toMatchObject({ code, message: expect.stringMatching(/because\nWhat it had said:\npart$/) }))
    it('and a diagnostic that is too long is cut', async () => {
      const rig = await rigWith({ minds: { one: [failWith({ code: 'SERVER', message: 'é'.repeat(5_000) })] }, settings: { 'llm.retry.maxRetries': 0 } })
      const { diagnostic = '' } = await (await rig.subagents.start(rig.request('one'))).outcome
      expect(new TextEncoder().encode(diagnostic).length).toBeLessThanOrEqual(4_096)
    })
  })

  it('that is stopped while it runs stops its child; the call is an error and the turn aborted', async () => {
    const rig = await rigWith({ minds: { root: [callTools(delegate('one', foreground)), sayText('end')], one: [[...textParts('half'), { type: 'hang' }]] } })
    rig.root.followup(prompt('@root go'))
    await expect.poll(() => rig.asked('one').length).toBe(1)
    await settled()
    rig.root.cancel({ kind: 'user' })
    await rig.quiet()
    expect(resultsOf(rig.root)).toEqual([{ id: 'call-one', text: expect.stringContaining('What it had said:\nhalf'), isError: true, code: 'CHILD_ABORTED' }])
    expect([rig.agents.list().length, rig.subagents.governor.running]).toEqual([1, 0])
  })

  it('side by side they overlap, and their results stand in the order of the calls', async () => {
    const first = gate()
    const rig = await rigWith({
      minds: {
        root: [[...callParts(delegate('one', foreground)), ...callParts(delegate('two', foreground), 1), { type: 'usage', usage: someUsage }, { type: 'finish', reason: { kind: 'tool-calls' } }], sayText('end')],
        one: [[{ type: 'wait', until: first.opened }, ...sayText('first')]],
        two: [[{ type: 'do', act: first.open }, ...sayText('second')]],
      },
    })
    expect((await called(rig)).map(({ text }) => text)).toEqual(['first', 'second'])
  })

  it('does not wait for a place that its own tree holds: three levels with one place', async () => {
    const rig = await rigWith({
      settings: { 'subagents.maxConcurrent': 1 },
      minds: {
        root: [callTools(delegate('one', foreground)), sayText('root')],
        one: [callTools(delegate('two', foreground)), sayText('one')],
        two: [callTools(delegate('three', foreground)), sayText('two')],
        three: [callTools(delegate('four', foreground)), sayText('three')],
      },
    })
    expect(await called(rig)).toMatchObject([{ text: 'one', isError: false }])
    const refused = rig.asked('three')[1]?.messages.map(textOf).join('\n')
    expect(refused).toContain('depth 4')
    expect([rig.subagents.known().map(({ depth, status }) => `${depth} ${status}`).toSorted(), rig.subagents.governor.running]).toEqual([['1 completed', '2 completed', '3 completed'], 0])
  })

  it('shows what its child does in its card, while it does it', async () => {
    const rig = await rigWith({ minds: { root: [callTools(delegate('one', foreground)), sayText('end')], one: [callTools({ id: 'l', name: 'look', args: {} }), sayText('seen')] }, tools: [fakeTool('look')] })
    const lines: string[] = []
    rig.ctx.on('agent/progress', ({ agent, progress }) => {
      if (agent === rig.root) lines.push(progress)
    })
    await called(rig)
    expect(lines).toEqual(['look\n', 'seen\n'])
  })
})

describe('6.2 a call in the background', () => {
  it('of a one-shot instance is a job: its end has the last words, and none are lost when it fails', async () => {
    const rig = await rigWith({
      minds: { root: [callTools(delegate('one', { run_in_background: true }, 'subagent_fork')), sayText('on'), sayText('heard')], one: [sayText('the answer')], two: [[...textParts('partial'), { type: 'finish', reason: { kind: 'error', failure: { code: 'SERVER', message: 'No.' } } }]] },
      settings: { 'llm.retry.maxRetries': 0 },
    })
    expect((await called(rig))[0]?.text).toBe('Started as background job subagent_fork-1.')
    expect(rig.ctx.jobs.list(rig.root)).toMatchObject([{ id: 'subagent_fork-1', kind: 'subagent_fork', label: 'work of one', status: 'completed' }])
    expect((await rig.ctx.jobs.output(rig.root, 'subagent_fork-1', { signal: new AbortController().signal })).text).toBe('the answer')
    const job = await startedJob(rig, 'two')
    await expect.poll(() => rig.ctx.jobs.list(rig.root).find(({ id }) => id === job)).toMatchObject({ status: 'failed', detail: 'error: SERVER: No.' })
    expect((await rig.ctx.jobs.output(rig.root, job, { signal: new AbortController().signal })).text).toBe('')
  })
  it('is ended by job_kill with its reason, not by the call that started it', async () => {
    const rig = await rigWith({ minds: { one: [[{ type: 'hang' }]] } })
    const job = await startedJob(rig, 'one')
    await expect.poll(() => rig.agents.list().length).toBe(2)
    rig.ctx.jobs.kill(rig.root, job, 'not needed')
    await expect.poll(() => rig.ctx.jobs.list(rig.root)[0]).toMatchObject({ status: 'killed', detail: 'not needed' })
    expect(rig.agents.list()).toEqual([rig.root])
  })
  it('of a continuable instance gives the id of a child that stays, by default', async () => {
    const rig = await rigWith({ minds: { root: [callTools(delegate('one')), sayText('on'), sayText('heard')], one: [sayText('done')] } })
    const [result] = await called(rig)
    const [child] = rig.subagents.known()
    expect(result?.text).toBe(`Started agent ${child?.id}. You are told when it rests.`)
    expect(child).toMatchObject({ mode: 'continuable', status: 'ready', callId: 'call-one' })
    expect(await rig.ctx.sessions.valueOf(child?.id ?? '', 'subagent')).toMatchObject({ descriptor: { version: 2, mode: 'continuable', provider: 'spawn', label: 'work of one', agentProvider: 'scripted', agentModel: 'm1' } })
  })
  it('the fork is one-shot unless the setting says otherwise', async () => {
    const kept = await rigWith({ plugins: [tools('continuable')], minds: { root: [callTools(delegate('one', {}, 'subagent_fork')), sayText('on')], one: [sayText('x')] } })
    await called(kept)
    expect(kept.subagents.known()).toMatchObject([{ mode: 'continuable', provider: 'fork' }])
    const plain = await rigWith({ minds: { root: [callTools(delegate('one', {}, 'subagent_fork')), sayText('on')], one: [sayText('x')] } })
    expect((await called(plain))[0]).toMatchObject({ text: 'x', isError: false })
    expect(plain.subagents.known()).toMatchObject([{ mode: 'one-shot', provider: 'fork' }])
  })
})

async function startedJob(rig: SubagentRig, name: string): Promise<string> {
  const result = await rig.ctx.tools.execute({ callId: `job ${name}`, name: 'subagent_fork', arguments: { description: 'd', prompt: `@${name} work`, run_in_background: true }, agent: rig.root, signal: new AbortController().signal })
  return result.isError ? expect.unreachable(result.error.message) : (result.value as { jobId: string }).jobId
}

describe('6.2 refusals', () => {
  const call = (rig: SubagentRig, args: object, options: { name?: string; agent?: Agent | null } = {}) =>
    rig.ctx.tools.execute({ callId: 'c', name: options.name ?? 'subagent', arguments: { description: 'd', prompt: '@one work', ...args }, ...(options.agent !== null && { agent: rig.root }), signal: new AbortController().signal })
  const rows: readonly [what: string, run: (rig: SubagentRig) => ReturnType<typeof call>, code: string][] = [
    ['nobody calls', (rig) => call(rig, {}, { agent: null }), 'NO_AGENT'],
    ['an empty task', (rig) => call(rig, { prompt: ' ' }), 'EMPTY_MESSAGE'],
    ['a description that is too long', (rig) => call(rig, { description: 'x'.repeat(201) }), 'INVALID_ARGS'],
    ['a task that is too long', (rig) => call(rig, { prompt: 'x'.repeat(262_145) }), 'MESSAGE_TOO_LONG'],
    ['too deep, in the background too', (rig) => call(rig, { run_in_background: true }, { name: 'flat' }), 'DEPTH_EXCEEDED'],
    ['too deep in the foreground', (rig) => call(rig, { run_in_background: false }, { name: 'flat' }), 'DEPTH_EXCEEDED'],
    ['the background where there is none', (rig) => call(rig, { run_in_background: true }, { name: 'front' }), 'NO_BACKGROUND'],
    ['a tool in its filter that is not there', (rig) => call(rig, { run_in_background: false }, { name: 'odd' }), 'INVALID_RESTRICTION'],
  ]
  it.each(rows)('%s', async (_what, run, code) => {
    const rig = await rigWith({
      plugins: [tools(), subagentTool({ provider: 'spawn', toolName: 'flat', maxDepth: 0 }), subagentTool({ provider: 'spawn', toolName: 'front', enableRunInBackground: false }), subagentTool({ provider: 'spawn', toolName: 'odd', toolFilter: { deny: ['no_such'] } })],
    })
    const result = await run(rig)
    expect(result).toMatchObject({ isError: true, error: { info: { code } } })
    expect([rig.agents.list().length, rig.ctx.jobs.list(rig.root)]).toEqual([1, []])
  })
  it('without the jobs runtime only the background is refused', async () => {
    const { ctx, subagents } = await rigWith()
    const provider = subagents.provider('spawn')
    if (provider === undefined) return expect.unreachable()
    const tool = createSubagentTool({ provider: 'spawn', toolName: 'extra' }, { subagents, jobs: () => undefined, provider })
    ctx.tools.register(tool)
    const [agent] = ctx.agents.list()
    expect(await ctx.tools.execute({ callId: 'c', name: 'extra', arguments: { description: 'd', prompt: 'p', run_in_background: true }, ...(agent && { agent }), signal: new AbortController().signal })).toMatchObject({ error: { info: { code: 'NO_JOBS' } } })
  })
  it('what its provider cannot keep fails at load', async () => {
    const rig = await rigWith()
    const bare: SubagentProvider = { name: 'bare', supports: { outputSchema: false, depthLimit: false, toolFilter: false, persona: false, continuable: false }, inheritsParentContext: false, isLocal: false }
    rig.subagents.registerProvider(bare)
    for (const options of [{ backgroundMode: 'continuable' }, { maxDepth: 3 }, { maxDepth: -1 }, { toolFilter: {} }, { toolFilter: { allow: ['look'] } }, { persona: 'p' }] as const) {
      await expect(rig.ctx.plugin(subagentTool({ provider: 'bare', toolName: `bare_${JSON.stringify(options).length}`, ...options })).ready, JSON.stringify(options)).rejects.toThrow('cannot be offered')
    }
  })
})

describe('6.2 registration', () => {
  it('follows the provider', async () => {
    const rig = await rigWith({ plugins: [subagentTool({ provider: 'late', toolName: 'late_agent', maxDepth: 'provider-managed' })] })
    const there = () => rig.ctx.tools.get('late_agent') !== undefined
    const before = there()
    const undo = rig.subagents.registerProvider({ name: 'late', supports: { outputSchema: false, depthLimit: false, toolFilter: false, persona: false, continuable: false }, inheritsParentContext: false, isLocal: false })
    const during = there()
    undo()
    expect([before, during, there()]).toEqual([false, true, false])
  })
  it('reaching the cap hides nothing, and descriptions follow what the child knows', async () => {
    const { ctx } = await rigWith({ settings: { 'subagents.maxDepth': 0 } })
    const [fresh, fork] = [ctx.tools.get('subagent'), ctx.tools.get('subagent_fork')]
    expect(fresh?.description).toMatch(/knows nothing of this talk/)
    expect(fork?.description).toMatch(/begins with this talk as it was before the current turn/)
    expect([fresh?.isConcurrencySafe?.({ description: 'd', prompt: 'p' }), fork?.isConcurrencySafe?.({ description: 'd', prompt: 'p', run_in_background: true })]).toEqual([true, true])
  })
  it('only a continuable instance adds words to the prompt, at its place', async () => {
    const rig = await rigWith({ minds: { root: [sayText('x')] } })
    await rig.say('@root hi')
    const { system = '' } = rig.asked('root')[0] ?? {}
    expect(system).toContain('Start tasks that do not depend on each other with subagent in one message')
    expect(system).not.toContain('with subagent_fork')
  })
})
