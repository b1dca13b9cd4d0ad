import { describe, expect, it } from 'vitest'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import { createSystemPromptPlugin } from '../../../../extension/core/prompt/service.ts'
import type { PromptContext } from '../../../../extension/core/prompt/system-prompt.ts'
import { createToolsPlugin } from '../../../../extension/core/tools/registry.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { fakeTool } from '../../../support/loop-rig.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

function setUp() {
  const kernel = createKernel({ logger: createRecordingLogger() })
  kernel.root.plugin(createSystemPromptPlugin({ dispatch: kernel.dispatch }))
  const preset = kernel.createScope('preset', null)
  const scope = kernel.createScope('agent', preset)
  const agent = createFakeAgent()
  const context: PromptContext = { agent, scope, provider: 'p', model: 'm', cwd: '/w', step: 1 }
  const { systemPrompt } = kernel.root
  return {
    kernel,
    preset,
    scope,
    systemPrompt,
    inPreset: kernel.root.scoped(preset).systemPrompt,
    inAgent: kernel.root.scoped(scope).systemPrompt,
    assemble: (more: Partial<PromptContext> = {}) => systemPrompt.assemble({ ...context, ...more }),
  }
}
const nothing = { system: '', runtimeContext: '', runtimeSections: [] }

describe('sections', () => {
  it('stand ascending by order, then by name', async () => {
    const { systemPrompt, assemble } = setUp()
    systemPrompt.section({ name: 'b', order: 1, text: 'B' })
    systemPrompt.section({ name: 'c', order: -1, text: 'in {{cwd}}' })
    systemPrompt.section({ name: 'a', order: 1, text: ({ model }) => `A ${model}` })
    expect(await assemble()).toEqual({ ...nothing, system: 'in /w\n\nA m\n\nB' })
  })
  it('go nearest first: a nearer one of the same name shadows, siblings do not see it', async () => {
    const { kernel, systemPrompt, inPreset, inAgent, assemble } = setUp()
    systemPrompt.section({ name: 'a', order: 0, text: 'global' })
    inPreset.section({ name: 'a', order: 0, text: 'preset' })
    expect((await assemble()).system).toBe('preset')
    const undo = inAgent.section({ name: 'a', order: 0, text: 'agent' })
    expect((await assemble()).system).toBe('agent')
    expect((await assemble({ scope: kernel.createScope('other', null) })).system).toBe('global')
    undo()
    expect((await assemble()).system).toBe('preset')
  })
  it('refuse a second one of a name in the same layer', () => {
    const { systemPrompt } = setUp()
    systemPrompt.section({ name: 'a', order: 0, text: '' })
    expect(() => systemPrompt.section({ name: 'a', order: 1, text: '' })).toThrow('a is there already in the global layer')
  })
  it('give way to a complete one', async () => {
    const { systemPrompt, inPreset, assemble } = setUp()
    systemPrompt.section({ name: 'a', order: 0, text: 'a' })
    inPreset.section({ name: 'whole', order: 0, text: 'whole', isComplete: true })
    expect((await assemble()).system).toBe('whole')
  })
  it('fail when two want to be the whole', async () => {
    const { systemPrompt, inPreset, assemble } = setUp()
    systemPrompt.section({ name: 'one', order: 0, text: 'a', isComplete: true })
    inPreset.section({ name: 'two', order: 1, text: 'b', isComplete: true })
    await expect(assemble()).rejects.toThrow('one and two both want to be the whole prompt')
  })
  it('fail the assembly for a bad placeholder, naming the section', async () => {
    const { systemPrompt, assemble } = setUp()
    systemPrompt.section({ name: 'a', order: 0, text: '{{nope}}' })
    await expect(assemble()).rejects.toThrow('Prompt section a uses {{nope}}, which is unknown')
  })
  it('leave nothing behind when they are empty or say nothing', async () => {
    const { systemPrompt, assemble } = setUp()
    systemPrompt.section({ name: 'a', order: 0, text: ' \n' })
    systemPrompt.section({ name: 'b', order: 0, text: () => undefined })
    expect(await assemble()).toEqual(nothing)
  })
  it('go with their plugin, and with their layer', async () => {
    const { kernel, inAgent, scope, assemble } = setUp()
    const fiber = kernel.root.plugin({
      name: 'contributor',
      inject: ['systemPrompt'],
      apply: (ctx) => {
        ctx.systemPrompt.section({ name: 'a', order: 0, text: 'a' })
        ctx.systemPrompt.runtimeContext({ name: 'r', order: 0, text: () => 'r' })
      },
    })
    inAgent.section({ name: 'b', order: 1, text: 'b' })
    expect(await assemble()).toEqual({ system: 'a\n\nb', runtimeContext: 'r', runtimeSections: ['r'] })
    await fiber.dispose()
    expect(await assemble()).toEqual({ ...nothing, system: 'b' })
    await kernel.disposeScope(scope)
    expect(await assemble()).toEqual(nothing)
  })
  it('pass a waterfall that may replace them', async () => {
    const { kernel, systemPrompt, assemble } = setUp()
    systemPrompt.section({ name: 'a', order: 0, text: 'a' })
    kernel.root.on('system-prompt/assemble', async (before, _context, next) => {
      const { sections, runtimeContext } = await next()
      return {
        sections: [...sections, { name: 'more', text: `${before.sections.length} before` }],
        runtimeContext: [...runtimeContext, { name: 'now', text: `${before.runtimeContext.length} facts` }],
      }
    })
    expect(await assemble()).toEqual({ system: 'a\n\n1 before', runtimeContext: '0 facts', runtimeSections: ['now'] })
  })
  it('about tools are said only to agents that see all of them', async () => {
    const { kernel, inAgent, systemPrompt, scope, assemble } = setUp()
    systemPrompt.section({ name: 'a', order: 0, tools: ['read', 'grep'], text: 'read and grep' })
    expect(await assemble()).toEqual(nothing)
    kernel.root.plugin(createToolsPlugin({ dispatch: kernel.dispatch, randomId: () => 't' }))
    kernel.root.tools.register(fakeTool('read'))
    kernel.root.scoped(scope).tools.register(fakeTool('grep'))
    inAgent.section({ name: 'b', order: 1, tools: [], text: 'b' })
    expect((await assemble()).system).toBe('read and grep\n\nb')
    expect((await assemble({ scope: kernel.createScope('other', null) })).system).toBe('')
  })
  it('are announced when they come and when they go, to listeners of all layers', () => {
    const { kernel, systemPrompt, scope } = setUp()
    let changes = 0
    kernel.root.scoped(scope).on('system-prompt/change', () => void changes++)
    const undo = systemPrompt.section({ name: 'a', order: 0, text: 'a' })
    undo()
    undo()
    expect(changes).toBe(2)
  })
})

describe('runtime context', () => {
  it('joins what its sections say, by order, and names them', async () => {
    const { systemPrompt, assemble } = setUp()
    systemPrompt.runtimeContext({ name: 'late', order: 9, text: async () => 'L' })
    systemPrompt.runtimeContext({ name: 'none', order: 5, text: () => undefined })
    systemPrompt.runtimeContext({ name: 'early', order: 1, text: ({ cwd }) => `E ${cwd} {{kept}}` })
    expect(await assemble()).toEqual({ system: '', runtimeContext: 'E /w {{kept}}\nL', runtimeSections: ['early', 'late'] })
  })
  it('is left out for agents below a layer that wants none', async () => {
    const { kernel, systemPrompt, inPreset, assemble } = setUp()
    systemPrompt.runtimeContext({ name: 'a', order: 1, text: () => 'a' })
    const undo = inPreset.omitRuntimeContext()
    expect(await assemble()).toEqual(nothing)
    expect((await assemble({ scope: kernel.createScope('other', null) })).runtimeContext).toBe('a')
    undo()
    expect((await assemble()).runtimeContext).toBe('a')
    expect(() => systemPrompt.omitRuntimeContext()).toThrow('Only a scoped context')
  })
  it('fails the assembly when a section throws', async () => {
    const { systemPrompt, assemble } = setUp()
    systemPrompt.runtimeContext({ name: 'a', order: 1, text: () => Promise.reject(new Error('gone')) })
    await expect(assemble()).rejects.toThrow('gone')
  })
})
