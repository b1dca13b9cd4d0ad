import { describe, expect, it } from 'vitest'
import { everyLayer, type PointName } from '../../../extension/core/kernel/plugin.ts'
import { extensionPoints, type ThrowOutcome } from '../../../extension/extension-points.ts'
import { callTools, failWith, sayText } from '../../support/scripted-adapter.ts'
import { createLoopRig, fakeTool, linesOf, prompt, settled, type LoopRig } from '../../support/loop-rig.ts'
import { wholeApplication } from '../../support/whole-application.ts'

/** The points the specification names, with kind and what becomes of a throw. `brings` names the feature that brings a point that is not there yet. */
const named: readonly (readonly [name: string, kind: string, onThrow: string, brings?: string])[] = [
  ['tools/pre-execute', 'waterfall', 'final error of the call, skips post-execute'],
  ['tools/execute', 'waterfall', 'final error of the call, skips post-execute'],
  ['tools/post-execute', 'waterfall', 'final error of the call'],
  ['tools/code-dispatch-log', 'waterfall', 'original content logged'],
  ['tools/result', 'emit', 'contained'],
  ['tools/change', 'emit', 'takes the registration back'],
  ['agent/pre-step', 'waterfall', 'the turn ends with an error'],
  ['agent/request', 'waterfall', 'the turn ends with an error'],
  ['agent/request-error', 'waterfall', 'the turn ends with an error'],
  ['agent/turn-stopping', 'serial', 'the turn ends with an error'],
  ['llm/stream', 'waterfall', 'reaches the caller'],
  ['system-prompt/assemble', 'waterfall', 'the turn ends with an error'],
  ['approval/request', 'waterfall', 'counts as unavailable, which denies'],
  ['fs/write-intent', 'waterfall', 'the tool call fails'],
  ['fs/edit-intent', 'waterfall', 'the tool call fails'],
  ['fs/observed', 'emit', 'contained'],
  ['session-telemetry/record', 'waterfall', 'record withheld', 'nothing: there is no telemetry'],
  ['session/flush', 'parallel', 'the barrier rejects: the effect does not happen'],
  ['session/created', 'emit', 'takes the publication back'],
  ['agent/created', 'emit', 'takes the publication back'],
  ['session/disposed', 'emit', 'contained'],
  ['agent/disposed', 'emit', 'contained'],
  ['session/event', 'emit', 'contained'],
  ['agent/session-start', 'emit', 'contained'],
  ['agent/status', 'emit', 'contained'],
  ['agent/inbox/inserted', 'emit', 'contained'],
  ['agent/inbox/claimed', 'emit', 'contained'],
  ['agent/inbox/discarded', 'emit', 'contained'],
  ['agent/error', 'emit', 'contained'],
  ['agent-loop/config-start-failed', 'emit', 'contained'],
  ['agent-preset/selected', 'emit', 'contained'],
  ['llm/adapters-updated', 'emit', 'contained'],
  ['system-prompt/change', 'emit', 'contained'],
  ['commands/change', 'emit', 'contained'],
  ['skills/change', 'emit', 'contained'],
  ['settings/updated', 'emit', 'contained'],
  ['settings/document-updated', 'emit', 'contained'],
  ['credentials/updated', 'emit', 'contained'],
  ['domain/changed', 'emit', 'contained', 'storage domains of features'],
  ['goal/changed', 'emit', 'contained'],
  ...['start', 'end'].map((name) => [`subagent/${name}`, 'emit', 'contained'] as const),
  ...['provider-added', 'provider-removed'].map((name) => [`subagent/${name}`, 'emit', 'contained', 'subagents'] as const),
  ...['start', 'phase', 'log', 'agent-start', 'agent-end', 'end'].map((name) => [`workflow/${name}`, 'emit', 'contained'] as const),
  ...['request-run', 'request-run-resolved', 'dynamic-package', 'dynamic-retract', 'inspect-query', 'inspect-query-resolved'].map(
    (name) => [`cordis/${name}`, 'emit', 'contained'] as const,
  ),
]

const facts: Readonly<Record<string, { readonly kind: string; readonly onThrow: ThrowOutcome }>> = extensionPoints

describe('the catalogue', () => {

  it.each(named.filter(([, , , brings]) => brings === undefined))('has %s as %s, whose throw is: %s', (name, kind, onThrow) =>
    expect([facts[name!]?.kind, facts[name!]?.onThrow]).toEqual([kind, onThrow]))

  it('names what is not there yet, and nothing of that is there', () =>
    expect(named.filter(([name, , , brings]) => brings !== undefined && name in facts)).toEqual([]))
})

const broken = () => {
  throw new Error('broken')
}
/** A throw as a listener of any kind. */
const breaksAt = (rig: LoopRig, name: PointName) => rig.ctx.on(name, broken)

const look = { id: 'c1', name: 'look', args: {} }

/** One turn that calls a tool, with a listener that throws at `name`; the lines it logged. */
async function turnWith(name: PointName, answers = [callTools(look), sayText('done')]): Promise<{ readonly rig: LoopRig; readonly lines: readonly string[] }> {
  const rig = createLoopRig({ answers: [...answers, sayText('later'), sayText('later')], tools: [fakeTool('look')] })
  const agent = await rig.newAgent()
  const undo = breaksAt(rig, name)
  agent.followup(prompt('go'))
  await agent.whenIdle()
  undo()
  const lines = linesOf(agent.session)
  // The loop lives on.
  agent.followup(prompt('again'))
  await agent.whenIdle()
  expect(linesOf(agent.session).at(-1)).toBe('end completed')
  return { rig, lines }
}

describe('a throw in a tool’s waterfall', () => {
  it.each([
    ['tools/pre-execute', 0],
    ['tools/execute', 0],
    ['tools/post-execute', 1],
  ] as const)('at %s is the call’s final error; other listeners of post-execute run %i times', async (name, expected) => {
    const rig = createLoopRig({ answers: [callTools(look), sayText('done')], tools: [fakeTool('look')] })
    const agent = await rig.newAgent()
    let ran = 0
    rig.ctx.on('tools/post-execute', (_exec, _result, next) => {
      ran += 1
      return next()
    })
    breaksAt(rig, name)
    agent.followup(prompt('go'))
    await agent.whenIdle()
    expect(linesOf(agent.session).filter((line) => /^(result|end)/.test(line))).toEqual(['result c1 error', 'end completed'])
    expect(ran).toBe(expected)
  })
})

describe('a throw in the loop', () => {
  it.each(['agent/pre-step', 'agent/request', 'agent/turn-stopping', 'system-prompt/assemble', 'llm/stream', 'session/flush'] as const)(
    'at %s ends the turn with an error, and the loop lives on',
    async (name) => {
      const answers = name === 'agent/turn-stopping' ? [callTools(look), sayText('done')] : []
      expect((await turnWith(name, answers)).lines.at(-1)).toBe('end error')
    },
  )
  it('at agent/request-error ends the turn with an error', async () => {
    const failure = { message: 'no', code: 'INVALID_REQUEST' } as const
    expect((await turnWith('agent/request-error', [failWith(failure)])).lines.at(-1)).toBe('end error')
  })
  it('at session/flush keeps the request from the model', async () => {
    const rig = createLoopRig({ answers: [sayText('done')] })
    const agent = await rig.newAgent()
    breaksAt(rig, 'session/flush')
    agent.followup(prompt('go'))
    await agent.whenIdle()
    expect(rig.adapter.requests).toEqual([])
  })
})

describe('a throw of an observer', () => {
  const observers = Object.entries(extensionPoints).flatMap(([name, { onThrow }]) => (onThrow === 'contained' ? [name as PointName] : []))

  it('is contained at every such point: the turn goes on as if nobody had listened', async () => {
    const rig = createLoopRig({ answers: [callTools(look), sayText('done')], tools: [fakeTool('look')] })
    for (const name of observers) breaksAt(rig, name)
    const agent = await rig.newAgent()
    agent.followup(prompt('go'))
    await agent.whenIdle()
    expect(linesOf(agent.session).at(-1)).toBe('end completed')
    const named = (name: string) => rig.logger.lines.some(({ message }) => message === `A listener of ${name} failed.`)
    expect(['session/event', 'agent/session-start', 'agent/status', 'agent/inbox/inserted', 'agent/inbox/claimed', 'tools/result'].filter((name) => !named(name))).toEqual([])
  })
  it.each(observers)('at %s starves no other observer', async (name) => {
    const rig = createLoopRig()
    if (facts[name]?.kind !== 'emit') return
    const heard: string[] = []
    breaksAt(rig, name)
    rig.ctx.on(name, (() => void heard.push(name)) as never)
    rig.kernel.dispatch.emit(name as 'tools/change', everyLayer, [])
    await settled()
    expect(heard).toEqual([name])
  })
})

describe('a throw that takes back', () => {
  it.each(['session/created', 'agent/created'] as const)('at %s leaves no agent', async (name) => {
    const rig = createLoopRig()
    breaksAt(rig, name)
    await expect(rig.newAgent()).rejects.toThrow('broken')
    expect(rig.agents.list()).toEqual([])
  })
  it('at tools/change leaves no tool', () => {
    const rig = createLoopRig()
    breaksAt(rig, 'tools/change')
    expect(() => rig.ctx.tools.register(fakeTool('look'))).toThrow('broken')
    expect(rig.ctx.tools.get('look')).toBeUndefined()
  })
})

it('a throw at approval/request counts as unavailable, which denies', async () => {
  const application = await wholeApplication()
  try {
    const { ctx } = application
    ctx.on('approval/request', broken)
    const agent = await ctx.agents.create({ cwd: application.folder })
    agent.session.append({ type: 'turn/start', data: { turn: 1 } })
    const answer = await ctx.approvals.request({ agent, toolName: 'bash', callId: 'c1', signal: new AbortController().signal })
    expect(answer.outcome).toBe('unavailable')
    expect(agent.session.events().filter(({ type }) => type.startsWith('approval/d'))).toMatchObject([{ data: { outcome: 'unavailable' } }])
  } finally {
    await application.dispose()
  }
})
