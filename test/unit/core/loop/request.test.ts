import { describe, expect, it } from 'vitest'
import type { SessionEvent } from '../../../../extension/core/log/event.ts'
import { ModelError } from '../../../../extension/core/model/contract.ts'
import type { ModelRequest } from '../../../../extension/core/model/contract.ts'
import { createLoopRig, fakeTool, linesOf, prompt, textOf } from '../../../support/loop-rig.ts'
import type { LoopRigOptions } from '../../../support/loop-rig.ts'
import { callTools, createScriptedAdapter, sayText } from '../../../support/scripted-adapter.ts'

async function setUp(options: LoopRigOptions = {}) {
  const rig = createLoopRig({ tools: [fakeTool('look'), fakeTool('act')], ...options })
  const agent = await rig.newAgent()
  return {
    ...rig,
    agent,
    async say(...texts: readonly string[]) {
      for (const text of texts) agent.followup(prompt(text))
      await agent.whenIdle()
    },
    headers: () => linesOf(agent.session).filter((line) => /^(header|context)/.test(line)),
    lastFailure: () => {
      const end = agent.session.events().findLast((event) => event.type === 'turn/end')
      return end?.data.reason.kind === 'error' ? end.data.reason.failure : null
    },
  }
}
const call = (id: string) => callTools({ id, name: 'look', args: { id } })

/** What goes over the wire, as bytes. */
const wire = ({ system, tools, config, messages }: ModelRequest) => ({
  head: JSON.stringify({ system, tools, config }),
  messages: messages.map((message) => JSON.stringify(message)),
})

describe('two requests in a row', () => {
  const check = (requests: readonly ModelRequest[]) => {
    for (const [index, request] of requests.entries()) {
      const before = requests[index - 1]
      if (!before) continue
      const [old, now] = [wire(before), wire(request)]
      expect(now.head).toBe(old.head)
      expect(now.messages.slice(0, old.messages.length)).toEqual(old.messages)
      expect(now.messages.length).toBeGreaterThan(old.messages.length)
    }
    return requests.length
  }
  it('share every byte up to the new messages, over steps and turns', async () => {
    const { say, adapter, ctx } = await setUp({ answers: [call('a'), call('b'), sayText('1'), call('c'), sayText('2'), sayText('3')] })
    ctx.systemPrompt.section({ name: 'identity', order: 0, text: 'In {{cwd}} with {{model}}.' })
    let facts = 0
    ctx.systemPrompt.runtimeContext({ name: 'facts', order: 0, text: () => `fact ${Math.floor(facts++ / 2)}` })
    await say('x', 'y')
    await say('z')
    expect(check(adapter.requests)).toBe(6)
  })
  it('share them over a restart', async () => {
    const first = await setUp({ answers: [call('a'), sayText('1')] })
    await first.say('x')
    await first.kernel.dispose()
    const next = createLoopRig({ store: first.store, tools: [fakeTool('act'), fakeTool('look')], answers: [sayText('2')] })
    const agent = await next.agents.resume(first.agent.id)
    agent.followup(prompt('y'))
    await agent.whenIdle()
    expect(check([...first.adapter.requests, ...next.adapter.requests])).toBe(3)
  })
  it('keep the very objects of what did not change', async () => {
    const { say, adapter } = await setUp({ answers: [call('a'), sayText('1')] })
    await say('x')
    const [one, two] = adapter.requests
    expect([one?.tools === two?.tools, one?.config === two?.config, one?.messages[0] === two?.messages[0]]).toEqual([true, true, true])
  })
})

describe('a request', () => {
  it('is frozen all the way down', async () => {
    const { say, adapter } = await setUp({ answers: [call('a'), sayText('1')] })
    await say('x')
    const open: string[] = []
    const look = (value: unknown, path: string) => {
      if (typeof value !== 'object' || value === null || value instanceof AbortSignal) return
      if (!Object.isFrozen(value)) open.push(path)
      for (const [key, inner] of Object.entries(value)) look(inner, `${path}.${key}`)
    }
    look(adapter.requests[1], 'request')
    expect(open).toEqual([])
  })
  it('can be made again from the log alone, byte for byte', async () => {
    const { say, adapter, agent, ctx } = await setUp({ answers: [call('a'), sayText('1'), sayText('2')] })
    ctx.systemPrompt.section({ name: 'identity', order: 0, text: 'In {{cwd}}.' })
    await say('x', 'y')
    const events = agent.session.events()
    const starts = events.flatMap(({ type, seq }, index) => (type === 'assistant/chunk' && events[index - 1]?.type !== 'assistant/chunk' ? [seq] : []))
    expect(starts.map((seq) => wireFromLog(events.slice(0, seq)))).toEqual(adapter.requests.map(wire))
  })
  it('names the session and its purpose, and reaches attachments', async () => {
    const { say, adapter, agent } = await setUp({ answers: [sayText('1')] })
    await say('x')
    const [request] = adapter.requests
    expect([request?.sessionId, request?.purpose, request?.signal.aborted]).toEqual([agent.id, 'turn', false])
    await expect(request?.loadAttachment('sha256:00')).rejects.toThrow('missing')
  })
  it('takes its configuration from the listeners of agent/request', async () => {
    const { say, adapter, ctx } = await setUp({ answers: [sayText('1')] })
    ctx.on('agent/request', async ({ turn, step }, next) => ({ ...(await next()), temperature: turn + step / 10, stop: ['END'] }))
    await say('x')
    expect(adapter.requests[0]?.config).toEqual({ provider: 'scripted', model: 'm1', temperature: 1.1, stop: ['END'] })
  })
  it('and the prompt name the same model when it is switched while the prompt is put together', async () => {
    const { say, adapter, ctx, agents, agent } = await setUp({ answers: [sayText('1'), sayText('2')] })
    ctx.systemPrompt.section({ name: 'identity', order: 0, text: '{{model}}' })
    ctx.systemPrompt.section({ name: 'switch', order: 1, text: () => (agents.configure(agent.id, { provider: 'scripted', model: 'm2' }), undefined) })
    await say('x')
    await say('y')
    expect(adapter.requests.map(({ system, config }) => [system, config.model])).toEqual([['m1', 'm1'], ['m2', 'm2']])
  })
  it('leaves the effort of the settings out for a model that knows none, and keeps one it knows', async () => {
    for (const [reasoningEfforts, effort] of [[[], undefined], [['low', 'high'], 'high']] as const) {
      const { say, adapter } = await setUp({ adapter: createScriptedAdapter([sayText('1')], { model: { reasoningEfforts } }) })
      await say('x')
      expect(adapter.requests[0]?.config.reasoningEffort).toBe(effort)
    }
  })
  it('does not pair the model of the settings with another provider', async () => {
    const { say, lastFailure, agents, agent } = await setUp()
    agents.configure(agent.id, { provider: 'other' })
    await say('x')
    expect(lastFailure()).toEqual({ code: 'UNKNOWN_MODEL', message: 'No model of other is chosen. Choose one, then continue.' })
  })
  it('fails without a provider, and for a route nobody registered', async () => {
    const { say, lastFailure, agents, agent, ctx } = await setUp()
    agents.configure(agent.id, { provider: 'nowhere', model: 'm' })
    await say('x')
    expect(lastFailure()).toMatchObject({ code: 'NO_ADAPTER', message: expect.stringContaining('nowhere') })
    ctx.on('agent/request', async (_place, next) => ({ ...(await next()), provider: '' }))
    await say('y')
    expect(lastFailure()).toEqual({ code: 'NO_ADAPTER', message: 'No model is chosen. Choose one, then continue.' })
  })
  it('on a route nobody registered is served by a middleware that knows it', async () => {
    const { say, agents, agent, ctx, headers } = await setUp()
    agents.configure(agent.id, { provider: 'virtual', model: 'm' })
    ctx.on('llm/stream', async () => stream(sayText('from the middleware')))
    await say('x')
    expect([agent.session.messages().map(textOf), headers()]).toEqual([['x', 'from the middleware'], ['header initial', 'context virtual/m']])
  })
  it('fails when the adapter does not know the model', async () => {
    const adapter = createScriptedAdapter()
    adapter.resolveModel = () => Promise.reject(new ModelError({ code: 'UNKNOWN_MODEL', message: 'There is no m1.' }))
    const { say, lastFailure } = await setUp({ adapter })
    await say('x')
    expect(lastFailure()).toEqual({ code: 'UNKNOWN_MODEL', message: 'There is no m1.' })
  })
})

describe('headers', () => {
  it('are written first, and again only when something in them changed', async () => {
    const { say, headers, ctx } = await setUp({ answers: ['1', '2', '3', '4'].map(sayText) })
    await say('a', 'b')
    expect(headers()).toEqual(['header initial', 'context scripted/m1'])
    const undo = ctx.tools.register(fakeTool('slow'))
    await say('c')
    expect(headers().slice(2)).toEqual(['header change'])
    undo()
    ctx.systemPrompt.section({ name: 'more', order: 0, text: 'more' })
    await say('d')
    expect(headers().slice(3)).toEqual(['header change'])
  })
  it('tell the route and its capacity when they change', async () => {
    const { say, headers, agents, agent } = await setUp({ answers: ['1', '2'].map(sayText) })
    await say('a')
    agents.configure(agent.id, { model: 'm2' })
    await say('b')
    expect(headers()).toEqual(['header initial', 'context scripted/m1', 'header change', 'context scripted/m2'])
    expect(agent.session.events().find(({ type }) => type === 'request/context')).toMatchObject({ data: { contextWindow: 100_000 } })
  })
  it('hold what the model was sent', async () => {
    const { say, agent, ctx } = await setUp({ answers: [sayText('1')] })
    ctx.systemPrompt.section({ name: 'identity', order: 0, text: 'Be Bosun.' })
    await say('a')
    expect(agent.session.events().find(({ type }) => type === 'request/header')?.data).toEqual({
      reason: 'initial',
      header: {
        config: { provider: 'scripted', model: 'm1' },
        system: 'Be Bosun.',
        tools: ['act', 'look'].map((name) => ({ name, description: `Does ${name}.`, parameters: { type: 'object', properties: {} } })),
      },
    })
  })
})

describe('the surroundings', () => {
  it('enter before the prompt, and again only when they differ', async () => {
    const { say, adapter, ctx } = await setUp({ answers: [call('a'), sayText('1'), sayText('2')] })
    let branch = 'main'
    ctx.systemPrompt.runtimeContext({ name: 'git', order: 0, text: () => `branch ${branch}` })
    await say('x')
    branch = 'next'
    await say('y')
    const told = (text: string) => expect.stringContaining(`branch ${text}`) as string
    expect(adapter.requests.at(-1)?.messages.map(textOf)).toEqual([told('main'), 'x', 'look(a)', '{"id":"a"}', '1', told('next'), 'y'])
  })
  it('make no turn by themselves', async () => {
    const { say, adapter, ctx } = await setUp()
    ctx.systemPrompt.runtimeContext({ name: 'git', order: 0, text: () => 'branch main' })
    ctx.on('agent/pre-step', () => ({ kind: 'enter', messages: [] }))
    await say('x')
    expect(adapter.requests).toEqual([])
  })
})

async function* stream<T>(parts: readonly T[]): AsyncGenerator<T> {
  yield* parts
}

/** The request that a reader of the log would make after these events. */
function wireFromLog(events: readonly SessionEvent[]) {
  const header = events.findLast((event) => event.type === 'request/header')?.data.header
  return {
    head: JSON.stringify({ system: header?.system, tools: header?.tools ?? [], config: header?.config }),
    messages: events.flatMap((event) => {
      if (event.type === 'user/message') return [JSON.stringify(event.data)]
      return event.type === 'assistant/message' || event.type === 'tool/result' ? [JSON.stringify(event.data.message)] : []
    }),
  }
}
