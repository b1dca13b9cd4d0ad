import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../extension/base/json.ts'
import { defineTool } from '../../../../extension/core/tools/define-tool.ts'
import type { ToolDefinition } from '../../../../extension/core/tools/definition.ts'
import { createPipelineBench, echoTool } from '../../../support/pipeline-bench.ts'

const named = (name: string, more: Partial<ToolDefinition> = {}) => echoTool({ name, ...more })

const layered = () => {
  const bench = createPipelineBench()
  const { kernel } = bench
  const preset = kernel.createScope('preset', null)
  const agent = kernel.createScope('agent', preset)
  const other = kernel.createScope('other', null)
  const at = (scope: typeof preset) => kernel.root.scoped(scope).tools
  const names = (scope: typeof preset | null) => bench.tools.schemas(scope).map((tool) => tool.name)
  return { ...bench, preset, agent, other, at, names }
}

describe('registering', () => {
  it('disposes exactly and idempotently, and takes the name again afterwards', () => {
    const { tools, names } = layered()
    const undo = tools.register(named('a'))
    undo()
    tools.register(named('a', { description: 'second' }))
    undo()
    expect([names(null), tools.get('a')?.description]).toEqual([['a'], 'second'])
  })

  it('belongs to the plugin that registered: disposing it removes the tool', async () => {
    const { kernel, names } = layered()
    const fiber = kernel.root.plugin({ name: 'p', inject: ['tools'], apply: (ctx) => void ctx.tools.register(named('a')) })
    expect(names(null)).toEqual(['a'])
    await fiber.dispose()
    expect(names(null)).toEqual([])
  })

  const refuse = (definition: unknown, code: string) =>
    expect(() => layered().tools.register(definition as ToolDefinition)).toThrow(expect.objectContaining({ code }))
  it('refuses a missing renderer', () => refuse({ ...named('a'), output: { schema: { type: 'null' } } }, 'INVALID_DEFINITION'))
  it('refuses a missing output schema', () => refuse({ ...named('a'), output: { render: () => [] } }, 'INVALID_DEFINITION'))
  it('refuses a schema outside the subset', () => refuse({ ...named('a'), parameters: { type: 'object', minProperties: 1 } }, 'UNSUPPORTED_SCHEMA'))
  it('refuses a time-out that is not positive and finite', () => {
    for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) refuse(named('a', { timeoutMs }), 'INVALID_DEFINITION')
  })
  it('refuses the reserved name in every layer', () => {
    refuse(named('run_code'), 'RESERVED_NAME')
    const { at, agent } = layered()
    expect(() => at(agent).register(named('run_code'))).toThrow(expect.objectContaining({ code: 'RESERVED_NAME' }))
  })
  it('refuses a second of the same name in one layer and hints at the agent layer', () => {
    const { tools } = layered()
    tools.register(named('a'))
    expect(() => tools.register(named('a'))).toThrow("Register it through an agent's own context")
  })

  it('rolls back when a listener of the change throws, and passes the error on', () => {
    const { kernel, tools, names } = layered()
    const stop = kernel.root.on('tools/change', () => {
      throw new Error('no room')
    })
    expect(() => tools.register(named('a'))).toThrow('no room')
    expect(names(null)).toEqual([])
    stop()
    tools.register(named('a'))
    expect(names(null)).toEqual(['a'])
  })

  it('announces every change to listeners of all layers', () => {
    const { kernel, tools, at, agent, other } = layered()
    let heard = 0
    kernel.root.scoped(other).on('tools/change', () => void heard++)
    const undo = tools.register(named('a'))
    at(agent).register(named('b'))
    undo()
    expect(heard).toBe(3)
  })
})

describe('layers', () => {
  it('the nearer registration shadows in either order, and leaves the global one to others', () => {
    for (const order of [['global', 'agent'], ['agent', 'global']]) {
      const { tools, at, agent, other } = layered()
      for (const layer of order) (layer === 'global' ? tools : at(agent)).register(named('a', { description: layer }))
      expect([tools.get('a', agent)?.description, tools.get('a', other)?.description]).toEqual(['agent', 'global'])
    }
  })

  it('a late registration in a parent layer appears in its children, not in siblings', () => {
    const { at, preset, agent, other, names } = layered()
    at(preset).register(named('late'))
    expect([names(agent), names(other), names(null)]).toEqual([['late'], [], []])
  })

  it('disposing an agent disposes its layer', async () => {
    const { kernel, at, agent, names } = layered()
    at(agent).register(named('report'))
    await kernel.disposeScope(agent)
    expect(names(agent)).toEqual([])
  })
})

describe('restricting', () => {
  it('filters what is inherited, from the global layer and from ancestors, and spares its own', () => {
    const { tools, at, preset, agent, names } = layered()
    tools.register(named('a'))
    at(preset).register(named('b'))
    at(agent).register(named('own'))
    at(agent).restrict({ allow: ['a'] })
    expect(names(agent)).toEqual(['a', 'own'])
    expect(names(preset)).toEqual(['a', 'b'])
  })

  it('an allow filter keeps later tools out, a deny filter lets them in', () => {
    const { tools, at, preset, other, names } = layered()
    tools.register(named('a'))
    at(preset).restrict({ allow: ['a'] })
    at(other).restrict({ deny: ['a'] })
    tools.register(named('late'))
    expect([names(preset), names(other)]).toEqual([['a'], ['late']])
  })

  it('all restrictions of the chain intersect and are lifted one by one', () => {
    const { tools, at, preset, agent, names } = layered()
    for (const name of ['a', 'b', 'c']) tools.register(named(name))
    const first = at(preset).restrict({ allow: ['a', 'b'] })
    const second = at(agent).restrict({ deny: ['b'] })
    expect(names(agent)).toEqual(['a'])
    first()
    expect(names(agent)).toEqual(['a', 'c'])
    second()
    expect(names(agent)).toEqual(['a', 'b', 'c'])
  })

  it('a filtered tool cannot be told from an unknown one', async () => {
    const { tools, at, agent, request } = layered()
    tools.register(named('a'))
    at(agent).restrict({ deny: ['a'] })
    const run = (name: string) => tools.execute(request(name, { word: 'w' }, { agent: { id: 'x', scope: agent } as never }))
    const failures = await Promise.all(['a', 'b'].map(run))
    expect(failures.map((result) => JSON.stringify(result).replaceAll(/\\"[ab]\\"/g, '?'))).toEqual(
      Array.from({ length: 2 }, () => expect.stringContaining('There is no tool named ?. Use one of the declared tools.')),
    )
  })

  const refuse = (filter: { allow?: string[]; deny?: string[] }, message: string) => {
    const { tools, at, agent } = layered()
    tools.register(named('a'))
    expect(() => at(agent).restrict(filter)).toThrow(message)
  }
  it('refuses an empty filter', () => refuse({ allow: [] }, 'at least one tool'))
  it('refuses an unknown name and lists the known ones', () => refuse({ deny: ['b'] }, 'Unknown tools: b. Known here: a.'))
  it('refuses run_code', () => refuse({ deny: ['run_code'] }, 'cannot be restricted'))
  it('refuses an unscoped context, as does presentAs', () => {
    const { tools } = layered()
    expect(() => tools.restrict({ deny: ['a'] })).toThrow('scoped context')
    expect(() => tools.presentAs('code')).toThrow('scoped context')
  })
  it('takes one presentation mode a scope, and the nearest wins', async () => {
    const { tools, at, preset, agent, request } = layered()
    tools.register(named('echo'))
    at(preset).presentAs('code')
    expect(() => at(preset).presentAs('both')).toThrow('already')
    const live = { id: 'x', scope: agent } as never
    const collapsed = await tools.execute(request('echo', { word: 'w' }, { agent: live }))
    expect(collapsed.isError && [collapsed.error.info?.code, collapsed.error.message.includes('run_code')]).toEqual(['UNKNOWN_TOOL', true])
    const nested = await tools.execute(request('echo', { word: 'w' }, { agent: live, parent: { id: 't' } }))
    expect(nested.isError).toBe(false)
    at(agent).presentAs('native')
    expect((await tools.execute(request('echo', { word: 'w' }, { agent: live }))).isError).toBe(false)
  })
})

describe('the model-facing list', () => {
  it('holds only name, description and parameters, sorted, detached and frozen', () => {
    const { tools } = layered()
    const parameters: Record<string, Json> = { type: 'object', properties: {} }
    tools.register(named('b', { parameters, timeoutMs: 5 }))
    tools.register(named('a'))
    parameters['description'] = 'changed behind the back'
    const list = tools.schemas()
    expect(list.map((tool) => Object.keys(tool))).toEqual([['name', 'description', 'parameters'], ['name', 'description', 'parameters']])
    expect([list[0]?.name, list[1]?.name, Object.isFrozen(list[1]?.parameters['properties'])]).toEqual(['a', 'b', true])
  })

  it('is the same text for an unchanged tool set, whatever the order of registration', () => {
    const texts = [['a', 'b'], ['b', 'a']].map((order) => {
      const { tools } = layered()
      for (const name of order) tools.register(named(name))
      return JSON.stringify(tools.schemas())
    })
    expect(texts[0]).toBe(texts[1])
  })

  it('copies deeply nested parameters without overflow', () => {
    const { tools } = layered()
    let deep: JsonObject = { type: 'string' }
    for (let level = 0; level < 20_000; level++) deep = { type: 'array', items: deep }
    tools.register(named('deep', { parameters: { type: 'object', properties: { deep } } }))
    expect(tools.schemas()).toHaveLength(1)
  })
})

describe('execution mode', () => {
  const check = (definition: ToolDefinition | null, args: unknown, mode: 'parallel' | 'exclusive') => {
    const { tools } = layered()
    if (definition) tools.register(definition)
    expect(tools.executionMode({ name: 'echo', arguments: args })).toBe(mode)
  }
  const safe = (isConcurrencySafe: (args: { readonly word: string }) => unknown) =>
    defineTool({
      name: 'echo',
      description: '',
      parameters: { word: { type: 'string', required: true } },
      output: { schema: { type: 'null' }, render: () => [] },
      execute: () => null,
      isConcurrencySafe: isConcurrencySafe as () => boolean,
    })
  it('is exclusive by default', () => check(echoTool(), { word: 'w' }, 'exclusive'))
  it('is parallel when the classifier says exactly true', () => check(safe(() => true), { word: 'w' }, 'parallel'))
  it('is exclusive for anything truthy else', () => check(safe(() => 'yes'), { word: 'w' }, 'exclusive'))
  it('is exclusive for invalid arguments', () => check(safe(() => true), { word: 1 }, 'exclusive'))
  it('is exclusive for arguments that are no JSON', () => check(safe(() => true), { word: undefined, x: () => 1 }, 'exclusive'))
  it('is exclusive when the classifier throws', () =>
    check(safe(() => { throw new Error('x') }), { word: 'w' }, 'exclusive'))
  it('is exclusive for an unknown tool', () => check(null, { word: 'w' }, 'exclusive'))
})

describe('presenters of defined tools', () => {
  const tool = defineTool({
    name: 'show',
    description: '',
    parameters: { path: { type: 'string', required: true } },
    output: { schema: { type: 'null' }, render: () => [] },
    execute: () => null,
    presentCall: ({ path }) => {
      if (path === 'throw') throw new Error('x')
      return { card: 'generic', title: path }
    },
    presentResult: ({ path }, { isError }) => ({ card: 'generic', title: `${path} ${isError}` }),
  })
  it('draw from valid arguments', () => expect([tool.presentCall?.({ path: 'a' }), tool.presentResult?.({ path: 'a' }, { content: [], isError: false })]).toEqual([
    { card: 'generic', title: 'a' }, { card: 'generic', title: 'a false' },
  ]))
  it('give no view for a malformed record or when they throw', () => expect([
    tool.presentCall?.({ path: 1 }), tool.presentCall?.('text'), tool.presentCall?.({ path: 'throw' }), tool.presentResult?.(null, { content: [], isError: true }),
  ]).toEqual([undefined, undefined, undefined, undefined]))
})

describe('the reserved name', () => {
  const code = named('run_code')
  const shown = (scope: Parameters<ReturnType<typeof layered>['tools']['schemas']>[0], { tools }: ReturnType<typeof layered>) => tools.schemas(scope).map(({ name }) => name)

  it('is filled once, by no other name, and given back exactly', () => {
    const { tools } = layered()
    expect(() => tools.registerCode(named('a'))).toThrow(expect.objectContaining({ code: 'RESERVED_NAME' }))
    const undo = tools.registerCode(code)
    expect(() => tools.registerCode(code)).toThrow(expect.objectContaining({ code: 'DUPLICATE_TOOL' }))
    undo()
    const second = tools.registerCode(code)
    undo()
    expect(tools.get('run_code', null)).toBe(code)
    second()
    expect(tools.get('run_code', null)).toBeUndefined()
  })

  it('is seen by the presentation of a scope: natively not, as code alone, in both beside the others; a program never finds itself', () => {
    const layers = layered()
    const { tools, at, preset, agent } = layers
    for (const name of ['write', 'read']) tools.register(named(name))
    tools.registerCode(code)
    const see = () => [shown(agent, layers), tools.list(agent).map(({ name }) => name), tools.get('run_code', agent) === code, tools.presentation(agent)]
    expect(see()).toEqual([['read', 'write'], ['read', 'write'], false, 'native'])
    const undo = at(preset).presentAs('both')
    expect(see()).toEqual([['read', 'run_code', 'write'], ['read', 'write'], true, 'both'])
    undo()
    at(preset).presentAs('code')
    expect(see()).toEqual([['run_code'], ['read', 'write'], true, 'code'])
    at(agent).presentAs('native')
    expect(see()).toEqual([['read', 'write'], ['read', 'write'], false, 'native'])
  })
})
