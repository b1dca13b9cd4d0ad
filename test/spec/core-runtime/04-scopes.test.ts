import { afterEach, describe, expect, it } from 'vitest'
import type { Plugin, ScopeKey } from '../../../extension/core/kernel/plugin.ts'
import type { Preset } from '../../../extension/core/presets/preset.ts'
import { createLoopRig, fakeTool } from '../../support/loop-rig.ts'
import { createPipelineBench, echoTool } from '../../support/pipeline-bench.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/* Chapter 4: layers. Agent, then preset, then global; the nearest wins. */

let application: WholeApplication | undefined
afterEach(async () => {
  await application?.dispose()
  application = undefined
})
async function start() {
  application = await wholeApplication()
  return application
}

function layers() {
  const bench = createPipelineBench()
  const { kernel, tools } = bench
  const preset = kernel.createScope('preset', null)
  const agent = kernel.createScope('agent', preset)
  const sibling = kernel.createScope('sibling', null)
  return { ...bench, agentAt: bench.agent, ctx: kernel.root, preset, agent, sibling, at: (scope: ScopeKey) => kernel.root.scoped(scope), names: (scope: ScopeKey | null) => tools.list(scope).map(({ name, description }) => `${name} ${description}`) }
}
const tool = (name: string, description = '') => ({ ...echoTool(), name, description })

describe('a key', () => {
  it('is bound once: nobody but the kernel can move it', () => {
    const { kernel, preset, agent } = layers()
    expect(() => Object.assign(agent, { parent: null })).toThrow(TypeError)
    expect(agent.parent).toBe(preset)
    kernel.rebindScope(agent, null)
    expect(agent.parent).toBeNull()
  })
  it('never comes below itself', () => {
    const { kernel, preset, agent } = layers()
    for (const [key, parent] of [[agent, agent], [preset, agent]] as const) expect(() => kernel.rebindScope(key, parent)).toThrow('cannot be put below itself')
  })
  it('of another maker, or of a layer that is gone, is refused as key and as parent', async () => {
    const { kernel, agent, sibling } = layers()
    const foreign = { label: 'foreign', parent: null }
    await kernel.disposeScope(sibling)
    for (const odd of [foreign, sibling]) {
      expect(() => kernel.rebindScope(agent, odd)).toThrow(odd.label)
      expect(() => kernel.rebindScope(odd, null)).toThrow(odd.label)
      expect(() => kernel.createScope('new', odd)).toThrow(odd.label)
      expect(() => kernel.root.scoped(odd)).toThrow(odd.label)
    }
  })
})

describe('resolution', () => {
  it('goes agent, preset, global, in whatever order they came', () => {
    const { ctx, at, preset, agent, names } = layers()
    at(agent).tools.register(tool('a', 'agent'))
    ctx.tools.register(tool('a', 'global'))
    const undo = at(preset).tools.register(tool('b', 'preset'))
    ctx.tools.register(tool('b', 'global'))
    const both = names(agent)
    undo()
    expect([both, names(agent), names(null)]).toEqual([['a agent', 'b preset'], ['a agent', 'b global'], ['a global', 'b global']])
  })
  it('takes no second of one name in one layer', () => {
    const { at, preset } = layers()
    at(preset).tools.register(tool('a'))
    expect(() => at(preset).tools.register(tool('a'))).toThrow(expect.objectContaining({ code: 'DUPLICATE_TOOL' }))
  })
  it('shows a late registration of a parent at once, unless an allow filter keeps it out', () => {
    const { kernel, at, preset, agent, names } = layers()
    const strict = kernel.createScope('strict', preset)
    at(preset).tools.register(tool('a'))
    at(strict).tools.restrict({ allow: ['a'] })
    at(preset).tools.register(tool('late'))
    expect([names(agent), names(strict)]).toEqual([['a ', 'late '], ['a ']])
  })
  it('shows one that joined nothing what is global, and siblings nothing of each other', () => {
    const { ctx, kernel, at, preset, sibling, names } = layers()
    ctx.tools.register(tool('a'))
    at(preset).tools.register(tool('b'))
    expect([names(kernel.createScope('alone', null)), names(sibling)]).toEqual([['a '], ['a ']])
  })
  it('knows run_code in no layer, neither to register nor to restrict', () => {
    const { ctx, at, preset, agent } = layers()
    for (const context of [ctx, at(preset), at(agent)]) expect(() => context.tools.register(tool('run_code'))).toThrow(expect.objectContaining({ code: 'RESERVED_NAME' }))
    for (const scope of [preset, agent]) expect(() => at(scope).tools.restrict({ deny: ['run_code'] })).toThrow('cannot be restricted')
  })
  it('wants a scope for presentAs and restrict', () => {
    const { ctx } = layers()
    expect(() => ctx.tools.presentAs('code')).toThrow('scoped context')
    expect(() => ctx.tools.restrict({ deny: ['a'] })).toThrow('scoped context')
  })
})

describe('listeners', () => {
  const heardBy = (scopes: (rig: ReturnType<typeof layers>) => Record<string, ScopeKey | null>) => {
    const rig = layers()
    const heard: Record<string, string[]> = {}
    const all = scopes(rig)
    for (const [who, scope] of Object.entries(all)) {
      const context = scope === null ? rig.ctx : rig.at(scope)
      context.on('tools/result', (exec) => void (heard[who] ??= []).push(exec.callId))
    }
    return { ...rig, heard, call: (callId: string, scope: ScopeKey | null) => rig.tools.execute(rig.request('none', {}, { callId, ...(scope && { agent: rig.agentAt(scope) }) })) }
  }
  it('of a layer hear agents at or below it; those without a layer hear all', async () => {
    const { heard, call, agent, sibling } = heardBy(({ preset, agent, sibling }) => ({ global: null, preset, agent, sibling }))
    await call('of agent', agent)
    await call('of sibling', sibling)
    await call('of none', null)
    expect(heard).toEqual({ global: ['of agent', 'of sibling', 'of none'], preset: ['of agent'], agent: ['of agent'], sibling: ['of sibling'] })
  })
  it('that go during a dispatch hear no more of it, and those that come hear nothing of it yet', async () => {
    const { ctx, tools, request } = layers()
    const heard: string[] = []
    const gone: (() => void)[] = []
    ctx.on('tools/result', () => {
      heard.push('first')
      for (const undo of gone) undo()
      ctx.on('tools/result', () => void heard.push('new'))
    })
    gone.push(ctx.on('tools/result', () => void heard.push('removed')))
    gone.push(ctx.on('tools/pre-execute', (_exec, next) => (heard.push('policy'), next())))
    ctx.on('tools/result', () => void heard.push('last'))
    await tools.execute(request('none'))
    expect(heard).toEqual(['first', 'last'])
  })
  it('that go while a waterfall waits are not asked any more', async () => {
    const { ctx, tools, request } = layers()
    tools.register(tool('a'))
    const late: Plugin = { name: 'late', inject: ['tools'], apply: (own) => void own.on('tools/pre-execute', () => ({ kind: 'deny', reason: 'from the grave' })) }
    ctx.on('tools/pre-execute', async (_exec, next) => {
      await fiber.dispose()
      return next()
    })
    const fiber = ctx.plugin(late)
    expect((await tools.execute(request('a', { word: 'x' }))).isError).toBe(false)
  })
  it('of a plugin that is mounted anew while a waterfall waits are asked: no call slips by a policy that restarts', async () => {
    const { ctx, tools, request } = layers()
    tools.register(tool('a'))
    const policy: Plugin = { name: 'policy', inject: ['tools'], apply: (own) => void own.on('tools/pre-execute', () => ({ kind: 'deny', reason: 'never' })) }
    ctx.on('tools/pre-execute', async (_exec, next) => {
      await first.dispose()
      ctx.plugin(policy)
      return next()
    })
    const first = ctx.plugin(policy)
    expect(await tools.execute(request('a', { word: 'x' }))).toMatchObject({ isError: true, error: { message: 'never' } })
  })
  it('may ask what is behind them twice, and it answers twice', async () => {
    const { ctx, tools, request } = layers()
    let ran = 0
    tools.register({ ...tool('a'), execute: () => ({ word: String((ran += 1)) }) })
    ctx.on('tools/execute', async (_exec, next) => {
      await next()
      return next()
    })
    expect(await tools.execute(request('a', { word: 'x' }))).toMatchObject({ value: { word: '2' } })
  })
  it('that take themselves back leave the others their turn', async () => {
    const { ctx, tools, request } = layers()
    const heard: number[] = []
    for (const number of [1, 2, 3]) {
      const undo = ctx.on('tools/result', () => (heard.push(number), undo()))
    }
    await tools.execute(request('none'))
    await tools.execute(request('none'))
    expect(heard).toEqual([1, 2, 3])
  })
})

describe('the life of a layer', () => {
  it('ends with its agent, and nothing can be filed into it any more', async () => {
    const app = await start()
    const agent = await app.ctx.agents.create({ cwd: app.folder })
    const own = app.ctx.scoped(agent.scope)
    own.tools.register(tool('mine'))
    const before = app.ctx.tools.get('mine', agent.scope)?.name
    await agent.dispose()
    expect([before, app.ctx.tools.get('mine', agent.scope)]).toEqual(['mine', undefined])
    expect(() => own.tools.register(tool('again'))).toThrow('is disposed')
  })
  it('keeps no trace of a plugin that came and went in it', async () => {
    const { ctx, kernel, at, preset } = layers()
    let undone = 0
    for (let round = 0; round < 3; round += 1) {
      const fiber = at(preset).plugin({ name: 'guest', inject: ['tools'], apply: (own) => void own.effect(() => void (undone += 1)) })
      await fiber.dispose()
    }
    await kernel.disposeScope(preset)
    expect([undone, ctx.tools.list(preset)]).toEqual([3, []])
  })
  it('a plugin that disposes itself as it starts is gone, with what it registered', async () => {
    const { ctx, tools } = layers()
    let isUndone = false
    let going: Promise<void> | undefined
    const fiber = ctx.plugin({
      name: 'brief',
      inject: ['tools'],
      apply(own) {
        own.tools.register(tool('a'))
        going = own.fiber.dispose()
        expect(() => own.tools.register(tool('b'))).toThrow('cannot register')
        return async () => {
          await Promise.resolve()
          isUndone = true
        }
      },
    })
    await going
    expect([fiber.state, tools.list(null), isUndone]).toEqual(['disposed', [], true])
  })
  it('a plugin that goes before it could start leaves nobody waiting', async () => {
    const { ctx } = layers()
    const fiber = ctx.plugin({ name: 'waiting', inject: ['approvals'], apply: () => {} })
    await fiber.dispose()
    await expect(fiber.ready).rejects.toThrow('disposed before it became active')
  })
  it('an undo that disposes its own plugin again is met by one that is going', async () => {
    const { ctx } = layers()
    const undone: string[] = []
    const fiber = ctx.plugin({
      name: 'twice',
      apply(own) {
        own.effect(async () => {
          await Promise.resolve()
          undone.push('first')
        })
        own.effect(() => {
          void own.fiber.dispose()
          undone.push('second')
        })
      },
    })
    await fiber.dispose()
    expect(undone).toEqual(['second', 'first'])
  })
  it.each(['effect', 'get', 'scope', 'constructor', 'toString'])('no service takes the word %s from the context', (name) => {
    const { ctx } = layers()
    expect(() => ctx.provide(name as never, {} as never)).toThrow('a word of the context itself')
  })
})

describe('presets as layers', () => {
  const preset = (id: string, tools: readonly string[]): Preset => ({ id, name: id, description: '', order: 0, presentation: 'native', tools, hasRuntimeContext: true })
  it('a session sees what its own preset brings, and not what another does', async () => {
    const rig = createLoopRig({ tools: ['look', 'act'].map((name) => fakeTool(name)), presets: [preset('one', ['look']), preset('two', ['act'])] })
    const [one, two] = [await rig.newAgent('one'), await rig.newAgent('two')]
    expect([one, two].map(({ scope }) => rig.ctx.tools.list(scope).map(({ name }) => name))).toEqual([['look'], ['act']])
  })
  it('a child stands on the very layer of the agent that started it', async () => {
    const app = await start()
    const agent = await app.ctx.agents.create({ cwd: app.folder })
    const child = await app.ctx.agents.create({ cwd: app.folder, preset: app.ctx.agents.presetOf(agent.id), owner: agent })
    expect([child.scope.parent === agent.scope.parent, child.scope === agent.scope]).toEqual([true, false])
  })
  it('listeners of one preset hear nothing of the agents of another', async () => {
    const app = await start()
    const [one, two] = [await app.ctx.agents.create({ cwd: app.folder, preset: 'standard' }), await app.ctx.agents.create({ cwd: app.folder, preset: 'ask' })]
    const heard: string[] = []
    app.ctx.scoped(one.scope.parent!).on('tools/result', (exec) => void heard.push(exec.callId))
    for (const [callId, agent] of [['1', one], ['2', two], ['3', undefined]] as const) {
      await app.ctx.tools.execute({ callId, name: 'none', arguments: {}, signal: new AbortController().signal, ...(agent && { agent }) })
    }
    expect(heard).toEqual(['1'])
  })
})
