import { describe, expect, it } from 'vitest'
import { defineTool } from '../../../extension/core/tools/define-tool.ts'
import type { ToolDefinition, ToolResult } from '../../../extension/core/tools/definition.ts'
import { callTools, sayText } from '../../support/scripted-adapter.ts'
import { createLoopRig, fakeTool, linesOf, prompt } from '../../support/loop-rig.ts'
import { createPipelineBench, echoTool } from '../../support/pipeline-bench.ts'
import { outcomeOf } from '../../support/tool-bench.ts'
import { wholeApplication } from '../../support/whole-application.ts'

/* Chapter 2: the tool registry. */

const named = (name: string, more: Partial<ToolDefinition> = {}) => ({ ...echoTool(more), name })
const codeOf = (result: ToolResult) => (result.isError ? result.error.info?.code : 'ok')

/** A global layer, a preset below it, an agent below that, and another preset beside it. */
function layers() {
  const bench = createPipelineBench()
  const preset = bench.kernel.createScope('preset', null)
  const agent = bench.kernel.createScope('agent', preset)
  const other = bench.kernel.createScope('other', null)
  const at = (scope: typeof preset) => bench.kernel.root.scoped(scope).tools
  const names = (scope: typeof preset | null = null) => bench.tools.schemas(scope).map(({ name }) => name)
  return { ...bench, ctx: bench.kernel.root, preset, agent, other, at, names, agentAt: bench.agent }
}

describe('a definition (2.1)', () => {
  const refused: readonly (readonly [string, object, string])[] = [
    ['without a renderer', { output: { schema: { type: 'null' } } }, 'INVALID_DEFINITION'],
    ['without an output schema', { output: { render: () => [] } }, 'INVALID_DEFINITION'],
    ['without a body', { execute: undefined }, 'INVALID_DEFINITION'],
    ['whose classifier is no function', { isConcurrencySafe: true }, 'INVALID_DEFINITION'],
    ['whose finalizer is no function', { finalizeContent: 'x' }, 'INVALID_DEFINITION'],
    ['whose card facts are no function', { output: { ...echoTool().output, presentationMeta: {} } }, 'INVALID_DEFINITION'],
    ['with an unsupported keyword', { parameters: { type: 'object', minProperties: 1 } }, 'UNSUPPORTED_SCHEMA'],
    ['with a schema that holds itself', { parameters: selfHolding() }, 'UNSUPPORTED_SCHEMA'],
    ['with a schema that JSON cannot carry', { output: { ...echoTool().output, schema: { type: 'string', default: Number.NaN } } }, 'UNSUPPORTED_SCHEMA'],
    ['whose parameters are no object', { parameters: { type: 'array' } }, 'UNSUPPORTED_SCHEMA'],
    ['whose time-out is zero', { timeoutMs: 0 }, 'INVALID_DEFINITION'],
    ['whose time-out never ends', { timeoutMs: Number.POSITIVE_INFINITY }, 'INVALID_DEFINITION'],
    ['with the reserved name', { name: 'run_code' }, 'RESERVED_NAME'],
  ]
  it.each(refused)('%s is refused', (_what, part, code) =>
    expect(() => layers().tools.register({ ...named('a'), ...part })).toThrow(expect.objectContaining({ code })))

  it('takes any root type of output', async () => {
    const { tools, request } = layers()
    tools.register(fakeTool('n', () => null, { output: { schema: { type: 'null' }, render: () => [] } }))
    expect(outcomeOf(await tools.execute(request('n')))).toBeNull()
  })
  it('shows a model its name, description and parameters and nothing else', () => {
    const { tools } = layers()
    tools.register(named('a', { timeoutMs: 5 }))
    expect(tools.schemas().map((declaration) => Object.keys(declaration))).toEqual([['name', 'description', 'parameters']])
  })
  it('is known by what it said when it was registered, whatever becomes of the object', () => {
    const { tools, names } = layers()
    let reads = 0
    const parameters = { type: 'object', properties: { word: { type: 'string' } } }
    const shifty = Object.defineProperty(named('a', { parameters }), 'name', { get: () => (reads++ === 0 ? 'a' : 'run_code') })
    tools.register(shifty)
    Object.assign(parameters.properties.word, { pattern: 'x' })
    expect([names(), tools.schemas()[0]?.parameters]).toEqual([['a'], { type: 'object', properties: { word: { type: 'string' } } }])
  })
})

describe('registering (2.2)', () => {
  it('gives a disposer that is exact and may be called twice, also for one definition registered again', () => {
    const { tools, names } = layers()
    const one = named('a')
    const undo = tools.register(one)
    undo()
    tools.register(one)
    undo()
    expect(names()).toEqual(['a'])
  })
  it('one definition in two layers belongs to whoever registered it there', () => {
    const { ctx, tools, preset, agent } = layers()
    const one = named('a')
    ctx.plugin({ name: 'first', inject: ['tools'], apply: (own) => void own.tools.register(one) })
    ctx.plugin({ name: 'second', inject: ['tools'], apply: (own) => void own.scoped(preset).tools.register(one) })
    expect([tools.groupOf('a'), tools.groupOf('a', agent)]).toEqual(['first', 'second'])
  })
  it('takes a name again once it is free', () => {
    const { tools, names } = layers()
    tools.register(named('a'))()
    tools.register(named('a'))
    expect(names()).toEqual(['a'])
  })
  it('a second of one name in a layer fails; globally the message points at the agent’s own context', () => {
    const { tools, at, agent } = layers()
    tools.register(named('a'))
    at(agent).register(named('a'))
    expect(() => tools.register(named('a'))).toThrow("through an agent's own context")
    expect(() => at(agent).register(named('a'))).toThrow('registered already in agent')
  })
  const kinds: readonly (readonly [string, (rig: ReturnType<typeof layers>) => unknown])[] = [
    ['a tool', ({ tools }) => tools.register(named('b'))],
    ['a restriction', ({ at, agent }) => at(agent).restrict({ deny: ['a'] })],
    ['a presentation', ({ at, agent }) => at(agent).presentAs('code')],
  ]
  it.each(kinds)('%s is taken back when a listener of the change throws, and the error comes out', (_what, register) => {
    const rig = layers()
    rig.tools.register(named('a'))
    const heard: string[][] = []
    rig.ctx.on('tools/change', () => void heard.push([...rig.names(rig.agent)]))
    const stop = rig.ctx.on('tools/change', () => {
      throw new Error('no room')
    })
    expect(() => register(rig)).toThrow('no room')
    stop()
    // Whoever heard of it has heard that it went.
    expect([rig.names(rig.agent), heard.at(-1)]).toEqual([['a'], ['a']])
    expect(() => register(rig)).not.toThrow()
  })
  it.each(kinds)('%s is told of when it comes and when it goes, in every layer', (_what, register) => {
    const rig = layers()
    rig.tools.register(named('a'))
    let heard = 0
    rig.ctx.scoped(rig.other).on('tools/change', () => void (heard += 1))
    const undo = register(rig) as () => void
    undo()
    expect(heard).toBe(2)
  })
  it('a listener may register on its own when it hears of a change', () => {
    const { ctx, tools, names } = layers()
    const stop = ctx.on('tools/change', () => {
      stop()
      tools.register(named('b'))
    })
    tools.register(named('a'))
    expect(names()).toEqual(['a', 'b'])
  })
})

describe('the list for a model', () => {
  it('cannot be written through, at any depth', () => {
    const { tools } = layers()
    let parameters: object = { type: 'string' }
    for (let depth = 0; depth < 20_000; depth += 1) parameters = { type: 'array', items: parameters }
    tools.register(fakeTool('a', undefined, { parameters: { type: 'object', properties: { deep: parameters as never } } }))
    const [shown] = tools.schemas()
    expect(() => Object.assign(shown!.parameters['properties'] as object, { deep: null })).toThrow(TypeError)
    expect(tools.schemas()[0]?.parameters['properties']).toHaveProperty('deep.type', 'array')
  })
  it('follows a layer that is bound to another parent', () => {
    const { kernel, at, preset, agent, other, names } = layers()
    at(preset).register(named('a'))
    at(other).register(named('b'))
    const before = names(agent)
    kernel.rebindScope(agent, other)
    expect([before, names(agent)]).toEqual([['a'], ['b']])
  })
  it('of a session follows the preset that is chosen before its first turn', async () => {
    const app = await wholeApplication()
    const { id, scope } = await app.ctx.agents.create({ cwd: app.folder, preset: 'standard' })
    const offers = () => app.ctx.tools.schemas(scope).some(({ name }) => name === 'write')
    const before = offers()
    app.ctx.agents.selectPreset(id, 'ask')
    expect([before, offers()]).toEqual([true, false])
    await app.dispose()
  })
})

describe('a tool that is declared absent', () => {
  it('is told with what it needs, and neither shown nor called', async () => {
    const { ctx, tools, names, request } = layers()
    const fiber = ctx.plugin({ name: 'later', inject: ['tools'], apply: (own) => void own.tools.declareAbsent({ needs: 'A moon.', presets: ['p'], effects: ['none'] }, () => named('a')) })
    expect(tools.absent()).toMatchObject([{ definition: { name: 'a' }, group: 'later', needs: 'A moon.', presets: ['p'], effects: ['none'] }])
    expect([names(), tools.list(null), tools.get('a'), codeOf(await tools.execute(request('a', { word: 'x' })))]).toEqual([[], [], undefined, 'UNKNOWN_TOOL'])
    await fiber.dispose()
    expect(tools.absent()).toEqual([])
  })
  it('may share its name with one that is there and with others, by name and in the order they came', () => {
    const { tools, at, agent } = layers()
    tools.register(named('b'))
    const undo = tools.declareAbsent({ needs: 'One.' }, () => named('b'))
    at(agent).declareAbsent({ needs: 'Two.' }, () => named('b'))
    tools.declareAbsent({ needs: 'Three.' }, () => named('a'))
    undo()
    undo()
    expect(tools.absent().map(({ definition, needs }) => [definition.name, needs])).toEqual([['a', 'Three.'], ['b', 'Two.']])
  })
  it('is named with what it needs when it is called, unless it is there and only kept from the agent', async () => {
    const { tools, at, agent, request, agentAt } = layers()
    tools.declareAbsent({ needs: 'A moon.' }, () => named('a'))
    const told = async (name: string, scope = agent) => outcomeOf(await tools.execute(request(name, { word: 'x' }, { agent: agentAt(scope) })))
    expect(await told('a')).toMatchObject({ message: 'There is no tool named "a" here. What it needs: A moon. Use one of the declared tools.' })
    tools.register(named('a'))
    at(agent).restrict({ deny: ['a'] })
    expect(await told('a')).toMatchObject({ message: 'There is no tool named "a". Use one of the declared tools.' })
  })
  it('is as sound as one that is registered, and made when somebody looks', () => {
    const { tools } = layers()
    let made = 0
    tools.declareAbsent({ needs: 'Nothing.' }, () => ((made += 1), named('run_code', { timeoutMs: 0 })))
    expect(made).toBe(0)
    expect(() => tools.absent()).toThrow(expect.objectContaining({ code: 'INVALID_DEFINITION' }))
  })
})

describe('restricting', () => {
  const refused: readonly (readonly [string, { readonly allow?: readonly string[]; readonly deny?: readonly string[] }, string])[] = [
    ['nothing', {}, 'at least one tool'],
    ['an empty list', { allow: [] }, 'at least one tool'],
    ['an empty list beside a filled one', { allow: [], deny: ['a'] }, 'at least one tool'],
    ['an unknown name, with those that are known', { deny: ['z'] }, 'Unknown tools: z. Known here: a, b.'],
    ['run_code', { deny: ['run_code'] }, 'cannot be restricted'],
  ]
  it.each(refused)('refuses %s', (_what, filter, text) => {
    const { tools, at, agent } = layers()
    for (const name of ['a', 'b']) tools.register(named(name))
    expect(() => at(agent).restrict(filter)).toThrow(text)
  })
  it('only knows what the scope inherits, not what it brings', () => {
    const { at, agent } = layers()
    at(agent).register(named('own'))
    expect(() => at(agent).restrict({ deny: ['own'] })).toThrow('Unknown tools: own')
  })
  it('compiles its names once', () => {
    const { tools, at, agent, names } = layers()
    for (const name of ['a', 'b']) tools.register(named(name))
    const deny = ['a']
    at(agent).restrict({ deny })
    deny.push('b')
    expect(names(agent)).toEqual(['b'])
  })
  it('all filters of the chain hold together and are lifted one by one', () => {
    const { tools, at, preset, agent, names } = layers()
    for (const name of ['a', 'b', 'c']) tools.register(named(name))
    const lift = [at(preset).restrict({ deny: ['a'] }), at(agent).restrict({ deny: ['b'] }), at(agent).restrict({ allow: ['b', 'c'] })]
    const seen = [names(agent)]
    for (const undo of lift) {
      undo()
      seen.push(names(agent))
    }
    expect(seen).toEqual([['c'], ['c'], ['b', 'c'], ['a', 'b', 'c']])
  })
  it('covers what an ancestor brings, and spares the scope’s own', () => {
    const { at, preset, agent, names } = layers()
    at(preset).register(named('a'))
    at(preset).register(named('b'))
    at(agent).restrict({ allow: ['a'] })
    at(agent).register(named('report'))
    expect(names(agent)).toEqual(['a', 'report'])
  })
  it('a deny filter lets later tools in, an allow filter does not', () => {
    const { tools, at, agent, other, names } = layers()
    tools.register(named('a'))
    at(agent).restrict({ allow: ['a'] })
    at(other).restrict({ deny: ['a'] })
    tools.register(named('late'))
    expect([names(agent), names(other)]).toEqual([['a'], ['late']])
  })
  it('a filtered tool fails like one that never was', async () => {
    const { tools, at, agent, request, agentAt } = layers()
    tools.register(named('a'))
    at(agent).restrict({ deny: ['a'] })
    const [filtered, unknown] = await Promise.all(['a', 'b'].map((name) => tools.execute(request(name, {}, { agent: agentAt(agent) }))))
    expect(JSON.stringify(filtered).replaceAll('\\"a\\"', '')).toBe(JSON.stringify(unknown).replaceAll('\\"b\\"', ''))
  })
  it('is about what is seen: it forbids nothing that is called by another way', async () => {
    const { tools, at, agent, request } = layers()
    tools.register(named('a'))
    at(agent).restrict({ deny: ['a'] })
    expect(codeOf(await tools.execute(request('a', { word: 'x' })))).toBe('ok')
  })
})

describe('presentation', () => {
  it('is declared once a scope, the nearest wins, and needs a scope and a known word', async () => {
    const { tools, at, preset, agent, request, agentAt } = layers()
    tools.register(named('a'))
    at(preset).presentAs('code')
    const direct = () => tools.execute(request('a', { word: 'x' }, { agent: agentAt(agent) })).then(codeOf)
    const asCode = await direct()
    at(agent).presentAs('native')
    expect([asCode, await direct()]).toEqual(['UNKNOWN_TOOL', 'ok'])
    expect(() => at(agent).presentAs('both')).toThrow('already')
    expect(() => tools.presentAs('code')).toThrow('scoped')
    expect(() => at(layers().other)).toThrow('not made by this kernel')
    const fresh = layers()
    expect(() => fresh.at(fresh.agent).presentAs('sometimes' as never)).toThrow('native, code, both')
  })
})

describe('identity of a call (2.3)', () => {
  it('is made by the registry: a fresh token, and the call itself as root', async () => {
    const { tools, ctx, request } = layers()
    tools.register(named('a'))
    const seen: unknown[] = []
    ctx.on('tools/result', (exec) => void seen.push([exec.token.id, exec.rootCallId, exec.parent]))
    await tools.execute(request('a', { word: 'x' }))
    await tools.execute(request('a', { word: 'x' }, { callId: 'c2', rootCallId: 'c0', parent: { id: 'p' } }))
    expect(seen).toEqual([['token-1', 'call-1', undefined], ['token-2', 'c0', { id: 'p' }]])
  })
  it('cannot be changed by anyone on the way; a wrapper may replace the signal and never remove it', async () => {
    const { tools, ctx, request } = layers()
    tools.register(named('a'))
    const refused: string[] = []
    const attempt = (what: string, change: () => void) => {
      try {
        change()
      } catch {
        refused.push(what)
      }
    }
    const open = (exec: object) => exec as Record<string, unknown>
    ctx.on('tools/pre-execute', (exec, next) => (attempt('policy', () => (open(exec)['arguments'] = {})), next()))
    ctx.on('tools/execute', (exec, next) => {
      attempt('name', () => (open(exec)['name'] = 'b'))
      attempt('arguments', () => (open(exec)['arguments'] = {}))
      attempt('no signal', () => (open(exec)['signal'] = undefined))
      attempt('deleted signal', () => void delete open(exec)['signal'])
      exec.signal = AbortSignal.any([exec.signal])
      return next()
    })
    expect(codeOf(await tools.execute(request('a', { word: 'x' })))).toBe('ok')
    expect(refused).toEqual(['policy', 'name', 'arguments', 'no signal', 'deleted signal'])
  })
  it('takes arguments once, before policy; what JSON cannot carry is final and outranks a cancel', async () => {
    const { tools, ctx, request } = layers()
    tools.register(named('a'))
    let asked = 0
    ctx.on('tools/pre-execute', (_exec, next) => ((asked += 1), next()))
    ctx.on('tools/post-execute', (_exec, _result, next) => ((asked += 1), next()))
    const hostile = { get word() { throw new Error('not today') } }
    const revoked = Proxy.revocable({}, {})
    revoked.revoke()
    const codes = []
    for (const args of [{ word: 1n }, hostile, revoked.proxy, [Symbol('s')], Object.create({ word: 'x' })]) {
      codes.push(codeOf(await tools.execute(request('a', args, { signal: AbortSignal.abort() }))))
    }
    expect([codes, asked]).toEqual([['INVALID_ARGS', 'INVALID_ARGS', 'INVALID_ARGS', 'INVALID_ARGS', 'INVALID_ARGS'], 0])
  })
  it('lets the body defer context and end the turn, as the loop shows', async () => {
    const context = { id: 'd', role: 'user', content: [{ type: 'text', text: 'mind this' }], source: { kind: 'plugin', plugin: 'test' } } as const
    const { newAgent, adapter } = createLoopRig({
      answers: [callTools({ id: '1', name: 'look', args: {} }), callTools({ id: '2', name: 'end', args: {} }), sayText('never said')],
      tools: [fakeTool('look', (_args, exec) => (exec.deferContext(context), 'seen')), fakeTool('end', (_args, exec) => (exec.concludeTurn(), 'ended'))],
    })
    const agent = await newAgent()
    agent.followup(prompt('go'))
    await agent.whenIdle()
    const lines = linesOf(agent.session)
    expect(lines.indexOf('user mind this')).toBeGreaterThan(lines.indexOf('result 1 ok'))
    expect([lines.at(-1), adapter.requests.length]).toEqual(['end completed', 2])
  })
})

describe('results and errors (2.4)', () => {
  const thrown = async (value: unknown) => {
    const { tools, request } = layers()
    tools.register(fakeTool('a', () => { throw value }))
    return tools.execute(request('a'))
  }
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  }
  const noText = 'The tool failed with a value that has no text.'
  const rows: readonly (readonly [string, unknown, string])[] = [
    ['an error', new Error('disk full'), 'disk full'],
    ['an error without words', new TypeError(''), 'TypeError'],
    ['a text', 'gone', 'gone'],
    ['an object without ground', Object.create(null), noText],
    ['a hostile coercion', { toString: () => { throw new Error('x') } }, noText],
    ['an error whose message is none', Object.assign(new Error('x'), { message: {} }), noText],
    ['an error whose message throws', Object.defineProperty(new Error('x'), 'message', { get: () => { throw new Error('y') } }), noText],
    ['a revoked proxy', revoked(), noText],
    ['nothing', undefined, 'undefined'],
  ]
  it.each(rows)('%s that is thrown is a failure with one line of text and no identity', async (_what, value, message) =>
    expect(await thrown(value)).toEqual({ isError: true, error: { message }, content: [{ type: 'text', text: `Error: ${message}` }] }))

  it('every violation of the arguments is told, with "; " between', async () => {
    const { tools, request } = layers()
    tools.register(defineTool({ name: 'two', description: '', parameters: { a: { type: 'string', required: true }, b: { type: 'integer', required: true } }, output: { schema: { type: 'null' }, render: () => [] }, execute: () => null }))
    const result = await tools.execute(request('two', { a: 1 }))
    expect(outcomeOf(result)).toEqual({ code: 'INVALID_ARGS', message: expect.stringMatching(/: .*"b"; "a" must be/) as unknown })
  })
  it('defineTool checks hard in the body, and softly where a card or an overlap is at stake', () => {
    const tool = defineTool({
      name: 'x', description: '', parameters: { a: { type: 'string', required: true } }, output: { schema: { type: 'null' }, render: () => [] },
      execute: () => null, isConcurrencySafe: () => true, presentCall: () => ({ card: 'generic', title: 'x' }), presentResult: () => { throw new Error('no') },
    })
    expect(() => tool.execute({ a: 1 }, {} as never)).toThrow(expect.objectContaining({ code: 'INVALID_ARGS' }))
    expect([tool.isConcurrencySafe?.({ a: 1 }), tool.presentCall?.({ a: 1 }), tool.presentResult?.({ a: 'x' }, { content: [], isError: false })]).toEqual([false, undefined, undefined])
  })
  it('a raw definition owns its validation, and its checker failing fails only its call', async () => {
    const { tools, request } = layers()
    tools.register(fakeTool('free', (args) => JSON.stringify(args)))
    tools.register(fakeTool('broken', undefined, { validateArguments: () => { throw new Error('no rules today') } }))
    expect([outcomeOf(await tools.execute(request('free', { any: 1 }))), outcomeOf(await tools.execute(request('broken')))]).toEqual(['{"any":1}', { code: null, message: 'no rules today' }])
  })
})

describe('edge cases', () => {
  it('a tool that went between listing and call is unknown', async () => {
    const { tools, request } = layers()
    tools.register(named('a'))()
    expect(codeOf(await tools.execute(request('a', { word: 'x' })))).toBe('UNKNOWN_TOOL')
  })
  it.each(['gone', 'replaced'])('a tool that was %s while policy waited does not run', async (how) => {
    const { ctx, tools, request } = layers()
    const ran: string[] = []
    const undo = tools.register(fakeTool('a', () => (ran.push('old'), 'x')))
    ctx.on('tools/pre-execute', async (_exec, next) => {
      undo()
      if (how === 'replaced') tools.register(fakeTool('a', () => (ran.push('new'), 'x')))
      return next()
    })
    expect([codeOf(await tools.execute(request('a'))), ran]).toEqual(['UNKNOWN_TOOL', []])
  })
  it('a tool that goes while its body runs still gives its result', async () => {
    const { tools, request } = layers()
    const undo = tools.register(fakeTool('a', () => (undo(), 'x')))
    expect(outcomeOf(await tools.execute(request('a')))).toBe('x')
  })
  it.each(['wrapper', 'value'])('an answer of a %s needs the tool, and fails when it went', async (who) => {
    const { ctx, tools, request } = layers()
    const undo = tools.register(fakeTool('a', () => 'x'))
    if (who === 'wrapper') ctx.on('tools/execute', () => (undo(), { isError: false, value: 'y', content: [] }))
    else ctx.on('tools/post-execute', () => (undo(), { kind: 'accept', value: 'y' }))
    expect(codeOf(await tools.execute(request('a')))).toBe('UNKNOWN_TOOL')
  })
  it.each([true, false])('a nearer registration shadows a global one and leaves it to others (nearer first: %s)', (isNearerFirst) => {
    const { tools, at, agent } = layers()
    const register = [() => tools.register(named('a', { description: 'far' })), () => at(agent).register(named('a', { description: 'near' }))]
    for (const one of isNearerFirst ? register.reverse() : register) one()
    expect([tools.get('a', agent)?.description, tools.get('a')?.description]).toEqual(['near', 'far'])
  })
  const adding: readonly (readonly [string, 'root' | 'agent', 'root' | 'agent'])[] = [['the same layer', 'root', 'root'], ['a nearer layer', 'root', 'agent'], ['a layer that was passed', 'agent', 'root']]
  it.each(adding)('a guard that a guard adds in %s runs for the same call', async (_where, first, second) => {
    const { tools, at, agent, request, agentAt } = layers()
    tools.register(named('a'))
    const of = { root: tools, agent: at(agent) }
    const undo = of[first].guard(() => {
      undo()
      of[second].guard(() => 'second thoughts')
      return undefined
    })
    expect(outcomeOf(await tools.execute(request('a', { word: 'x' }, { agent: agentAt(agent) })))).toMatchObject({ message: 'second thoughts' })
  })
})

function selfHolding(): object {
  const schema: Record<string, unknown> = { type: 'object', properties: {} }
  schema['properties'] = { self: schema }
  return schema
}
