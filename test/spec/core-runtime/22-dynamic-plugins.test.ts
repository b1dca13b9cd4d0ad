import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../extension/base/json.ts'
import type { DynamicPluginErrorCode } from '../../../extension/features/dynamic-plugins/error.ts'
import { failure, helloHost as hello, usePluginSessions } from '../../support/plugin-rig.ts'

/* Chapter 22: plugins that a model writes, in the whole application with real machines for their host halves. */

const { start } = usePluginSessions()

const tool = (name: string, body: string, parameters = '{}') => `harness.tool({ name: "${name}", description: "Does ${name}.", parameters: ${parameters}, execute: async (args, exec) => { ${body} } })\n`
const failsWith = async (work: Promise<unknown>, code: DynamicPluginErrorCode | 'handler-error' | 'method-not-found' | 'stale-run' | 'plugin-not-running', words: string) =>
  expect(await failure(work)).toEqual({ code, message: expect.stringContaining(words) as string })
const cordis = (names: readonly string[]) => names.filter((name) => name.startsWith('cordis_'))

describe('turned off', () => {
  it('has no tools, no skills and no preset, says why, and runs nothing', async () => {
    const { ctx, application, plugins, toolNames, define } = await start({ settings: { 'dynamicPlugins.enabled': false }, preset: 'standard' })
    expect([cordis(toolNames()), plugins.isEnabled]).toEqual([[], false])
    expect(ctx.presets.list().find(({ id }) => id === 'creator')?.problem).toBe('The preset creator writes plugins, and those are off. Turn on the setting bosun.dynamicPlugins.enabled to use it.')
    await failsWith(define({ host: '' }), 'PLUGINS_OFF', 'bosun.dynamicPlugins.enabled')
    await application.settings.set('dynamicPlugins.enabled', true, 'user')
    const creator = await ctx.agents.create({ cwd: application.folder, preset: 'creator' })
    expect(cordis(toolNames(creator)).length).toBe(7)
  })
  it('while they run stops all of them, with everything they brought', async () => {
    const { started, application, facts, toolNames, plugins, ctx, turn, told, summaries } = await start({})
    const { pluginId } = await started({ host: hello })
    await application.settings.set('dynamicPlugins.enabled', false, 'user')
    await expect.poll(() => facts(pluginId)?.state).toBe('stopped')
    expect([toolNames().includes('hello'), cordis(toolNames()), plugins.problem]).toEqual([false, [], expect.stringContaining('are off') as string])
    expect(ctx.tools.absent().filter(({ definition }) => definition.name.startsWith('cordis_')).length).toBe(7)
    await turn()
    expect([told(), summaries()]).toEqual([[`The plugin test-1 was stopped, with everything that came of it: ${plugins.problem}`], [expect.stringMatching(/^The plugin test-1 was stopped: Plugins that a model writes are off\./)]])
  })
  it('while a session cannot be written logs that, and nothing is left over', async () => {
    const { started, application, facts, agent } = await start({})
    const { pluginId } = await started({ host: hello })
    const append = agent.session.append.bind(agent.session)
    Object.defineProperty(agent.session, 'append', { configurable: true, value: (draft: Parameters<typeof append>[0]) => { if (draft.type === 'cordis/run') throw new Error('No space left.'); return append(draft) } })
    await application.settings.set('dynamicPlugins.enabled', false, 'user')
    await expect.poll(() => application.logger.lines.filter(({ message }) => message === 'A part of dynamic plugins failed.').length).toBe(1)
    expect(facts(pluginId)?.state).not.toBe('running')
  })
  it('by a folder that is not trusted is the same, and says so', async () => {
    let isTrusted = true
    const { started, changeTrust, plugins, toolNames, facts, ctx } = await start({ isTrusted: () => isTrusted })
    const { pluginId } = await started({ host: hello })
    isTrusted = false
    changeTrust()
    await expect.poll(() => facts(pluginId)?.state).toBe('stopped')
    expect([plugins.problem, cordis(toolNames())]).toEqual([expect.stringContaining('not trusted'), []])
    expect(ctx.presets.list().find(({ id }) => id === 'creator')?.problem).toContain('Trust this folder')
  })
  it('and on brings two skills', async () => {
    const { ctx, agent, application } = await start({})
    const skills = async () => (await ctx.skills.report({ session: agent.session })).rows.map(({ name }) => name).filter((name) => ['plugin-development', 'preset-editing'].includes(name))
    expect(await skills()).toEqual(['plugin-development', 'preset-editing'])
    const { content } = await ctx.skills.load('plugin-development', { agent, by: 'model' })
    expect(content).toContain('harness.tool')
    await application.settings.set('dynamicPlugins.enabled', false, 'user')
    await expect.poll(skills).toEqual([])
  })
  it('and on has skills whose examples work as they stand', async () => {
    const { ctx, agent, home, define, run, started, call } = await start({})
    const examplesOf = async (skill: string) => [...(await ctx.skills.load(skill, { agent, by: 'model' })).content.matchAll(/```\w+\n(.*?)\n```/gs)].map(([, example = '']) => example)
    const [host = '', client = ''] = await examplesOf('plugin-development')
    const { pluginId, packageId } = await define({ host, client })
    expect(await run({ pluginId, packageId, mode: 'run' })).toMatchObject({ state: 'awaiting', tools: ['count_calls'], handlers: ['counts'] })
    await ctx.dynamicPlugins.stop(agent, pluginId)
    await started({ host })
    await call('todo_write', { todos: [] })
    expect((await call('count_calls', { name: 'todo_write' })).text).toBe('1')
    const [preset = ''] = await examplesOf('preset-editing')
    await mkdir(`${home}/.bosun/presets`, { recursive: true })
    await writeFile(`${home}/.bosun/presets/review.preset.json`, preset)
    await ctx.presets.discover()
    expect(ctx.presets.list().find(({ id }) => id === 'review')).toMatchObject({ name: 'Review', root: 'user' })
    expect(ctx.presets.list().find(({ id }) => id === 'review')).not.toHaveProperty('problem')
  })
})

describe('defining', () => {
  it('records a package with an id of its own, keeps its code in files, and runs nothing of it', async () => {
    const { define, facts, lines, limits } = await start()
    const first = await define({ host: 'throw new Error("it ran")', client: 'draw()' })
    expect(first).toMatchObject({ pluginId: 'test-1', packageId: 'pkg-1', halves: ['host', 'client'] })
    expect(first.folder).toMatch(/\/sessions\/[^/]+\/plugins\/test-1\/pkg-1$/)
    expect(await readFile(`${first.folder}/host.js`, 'utf8')).toBe('throw new Error("it ran")')
    expect(await readFile(`${first.folder}/client.js`, 'utf8')).toBe('draw()')
    expect(JSON.parse(await readFile(`${first.folder}/plugin.json`, 'utf8'))).toEqual({ pluginId: 'test-1', packageId: 'pkg-1', name: 'A plugin', purpose: 'For a test' })
    expect(await define({ host: '1' }, { id: 'test-1' })).toMatchObject({ pluginId: 'test-1', packageId: 'pkg-2' })
    expect(await define({ host: '1' })).toMatchObject({ pluginId: 'test-2', packageId: 'pkg-1' })
    expect(facts('test-1')).toMatchObject({ state: 'stopped', tools: [], packages: [{ packageId: 'pkg-1', isApproved: false }, { packageId: 'pkg-2' }] })
    expect(lines()).toEqual(['test-1 pkg-1 defined', 'test-1 pkg-2 defined', 'test-2 pkg-1 defined'])
    expect(limits).toEqual([])
  })
  it('keeps a package as it was defined, whatever becomes of what was given', async () => {
    const { define, plugins, agent } = await start()
    const code = { host: 'return' }
    await define(code)
    code.host = 'changed()'
    expect(plugins.codeOf(agent, 'test-1', 'pkg-1')).toEqual({ host: 'return' })
    expect(Object.isFrozen(plugins.codeOf(agent, 'test-1', 'pkg-1'))).toBe(true)
  })
  it('gives no id twice, also when the plugin is undefined while another package of it is being defined', async () => {
    const { define, plugins, agent, lines } = await start()
    await define({ host: '"shown"' })
    const late = define({ host: '"never shown"' }, { id: 'test-1' })
    await plugins.undefine(agent, 'test-1')
    await failsWith(late, 'UNKNOWN_PLUGIN', 'no plugin test-1')
    expect([plugins.list(agent), lines()]).toEqual([[], ['test-1 pkg-1 defined', 'test-1 removed']])
  })
  it('gives two that are defined at once two ids, also of a plugin that only the log knows', async () => {
    const { define, plugins, agent, facts } = await start()
    await define({ host: '0' })
    const both = await Promise.all([define({ host: '"one"' }, { id: 'test-1' }), define({ host: '"two"' }, { id: 'test-1' })])
    expect(both.map(({ packageId }) => packageId).toSorted()).toEqual(['pkg-2', 'pkg-3'])
    expect(facts('test-1')?.packages.length).toBe(3)
    for (const { packageId, folder } of both) expect(await readFile(`${folder}/host.js`, 'utf8')).toBe(plugins.codeOf(agent, 'test-1', packageId).host)
  })
  it.each([
    ['a prefix of another form', { kind: 'new', idPrefix: 'Hello1' }, { host: '1' }, 'INVALID_PLUGIN', '3 to 6 lower-case letters'],
    ['a prefix that is too long', { kind: 'new', idPrefix: 'goodbye' }, { host: '1' }, 'INVALID_PLUGIN', '3 to 6'],
    ['a plugin that nobody has', { kind: 'existing', pluginId: 'none-9' }, { host: '1' }, 'UNKNOWN_PLUGIN', 'no plugin none-9'],
    ['no half', { kind: 'new', idPrefix: 'test' }, {}, 'INVALID_PLUGIN', 'code.host, code.client or both'],
    ['a host half that does not parse', { kind: 'new', idPrefix: 'test' }, { host: 'const a = 1\nconst b = ;' }, 'PLUGIN_SYNTAX', 'The host half does not parse: line 2, column 11'],
    ['a client half that does not parse', { kind: 'new', idPrefix: 'test' }, { client: 'let let = ' }, 'PLUGIN_SYNTAX', 'The client half does not parse: line 1'],
    ['a half that is too long', { kind: 'new', idPrefix: 'test' }, { host: `// ${'x'.repeat(200_000)}` }, 'PLUGIN_CAP', '200003 bytes, and one may have 200000'],
  ] as const)('refuses %s, and records nothing', async (_, plugin, code, error, words) => {
    const { plugins, agent, lines } = await start()
    await failsWith(plugins.define(agent, { plugin, name: 'n', purpose: 'p', code }), error, words)
    expect([plugins.list(agent), lines()]).toEqual([[], []])
  })
  it('holds so many packages of one plugin, and no more', async () => {
    const { define, facts } = await start()
    const { pluginId } = await define({ host: '0' })
    for (let count = 1; count < 50; count += 1) await define({ host: `${count}` }, { id: pluginId })
    await failsWith(define({ host: '50' }, { id: pluginId }), 'PLUGIN_CAP', 'The plugin test-1 has 50 packages')
    expect(facts(pluginId)?.packages.length).toBe(50)
  })
  it('refuses a name that says nothing, and a purpose that says too much', async () => {
    const { plugins, agent } = await start()
    const plugin = { kind: 'new', idPrefix: 'test' } as const
    await failsWith(plugins.define(agent, { plugin, name: ' ', purpose: '', code: { host: '1' } }), 'INVALID_PLUGIN', '1 to 100 characters')
    await failsWith(plugins.define(agent, { plugin, name: 'n', purpose: 'p'.repeat(2_001), code: { host: '1' } }), 'INVALID_PLUGIN', 'at most 2000')
  })
})

describe('running', () => {
  it('brings tools that the model calls as any other, asked for as what nobody knows', async () => {
    const { started, call, asked, lines } = await start()
    expect(await started({ host: hello })).toMatchObject({ pluginId: 'test-1', packageId: 'pkg-1', runId: 'run-1', state: 'running', tools: ['hello'] })
    expect(lines()).toEqual(['test-1 pkg-1 defined', 'test-1 pkg-1 run-1 starting', 'test-1 pkg-1 run-1 running'])
    expect(await call('hello', { who: 'you' })).toMatchObject({ text: 'hello you', isError: false })
    expect(asked.map(({ toolName, details }) => [toolName, details?.why])).toEqual([['hello', 'Bosun does not know what it does.']])
    expect(await call('hello', { who: 5 })).toMatchObject({ code: 'INVALID_ARGS' })
  })
  it('applies a plugin that the body returns, with what the catalogue of tools shows of it', async () => {
    const { started, plugins, agent } = await start()
    await started({ host: 'return { name: "hello", apply(ctx) { ctx.logger.info("hello", { a: 1 }); ctx.tools.register({ name: "mine", description: "Mine.", execute: () => this.name }) } }' })
    expect(plugins.linesOf(agent, 'test-1')).toEqual(['info: hello {"a":1}'])
    expect(plugins.list(agent)).toMatchObject([{ state: 'running', currentPackageId: 'pkg-1', runId: 'run-1', tools: ['mine'] }])
  })
  it.each([
    ['throws', 'const a = 1\nthrow new Error("no luck")', 'Error: no luck (host.js:2:'],
    ['throws on its first line, at its own column', 'null.x', 'host.js:1:'],
    ['returns what is no plugin', 'return 5', 'returns nothing, or a plugin'],
    ['waits for what never comes', 'await new Promise(() => {})', 'waits for a promise that nothing will settle'],
    ['listens to what there is not', 'ctx.on("keys/pressed", () => {})', 'There is no event keys/pressed'],
    ['declares a tool that is there', 'harness.tool({ name: "read", description: "d", execute: () => 1 })', 'A tool named read is there already'],
    ['declares a tool that its preset hides', 'harness.tool({ name: "schedule_list", description: "d", execute: () => 1 })', 'A tool named schedule_list is there already'],
    ['declares a tool of another form', 'harness.tool({ name: "a b", description: "d", execute: () => 1 })', 'a name of a tool has 1 to 64'],
    ['declares a tool without words', 'harness.tool({ name: "ab", execute: () => 1 })', 'a tool needs a description'],
    ['declares parameters outside of the language', 'harness.tool({ name: "ab", description: "d", parameters: { a: { type: "date" } }, execute: () => 1 })', '`type` is one word of'],
    ['takes a reserved name', 'harness.tool({ name: "cordis_more", description: "d", execute: () => 1 })', 'cordis_more is reserved'],
    ['takes a name of tools that servers lend', 'harness.tool({ name: "mcp__github__merge", description: "d", execute: () => 1 })', 'mcp__github__merge is reserved'],
    ['declares too many tools', 'for (let i = 0; i < 17; i++) harness.tool({ name: "t" + i, description: "d", execute: () => 1 })', 'at most 16 tools'],
    ['adds to the prompt what no request can fill in', 'ctx.systemPrompt.section({ name: "s", text: "Write {{ user }} there." })', 'malformed placeholder "{{ user }}"'],
    ['adds to the prompt a name that nothing has', 'ctx.systemPrompt.section({ name: "s", text: "{{user}}" })', 'uses {{user}}, which is unknown'],
    ['adds the same to the prompt twice', 'for (const text of ["a", "b"]) ctx.systemPrompt.section({ name: "s", text })', 'A prompt section named plugin:test-1:s is there already'],
    ['never ends', 'for (;;) {}', 'without waiting for anything'],
  ])('a body that %s does not come to run, and says why', async (_, host, words) => {
    const { define, run, facts, lines, toolNames } = await start()
    const before = toolNames()
    const { pluginId, packageId } = await define({ host })
    await failsWith(run({ pluginId, packageId, mode: 'run' }), 'RUN_FAILED', words)
    expect(facts(pluginId)).toMatchObject({ state: 'failed', reason: expect.stringContaining(words) as string })
    expect(facts(pluginId)).not.toHaveProperty('currentPackageId')
    expect([lines().at(-1), toolNames()]).toEqual(['test-1 pkg-1 run-1 failed', before])
  })
  it('is refused in the wrong mode, and for what is not there', async () => {
    const { started, define, run } = await start()
    const { pluginId, packageId } = await started({ host: '1' })
    await failsWith(run({ pluginId, packageId, mode: 'run' }), 'WRONG_MODE', 'Use mode "update"')
    await failsWith(run({ pluginId, packageId: 'pkg-7', mode: 'update' }), 'UNKNOWN_PACKAGE', 'It has: pkg-1')
    await failsWith(run({ pluginId: 'test-7', packageId, mode: 'run' }), 'UNKNOWN_PLUGIN', 'It has: test-1')
    const other = await define({ host: '1' })
    await failsWith(run({ ...other, mode: 'update' }), 'WRONG_MODE', 'Use mode "run"')
  })
  it('has the caps of the specification for its machine', async () => {
    const { started, limits } = await start()
    await started({ host: '1' })
    expect(limits).toMatchObject([{ sliceMs: 5_000, calls: 0, memoryBytes: 67_108_864 }])
  })
  it('holds so many at once, and no more', async () => {
    const { started, define, run } = await start()
    for (let count = 0; count < 8; count += 1) await started({ host: '1' })
    const { pluginId, packageId } = await define({ host: '1' })
    await failsWith(run({ pluginId, packageId, mode: 'run' }), 'PLUGIN_CAP', '8 plugins of this session run')
  })
})

describe('updating', () => {
  it('puts the new version in the place of the old one, whose tools and machine are gone then', async () => {
    const { started, define, run, facts, lines, call, toolNames } = await start()
    const { pluginId } = await started({ host: hello + tool('old', 'return 1') })
    const { packageId } = await define({ host: hello.replace('hello $', 'good day $') }, { id: pluginId })
    expect(await run({ pluginId, packageId, mode: 'update' })).toMatchObject({ runId: 'run-2', state: 'running' })
    expect(facts(pluginId)).toMatchObject({ state: 'running', currentPackageId: 'pkg-2', runId: 'run-2', tools: ['hello'] })
    expect(toolNames().includes('old')).toBe(false)
    expect(await call('hello', { who: 'you' })).toMatchObject({ text: 'good day you' })
    expect(lines().slice(-3)).toEqual(['test-1 pkg-2 run-2 starting', 'test-1 pkg-2 run-2 running', 'test-1 pkg-1 run-1 replaced'])
  })
  it.each([['throws', 'throw new Error("bad")'], ['declares what cannot be registered', tool('read', 'return 1')]])('that %s leaves the old version as it is', async (_, host) => {
    const { started, define, run, facts, call, lines } = await start()
    const { pluginId } = await started({ host: hello })
    const { packageId } = await define({ host }, { id: pluginId })
    expect(await failure(run({ pluginId, packageId, mode: 'update' }))).toMatchObject({ code: 'RUN_FAILED' })
    expect(facts(pluginId)).toMatchObject({ state: 'running', currentPackageId: 'pkg-1', runId: 'run-1' })
    expect(facts(pluginId)).not.toHaveProperty('nextPackageId')
    expect(await call('hello', { who: 'you' })).toMatchObject({ text: 'hello you' })
    expect(lines()).toContain('test-1 pkg-2 run-2 failed')
  })
  it('that cannot be put in the place of the old version leaves that as it is', async () => {
    const { started, define, run, facts, call, lines, plugins, agent, toolNames } = await start()
    const { pluginId } = await started({ host: hello })
    const { packageId } = await define({ host: tool('greet', 'return 1'), client: "slot('panel', () => 'Hello')" }, { id: pluginId })
    await run({ pluginId, packageId, mode: 'update' })
    // While it waits to be drawn, another one takes the name of its tool.
    await started({ host: tool('greet', 'return 2') })
    plugins.frameReported({ sessionId: agent.id, runId: 'run-2', state: 'ready' })
    await expect.poll(() => lines().at(-1)).toBe('test-1 pkg-2 run-2 failed')
    expect(facts(pluginId)).toMatchObject({ state: 'running', currentPackageId: 'pkg-1', runId: 'run-1' })
    expect(toolNames()).toContain('hello')
    expect(await call('hello', { who: 'you' })).toMatchObject({ text: 'hello you' })
  })
  it('is one transition at a time, which names where it leads', async () => {
    const { started, define, run, facts, hold } = await start()
    const { pluginId } = await started({ host: '1' })
    const { packageId } = await define({ host: '2' }, { id: pluginId })
    const release = hold()
    const first = run({ pluginId, packageId, mode: 'update' })
    expect(facts(pluginId)).toMatchObject({ state: 'running', currentPackageId: 'pkg-1', nextPackageId: 'pkg-2' })
    await failsWith(run({ pluginId, packageId, mode: 'update' }), 'transition-in-flight', 'is on its way to pkg-2')
    release()
    expect(await first).toMatchObject({ state: 'running' })
    expect(facts(pluginId)).toMatchObject({ currentPackageId: 'pkg-2' })
  })
})

describe('stopping', () => {
  it('takes back everything, runs the undos from the last to the first, and is done when it resolves', async () => {
    const { started, plugins, agent, toolNames, facts, turn, adapter, call } = await start()
    const before = toolNames()
    await started({ host: `${hello}let order = []\nctx.effect(() => { order.push("first"); ctx.logger.info(order.join()) })\nctx.effect(async () => { await ctx.inspect("built-ins", "list"); order.push("last") })\nctx.systemPrompt.section({ name: "s", text: "Be polite to plugins." })\nctx.on("tools/result", () => {})` })
    const prompt = async () => {
      await turn()
      return adapter.requests.at(-1)?.system ?? ''
    }
    expect(await prompt()).toContain('Be polite to plugins.')
    const lines = plugins.linesOf(agent, 'test-1')
    expect(await plugins.stop(agent, 'test-1')).toEqual({ wasRunning: true })
    expect([toolNames(), lines, await prompt()]).toEqual([before, ['info: last,first'], expect.not.stringContaining('Be polite')])
    expect(facts('test-1')).toMatchObject({ state: 'stopped', currentPackageId: 'pkg-1', tools: [] })
    expect(await call('hello', { who: 'you' })).toMatchObject({ code: 'UNKNOWN_TOOL' })
  })
  it('can be asked for again and again', async () => {
    const { started, plugins, agent, lines } = await start()
    await started({ host: '1' })
    expect(await Promise.all([plugins.stop(agent, 'test-1'), plugins.stop(agent, 'test-1')])).toEqual([{ wasRunning: true }, { wasRunning: true }])
    expect(await plugins.stop(agent, 'test-1')).toEqual({ wasRunning: false })
    expect(lines().filter((line) => line.endsWith('stopped'))).toEqual(['test-1 pkg-1 run-1 stopped'])
    await failsWith(plugins.stop(agent, 'test-2'), 'UNKNOWN_PLUGIN', 'no plugin test-2')
  })
  it('wins over a start, which ends as stopped', async () => {
    const { define, run, plugins, agent, hold, facts, lines } = await start()
    const { pluginId, packageId } = await define({ host: hello })
    const release = hold()
    const running = failure(run({ pluginId, packageId, mode: 'run' }))
    expect(facts(pluginId)).toMatchObject({ state: 'starting', nextPackageId: 'pkg-1' })
    const stopping = plugins.stop(agent, pluginId)
    await failsWith(run({ pluginId, packageId, mode: 'run' }), 'transition-in-flight', 'Wait')
    release()
    expect([await stopping, await running]).toEqual([{ wasRunning: true }, { code: 'RUN_FAILED', message: expect.stringContaining('stopped before it had started') as string }])
    expect([facts(pluginId)?.state, lines().at(-1)]).toEqual(['stopped', 'test-1 pkg-1 run-1 stopped'])
    expect(await run({ pluginId, packageId, mode: 'run' })).toMatchObject({ runId: 'run-2', state: 'running' })
  })
  it('comes with the call that started it, when that is stopped', async () => {
    const { define, run, hold, facts } = await start()
    const { pluginId, packageId } = await define({ host: hello })
    const release = hold()
    const controller = new AbortController()
    const running = failure(run({ pluginId, packageId, mode: 'run' }, { signal: controller.signal }))
    controller.abort()
    release()
    expect(await running).toMatchObject({ code: 'RUN_FAILED', message: expect.stringContaining('The call that started it was stopped') as string })
    expect(facts(pluginId)?.state).toBe('failed')
  })
  it('waits no longer for undos than it may', async () => {
    const { started, plugins, agent, pass, facts } = await start()
    await started({ host: 'ctx.effect(() => new Promise(() => { ctx.inspect("built-ins", "list").then(() => new Promise(() => {})) }))' })
    const stopping = plugins.stop(agent, 'test-1')
    await expect.poll(() => pass(5_000)).toBeGreaterThanOrEqual(0)
    expect(await stopping).toEqual({ wasRunning: true })
    expect(facts('test-1')?.state).toBe('stopped')
  })
  it('and forgetting tells whether it ran; what is forgotten is no plugin any more, and its id is not given again', async () => {
    const { started, define, plugins, agent, facts, lines } = await start()
    await started({ host: '1' })
    await define({ host: '1' })
    expect([await plugins.undefine(agent, 'test-1'), await plugins.undefine(agent, 'test-2')]).toEqual([{ wasRunning: true }, { wasRunning: false }])
    expect([facts('test-1'), facts('test-2'), lines().slice(-2)]).toEqual([undefined, undefined, ['test-1 removed', 'test-2 removed']])
    expect(await define({ host: '1' })).toMatchObject({ pluginId: 'test-3' })
    await failsWith(plugins.undefine(agent, 'test-1'), 'UNKNOWN_PLUGIN', 'It has: test-3')
  })
})

describe('a host half', () => {
  const handlers = 'harness.handle("ask", async (text) => eval(text))\nharness.handle("echo", (value) => value)\n'
  const begin = async (host = handlers) => {
    const made = await start()
    const { runId, pluginId } = await made.started({ host })
    return { ...made, runId, pluginId, handle: (method: string, payload: Json = null) => made.plugins.callFromClient({ sessionId: made.agent.id, runId, method, payload }) }
  }
  it('reaches nothing but its names', async () => {
    const { handle } = await begin()
    const names = ['setTimeout', 'setInterval', 'queueMicrotask', 'fetch', 'require', 'process', 'Buffer', 'WebAssembly', 'std', 'os', 'host', 'globalThis.host', 'XMLHttpRequest', 'Worker', 'navigator']
    expect(await handle('ask', `[${names.map((name) => `typeof ${name}`).join()}]`)).toEqual(names.map(() => 'undefined'))
  })
  it.each([
    ['by the constructor of a function', '({}).constructor.constructor("return typeof process")()', 'undefined'],
    ['by the constructor of what it was given', 'harness.handle.constructor("return typeof host + typeof process")()', 'undefinedundefined'],
    ['by an indirect eval', '(0, eval)("typeof host + typeof process")', 'undefinedundefined'],
    ['by loading a module', 'import("fs").then(() => "loaded", () => "refused")', 'refused'],
    ['by the stack of an error', '(() => { try { null.x } catch (error) { return typeof error.getThis } })()', 'undefined'],
    ['by the prototype of its answer', '(() => { Object.prototype.polluted = "yes"; return {}.polluted })()', 'yes'],
    ['by serving another body', 'servePlugin(() => {}).then(() => "served", (error) => error.message)', 'A plugin is served once.'],
  ])('gets out neither %s', async (_, code, gives) => {
    const { handle } = await begin()
    expect(await handle('ask', code)).toBe(gives)
    expect(({} as { polluted?: string }).polluted).toBe(undefined)
  })
  it('cannot change what it was given, and harms itself alone when it breaks its language', async () => {
    const { handle, started, plugins, agent } = await begin()
    expect(await handle('ask', '(() => { try { "use strict"; harness.tool = 1; ctx.on = 1 } catch {} return [typeof harness.tool, typeof ctx.on, Object.isFrozen(ctx.tools)] })()')).toEqual(['function', 'function', true])
    await handle('ask', '(() => { Array.prototype.push = Map.prototype.get = JSON.stringify = Object.freeze = () => { throw 1 }; Promise.prototype.then = () => { throw 2 } })()').catch(() => null)
    const other = await started({ host: handlers })
    expect(await plugins.callFromClient({ sessionId: agent.id, runId: other.runId, method: 'echo', payload: [1] })).toEqual([1])
  })
  it.each([
    ['throws', 'ask', '(() => { throw new Error("no luck") })()', 'no luck'],
    ['throws what is no error', 'ask', '(() => { throw { a: 1 } })()', '{"a":1}'],
    ['gives what is no JSON', 'ask', '() => 1', 'is a function'],
    ['gives a cycle', 'ask', '(() => { const a = []; a.push(a); return a })()', 'contains itself'],
    ['gives too much', 'ask', '"x".repeat(300000)', 'is larger than'],
    ['throws a value that lies', 'ask', '(() => { throw { toString() { throw 1 }, toJSON() { throw 2 } } })()', 'a value without text'],
  ])('whose handler %s fails that call alone, in its own words', async (_, method, payload, words) => {
    const { handle } = await begin()
    await failsWith(handle(method, payload), 'handler-error', words)
    expect(await handle('echo', { still: 'there' })).toEqual({ still: 'there' })
  })
  it('answers several at once, each its own', async () => {
    const { handle } = await begin('harness.handle("slow", async (n) => { for (let i = 0; i < 3; i++) await ctx.inspect("built-ins", "list"); return n })')
    expect(await Promise.all([1, 2, 3, 4].map((n) => handle('slow', n)))).toEqual([1, 2, 3, 4])
  })
  it('whose handler never answers is given up on, and goes on', async () => {
    const { handle, pass } = await begin(`${handlers}harness.handle("never", () => new Promise(() => {}))`)
    const never = failure(handle('never'))
    await expect.poll(() => pass(30_000)).toBe(1)
    expect(await never).toEqual({ code: 'handler-error', message: 'never did not answer within 30000 ms.' })
    expect(await handle('echo', 1)).toBe(1)
  })
  it.each([
    ['never ends', 'for (;;) {}', 'computed for more than'],
    ['never ends in promises', '(async () => { for (;;) await null })()', 'computed for more than'],
    ['takes all memory', '(() => { const all = []; for (;;) all.push(new Array(100000).fill(1)) })()', 'MB of memory'],
    ['asks without end', '(async () => { for (;;) await ctx.inspect("built-ins", "list") })()', 'more than 1000 things of the host'],
    ['writes without end', '(async () => { for (let i = 0; i < 2000; i++) ctx.logger.info(i) })()', 'more than 1000 things of the host'],
  ])('whose handler %s is stopped with its reason, and the model is told once', async (_, code, words) => {
    const { handle, facts, pluginId, runId, lines, told, agent, toolNames, adapter } = await begin(handlers + hello)
    adapter.play([{ type: 'block-start', index: 0, block: 'text' }, { type: 'text-delta', index: 0, delta: 'I see.' }, { type: 'block-end', index: 0 }, { type: 'finish', reason: { kind: 'stop' } }])
    expect(await failure(handle('ask', code))).toMatchObject({ code: 'handler-error' })
    await expect.poll(() => facts(pluginId)?.state).toBe('failed')
    expect(facts(pluginId)?.reason).toContain(words)
    await expect.poll(() => toolNames().includes('hello')).toBe(false)
    await expect.poll(() => told()).toEqual([expect.stringContaining('was stopped, and everything it brought is gone') as string])
    await agent.whenIdle()
    expect(lines().at(-1)).toBe('test-1 pkg-1 run-1 failed')
    await failsWith(handle('echo'), 'stale-run', `${runId} is over`)
  })
  it('declares only while it starts', async () => {
    const { handle } = await begin()
    await failsWith(handle('ask', 'harness.tool({ name: "late", description: "d", execute: () => 1 })'), 'handler-error', 'only while the plugin starts')
    await failsWith(handle('ask', 'ctx.on("agent/status", () => {})'), 'handler-error', 'only while the plugin starts')
  })
  it('hears events of its session as facts, and nothing of another', async () => {
    const made = await begin('const heard = []\nfor (const name of ["turn/start", "turn/end", "tools/result"]) ctx.on(name, (facts) => { heard.push([name, facts]) })\nharness.handle("heard", () => heard)')
    await made.call('todo_write', { todos: [] })
    await made.turn()
    expect(await made.handle('heard')).toEqual([
      ['turn/start', { turn: 1 }], ['tools/result', { name: 'todo_write', callId: expect.any(String) as string, isError: false }], ['turn/end', { turn: 1, reason: 'completed' }],
      ['turn/start', { turn: 2 }], ['turn/end', { turn: 2, reason: 'completed' }],
    ])
  })
})

describe('a tool of a plugin', () => {
  it('calls tools of the session while it runs, each judged and logged below it', async () => {
    const { started, call, asked, agent } = await start()
    await started({ host: tool('both', 'const a = await exec.tools.call("glob", { pattern: "*.none" }); await exec.tools.call("bash", { command: "rm -rf build", description: "d" }); return a') })
    expect(await call('both', {})).toMatchObject({ isError: false })
    expect(asked.map(({ toolName }) => toolName)).toEqual(['both', 'bash'])
    const dispatches = agent.session.events().flatMap((event) => (event.type === 'tool/code-dispatch' ? [[event.data.name, event.data.isError, event.data.subCallId.replace(/^.*:code:/, '')]] : []))
    expect(dispatches).toEqual([['glob', false, '1'], ['bash', false, '2']])
  })
  it('fails by the words of what it called, when that is refused', async () => {
    const { started, call } = await start({ answer: ({ toolName }) => (toolName === 'bash' ? { outcome: 'rejected', note: 'Not now.' } : { outcome: 'allowed-once' }) })
    await started({ host: tool('wipe', 'return await exec.tools.call("bash", { command: "rm -rf build", description: "d" })') })
    expect(await call('wipe', {})).toMatchObject({ isError: true, code: 'TOOL_FAILED', text: expect.stringContaining('Not now.') as string })
  })
  it.each([
    ['once it has ended', 'let kept\n' + tool('keep', 'kept = exec.tools; return 1') + tool('use', 'return await kept.call("glob", { pattern: "*" })'), ['keep', 'use'], 'this one has ended'],
    ['outside of any', tool('use', 'return await ctx.tools.call("glob", { pattern: "*" })'), ['use'], 'exec.tools.call(name, args)'],
    ['that are about plugins', tool('use', 'return await exec.tools.call("cordis_stop", { pluginId: "test-1" })'), ['use'], 'defines, runs and stops no plugins'],
    ['more often than it may', tool('use', 'for (let i = 0; i < 101; i++) await exec.tools.call("todo_write", { todos: [] })'), ['use'], '100 calls'],
    ['that are not there', tool('use', 'return await exec.tools.call("nothing", {})'), ['use'], 'There is no tool named'],
    ['by itself, without end', tool('use', 'return await exec.tools.call("use", {})'), ['use'], '8 tools of plugins are at work'],
  ])('calls none %s', async (_, host, names, words) => {
    const { started, call } = await start()
    await started({ host })
    let last
    for (const name of names) last = await call(name, {})
    expect(last).toMatchObject({ isError: true, text: expect.stringContaining(words) as string })
  })
  it('ends with its turn, and its plugin goes on', async () => {
    const { started, agent, call, adapter } = await start()
    await started({ host: tool('never', 'return await new Promise(() => {})') + hello })
    adapter.play([{ type: 'block-start', index: 0, block: 'tool-call' }, { type: 'tool-call-delta', index: 0, id: 'n1', name: 'never', argumentsDelta: '{}' }, { type: 'block-end', index: 0 }, { type: 'finish', reason: { kind: 'tool-calls' } }])
    agent.followup({ id: 'p', role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
    await expect.poll(() => agent.session.events().some((event) => event.type === 'tool/call')).toBe(true)
    agent.cancel({ kind: 'user' } as never)
    await agent.whenIdle()
    expect(await call('hello', { who: 'you' })).toMatchObject({ text: 'hello you' })
  })
  it('ends with its plugin, and takes what it had called along', async () => {
    const { started, call, plugins, agent, facts } = await start()
    const { runId } = await started({ host: `${tool('long', 'return await exec.tools.call("bash", { command: "sleep 60", description: "d" })')}harness.handle("spin", () => { for (;;) {} })` })
    const calling = call('long', {})
    await expect.poll(() => agent.session.events().some((event) => event.type === 'tool/code-dispatch-start')).toBe(true)
    expect(await failure(plugins.callFromClient({ sessionId: agent.id, runId, method: 'spin', payload: null }))).toMatchObject({ code: 'handler-error' })
    expect(await calling).toMatchObject({ isError: true, text: expect.stringContaining('The plugin has ended.') as string })
    await expect.poll(() => facts('test-1')?.state).toBe('failed')
  })
  it('has a card of its own that needs nothing of the plugin', async () => {
    const { started, call } = await start()
    await started({ host: hello })
    expect((await call('hello', { who: 'you' })).meta).toEqual({ pluginId: 'test-1' })
  })
})
