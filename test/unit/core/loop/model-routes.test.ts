import { describe, expect, it } from 'vitest'
import { createModelRoutesPlugin } from '../../../../extension/core/loop/model-routes.ts'
import type { FailureCode, ModelAdapter } from '../../../../extension/core/model/contract.ts'
import { ModelError } from '../../../../extension/core/model/contract.ts'
import { createLoopRig, fakeTool, prompt, settled, type LoopRig, type LoopRigOptions } from '../../../support/loop-rig.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'
import { callTools, createScriptedAdapter, failWith, sayText, type ScriptedAnswer } from '../../../support/scripted-adapter.ts'

const fails = (code: FailureCode) => failWith({ code, message: code })
const other = (id: string, answers: readonly ScriptedAnswer[], model: Partial<Parameters<typeof createScriptedAdapter>[1]> & object = {}) =>
  createScriptedAdapter(answers, { provider: id, ...model })

const setUp = async (options: LoopRigOptions & { readonly others?: readonly ModelAdapter[]; readonly fallback?: readonly string[]; readonly onRig?: (rig: LoopRig) => void }) => {
  const { others = [], fallback = [], settings, onRig, ...rest } = options
  const rig = createLoopRig({
    ...rest,
    settings: { 'llm.retry.maxRetries': 0, 'llm.retry.jitter': 0, 'model.fallback': fallback, ...settings },
    prepare: (ctx) => {
      for (const adapter of others) ctx.models.register(adapter)
      ctx.plugin(createModelRoutesPlugin({ logger: createRecordingLogger() }))
    },
  })
  onRig?.(rig)
  const agent = await rig.newAgent()
  agent.followup(prompt('go'))
  await settled()
  const events = () => agent.session.events()
  const routes = () => events().flatMap((event) => (event.type === 'llm/route' ? [event.data] : []))
  const asked = () => events().flatMap((event) => (event.type === 'request/context' ? [`${event.data.provider}/${event.data.model}`] : []))
  const end = () => events().findLast((event) => event.type === 'turn/end')?.data.reason
  return { ...rig, agent, routes, asked, end }
}

describe('the route of a turn', () => {
  let rigAgents: LoopRig['agents'] | undefined

  it('changes in the same step when the chosen model is out, and the log says so', async () => {
    const { routes, asked, end, agent } = await setUp({ answers: [fails('SERVER')], others: [other('b', [sayText('hi')])], fallback: ['b/x/y'] })
    expect(routes()).toEqual([{ turn: 1, step: 1, from: { provider: 'scripted', model: 'm1' }, to: { provider: 'b', model: 'x/y' }, failure: { code: 'SERVER', message: 'SERVER' } }])
    expect([asked(), end()]).toEqual([['scripted/m1', 'b/x/y'], { kind: 'completed' }])
    expect(agent.session.messages().at(-1)?.source).toMatchObject({ provider: 'b', model: 'x/y' })
    expect(agent.session.events().filter(({ type }) => type === 'step/start')).toHaveLength(1)
  })
  it('changes only once the retries are used up', async () => {
    const { clock, adapter, routes } = await setUp({ answers: [fails('SERVER'), fails('SERVER')], others: [other('b', [sayText('hi')])], fallback: ['b/m'], settings: { 'llm.retry.maxRetries': 1 } })
    expect([adapter.requests.length, routes().length]).toEqual([1, 0])
    clock.advance(500)
    await settled()
    expect([adapter.requests.length, routes().length]).toEqual([2, 1])
  })
  it('stays for the rest of the turn, and the next turn begins as chosen', async () => {
    const b = other('b', [callTools({ id: 'c', name: 'look', args: {} }), sayText('b')])
    const { agent, adapter, asked } = await setUp({ answers: [fails('SERVER'), sayText('a')], others: [b], fallback: ['b/m'], tools: [fakeTool('look')] })
    agent.followup(prompt('again'))
    await settled()
    expect([b.requests.length, adapter.requests.length, asked()]).toEqual([2, 2, ['scripted/m1', 'b/m', 'scripted/m1']])
  })
  it.each<[FailureCode, boolean]>([
    ['SERVER', true], ['TRANSPORT', true], ['TIMEOUT', true], ['RATE_LIMIT', true], ['QUOTA', true], ['EMPTY_RESPONSE', true],
    ['AUTH', false], ['MISSING_CREDENTIAL', false], ['INVALID_REQUEST', false], ['CERTIFICATE', false], ['CONTEXT_WINDOW_EXCEEDED', false], ['UNKNOWN_MODEL', false],
  ])('changes for %s: %s', async (code, changes) => {
    const { routes, end } = await setUp({ answers: [fails(code)], others: [other('b', [sayText('hi')])], fallback: ['b/m'] })
    expect([routes().length, end()?.kind]).toEqual(changes ? [1, 'completed'] : [0, 'error'])
  })
  it('goes on down the list, whatever a fallback fails with, and ends with the first failure and why no fallback served', async () => {
    const { asked, end } = await setUp({ answers: [fails('SERVER')], others: [other('b', [fails('AUTH')]), other('c', [fails('QUOTA')])], fallback: ['b/m', 'c/m'] })
    expect([asked(), end()]).toEqual([['scripted/m1', 'b/m', 'c/m'], { kind: 'error', failure: { code: 'SERVER', message: 'SERVER The fallback b/m could not be used: AUTH The fallback c/m could not be used: QUOTA' } }])
  })
  it('tells the first failure when the fallback has no key', async () => {
    const { end } = await setUp({ answers: [failWith({ code: 'RATE_LIMIT', message: 'Too fast.', status: 429, requestId: 'r' })], others: [other('b', [failWith({ code: 'MISSING_CREDENTIAL', message: 'B needs a key.' })])], fallback: ['b/m'] })
    const failure = { code: 'RATE_LIMIT', status: 429, requestId: 'r', message: 'Too fast. The fallback b/m could not be used: B needs a key.' }
    expect(end()).toEqual({ kind: 'error', failure })
  })
  it('tells which fallbacks are not there, once one was looked for', async () => {
    const { end } = await setUp({ answers: [fails('SERVER')], fallback: ['gone/m'] })
    expect(end()).toEqual({ kind: 'error', failure: { code: 'SERVER', message: 'SERVER The fallback gone/m could not be used: There is no provider "gone".' } })
    expect((await setUp({ answers: [fails('AUTH')], fallback: ['gone/m'] })).end()).toEqual({ kind: 'error', failure: { code: 'AUTH', message: 'AUTH' } })
  })
  it('tells the failure of a later step as that of the model that stood in', async () => {
    const b = other('b', [callTools({ id: 'c', name: 'look', args: {} }), fails('QUOTA')])
    const { end } = await setUp({ answers: [fails('SERVER')], others: [b], fallback: ['b/m'], tools: [fakeTool('look')] })
    expect(end()).toMatchObject({ failure: { code: 'SERVER', message: 'SERVER The fallback b/m could not be used: QUOTA' } })
  })
  it('leaves out what is not there or not known, and itself', async () => {
    const unknown = { ...other('b', []), resolveModel: () => Promise.reject(new ModelError({ code: 'UNKNOWN_MODEL', message: 'no' })) }
    const { asked } = await setUp({ answers: [fails('SERVER')], others: [unknown, other('c', [sayText('hi')])], fallback: ['gone/m', 'b/m', 'scripted/m1', 'c/m'] })
    expect(asked()).toEqual(['scripted/m1', 'c/m'])
  })
  it('drops an effort that the other model does not know', async () => {
    const b = other('b', [sayText('hi')], { model: { reasoningEfforts: ['low'] } })
    await setUp({ answers: [fails('SERVER')], others: [b], fallback: ['b/m'], adapter: createScriptedAdapter([fails('SERVER')], { model: { reasoningEfforts: ['high'] } }), settings: { 'model.reasoningEffort': 'high' } })
    expect(b.requests[0]?.config).toEqual({ provider: 'b', model: 'm' })
  })
  it('gives way to what the person chooses meanwhile', async () => {
    const b = other('b', [callTools({ id: 'c', name: 'look', args: {} })])
    const c = other('c', [sayText('c')])
    const { asked } = await setUp({
      answers: [fails('SERVER')], others: [b, c], fallback: ['b/m'],
      tools: [fakeTool('look', (_args, { agent }) => {
        rigAgents?.configure(agent?.id ?? '', { provider: 'c', model: 'm' })
        return 'seen'
      })],
      onRig: (rig) => (rigAgents = rig.agents),
    })
    expect(asked()).toEqual(['scripted/m1', 'b/m', 'c/m'])
  })
  it('does not change without a list', async () => expect((await setUp({ answers: [fails('SERVER')] })).end()).toMatchObject({ kind: 'error' }))
})

describe('a wait', () => {
  const waiting = (others: readonly ModelAdapter[] = []) =>
    setUp({ answers: [failWith({ code: 'RATE_LIMIT', message: 'wait', providerRetryAfterMs: 9_000 }), sayText('a')], others, settings: { 'llm.retry.maxRetries': 2 } })

  it('can be cut short by the person', async () => {
    const { ctx, agent, adapter } = await waiting()
    expect([ctx.retries.waiting(agent), adapter.requests.length]).toEqual([{ turn: 1, step: 1 }, 1])
    expect(ctx.retries.tryNow(agent)).toBe(true)
    await settled()
    expect([ctx.retries.waiting(agent), ctx.retries.tryNow(agent), adapter.requests.length]).toEqual([null, false, 2])
  })
  it('ends at once when the person chooses another model, which answers in the same step', async () => {
    const { ctx, agent, asked, routes, end } = await waiting([other('b', [sayText('b')])])
    expect(await ctx.modelRoutes.useNow(agent, { provider: 'b', model: 'm' })).toBe(true)
    await settled()
    expect([asked(), routes(), end()]).toEqual([
      ['scripted/m1', 'b/m'],
      [{ turn: 1, step: 1, from: { provider: 'scripted', model: 'm1' }, to: { provider: 'b', model: 'm' } }],
      { kind: 'completed' },
    ])
  })
  it('is all that a choice can end', async () => {
    const { ctx, agent, routes, end } = await setUp({ answers: [sayText('a')], others: [other('b', [])] })
    expect([await ctx.modelRoutes.useNow(agent, { provider: 'b', model: 'm' }), routes(), end()]).toEqual([false, [], { kind: 'completed' }])
  })
})
