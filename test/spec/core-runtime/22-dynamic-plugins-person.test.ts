import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../extension/base/json.ts'
import { toJsonSchema } from '../../../extension/core/schema/compile.ts'
import { validate } from '../../../extension/core/schema/validate.ts'
import { failure, helloHost as hello, usePluginSessions, type PluginRig } from '../../support/plugin-rig.ts'
import { prompt, textOf } from '../../support/loop-rig.ts'
import { callTools, sayText } from '../../support/scripted-adapter.ts'

/* Chapter 22: what a person reads, allows and sees of plugins, what outlives a window, and what can be inspected. */

const { start, take } = usePluginSessions()
const says = (words: string) => expect.stringContaining(words) as string

const defineArgs = (code: { readonly host?: string; readonly client?: string }, { id, name = 'Greeter', prefix = 'test' }: { readonly id?: string; readonly name?: string; readonly prefix?: string } = {}) => ({
  plugin: id === undefined ? { kind: 'new', idPrefix: prefix } : { kind: 'existing', pluginId: id },
  name, purpose: 'For a test', code,
})

describe('the approval of a definition', () => {
  const runArgs = (packageId: string, mode = 'run') => ({ pluginId: 'test-1', packageId, mode })
  it('shows the person the whole code of a new plugin, and one yes lets that version run as often as the model asks', async () => {
    const { call, asked, lines, facts, plugins, agent } = await start()
    expect(await call('cordis_define', defineArgs({ host: hello, client: 'slot("panel", () => "x")' }))).toMatchObject({
      isError: false, policy: { by: 'person' }, text: says('The person let it run in this session'), meta: { pluginId: 'test-1', packageId: 'pkg-1', isApproved: true },
    })
    const { details } = asked[0]!
    expect(details).toMatchObject({
      effect: 'Define the plugin `test-1` (pkg-1) and let it run',
      why: 'Greeter: For a test. It stays at work in a machine of its own and acts only by tools, each call judged by itself. It draws in a sealed frame of the chat.',
      covers: 'Your yes lets this version run in this session as often as the model asks; another is asked for again.',
    })
    expect(details?.changes?.map(({ path, before, after }) => [path, before, after])).toEqual([['test-1/pkg-1/host.js', '', hello], ['test-1/pkg-1/client.js', '', 'slot("panel", () => "x")']])
    expect(details?.changes?.[0]?.target).toBe(`${facts('test-1')?.packages[0]?.folder}/host.js`)
    expect([lines(), facts('test-1')?.packages[0]?.isApproved]).toEqual([['approval-1 test-1 pkg-1 allowed', 'test-1 pkg-1 defined'], true])
    expect(await call('cordis_run', runArgs('pkg-1'))).toMatchObject({ isError: false, policy: { by: 'effect', why: 'You let this very version run in this session.' } })
    plugins.frameReported({ sessionId: agent.id, runId: 'run-1', state: 'ready' })
    await expect.poll(() => facts('test-1')?.state).toBe('running')
    await agent.whenIdle()
    await plugins.stop(agent, 'test-1')
    expect(await call('cordis_run', runArgs('pkg-1'))).toMatchObject({ isError: false })
    expect(asked.map(({ toolName }) => toolName)).toEqual(['cordis_define'])
  })
  it('shows another version against the one that was let run last, in the question and on the card', async () => {
    const { call, asked } = await start()
    await call('cordis_define', defineArgs({ host: `${hello}// one`, client: '1' }))
    await call('cordis_run', runArgs('pkg-1'))
    const { meta } = await call('cordis_define', defineArgs({ host: `${hello}// two`, client: '1' }, { id: 'test-1' }))
    expect(asked[1]?.details).toMatchObject({ effect: 'Define the plugin `test-1` (pkg-2) and let it run', why: says('Shown against pkg-1, which you let run. Only its host half differs.'), changes: [{ before: `${hello}// one`, after: `${hello}// two` }] })
    expect(meta).toMatchObject({ against: 'pkg-1', hunks: [{ half: 'host', oldText: `${hello}// one`, newText: `${hello}// two`, oldStart: 1, newStart: 1 }] })
    expect((await call('cordis_define', defineArgs({ host: `${hello}// two`, client: '1' }, { id: 'test-1' }))).meta).toMatchObject({ against: 'pkg-2', hunks: [] })
    expect(asked[2]?.details).toMatchObject({ why: says('Shown against pkg-2, which you let run. Its code is the same.'), changes: [] })
    expect(asked.length).toBe(3)
  })
  it('that is refused leaves no package, no file and no id that is given again, and the model is told so', async () => {
    let answer: 'rejected' | 'allowed-once' = 'rejected'
    const made = await start({ answer: () => (answer === 'rejected' ? { outcome: 'rejected', note: 'Not this.' } : { outcome: 'allowed-once' }) })
    const { call, lines, plugins, agent, asked } = made
    expect(await call('cordis_define', defineArgs({ host: hello }))).toMatchObject({ isError: true, code: 'DENIED', text: 'Error: The person refused cordis_define and said: Not this. Nothing was defined: this code is no package, so cordis_run has nothing to run.' })
    expect([plugins.list(agent), lines()]).toEqual([[], ['approval-1 test-1 pkg-1 rejected']])
    await expect(readFile(asked[0]?.details?.changes?.[0]?.target ?? '', 'utf8')).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await call('cordis_run', runArgs('pkg-1'))).toMatchObject({ code: 'UNKNOWN_PLUGIN' })
    const after = take(await made.reopened())
    answer = 'allowed-once'
    expect(await after.call('cordis_define', defineArgs({ host: hello }))).toMatchObject({ meta: { pluginId: 'test-2', packageId: 'pkg-1' } })
    answer = 'rejected'
    await after.call('cordis_define', defineArgs({ host: '// two' }, { id: 'test-2' }))
    answer = 'allowed-once'
    // What was refused is no ground for a difference, and its number is gone.
    expect((await after.call('cordis_define', defineArgs({ host: '// three' }, { id: 'test-2' }))).meta).toMatchObject({ packageId: 'pkg-3', against: 'pkg-1' })
    expect(after.facts('test-2')?.packages.map(({ packageId }) => packageId)).toEqual(['pkg-1', 'pkg-3'])
  })
  it.each(['*', 'cordis_define', 'cordis_run'])('is asked for also where a rule allows %s', async (tool) => {
    const { call, asked } = await start({ settings: { 'permissions.rules': [{ tool, decision: 'allow' }] }, answer: () => ({ outcome: 'rejected' }) })
    expect(await call('cordis_define', defineArgs({ host: hello }))).toMatchObject({ isError: true, code: 'DENIED' })
    expect(asked.length).toBe(1)
  })
  it('is asked for in full access too, where nothing else is', async () => {
    const { call, asked, ctx, agent } = await start()
    ctx.permissions.select(agent.id, 'danger-full-access')
    await call('cordis_define', defineArgs({ host: hello }))
    expect(await call('cordis_run', runArgs('pkg-1'))).toMatchObject({ isError: false })
    expect(asked.map(({ toolName, details }) => [toolName, details?.mustAsk])).toEqual([['cordis_define', true]])
  })
  it.each([
    ['define', 1],
    ['run', 2],
  ])('shows the code as well where a rule wants cordis_%s to be asked for', async (what, count) => {
    const { call, asked } = await start({ settings: { 'permissions.rules': [{ tool: `cordis_${what}`, decision: 'ask' }] } })
    await call('cordis_define', defineArgs({ host: hello }))
    await call('cordis_run', runArgs('pkg-1'))
    expect(asked.length).toBe(count)
    expect(asked.at(-1)?.details).toMatchObject({ why: `A rule wants to be asked (ask cordis_${what}). Greeter: For a test. It stays at work in a machine of its own and acts only by tools, each call judged by itself.`, mustAsk: true, changes: [{ after: hello }] })
  })
  it('is not asked for where a rule denies it', async () => {
    const { call, asked } = await start({ settings: { 'permissions.rules': [{ tool: 'cordis_define', decision: 'deny' }] } })
    expect(await call('cordis_define', defineArgs({ host: hello }))).toMatchObject({ isError: true, code: 'DENIED', text: says('Nothing was defined') })
    expect(asked).toEqual([])
  })
  it('may be given for every version of the plugin, for defining and running alike, until that is taken back', async () => {
    const { call, asked, lines, ctx, agent } = await start({ answer: ({ details }) => ({ outcome: 'allowed-once', ...(details?.always?.[0] && { rule: details.always[0].rule }) }) })
    await call('cordis_define', defineArgs({ host: hello }))
    expect(asked[0]?.details?.always).toMatchObject([{ label: 'Allow every version of the plugin `test-1` until the session ends' }])
    expect(await call('cordis_define', defineArgs({ host: `${hello}// two` }, { id: 'test-1' }))).toMatchObject({ isError: false, policy: { by: 'rule' }, text: says('A rule of the person stands for their answer; it does not run before cordis_run.'), meta: { isApproved: false, isByRule: true } })
    expect(await call('cordis_run', runArgs('pkg-2'))).toMatchObject({ isError: false, policy: { by: 'rule' } })
    expect([asked.length, lines()[0]]).toEqual([1, 'approval-1 test-1 pkg-1 allowed for all'])
    await ctx.permissions.revoke(ctx.permissions.rules(agent.id).find(({ text }) => text.includes('test-1'))!)
    await call('cordis_define', defineArgs({ host: `${hello}// three` }, { id: 'test-1' }))
    expect(asked.length).toBe(2)
  })
  it.each([
    ['does not parse', { plugin: { kind: 'new', idPrefix: 'test' }, code: { host: 'const = ;' } }, 'PLUGIN_SYNTAX'],
    ['is longer than it may be', { plugin: { kind: 'new', idPrefix: 'test' }, code: { client: `// ${'x'.repeat(200_000)}` } }, 'PLUGIN_CAP'],
    ['is nothing', { plugin: { kind: 'new', idPrefix: 'test' }, code: {} }, 'INVALID_PLUGIN'],
    ['has no such prefix', { plugin: { kind: 'new', idPrefix: 'X' }, code: { host: '1' } }, 'INVALID_PLUGIN'],
    ['is of a plugin that nobody has', { plugin: { kind: 'existing', pluginId: 'none-1' }, code: { host: '1' } }, 'UNKNOWN_PLUGIN'],
  ])('is no question about code that %s', async (_, args, code) => {
    const { call, asked, lines } = await start()
    expect(await call('cordis_define', { name: 'n', purpose: 'p', ...args })).toMatchObject({ isError: true, code })
    expect([asked, lines()]).toEqual([[], []])
    // Nothing was put before the person, so no id is gone.
    expect((await call('cordis_define', defineArgs({ host: '1' }))).meta).toMatchObject({ pluginId: 'test-1', packageId: 'pkg-1' })
  })
  it('never comes by itself: without an answerer nothing is defined', async () => {
    const { call, lines, plugins, agent } = await start({ answer: () => { throw new Error('broken') } })
    expect(await call('cordis_define', defineArgs({ host: hello }))).toMatchObject({ isError: true, text: says('Nothing was defined') })
    expect([plugins.list(agent), lines()]).toEqual([[], ['approval-1 test-1 pkg-1 unavailable']])
  })
  it('stays open while the window is closed, and the answer in the next one defines it', async () => {
    let isThere = false
    const made = await start({ answer: () => (isThere ? { outcome: 'allowed-once' } : new Promise(() => {})) })
    made.adapter.play(callTools({ id: null, name: 'cordis_define', args: defineArgs({ host: hello }) }))
    made.agent.followup(prompt('go'))
    await expect.poll(() => made.asked.length).toBe(1)
    isThere = true
    const after = take(await made.reopened(sayText('done')))
    await after.agent.whenIdle()
    expect([after.asked.map(({ toolName, details }) => [toolName, details?.changes?.length]), after.lines()]).toEqual([[['cordis_define', 1]], ['approval-1 test-1 pkg-1 allowed', 'test-1 pkg-1 defined']])
    expect(after.facts('test-1')?.packages).toMatchObject([{ isApproved: true }])
  })
  it('is asked for by a program as by the model itself, and holds for what that runs', async () => {
    const { call, asked, facts } = await start({ settings: { 'tools.presentation': 'both' } })
    const code = `const { pluginId, packageId } = await tools.cordis_define(${JSON.stringify(defineArgs({ host: hello }))})\nreturn await tools.cordis_run({ pluginId, packageId, mode: 'run' })`
    expect(await call('run_code', { code, description: 'd' })).toMatchObject({ isError: false })
    expect([asked.map(({ toolName }) => toolName), facts('test-1')?.state]).toEqual([['cordis_define'], 'running'])
    expect(asked[0]?.details?.changes).toMatchObject([{ after: hello }])
  })
  it('is none of what the person wrote in its place: that is asked for when it runs', async () => {
    const mine = defineArgs({ host: '// mine' })
    const { call, asked, facts } = await start({ answer: ({ toolName }) => ({ outcome: 'allowed-once', ...(toolName === 'cordis_define' && { arguments: mine }) }) })
    await call('cordis_define', defineArgs({ host: hello }))
    expect(facts('test-2')?.packages).toMatchObject([{ packageId: 'pkg-1', isApproved: false }])
    await call('cordis_run', { ...runArgs('pkg-1'), pluginId: 'test-2' })
    expect(asked.map(({ toolName, details }) => [toolName, details?.changes?.[0]?.after])).toEqual([['cordis_define', hello], ['cordis_run', '// mine']])
  })
  it.each<[string, (rig: PluginRig) => Promise<string>]>([
    ['was restored from its files', async ({ plugins, agent }) => (await plugins.restore(agent, 'test-1', 'pkg-1')).packageId],
    [
      'was allowed before plugins were turned off',
      async ({ application }) => {
        await application.settings.set('dynamicPlugins.enabled', false, 'user')
        await application.settings.set('dynamicPlugins.enabled', true, 'user')
        return 'pkg-1'
      },
    ],
  ])('is asked for again, when it is to run, of a package that %s', async (_, change) => {
    const rig = await start({})
    await rig.call('cordis_define', defineArgs({ host: hello }))
    const packageId = await change(rig)
    expect(await rig.call('cordis_run', runArgs(packageId))).toMatchObject({ isError: false, policy: { by: 'person' } })
    expect(rig.asked.map(({ toolName }) => toolName)).toEqual(['cordis_define', 'cordis_run'])
  })
})

describe('the approval of a run', () => {
  const runArgs = (pluginId: string, packageId: string, mode = 'run') => ({ pluginId, packageId, mode })
  it('is asked of the person with the whole code as what it adds, and is in the log with its id', async () => {
    const { define, call, asked, lines, facts } = await start()
    await define({ host: `${hello}// last`, client: 'slot("panel", () => "x")' }, { name: 'Greeter' })
    expect(asked).toEqual([])
    await call('cordis_run', runArgs('test-1', 'pkg-1'))
    expect(asked.map(({ toolName }) => toolName)).toEqual(['cordis_run'])
    const { details } = asked[0]!
    expect(details?.effect).toBe('Run the plugin `test-1` (pkg-1)')
    expect(details?.why).toContain('Greeter: For a test.')
    expect(details?.changes?.map(({ path, before, after, hunks }) => [path, before, after, hunks.length])).toEqual([['test-1/pkg-1/host.js', '', `${hello}// last`, 1], ['test-1/pkg-1/client.js', '', 'slot("panel", () => "x")', 1]])
    expect(details?.changes?.[0]?.target).toBe(`${facts('test-1')?.packages[0]?.folder}/host.js`)
    expect(lines().slice(0, 3)).toEqual(['test-1 pkg-1 defined', 'approval-1 test-1 pkg-1 allowed', 'test-1 pkg-1 run-1 starting'])
  })
  it('is not asked for again for the same package, and shows a new one against the one that was allowed last', async () => {
    const { define, call, asked, plugins, agent } = await start()
    await define({ host: `${hello}// one` })
    await call('cordis_run', runArgs('test-1', 'pkg-1'))
    await plugins.stop(agent, 'test-1')
    expect(await call('cordis_run', runArgs('test-1', 'pkg-1'))).toMatchObject({ isError: false, policy: { by: 'effect', why: 'You let this very version run in this session.' } })
    expect(asked.length).toBe(1)
    await define({ host: `${hello}// two` }, { id: 'test-1' })
    await call('cordis_run', runArgs('test-1', 'pkg-2', 'update'))
    expect(asked.length).toBe(2)
    expect(asked[1]?.details?.why).toContain('Shown against pkg-1')
    expect(asked[1]?.details?.changes).toMatchObject([{ before: `${hello}// one`, after: `${hello}// two` }])
  })
  it('is not needed for one that was defined and never let run', async () => {
    const { define, call, asked } = await start({ answer: (request) => (request.arguments && JSON.stringify(request.arguments).includes('pkg-1') ? { outcome: 'rejected', note: 'I do not like it.' } : { outcome: 'allowed-once' }) })
    await define({ host: '// one' })
    await define({ host: '// two' }, { id: 'test-1' })
    expect(await call('cordis_run', runArgs('test-1', 'pkg-1'))).toMatchObject({ isError: true, code: 'DENIED', text: says('I do not like it.') })
    expect(await call('cordis_run', runArgs('test-1', 'pkg-2'))).toMatchObject({ isError: false })
    // What was refused is no ground for a difference.
    expect(asked[1]?.details?.changes).toMatchObject([{ before: '', after: '// two' }])
  })
  it('that is refused runs nothing, and the log says so', async () => {
    const { define, call, lines, limits, facts } = await start({ answer: () => ({ outcome: 'rejected' }) })
    await define({ host: hello })
    expect(await call('cordis_run', runArgs('test-1', 'pkg-1'))).toMatchObject({ isError: true, code: 'DENIED' })
    expect([lines(), limits, facts('test-1')?.state]).toEqual([['test-1 pkg-1 defined', 'approval-1 test-1 pkg-1 rejected'], [], 'stopped'])
  })
  it('may be given for every version of the plugin, until the session ends, and taken back', async () => {
    const { define, call, asked, lines, ctx, agent } = await start({
      answer: ({ toolName, details }) => (toolName === 'cordis_run' && details?.always?.[0] ? { outcome: 'allowed-once', rule: details.always[0].rule } : { outcome: 'allowed-once' }),
    })
    await define({ host: '// one' })
    await define({ host: '// two' }, { id: 'test-1' })
    await define({ host: '// other' })
    await call('cordis_run', runArgs('test-1', 'pkg-1'))
    expect(asked[0]?.details?.always).toMatchObject([{ label: 'Allow every version of the plugin `test-1` until the session ends' }])
    expect(await call('cordis_run', runArgs('test-1', 'pkg-2', 'update'))).toMatchObject({ isError: false, policy: { by: 'rule' } })
    expect(asked.length).toBe(1)
    await call('cordis_run', runArgs('test-2', 'pkg-1'))
    expect(asked.length).toBe(2)
    expect(lines()).toContain('approval-1 test-1 pkg-1 allowed for all')
    const rule = ctx.permissions.rules(agent.id).find(({ text }) => text.includes('test-1'))
    expect(rule?.text).toBe('Allow every version of the plugin `test-1`')
    await ctx.permissions.revoke(rule!)
    await define({ host: '// three' }, { id: 'test-1' })
    await call('cordis_run', runArgs('test-1', 'pkg-3', 'update'))
    expect(asked.length).toBe(3)
  })
  it.each(['*', 'cordis_run'])('is asked for also where a rule allows %s, which says nothing of this code', async (tool) => {
    const { define, call, asked, lines } = await start({ settings: { 'permissions.rules': [{ tool, decision: 'allow' }] }, answer: () => ({ outcome: 'rejected' }) })
    await define({ host: hello })
    expect(await call('cordis_run', runArgs('test-1', 'pkg-1'))).toMatchObject({ isError: true, code: 'DENIED' })
    expect([asked.length, lines().at(-1)]).toEqual([1, 'approval-1 test-1 pkg-1 rejected'])
  })
  it('is asked for in full access too, where nothing else is', async () => {
    const { define, call, asked, ctx, agent } = await start()
    ctx.permissions.select(agent.id, 'danger-full-access')
    await define({ host: hello })
    expect(await call('cordis_run', runArgs('test-1', 'pkg-1'))).toMatchObject({ isError: false })
    expect(await call('hello', {})).toMatchObject({ text: 'hello' })
    expect(asked.map(({ toolName, details }) => [toolName, details?.mustAsk])).toEqual([['cordis_run', true]])
  })
  it('is no question where there is nothing to run', async () => {
    const { call, asked } = await start()
    expect(await call('cordis_run', runArgs('test-9', 'pkg-1'))).toMatchObject({ isError: true, code: 'UNKNOWN_PLUGIN' })
    expect(asked).toEqual([])
  })
  it('never comes by itself: without an answerer nothing runs', async () => {
    const { define, call, lines, ctx } = await start({ answer: () => { throw new Error('broken') } })
    await define({ host: hello })
    expect(await call('cordis_run', runArgs('test-1', 'pkg-1'))).toMatchObject({ isError: true })
    expect([lines().at(-1), ctx.approvals.pending()]).toEqual(['approval-1 test-1 pkg-1 unavailable', []])
  })
})

describe('the tools', () => {
  it('define, run, tell, stop and forget a plugin as the model does it', async () => {
    const { call } = await start()
    expect(await call('cordis_define', { plugin: { kind: 'new', idPrefix: 'greet' }, name: 'Greeter', purpose: 'Greets', code: { host: hello } })).toMatchObject({ isError: false, text: says('Defined pkg-1 of the plugin greet-1. The person let it run in this session'), meta: { pluginId: 'greet-1', packageId: 'pkg-1', halves: ['host'] } })
    expect(await call('cordis_run', { pluginId: 'greet-1', packageId: 'pkg-1', mode: 'run' })).toMatchObject({ text: 'The plugin greet-1 runs (pkg-1, run-1). Its tools: hello.' })
    expect(JSON.parse((await call('cordis_inspect_self', {})).text)).toMatchObject({ plugins: [{ pluginId: 'greet-1', state: 'running', tools: ['hello'] }] })
    expect(JSON.parse((await call('cordis_inspect_self', { pluginId: 'greet-1' })).text)).toMatchObject({ plugin: { currentPackageId: 'pkg-1' }, lines: [] })
    expect(JSON.parse((await call('cordis_inspect_self', { pluginId: 'greet-1', packageId: 'pkg-1' })).text)).toMatchObject({ code: { host: hello } })
    expect(await call('cordis_inspect_self', { pluginId: 'none-1' })).toMatchObject({ code: 'PLUGIN_MISSING', text: says('It has: greet-1') })
    expect(await call('cordis_stop', { pluginId: 'greet-1' })).toMatchObject({ text: 'The plugin greet-1 is stopped.' })
    expect(await call('cordis_stop', { pluginId: 'greet-1' })).toMatchObject({ text: 'The plugin greet-1 did not run.' })
    expect(await call('cordis_undefine', { pluginId: 'greet-1' })).toMatchObject({ text: 'The plugin greet-1 is gone. It did not run.' })
    expect(await call('cordis_undefine', { pluginId: 'greet-1' })).toMatchObject({ code: 'UNKNOWN_PLUGIN' })
  })
  it('stop a plugin from within a program that one of its own tools runs, without waiting for each other', async () => {
    const { call, facts, started } = await start({ settings: { 'tools.presentation': 'both' } })
    await started({ host: 'harness.tool({ name: "odd", description: "d", parameters: {}, execute: async (args, exec) => await exec.tools.call("run_code", { code: "return await tools.cordis_stop({ pluginId: \\"test-1\\" })", description: "d" }) })' })
    expect(await call('odd', {})).toMatchObject({ isError: true })
    await expect.poll(() => facts('test-1')?.state).toBe('stopped')
  })
})

describe('a client half', () => {
  const draw = 'slot("panel", () => ui.h("p", null, "hi"))'
  const both = { host: `${hello}harness.handle("greet", (who) => "hello " + who)\nharness.handle("fail", () => { throw new Error("no luck") })\nharness.handle("emit", (value) => { harness.emit("news", value) })`, client: draw }
  it('makes the run wait for a view, and its outcome comes as a message', async () => {
    const { started, plugins, agent, facts, lines, told, toolNames, turn } = await start()
    const heard: string[] = []
    const undo = plugins.onFramesChanged((id) => heard.push(id))
    expect(await started(both)).toMatchObject({ runId: 'run-1', state: 'awaiting', tools: ['hello'] })
    expect(facts('test-1')).toMatchObject({ state: 'awaiting-client', nextPackageId: 'pkg-1' })
    expect(facts('test-1')).not.toHaveProperty('currentPackageId')
    expect([toolNames().includes('hello'), heard.includes(agent.id)]).toEqual([false, true])
    expect(plugins.frames(agent.id)).toEqual([{ sessionId: agent.id, pluginId: 'test-1', packageId: 'pkg-1', runId: 'run-1', name: 'A plugin', slots: ['panel'], code: draw }])
    await turn()
    plugins.frameReported({ sessionId: agent.id, runId: 'run-1', state: 'ready' })
    await expect.poll(() => facts('test-1')?.state).toBe('running')
    await expect.poll(() => told()).toEqual([says('The plugin test-1 runs (pkg-1, run-1)')])
    await agent.whenIdle()
    expect([facts('test-1')?.currentPackageId, toolNames().includes('hello')]).toEqual(['pkg-1', true])
    expect(lines().slice(1)).toEqual(['test-1 pkg-1 run-1 starting', 'test-1 pkg-1 run-1 awaiting-client', 'test-1 pkg-1 run-1 running'])
    undo()
  })
  it('that cannot be drawn did not come to run; the host half is gone, and the model is told', async () => {
    const { started, plugins, agent, facts, told, summaries } = await start()
    await started(both)
    plugins.frameReported({ sessionId: agent.id, runId: 'run-1', state: 'failed', message: 'ui.q is not a function' })
    await expect.poll(() => facts('test-1')?.state).toBe('failed')
    expect(facts('test-1')?.reason).toBe('Its client half failed: ui.q is not a function')
    expect(plugins.frames(agent.id)).toEqual([])
    await expect.poll(() => told()).toEqual([says('did not come to run (pkg-1, run-1): Its client half failed: ui.q is not a function')])
    expect(summaries()).toEqual(['The plugin test-1 did not come to run: Its client half failed: ui.q is not a function'])
  })
  it('that no chat draws in time did not come to run, and says what the person can do', async () => {
    const { started, pass, facts, told, plugins, agent } = await start()
    await started({ client: draw })
    expect(pass(30_000)).toBe(1)
    await expect.poll(() => facts('test-1')?.state).toBe('failed')
    await expect.poll(() => told()).toEqual([says('No chat showed it within 30 s. The person can open the chat')])
    plugins.frameReported({ sessionId: agent.id, runId: 'run-1', state: 'ready' })
    expect(facts('test-1')?.state).toBe('failed')
  })
  it('of an update waits beside the version that runs, which goes on when it fails and goes when it is drawn', async () => {
    const { started, define, run, plugins, agent, facts, toolNames, told } = await start()
    await started({ host: hello })
    const second = await define({ ...both, host: both.host.replace('"hello"', '"second"') }, { id: 'test-1' })
    expect(await run({ ...second, mode: 'update' })).toMatchObject({ runId: 'run-2', state: 'awaiting' })
    expect(facts('test-1')).toMatchObject({ state: 'running', currentPackageId: 'pkg-1', nextPackageId: 'pkg-2' })
    expect(await failure(run({ ...second, mode: 'update' }))).toMatchObject({ code: 'transition-in-flight' })
    plugins.frameReported({ sessionId: agent.id, runId: 'run-2', state: 'failed', message: 'bad' })
    await expect.poll(() => told()).toEqual([says('pkg-1 goes on as before.')])
    expect([facts('test-1')?.currentPackageId, toolNames().includes('hello'), toolNames().includes('second')]).toEqual(['pkg-1', true, false])
    expect(await run({ ...second, mode: 'update' })).toMatchObject({ runId: 'run-3', state: 'awaiting' })
    plugins.frameReported({ sessionId: agent.id, runId: 'run-3', state: 'ready' })
    await expect.poll(() => facts('test-1')?.currentPackageId).toBe('pkg-2')
    expect([toolNames().includes('hello'), toolNames().includes('second')]).toEqual([false, true])
  })
  it('that waits is stopped as any other, and nothing more is said of it', async () => {
    const { started, plugins, agent, lines, told, facts } = await start()
    await started(both)
    expect(await plugins.stop(agent, 'test-1')).toEqual({ wasRunning: true })
    expect([plugins.frames(agent.id), lines().at(-1), facts('test-1')?.state, told()]).toEqual([[], 'test-1 pkg-1 run-1 stopped', 'stopped', []])
  })
  it('whose host half ends while it waits did not come to run', async () => {
    const { started, plugins, agent, facts, told } = await start()
    await started({ host: 'harness.handle("spin", () => { for (;;) {} })', client: draw })
    expect(await failure(plugins.callFromClient({ sessionId: agent.id, runId: 'run-1', method: 'spin', payload: null }))).toMatchObject({ code: 'handler-error' })
    await expect.poll(() => facts('test-1')?.state).toBe('failed')
    await expect.poll(() => told()).toEqual([says('did not come to run')])
  })
  it('that fails later tells the model once a package, and goes on', async () => {
    const { started, plugins, agent, told, facts, adapter } = await start()
    adapter.play(sayText('I see.'), sayText('I see.'), sayText('I see.'))
    await started(both)
    plugins.frameReported({ sessionId: agent.id, runId: 'run-1', state: 'ready' })
    await expect.poll(() => facts('test-1')?.state).toBe('running')
    for (const message of ['first', 'second']) plugins.frameReported({ sessionId: agent.id, runId: 'run-1', state: 'failed', message })
    await expect.poll(() => told().filter((text) => text.includes('what it shows failed'))).toEqual([says('Its client half failed: first')])
    await agent.whenIdle()
    expect([facts('test-1')?.state, told().length]).toEqual(['running', 2])
  })
  it('calls methods of its own run alone, with an error of its own for each that comes to nothing', async () => {
    const { started, define, run, plugins, agent, facts } = await start()
    await started(both)
    const ask = (runId: string, method: string, payload: Json = null) => plugins.callFromClient({ sessionId: agent.id, runId, method, payload })
    expect(await ask('run-1', 'greet', 'you')).toBe('hello you')
    expect(await failure(ask('run-9', 'greet'))).toEqual({ code: 'plugin-not-running', message: 'There is no run run-9, so greet was not called.' })
    expect(await failure(ask('run-1', 'none'))).toEqual({ code: 'method-not-found', message: 'The host half declares no method none. It declares: greet, fail, emit.' })
    expect(await failure(ask('run-1', 'fail'))).toEqual({ code: 'handler-error', message: 'no luck' })
    expect(await failure(ask('run-1', 'greet', 'x'.repeat(262_145)))).toMatchObject({ code: 'handler-error', message: says('262144 bytes') })
    plugins.frameReported({ sessionId: agent.id, runId: 'run-1', state: 'ready' })
    await expect.poll(() => facts('test-1')?.state).toBe('running')
    const next = await define(both, { id: 'test-1' })
    await run({ ...next, mode: 'update' })
    plugins.frameReported({ sessionId: agent.id, runId: 'run-2', state: 'ready' })
    await expect.poll(() => facts('test-1')?.currentPackageId).toBe('pkg-2')
    expect(await failure(ask('run-1', 'greet'))).toEqual({ code: 'stale-run', message: 'The run run-1 is over, so greet was not called.' })
    await expect.poll(() => ask('run-2', 'greet', 'me')).toBe('hello me')
  })
  it('hears what its host half emits', async () => {
    const { started, plugins, agent } = await start()
    const heard: unknown[] = []
    const undo = plugins.onClientEvent((event) => heard.push(event))
    await started(both)
    await plugins.callFromClient({ sessionId: agent.id, runId: 'run-1', method: 'emit', payload: { a: [1] } })
    await expect.poll(() => heard).toEqual([{ sessionId: agent.id, runId: 'run-1', name: 'news', payload: { a: [1] } }])
    undo()
  })
  it.each([
    ['slot("header", draw); slot("row", draw)', ['header', 'row']],
    ['const where = `composer`; slot(where, draw)', ['composer']],
    ['draw()', ['panel']],
  ])('fills the slots that its code names: %s', async (client, slots) => {
    const { started, plugins, agent } = await start()
    await started({ client })
    expect(plugins.frames(agent.id).map((frame) => frame.slots)).toEqual([slots])
  })
})

describe('sessions', () => {
  it('see nothing of the plugins of others', async () => {
    const { started, ctx, application, plugins, agent, toolNames, run } = await start()
    await started({ host: hello, client: 'slot("panel", () => 1)' })
    plugins.frameReported({ sessionId: agent.id, runId: 'run-1', state: 'ready' })
    await expect.poll(() => toolNames().includes('hello')).toBe(true)
    const other = await ctx.agents.create({ cwd: application.folder, preset: 'creator' })
    expect([plugins.list(other), toolNames(other).includes('hello'), plugins.frames(other.id)]).toEqual([[], false, []])
    expect(await failure(run({ pluginId: 'test-1', packageId: 'pkg-1', mode: 'run' }, { on: other }))).toMatchObject({ code: 'UNKNOWN_PLUGIN' })
    expect(await failure(plugins.callFromClient({ sessionId: other.id, runId: 'run-1', method: 'x', payload: null }))).toMatchObject({ code: 'plugin-not-running' })
    await other.dispose()
  })
  it('take their plugins along when they close, and say in their log that they are lost', async () => {
    const { started, agent, plugins, lines, limits } = await start()
    await started({ host: hello })
    await started({ client: 'slot("panel", () => 1)' })
    expect(limits.length).toBe(1)
    await agent.dispose()
    expect([lines().slice(-2).toSorted(), plugins.frames(agent.id)]).toEqual([['test-1 pkg-1 run-1 lost', 'test-2 pkg-1 run-2 stopped'], []])
  })
  it('that come back tell the model once what is gone, and can define it again from its files', async () => {
    const before = await start({})
    await before.started({ host: hello })
    await before.define({ host: '// second' }, { id: 'test-1', name: 'Second' })
    await before.turn()
    const after = take(await before.reopened())
    expect(after.facts('test-1')).toMatchObject({ state: 'lost', currentPackageId: 'pkg-1', packages: [{ packageId: 'pkg-1' }, { packageId: 'pkg-2', name: 'Second' }] })
    expect(after.toolNames().includes('hello')).toBe(false)
    await after.turn()
    expect(after.told()).toEqual([says('The plugin test-1 is gone')])
    expect(await failure(after.run({ pluginId: 'test-1', packageId: 'pkg-1', mode: 'run' }))).toMatchObject({ code: 'UNKNOWN_PLUGIN', message: says('Define it again') })
    expect(await after.plugins.restore(after.agent, 'test-1', 'pkg-1')).toMatchObject({ pluginId: 'test-1', packageId: 'pkg-3' })
    expect(after.plugins.codeOf(after.agent, 'test-1', 'pkg-3')).toEqual({ host: hello })
    expect(await after.run({ pluginId: 'test-1', packageId: 'pkg-3', mode: 'run' })).toMatchObject({ runId: 'run-2', state: 'running' })
    expect(await after.define({ host: '1' })).toMatchObject({ pluginId: 'test-2' })
  })
  it('whose files are gone or no plugin restore nothing', async () => {
    const { define, plugins, agent, started } = await start()
    const { folder } = await define({ host: '1' })
    expect(await failure(plugins.restore(agent, '../../etc', 'pkg-1'))).toMatchObject({ code: 'NOT_RESTORABLE' })
    expect(await failure(plugins.restore(agent, 'test-7', 'pkg-1'))).toMatchObject({ code: 'NOT_RESTORABLE', message: says('no plugin test-7') })
    expect(await failure(plugins.restore(agent, 'test-1', 'pkg-9'))).toMatchObject({ code: 'NOT_RESTORABLE', message: says('There is no plugin in') })
    await writeFile(`${folder}/plugin.json`, '{"name": 5}')
    expect(await failure(plugins.restore(agent, 'test-1', 'pkg-1'))).toMatchObject({ code: 'NOT_RESTORABLE', message: says('does not say what the plugin is') })
    await writeFile(`${folder}/plugin.json`, 'no json')
    expect(await failure(plugins.restore(agent, 'test-1', 'pkg-1'))).toMatchObject({ code: 'NOT_RESTORABLE', message: says('is no JSON') })
    await rm(folder, { recursive: true })
    expect(await failure(plugins.restore(agent, 'test-1', 'pkg-1'))).toMatchObject({ code: 'NOT_RESTORABLE' })
    expect(await started({ host: '1' })).toMatchObject({ pluginId: 'test-2' })
  })
  it('restore what the person changed in the file, as another package', async () => {
    const { define, plugins, agent } = await start()
    const { folder } = await define({ host: 'return' })
    await writeFile(`${folder}/host.js`, '// mine\nreturn')
    expect(await plugins.restore(agent, 'test-1', 'pkg-1')).toMatchObject({ packageId: 'pkg-2' })
    expect([plugins.codeOf(agent, 'test-1', 'pkg-1'), plugins.codeOf(agent, 'test-1', 'pkg-2')]).toEqual([{ host: 'return' }, { host: '// mine\nreturn' }])
    expect(await readFile(`${folder}/host.js`, 'utf8')).toContain('// mine')
  })
})

describe('inspecting', () => {
  it('lists providers of both sides, each method with the schemas of what it takes and gives', async () => {
    const { plugins, call } = await start()
    const providers = plugins.inspectors()
    expect(providers.map(({ platform, name, methods }) => [`${platform} ${name}`, methods.map((method) => method.name)])).toEqual([
      ['host tools', ['list', 'get']], ['host services', ['list']], ['host events', ['list', 'observable']], ['host presets', ['list']], ['host settings', ['list', 'get']], ['host built-ins', ['list']],
      ['client slots', ['list']], ['client built-ins', ['list']], ['client theme', ['list']],
    ])
    const { text } = await call('cordis_inspect_list', {})
    for (const { name, methods } of providers) for (const method of methods) expect([text.includes(name), text.includes(`${method.name}: ${method.description}`)]).toEqual([true, true])
  })
  it('gives what the manifest of each method says', async () => {
    const { plugins, agent } = await start()
    const inputs: Readonly<Record<string, Json>> = { 'tools.get': { name: 'read' }, 'settings.get': { key: 'dynamicPlugins.enabled' } }
    for (const { platform, name, methods } of plugins.inspectors()) {
      for (const method of methods) {
        const input = inputs[`${name}.${method.name}`]
        const answer = await plugins.inspect(agent, { platform, provider: name, method: method.name, ...(input !== undefined && { input }) })
        expect([`${name}.${method.name}`, validate(method.output as never, answer, 'answer'), JSON.stringify(answer).length > 20]).toEqual([`${name}.${method.name}`, [], true])
      }
    }
  })
  it('tells the truth about what is there', async () => {
    const { call, started, plugins, agent } = await start()
    await started({ host: hello })
    const tools = (await plugins.inspect(agent, { platform: 'host', provider: 'tools', method: 'list' })) as readonly { readonly name: string; readonly group: string }[]
    expect(tools.find(({ name }) => name === 'hello')?.group).toBe('plugin test-1')
    expect(await plugins.inspect(agent, { platform: 'host', provider: 'settings', method: 'get', input: { key: 'dynamicPlugins.enabled' } })).toMatchObject({ value: true, fallback: false })
    expect(JSON.parse((await call('cordis_inspect_query', { platform: 'client', provider: 'slots', method: 'list' })).text)).toMatchObject([{ name: 'panel' }, { name: 'header' }, { name: 'composer' }, { name: 'row' }])
    expect(toJsonSchema({ type: 'json' })).toEqual({})
  })
  it('reads presets anew, so that whoever wrote one hears what is wrong with it', async () => {
    const { plugins, agent, home } = await start({})
    const presets = async () => (await plugins.inspect(agent, { platform: 'host', provider: 'presets', method: 'list' })) as readonly { readonly id: string; readonly problem?: string }[]
    const problem = async () => (await presets()).find(({ id }) => id === 'mine')?.problem
    const write = async (content: unknown) => {
      await mkdir(`${home}/.bosun/presets`, { recursive: true })
      await writeFile(`${home}/.bosun/presets/mine.preset.json`, JSON.stringify(content))
    }
    expect(await problem()).toBeUndefined()
    await write({ tools: ['no_such_tool'] })
    expect(await problem()).toBe('There is no tool named no_such_tool. Take it out of the list of tools.')
    await write({ tools: ['read'] })
    expect([(await presets()).some(({ id }) => id === 'mine'), await problem()]).toEqual([true, undefined])
  })
  it.each([
    [{ platform: 'host', provider: 'none', method: 'list' }, 'UNKNOWN_QUERY', 'There are: tools, services'],
    [{ platform: 'client', provider: 'tools', method: 'list' }, 'UNKNOWN_QUERY', 'There are: slots, built-ins, theme'],
    [{ platform: 'host', provider: 'tools', method: '__proto__' }, 'UNKNOWN_QUERY', 'It has: list, get'],
    [{ platform: 'host', provider: 'tools', method: 'get', input: { name: 5 } }, 'INVALID_QUERY', 'name'],
    [{ platform: 'host', provider: 'tools', method: 'get', input: 'read' }, 'INVALID_QUERY', 'input'],
    [{ platform: 'host', provider: 'tools', method: 'get', input: { name: 'none' } }, 'INVALID_QUERY', 'There is no tool none'],
    [{ platform: 'host', provider: 'tools', method: 'list', input: { more: 1 } }, 'INVALID_QUERY', 'more'],
  ] as const)('refuses %o', async (query, code, words) => {
    const { plugins, agent } = await start()
    expect(await failure(plugins.inspect(agent, query))).toEqual({ code, message: says(words) })
  })
  it('shows no secret of a setting', async () => {
    const { plugins, agent } = await start({ settings: { providers: { mine: { baseUrl: 'http://127.0.0.1/v1', headers: { authorization: 'Bearer abcdef0123456789' } } }, 'subagents.codex.env': { TOKEN: 'abcdef0123456789' } } })
    for (const key of ['providers', 'subagents.codex.env']) {
      const answer = JSON.stringify(await plugins.inspect(agent, { platform: 'host', provider: 'settings', method: 'get', input: { key } }))
      expect([key, answer.includes('abcdef0123456789')]).toEqual([key, false])
    }
  })
})

describe('the person', () => {
  const command = async ({ ctx, agent }: PluginRig, line: string) => {
    const { kind, text } = await ctx.commands.run(agent, line)
    return { kind, text }
  }
  it('lists, reads, stops and restores plugins by /plugins, and the model hears of what they did', async () => {
    const made = await start()
    expect(await command(made, '/plugins')).toEqual({ kind: 'success', text: 'This session has no plugins.' })
    const { packageId } = await made.started({ host: `${hello}ctx.logger.info("I am here")` })
    const listed = await command(made, '/plugins')
    expect(listed.text).toContain('test-1: running, pkg-1\n  tools: hello\n  pkg-1 “A plugin” (host, you let it run)\n')
    // The long folder of all stands there once.
    expect(listed.text?.split(made.home).length).toBe(2)
    expect(listed.text).toMatch(/^Their code: .*\/plugins\/<plugin>\/<package>$/m)
    expect(await command(made, '/plugins log test-1')).toEqual({ kind: 'success', text: 'info: I am here' })
    expect(await command(made, '/plugins stop test-1')).toEqual({ kind: 'success', text: 'test-1 is stopped, and everything it brought is gone.' })
    expect(await command(made, '/plugins stop test-1')).toEqual({ kind: 'success', text: 'test-1 did not run.' })
    expect(await command(made, `/plugins restore test-1 ${packageId}`)).toMatchObject({ kind: 'success', text: says('pkg-1 of test-1 is defined again as pkg-2, and does not run.') })
    await made.turn()
    expect(made.told()).toEqual([says('The person stopped the plugin test-1'), says('The person defined the plugin test-1 again from its kept package pkg-1, as pkg-2')])
    expect(made.summaries()).toEqual(['You stopped the plugin test-1', 'You restored pkg-1 of the plugin test-1 as pkg-2'])
  })
  it.each([
    ['/plugins start test-1', 'takes stop, restore, log'],
    ['/plugins stop', 'Which plugin? It has: test-1.'],
    ['/plugins stop none-1', 'This session has no plugin none-1.'],
    ['/plugins stop test-1 pkg-1', 'takes one plugin'],
    ['/plugins restore test-1', '/plugins restore hello-1 pkg-1'],
    ['/plugins restore test-1 pkg-9', 'There is no plugin in'],
  ])('is told what is wrong with %s', async (line, words) => {
    const made = await start()
    await made.define({ host: '1' })
    expect(await command(made, line)).toEqual({ kind: 'error', text: says(words) })
  })
  it('puts a plugin before the model with an @, as it stands, and nothing for what is none', async () => {
    const { started, ctx, agent, application } = await start()
    await started({ host: hello })
    const place = { cwd: application.folder, sessionId: agent.id, signal: new AbortController().signal }
    const [words, block] = await ctx.references.content('Look at @test-1, and not at @test-2 or @abc-1.ts.', place)
    expect(textOf({ content: [words] } as never)).toBe('Look at @test-1, and not at @test-2 or @abc-1.ts.')
    expect(JSON.stringify(block)).toContain('host half of pkg-1')
    expect((await ctx.references.content('@test-1 @test-1 @test-2', place)).length).toBe(2)
    const offered = await ctx.references.candidates('tes', place, () => undefined)
    expect(offered.filter(({ kind }) => kind === 'plugin')).toEqual([{ kind: 'plugin', name: 'A plugin', state: 'running', insert: '@test-1' }])
    const other = { ...place, sessionId: 'another' }
    expect((await ctx.references.content('@test-1', other)).length).toBe(1)
  })
})
