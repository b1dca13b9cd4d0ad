import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { WorkspaceSnapshot } from '../../../extension/capabilities/workspace.ts'
import type { Application, Capabilities } from '../../../extension/compose.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import { prompt, textOf } from '../../support/loop-rig.ts'
import type { SettingValues } from '../../support/memory-settings.ts'
import { callTools, createScriptedAdapter, sayText, type ScriptedAnswer } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/* Chapter 14: the system prompt and the runtime context, through the application as it is shipped. */

let application: WholeApplication | undefined
afterEach(async () => {
  await application?.dispose()
  application = undefined
})

interface Options {
  readonly settings?: SettingValues
  readonly preset?: string
  readonly snapshot?: () => Partial<WorkspaceSnapshot>
  readonly alter?: (world: Capabilities) => Capabilities
  readonly prepare?: (ctx: Application['ctx']) => void
}

async function start({ settings = {}, preset, snapshot = () => ({}), alter = (world) => world, prepare }: Options = {}) {
  application = await wholeApplication({
    settings: { 'model.provider': 'scripted', 'model.name': 'm1', ...settings },
    alter: (world) => alter({ ...world, workspace: { ...world.workspace, snapshot: async () => ({ openEditors: [], unsavedFiles: [], ...snapshot() }) } }),
  })
  const { ctx, folder } = application
  const adapter = createScriptedAdapter()
  ctx.models.register(adapter)
  prepare?.(ctx)
  const agent = await ctx.agents.create({ cwd: folder, ...(preset !== undefined && { preset }) })
  const say = async (text: string, ...answers: readonly ScriptedAnswer[]) => {
    adapter.play(...answers, sayText('Done.'))
    agent.followup(prompt(text))
    await agent.whenIdle()
    const end = agent.session.events().findLast(({ type }) => type === 'turn/end')
    return end?.type === 'turn/end' && end.data.reason.kind === 'error' ? end.data.reason.failure.message : null
  }
  return { ctx, folder, adapter, agent, say, settings: application.settings, system: () => adapter.requests.at(-1)?.system ?? '', tools: () => adapter.requests.at(-1)?.tools.map(({ name }) => name) ?? [] }
}

/** What the snapshots of a session say, in order. */
const snapshots = ({ session }: Agent) =>
  session.events().flatMap((event) => (event.type === 'user/message' && event.data.source.kind === 'plugin' && event.data.source.form === 'snapshot' ? [textOf(event.data)] : []))

describe('sections', () => {
  it('stand ascending by order, the identity first, the tools after the environment', async () => {
    const { say, system } = await start()
    await say('hi')
    const marks = ['You are Bosun', '# How you work', '# Where you work', '# Tools', 'Read files with read', 'Read an existing file before', 'Find files with glob', 'Keep a list with todo_write']
    const places = marks.map((mark) => system().indexOf(mark))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places).not.toContain(-1)
  })
  it('have the places that the tools’ families give them', async () => {
    const { ctx, say } = await start()
    let names: readonly string[] = []
    ctx.on('system-prompt/assemble', (assembly, _context, next) => {
      names = assembly.sections.map(({ name }) => name)
      return next()
    })
    await say('hi')
    const order = ['identity', 'work', 'environment', 'tools', 'references', 'read', 'write', 'edit', 'search', 'shell', 'jobs', 'task-list']
    expect(names.filter((name) => order.includes(name))).toEqual(order.filter((name) => names.includes(name)))
  })
  it('know provider, model and cwd', async () => {
    const { say, system, folder } = await start({ settings: { 'prompt.persona': '[{{provider}} {{model}} {{cwd}}]' } })
    await say('hi')
    expect(system()).toContain(`[scripted m1 ${folder}]`)
  })
  it.each([
    ['an unknown name', 'x {{date}} x', 'Prompt section persona uses {{date}}, which is unknown. Known: provider, model, cwd.'],
    ['a name in capitals', '{{CWD}}', 'Prompt section persona has a malformed placeholder "{{CWD}}"'],
    ['an open one', 'x {{cwd', 'malformed placeholder'],
    ['an empty one', '{{}}', 'malformed placeholder'],
  ])('with %s fail the turn, which says where', async (_name, persona, message) => {
    const { say, adapter } = await start({ settings: { 'prompt.persona': persona } })
    expect(await say('hi')).toContain(message)
    expect(adapter.requests).toEqual([])
  })
  it('fill a value in once: what it holds is no placeholder', async () => {
    const { say, system } = await start({ settings: { 'model.name': '{{cwd}}', 'prompt.persona': '<{{model}}>' } })
    expect(await say('hi')).toBeNull()
    expect(system()).toContain('<{{cwd}}>')
  })
  it('give way to one that is complete; two are an error', async () => {
    const { ctx, say, system } = await start()
    ctx.systemPrompt.section({ name: 'one', order: 9, text: 'Only this.', isComplete: true })
    await say('hi')
    expect(system()).toBe('Only this.')
    ctx.systemPrompt.section({ name: 'two', order: 10, text: 'And this.', isComplete: true })
    expect(await say('again')).toContain('one and two both want to be the whole prompt')
  })
  it('take at most 4 000 bytes with the tools of the standard preset', async () => {
    const { say, system } = await start({ preset: 'standard' })
    await say('hi')
    expect(Buffer.byteLength(system())).toBeLessThanOrEqual(4000)
  })
})

describe('configuration', () => {
  it('leaves the identity out', async () => {
    const { say, system } = await start({ settings: { 'prompt.includeHarnessIdentity': false } })
    await say('hi')
    expect(system()).not.toContain('You are Bosun')
  })
  it('leaves the runtime context out, and clears it when that is chosen later', async () => {
    const { say, agent, settings } = await start()
    await say('hi')
    expect(snapshots(agent)).toHaveLength(1)
    await settings.set('prompt.includeRuntimeContext', false, 'user')
    await say('again')
    await say('third')
    expect(snapshots(agent).slice(1)).toEqual(['<surroundings>\nThe facts given earlier hold no longer; there are none now.\n</surroundings>'])
  })
  it('puts the persona after the environment; empty, it is none', async () => {
    const { say, system, settings } = await start()
    await say('hi')
    const before = system()
    await settings.set('prompt.persona', 'Be terse.', 'user')
    await say('again')
    expect(system().replace('Be terse.\n\n', '')).toBe(before)
    expect(system().indexOf('Be terse.')).toBeGreaterThan(system().indexOf('# Where you work'))
  })
  it('declares tools by name unless an order is given', async () => {
    const { say, tools, settings } = await start()
    await say('hi')
    expect(tools()).toEqual(tools().toSorted())
    const byName = tools()
    await settings.set('tools.order', ['read', '<unlisted-tools>', 'bash'], 'user')
    await say('again')
    expect(tools()).toEqual(['read', ...byName.filter((name) => name !== 'read' && name !== 'bash'), 'bash'])
  })
  it.each([
    ['without the marker', ['read']],
    ['with a name twice', ['read', '<unlisted-tools>', 'read']],
  ])('refuses an order %s and keeps the last good one', async (_name, order) => {
    const { say, tools, settings, ctx } = await start({ settings: { 'tools.order': order } })
    expect(ctx.settings.problems().map(({ key }) => key)).toEqual(['tools.order'])
    await say('hi')
    expect(tools()).toEqual(tools().toSorted())
    expect(settings.get('tools.order')).toEqual(order)
  })
  it('fails the turn for an order that names an unknown tool, but not for one that this agent does not see', async () => {
    const { say, settings } = await start({ preset: 'ask', settings: { 'tools.order': ['write', '<unlisted-tools>'] } })
    expect(await say('hi')).toBeNull()
    await settings.set('tools.order', ['wirte', '<unlisted-tools>'], 'user')
    expect(await say('again')).toMatch(/^The setting bosun\.tools\.order names wirte, which is no tool\. Correct it\. Known: .*, bash, create_goal, edit, exit_plan_mode, /)
  })
  it('takes an order that names what cannot work here, is off, or comes and goes with a server', async () => {
    const { say, tools } = await start({ settings: { 'tools.order': ['pwsh', 'web_search', 'report', 'mcp__files__read', '<unlisted-tools>'] } })
    expect(await say('hi')).toBeNull()
    expect(tools()).toEqual(tools().toSorted())
  })
})

describe('system-prompt/assemble', () => {
  it('may replace sections and facts', async () => {
    const { ctx, say, system, agent } = await start()
    ctx.on('system-prompt/assemble', async (_assembly, _context, next) => {
      const { sections } = await next()
      return { sections: [...sections.slice(0, 1), { name: 'mine', text: 'Mine.' }], runtimeContext: [{ name: 'fact', text: 'A fact.' }] }
    })
    await say('hi')
    expect(system()).toMatch(/^You are Bosun.*\n\nMine\.$/)
    expect(snapshots(agent)[0]).toContain('\n\nA fact.\n')
  })
  it('that throws ends the turn with an error', async () => {
    const { ctx, say } = await start()
    ctx.on('system-prompt/assemble', () => {
      throw new Error('no prompt today')
    })
    expect(await say('hi')).toBe('no prompt today')
  })
  it('is joined by system-prompt/change, which tells of each contribution that comes or goes', async () => {
    const { ctx } = await start()
    let changes = 0
    ctx.on('system-prompt/change', () => void changes++)
    const undo = ctx.systemPrompt.section({ name: 'a', order: 0, text: 'a' })
    undo()
    expect(changes).toBe(2)
  })
})

describe('the runtime context', () => {
  it('is one user message before the prompt, a snapshot with named sections that says it supersedes', async () => {
    const { say, agent } = await start({ snapshot: () => ({ gitBranches: [{ folder: '/x', branch: 'main' }], problems: { errors: 1, warnings: 0 } }) })
    await say('hi')
    expect(agent.session.messages()[0]).toMatchObject({
      role: 'user',
      content: [{ text: expect.stringMatching(/^<surroundings>\nThese facts take the place of earlier ones\.\n\n/) }],
      source: { kind: 'plugin', plugin: 'system-prompt', form: 'snapshot', sections: ['git', 'problems', 'permissions'] },
    })
  })
  it('is added only when it differs from the last one the model sees', async () => {
    let branch = 'main'
    const { say, agent, folder } = await start({ snapshot: () => ({ gitBranches: [{ folder, branch }] }) })
    await say('1')
    await say('2')
    expect(snapshots(agent)).toHaveLength(1)
    branch = 'dev'
    await say('3')
    branch = 'main'
    await say('4')
    expect(snapshots(agent).map((text) => /branch: (\w+)/.exec(text)?.[1])).toEqual(['main', 'dev', 'main'])
  })
  it('is never part of the system prompt', async () => {
    let branch = 'main'
    const { say, system } = await start({ snapshot: () => ({ gitBranches: [{ folder: '/x', branch }], openEditors: ['a'] }) })
    await say('1')
    const before = system()
    branch = 'dev'
    await say('2')
    expect(system()).toBe(before)
  })
  it('is sent again when a compaction took it away', async () => {
    const { say, agent } = await start()
    await say('1')
    const { nodes } = agent.session.surface()
    agent.session.append({
      type: 'user/message',
      surfaceOp: { op: 'replace', start: 0, end: nodes.length - 1 },
      sourceEventSeqs: nodes.map(({ seq }) => seq),
      data: { ...prompt('summary'), source: { kind: 'plugin', plugin: 'test' } },
    })
    await say('2')
    expect(snapshots(agent)).toHaveLength(2)
  })
  it('tells what the setting names, and no cursor and no time by itself', async () => {
    const all = { activeEditor: { path: '/x/a.ts', languageId: 'typescript' }, openEditors: ['/x/a.ts'], unsavedFiles: ['/x/b.ts'], problems: { errors: 1, warnings: 2 }, gitBranches: [{ folder: '/x', branch: 'main' }] }
    const { say, agent, settings } = await start({ snapshot: () => all })
    await say('1')
    const [text = ''] = snapshots(agent)
    for (const part of ['Git branch', 'In front of the person: /x/a.ts', 'Open editors: /x/a.ts', 'Unsaved: /x/b.ts', 'errors 1, warnings 2']) expect(text).toContain(part)
    expect(text).not.toContain('Local time')
    await settings.set('context.include', ['time'], 'user')
    await say('2')
    expect(snapshots(agent)[1]).toMatch(/Local time: \d{4}-\d\d-\d\d \d\d:\d\d \w+, \S+ \(\S+\)/)
    expect(snapshots(agent)[1]).not.toContain('Git branch')
  })
  it('asks the editor once a turn, however many steps it has', async () => {
    let asked = 0
    const { say, folder } = await start({ snapshot: () => (asked++, {}) })
    await writeFile(join(folder, 'a'), 'a')
    const read = callTools({ id: 'c', name: 'read', args: { file_path: 'a' } })
    await say('1', read, read, read)
    expect(asked).toBe(1)
  })
  it('names the further folders of the window, and the branch of a folder without an editor', async () => {
    const { say, agent } = await start({
      alter: (world) => ({ ...world, workspace: { ...world.workspace, folders: () => [...world.workspace.folders(), { name: 'api', path: '/api' }] } }),
    })
    await say('1')
    expect(snapshots(agent)[0]).toContain('Further workspace folders: api (/api)')
  })
  it('knows the branch without an editor and without a program', async () => {
    application = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1' } })
    await mkdir(join(application.folder, '.git'))
    await writeFile(join(application.folder, '.git', 'HEAD'), 'ref: refs/heads/topic\n')
    const adapter = createScriptedAdapter([sayText('ok')])
    application.ctx.models.register(adapter)
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    agent.followup(prompt('hi'))
    await agent.whenIdle()
    expect(snapshots(agent)[0]).toContain('Git branch: topic')
  })
  it('is left out by a preset that wants none', async () => {
    const { say, agent, system } = await start({ preset: 'minimal' })
    await say('hi')
    expect(snapshots(agent)).toEqual([])
    expect(system()).toMatch(/^You are a coding agent\./)
  })
})
