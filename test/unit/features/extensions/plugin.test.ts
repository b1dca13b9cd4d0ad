import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BosunApi, Plugin, PluginContext, ToolCall, ToolResult } from '../../../../bosun.d.ts'
import { fillIn } from '../../../../extension/base/fill-in.ts'
import type { ToolContent } from '../../../../extension/core/log/message.ts'
import { ownEffects } from '../../../../extension/core/policy/tool-effects.ts'
import { shippedPresets } from '../../../../extension/core/presets/shipped.ts'
import type { Agent } from '../../../../extension/core/session/agent.ts'
import { Transcript } from '../../../../extension/host/transcript.ts'
import type { ToolRow } from '../../../../extension/protocol/view-state.ts'
import { countTool, extensionRig, textOf, type ExtensionRig } from '../../../support/extension-rig.ts'
import { fakeTool } from '../../../support/loop-rig.ts'

let rig: ExtensionRig
let api: BosunApi
beforeEach(async () => {
  rig = await extensionRig()
  api = rig.join()
})
afterEach(() => rig.dispose())

const systemOf = async ({ scope }: Agent, agent: Agent) =>
  (await rig.application.ctx.systemPrompt.assemble({ agent, scope, provider: 'scripted', model: 'm1', cwd: rig.application.folder, step: 1 })).system

describe('a tool of another extension', () => {
  it('is called by the model of a session that began before it, and its result is in the log', async () => {
    const agent = await rig.newAgent()
    expect(rig.toolsOf(agent)).not.toContain('acme_count')
    await api.registerTool(countTool()).ready
    expect(rig.toolsOf(agent)).toContain('acme_count')
    expect(textOf(await rig.call(agent, 'acme_count', { text: 'four' }))).toBe('4 letters')
    expect(agent.session.events().filter(({ type }) => type === 'tool/call')).toHaveLength(1)
    expect(JSON.stringify(agent.session.events())).not.toContain('"letters":4')
  })
  it('is asked about by the name of its extension, and a rule of the person lets it run', async () => {
    const agent = await rig.newAgent()
    api.registerTool(countTool())
    await rig.call(agent, 'acme_count', { text: 'four' })
    expect(rig.asked.map(({ details }) => [details?.effect, details?.why])).toEqual([['Use the tool `acme_count` from acme.sample', 'Bosun does not know what it does.']])
    const always = rig.asked[0]?.details?.always ?? []
    expect(always.map(({ label }) => label)).toContain('Allow `acme_count` until the session ends')
  })
  it.each([
    ['one whose author says that it only reads', true, 'acme.sample says that it changes nothing, which Bosun cannot know.', true],
    ['any other', false, 'Bosun does not know what it does.', false],
  ])('is asked about in a session that may only read: %s', async (_what, readOnly, why, canBeRuled) => {
    const agent = await rig.newAgent()
    rig.application.ctx.permissions.select(agent.id, 'read-only')
    api.registerTool(countTool({ readOnly }))
    await rig.call(agent, 'acme_count', { text: 'four' })
    expect(rig.asked.map(({ details }) => [details?.why, details?.always !== undefined])).toEqual([[why, canBeRuled]])
  })
  it('is there in the presets that take extensions, and in no other that comes with Bosun', async () => {
    api.registerTool(countTool())
    const presets = ['editor', 'standard', 'code', 'minimal', 'ask', 'team']
    const found = await Promise.all(presets.map(async (preset) => ((await rig.application.ctx.presets.discover(), rig.application.ctx.tools.list((await rig.newAgent(preset)).scope)).some(({ name }) => name === 'acme_count') ? [preset] : [])))
    expect(found.flat()).toEqual(['editor'])
    expect(shippedPresets.filter(({ extensions }) => extensions !== undefined).map(({ id }) => id)).toEqual(['editor'])
  })
  it('joins every session that runs', async () => {
    const agents = await Promise.all([rig.newAgent(), rig.newAgent()])
    api.registerTool(countTool())
    expect(agents.map((agent) => rig.toolsOf(agent).includes('acme_count'))).toEqual([true, true])
  })
  it('is not there in a folder that is not trusted, whatever its author says of it', async () => {
    const untrusted = await extensionRig({ alter: (world) => ({ ...world, workspace: { ...world.workspace, isTrusted: () => false } }) })
    untrusted.join().registerTool(countTool({ readOnly: true }))
    const agent = await untrusted.newAgent()
    expect(untrusted.toolsOf(agent)).not.toContain('acme_count')
    expect((await untrusted.call(agent, 'acme_count', { text: 'a' })).error?.code).toBe('UNKNOWN_TOOL')
    await untrusted.dispose()
  })
  it.each([
    ['of one whose author says that it only reads', true, 0],
    ['of any other not', false, 1],
  ])('is ruled by the person while they plan: the rule %s holds', async (_what, readOnly, questions) => {
    await rig.dispose()
    rig = await extensionRig({ settings: { 'permissions.rules': [{ tool: 'acme_count', decision: 'allow' }] } })
    const agent = await rig.newAgent()
    rig.join().registerTool(countTool({ readOnly }))
    rig.application.ctx.permissions.cap(() => 'You are planning.')
    await rig.call(agent, 'acme_count', { text: 'four' })
    expect(rig.asked).toHaveLength(questions)
  })
  it('can be turned off by the person', async () => {
    await rig.dispose()
    rig = await extensionRig({ settings: { 'tools.disabled': ['acme_count'] } })
    rig.join().registerTool(countTool())
    expect(rig.toolsOf(await rig.newAgent())).not.toContain('acme_count')
  })
  it('goes from sessions that run, and its name is free again', async () => {
    const agent = await rig.newAgent()
    const tool = api.registerTool(countTool())
    await tool.dispose()
    expect(rig.toolsOf(agent)).not.toContain('acme_count')
    expect((await rig.call(agent, 'acme_count', { text: 'a' })).error?.code).toBe('UNKNOWN_TOOL')
    await rig.join('other.one').registerTool(countTool()).ready
    expect(rig.toolsOf(agent)).toContain('acme_count')
  })
  it('that goes while it runs is stopped, and whoever takes it back waits for that', async () => {
    const agent = await rig.newAgent()
    const order: string[] = []
    const running = Promise.withResolvers<void>()
    const tool = api.registerTool(
      countTool({
        execute: (_args, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              order.push('stopped')
              reject(new Error('stopped'))
            })
            running.resolve()
          }),
      }),
    )
    const called = rig.call(agent, 'acme_count', { text: 'a' })
    await running.promise
    await tool.dispose()
    order.push('taken back')
    const result = await called
    expect([order, result.error?.code, textOf(result)]).toEqual([['stopped', 'taken back'], 'EXTENSION_TOOL_GONE', 'Error: The extension acme.sample ended while acme_count ran. Use another tool.'])
  })

  it.each([
    ['of Bosun', 'read', /acme\.sample cannot register the tool "read": Bosun has a tool of that name/],
    ['that Bosun keeps for programs', 'run_code', /Bosun has a tool of that name/],
    ['of Bosun that is not there on this machine', 'pwsh', /Bosun has a tool of that name/],
    ['of Bosun that a preset brings', 'spawn_teammate', /Bosun has a tool of that name/],
    ['of its own', 'mine', /it has registered one of that name/],
    ['of another extension', 'theirs', /other\.one has registered one of that name/],
  ])('may not have a name %s', (_whose, name, words) => {
    api.registerTool(countTool({ name: 'mine' }))
    rig.join('other.one').registerTool(countTool({ name: 'theirs' }))
    expect(() => api.registerTool(countTool({ name }))).toThrow(expect.objectContaining({ code: 'NAME_TAKEN', extensionId: 'acme.sample', message: expect.stringMatching(words) as string }))
  })
  it('may not have the name of any tool that Bosun has now', () => {
    const own = rig.application.ctx.tools.list(null).map(({ name }) => name)
    expect(own.length).toBeGreaterThan(25)
    expect([...own, ...ownEffects.keys()].filter((name) => !isRefused(name))).toEqual([])
  })
  const isRefused = (name: string) => {
    try {
      void api.registerTool(countTool({ name })).dispose()
      return false
    } catch {
      return true
    }
  }
})

describe('a prompt section of another extension', () => {
  it('stands at the end, where the preset takes extensions and its tools are there', async () => {
    const [editor, standard] = [await rig.newAgent('editor'), await rig.newAgent('standard')]
    const before = await systemOf(editor, editor)
    const section = api.registerPromptSection({ name: 'tone', text: 'Speak like a tide table of {{cwd}}.' })
    api.registerPromptSection({ name: 'tools', text: 'Never said.', tools: ['nobody_has_it'] })
    expect(await systemOf(editor, editor)).toBe(`${before}\n\nSpeak like a tide table of ${rig.application.folder}.`)
    expect(await systemOf(standard, standard)).not.toContain('tide table')
    await section.dispose()
    expect(await systemOf(editor, editor)).toBe(before)
  })
  it('may have the name that another extension gave one', async () => {
    api.registerPromptSection({ name: 'tone', text: 'One.' })
    await rig.join('other.one').registerPromptSection({ name: 'tone', text: 'Two.' }).ready
    expect(() => api.registerPromptSection({ name: 'tone', text: 'Three.' })).toThrow('acme.sample: tone')
  })
})

describe('an observer', () => {
  it('hears of every call that ended, as the model reads it, and can change nothing', async () => {
    const agent = await rig.newAgent()
    const heard: [ToolCall, ToolResult][] = []
    const observer = api.observeResults((call, result) => void heard.push([call, result]))
    await rig.call(agent, 'glob', { pattern: '*.ts' })
    await rig.call(agent, 'nobody_has_it')
    expect(heard.map(([call, result]) => [call.tool, call.arguments, call.sessionId === agent.id, call.extensionId, result.isError, result.errorCode ?? null])).toEqual([
      ['glob', { pattern: '*.ts' }, true, null, false, null],
      ['nobody_has_it', {}, true, null, true, 'UNKNOWN_TOOL'],
    ])
    const frozen = (value: unknown): boolean => typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen))
    expect(heard.flat().every(frozen)).toBe(true)
    await observer.dispose()
    await rig.call(agent, 'glob', { pattern: '*.ts' })
    expect(heard).toHaveLength(2)
  })
  it('is told of a picture by its kind, not where its bytes are kept', async () => {
    const agent = await rig.newAgent()
    const heard: ToolResult['content'][] = []
    api.observeResults((_call, { content }) => void heard.push(content))
    const picture: ToolContent = { type: 'image', attachment: { attachmentId: `sha256:${'0'.repeat(64)}`, mediaType: 'image/png', bytes: 1 } }
    rig.application.ctx.scoped(agent.scope).tools.register(fakeTool('look', () => null, { output: { schema: {}, render: () => [picture] } }))
    await rig.call(agent, 'look')
    expect(heard).toEqual([[{ type: 'image', mediaType: 'image/png' }]])
  })
  const broken: readonly [what: string, observer: () => unknown][] = [
    ['throws', () => { throw new Error('broken') }],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ]
  it.each(broken)('that %s is logged under the name of its extension, and the call goes on', async (_what, observer) => {
    const agent = await rig.newAgent()
    api.observeResults(observer)
    expect((await rig.call(agent, 'glob', { pattern: '*.ts' })).error).toBeUndefined()
    await expect.poll(() => rig.application.logger.lines.filter(({ facts }) => facts?.['plugin'] === 'extension:acme.sample' && String(facts['error']).includes('broken')).length).toBe(1)
  })
})

describe('a plugin', () => {
  const everything = (ctx: PluginContext) => {
    ctx.tools.register(countTool())
    ctx.systemPrompt.section({ name: 'tone', text: 'Be brief, says the plugin.' })
    ctx.on('tools/pre-execute', ({ tool }) => (tool === 'glob' ? { decision: 'deny', reason: 'No globs.' } : undefined))
    ctx.on('tools/result', ({ tool }) => void heard.push(tool))
  }
  const heard: string[] = []
  beforeEach(() => void heard.splice(0))
  const stateOf = async (plugin: Partial<Plugin>) => await api.registerPlugin({ name: 'all', apply: () => {}, ...plugin }).ready.then(() => 'ready', (error: unknown) => String(error))

  it('registers all of it together, and takes it back together, awaited', async () => {
    const agent = await rig.newAgent()
    const order: string[] = []
    const plugin = api.registerPlugin({
      name: 'all',
      inject: ['tools', 'systemPrompt'],
      apply(ctx) {
        everything(ctx)
        ctx.effect(async () => {
          await new Promise((resolve) => void setImmediate(resolve))
          order.push('effect')
        })
        ctx.plugin({ name: 'inner', apply: (inner) => void inner.tools.register(countTool({ name: 'acme_inner' })) })
        return () => void order.push('undo')
      },
    })
    await plugin.ready
    expect(rig.toolsOf(agent)).toEqual(expect.arrayContaining(['acme_count', 'acme_inner']))
    expect(await systemOf(agent, agent)).toContain('says the plugin')
    expect(textOf(await rig.call(agent, 'glob', { pattern: '*' }))).toContain('No globs.')
    expect(heard).toEqual(['glob'])
    await plugin.dispose()
    order.push('gone')
    expect(order).toEqual(['undo', 'effect', 'gone'])
    expect(rig.toolsOf(agent).filter((name) => name.startsWith('acme'))).toEqual([])
    expect(await systemOf(agent, agent)).not.toContain('says the plugin')
    expect((await rig.call(agent, 'glob', { pattern: '*' })).error).toBeUndefined()
    expect(heard).toEqual(['glob'])
  })
  it('can take back a part of it', async () => {
    const agent = await rig.newAgent()
    let undo: () => void | Promise<void> = () => {}
    await api.registerPlugin({ name: 'all', apply: (ctx) => void (undo = ctx.tools.register(countTool())) }).ready
    await undo()
    expect(rig.toolsOf(agent)).not.toContain('acme_count')
  })
  const broken: readonly [what: string, plugin: Partial<Plugin>, words: string][] = [
    ['apply throws', { apply: () => { throw new Error('no luck') } }, 'Error: no luck'],
    ['apply rejects', { apply: async (ctx: PluginContext) => { ctx.tools.register(countTool()); await Promise.resolve(); throw new Error('no luck') } }, 'Error: no luck'],
    ['a part of it is bad', { apply: (ctx: PluginContext) => { ctx.tools.register(countTool()); ctx.tools.register(countTool({ name: 'read' })) } }, 'ExtensionApiError: acme.sample cannot register the tool "read": Bosun has a tool of that name'],
    ['a part of it has not the shape that it must have', { apply: (ctx: PluginContext) => { ctx.tools.register(countTool()); ctx.tools.register(countTool({ name: 'mcp__files__read' })) } }, 'ExtensionApiError: acme.sample cannot register the tool "mcp__files__read": names that begin mcp__ belong to others.'],
    ['it listens to something else', { apply: (ctx: PluginContext) => void ctx.on('tools/execute' as never, () => undefined) }, 'ExtensionApiError: acme.sample cannot listen to "tools/execute". For other extensions there are tools/pre-execute and tools/result.'],
  ]
  it.each(broken)('leaves nothing where %s', async (_what, plugin, words) => {
    expect(await stateOf(plugin)).toContain(words)
    await expect.poll(() => rig.application.ctx.tools.get('acme_count', null)).toBeUndefined()
    expect(rig.logger.lines.map(({ facts }) => facts?.['extension'])).toEqual(['acme.sample'])
  })
  it('can register nothing once it is gone', async () => {
    let late: PluginContext | undefined
    const plugin = api.registerPlugin({ name: 'all', apply: (ctx) => void (late = ctx) })
    await plugin.dispose()
    expect(() => late?.tools.register(countTool())).toThrow('extension:acme.sample is disposed')
  })
  it('may return what is nothing to take back', async () => {
    const plugin = api.registerPlugin({ name: 'all', apply: () => 7 as never })
    await plugin.ready
    await plugin.dispose()
  })
})

describe('when an extension has gone', () => {
  it('a stored session opens with its cards, which say whose they were', async () => {
    const agent = await rig.newAgent()
    api.registerTool(countTool({ presentCall: () => ({ card: 'generic', title: 'Counting' }) }))
    api.registerTool(countTool({ name: 'acme_fail', execute: () => { throw new Error('no luck') } }))
    await rig.call(agent, 'acme_count', { text: 'four' })
    await rig.call(agent, 'acme_fail', { text: 'four' })
    const rowsNow = (application: Pick<ExtensionRig['application'], 'ctx'>, session: Agent['session']) => {
      const transcript = new Transcript({ find: (name) => application.ctx.tools.get(name, null), l10n: { t: fillIn }, isKnownEvent: (type) => application.ctx.eventTypes.get(type) !== undefined })
      transcript.replay(session.events())
      return transcript.rows().filter((row): row is ToolRow => row.kind === 'tool').map(({ tool, state, from, call, rawArguments, output, error }) => ({ tool, state, from, title: call?.card === 'generic' ? call.title : null, rawArguments, output, error }))
    }
    const facts = [
      { tool: 'acme_count', state: 'ok', from: 'acme.sample', rawArguments: { text: 'four' }, output: '4 letters', error: null },
      { tool: 'acme_fail', state: 'failed', from: 'acme.sample', rawArguments: { text: 'four' }, output: 'Error: no luck', error: 'no luck' },
    ]
    expect(rowsNow(rig.application, agent.session)).toEqual([{ ...facts[0], title: 'Counting' }, { ...facts[1], title: 'acme_fail' }])
    await api.dispose()
    const again = await rig.application.restart()
    const reopened = await again.ctx.agents.resume(agent.id)
    expect(rowsNow(again, reopened.session)).toEqual(facts.map((row) => ({ ...row, title: null })))
  })
  it('the cards of calls that never gave anything say whose they were too, those of a program among them', async () => {
    const own = await extensionRig({ settings: { 'tools.presentation': 'both' } })
    try {
      const agent = await own.newAgent()
      const sample = own.join()
      const untilStopped = (_args: unknown, { signal }: { readonly signal: AbortSignal }) =>
        new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
      for (const [name, parts] of Object.entries({ acme_count: {}, acme_denied: {}, acme_late: { timeoutMs: 1, execute: untilStopped } })) sample.registerTool(countTool({ name, ...parts }))
      sample.registerPolicy(({ tool }) => (tool === 'acme_denied' ? { decision: 'deny', reason: 'Not today.' } : undefined))
      await own.call(agent, 'acme_denied', { text: 'four' })
      await own.call(agent, 'acme_count', { text: 4 })
      await own.call(agent, 'acme_late', { text: 'four' })
      await own.call(agent, 'run_code', { description: 'Count', code: "await tools.acme_denied({ text: 'four' }).catch(() => null); return await tools.acme_count({ text: 'four' })" })
      await sample.dispose()
      const transcript = new Transcript({ find: () => undefined, l10n: { t: fillIn }, isKnownEvent: () => true })
      transcript.replay(agent.session.events())
      expect(transcript.rows().filter((row): row is ToolRow => row.kind === 'tool').map(({ tool, state, from }) => [tool, state, from ?? null])).toEqual([
        ['acme_denied', 'denied', 'acme.sample'],
        ['acme_count', 'failed', 'acme.sample'],
        ['acme_late', 'failed', 'acme.sample'],
        ['run_code', 'ok', null],
        ['acme_denied', 'denied', 'acme.sample'],
        ['acme_count', 'ok', 'acme.sample'],
      ])
    } finally {
      await own.dispose()
    }
  })
  it('what it registered comes back with the next start of the application', async () => {
    api.registerTool(countTool())
    const again = await rig.application.restart()
    expect(again.ctx.tools.get('acme_count', null)?.from).toBe('acme.sample')
  })
})
