import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Capabilities } from '../../../extension/compose.ts'
import { shippedPresets } from '../../../extension/core/presets/shipped.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

let application: WholeApplication
let home: string
let isTrusted: boolean
beforeEach(async () => {
  isTrusted = true
  application = await wholeApplication({
    alter: (world: Capabilities) => {
      home = join(world.machine.tempFolder, 'home')
      return { ...world, machine: { ...world.machine, homeFolder: home, userFolder: join(home, 'own') }, workspace: { ...world.workspace, isTrusted: () => isTrusted } }
    },
  })
})
afterEach(() => application.dispose())

const presets = () => application.ctx.presets
const listed = async () => {
  await presets().discover()
  return Object.fromEntries(presets().list().map(({ id, root, problem }) => [`${root} ${id}`, problem ?? 'ok']))
}
async function keep(where: 'user' | 'workspace', id: string, content: unknown): Promise<string> {
  const folder = where === 'user' ? join(home, 'own/presets') : join(application.folder, '.bosun/presets')
  await mkdir(folder, { recursive: true })
  const path = join(folder, `${id}.preset.json`)
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
const agentOf = (preset?: string) => application.ctx.agents.create({ cwd: application.folder, ...(preset !== undefined && { preset }) })
const toolsOf = ({ scope }: Awaited<ReturnType<typeof agentOf>>) => application.ctx.tools.schemas(scope).map(({ name }) => name)

describe('the shipped presets', () => {
  const standard = [
    'ask_user_question', 'bash', 'create_goal', 'edit', 'exit_plan_mode', 'get_goal', 'glob', 'grep', 'interrupt_agent', 'job_kill', 'job_list', 'job_output',
    'list_agents', 'ralph', 'read', 'read_image', 'send_message', 'skill', 'subagent', 'subagent_claude_code', 'subagent_codex', 'subagent_fork', 'todo_write', 'update_goal', 'web_search', 'workflow', 'write',
  ]
  const cordis = ['cordis_define', 'cordis_inspect_list', 'cordis_inspect_query', 'cordis_inspect_self', 'cordis_run', 'cordis_stop', 'cordis_undefine']
  const editor = ['lsp', 'schedule_create', 'schedule_delete', 'schedule_list', 'terminal_close', 'terminal_list', 'terminal_open', 'terminal_read', 'terminal_send', 'terminal_signal', 'web_fetch']
  const team = ['followup_task', 'spawn_teammate', 'team_task_create', 'team_task_get', 'team_task_list', 'team_task_update', 'wait_agent']
  const rows: readonly [id: string, presentation: string, tools: readonly string[]][] = [
    ['standard', 'native', standard],
    ['code', 'code', standard],
    ['minimal', 'native', ['bash', 'str_replace_editor']],
    ['creator', 'native', [...standard, ...cordis]],
    ['editor', 'native', [...standard, ...editor]],
    ['team', 'native', [...standard, ...team]],
    ['ask', 'native', ['ask_user_question', 'glob', 'grep', 'lsp', 'read', 'read_image', 'web_search']],
  ]
  it.each(rows)('%s presents its tools %s, and has exactly these where bash is the shell', (id, presentation, tools) => {
    const preset = shippedPresets.find((other) => other.id === id)
    expect([preset?.presentation, preset?.tools.filter((name) => name !== 'pwsh').toSorted()]).toEqual([presentation, tools.toSorted()])
  })
  it('minimal has a fixed persona and no runtime context, instruction files or compaction', () =>
    expect(shippedPresets.find(({ id }) => id === 'minimal')).toMatchObject({ persona: expect.any(String) as string, hasRuntimeContext: false, hasInstructions: false, hasCompaction: false }))
  it('creator is known as cordis too', async () =>
    expect(() => presets().scopeOf('cordis')).toThrow('The preset creator writes plugins, and those are off. Turn on the setting bosun.dynamicPlugins.enabled to use it.'))
})

describe('files of presets', () => {
  it('come from the person’s folder and from the workspace, and are read again at each look', async () => {
    await keep('user', 'mine', { name: 'Mine', tools: ['read'] })
    const path = await keep('workspace', 'ours', { tools: ['grep', 'read'] })
    expect(await listed()).toMatchObject({ 'user mine': 'ok', 'workspace ours': 'ok' })
    expect([toolsOf(await agentOf('mine')), toolsOf(await agentOf('ours'))]).toEqual([['read'], ['grep', 'read']])
    await rm(path)
    expect(Object.keys(await listed())).not.toContain('workspace ours')
  })
  it('may be named like a word of the language, and not like another name of a shipped one', async () => {
    await keep('user', 'constructor', { tools: ['read'] })
    await keep('user', 'cordis', { tools: ['bash'] })
    expect((await listed())['user cordis']).toMatch(/belongs to a preset that comes with Bosun/)
    expect(toolsOf(await agentOf('constructor'))).toEqual(['read'])
  })
  it('of a workspace that is not trusted are not read', async () => {
    await keep('workspace', 'ours', { tools: ['read'] })
    isTrusted = false
    expect(Object.keys(await listed())).not.toContain('workspace ours')
  })
  it('lose their name to an earlier root, and the later one is listed with that reason', async () => {
    await keep('user', 'ask', { tools: ['bash'] })
    await keep('user', 'mine', { tools: ['read'] })
    await keep('workspace', 'mine', { tools: ['bash'] })
    const all = await listed()
    expect([all['shipped ask'], all['user mine']]).toEqual(['ok', 'ok'])
    expect(all['user ask']).toMatch(/belongs to a preset that comes with Bosun/)
    expect(all['workspace mine']).toMatch(/belongs to a preset in .*Rename this file/)
    expect(toolsOf(await agentOf('mine'))).toEqual(['read'])
  })

  const bad: readonly [why: string, id: string, content: unknown, reason: RegExp][] = [
    ['is no JSON', 'torn', '{"tools": [', /It is not JSON/],
    ['has no tools', 'empty', { tools: [] }, /tools/],
    ['has a key nobody knows', 'typo', { tools: ['read'], toolz: [] }, /toolz/],
    ['names a tool nobody has', 'ghost', { tools: ['read', 'teleport'] }, /no tool named teleport/],
    ['names a tool twice', 'twice', { tools: ['read', 'read'] }, /read stands there twice/],
    ['has two sections of a name', 'same', { tools: ['read'], sections: [{ name: 'a', order: 1, text: 'A.' }, { name: 'a', order: 2, text: 'B.' }] }, /sections: two are named a/],
    ['has a section that nothing fills in', 'braces', { tools: ['read'], sections: [{ name: 'a', order: 1, text: 'Write {{ user }}.' }] }, /section a has a malformed placeholder/],
    ['has a persona with a name nobody knows', 'who', { tools: ['read'], persona: 'You help {{user}}.' }, /persona uses {{user}}, which is unknown. Known: provider, model, cwd/],
    ['has a bad name', 'Bad_Name', { tools: ['read'] }, /lower-case/],
    ['is too large', 'large', ' '.repeat(300_000), /262144/],
  ]
  it.each(bad)('that %s are listed with the reason and spoil no other', async (_why, id, content, reason) => {
    await keep('user', id, content)
    await keep('user', 'good', { tools: ['read'] })
    const all = await listed()
    expect(all[`user ${id}`]).toMatch(reason)
    expect(all['user good']).toBe('ok')
    await expect(agentOf(id)).rejects.toMatchObject({ code: 'PRESET_BROKEN' })
  })
  it('that name what cannot work here, or comes and goes with a server, are whole', async () => {
    await keep('user', 'wide', { tools: ['read', 'web_search', 'pwsh', 'report', 'session_search', 'mcp__files__read', 'vscode__search'] })
    expect((await listed())['user wide']).toBe('ok')
    expect(toolsOf(await agentOf('wide'))).toEqual(['read', 'session_search'])
  })
  it('of a workspace open no other sessions by naming the tools for it; the person’s setting does', async () => {
    await keep('workspace', 'nosy', { tools: ['read', 'session_search'] })
    const agent = await agentOf('nosy')
    expect(toolsOf(agent)).toEqual(['read'])
    await application.settings.set('history.tools', true, 'user')
    expect(toolsOf(agent)).toContain('session_search')
  })
  it('that need what cannot work here say what is missing for it', async () => {
    await keep('user', 'needy', { tools: ['read'], needs: ['web_search'] })
    expect((await listed())['user needy']).toBe('The preset needy needs web_search. What is missing for that: A provider of web searches: choose one in the setting bosun.tools.web.searchProvider.')
  })
  it('beyond a hundred in a folder are listed with that reason, and the others can be used', async () => {
    await Promise.all(Array.from({ length: 102 }, (_, n) => keep('user', `p${String(n).padStart(3, '0')}`, { tools: ['read'] })))
    const refused = Object.entries(await listed()).filter(([, problem]) => problem !== 'ok' && problem.includes('presets. Remove some.'))
    expect(refused).toEqual(['user p100', 'user p101'].map((name) => [name, `${join(home, 'own/presets')} holds more than 100 presets. Remove some.`]))
    expect(toolsOf(await agentOf('p099'))).toEqual(['read'])
  })
  it('that are a folder are listed with the reason', async () => {
    await mkdir(join(home, 'own/presets/dir.preset.json'), { recursive: true })
    expect((await listed())['user dir']).toMatch(/folder/)
  })
})

describe('a generation', () => {
  it('stays with the sessions that run on it when the file changes; new ones get what stands there now', async () => {
    await keep('user', 'mine', { tools: ['read'], persona: 'One.' })
    const first = await agentOf('mine')
    await keep('user', 'mine', { tools: ['grep', 'read'], persona: 'Two.' })
    const second = await agentOf('mine')
    expect([toolsOf(first), toolsOf(second)]).toEqual([['read'], ['grep', 'read']])
    expect([first, second].map(({ scope }) => presets().presetOf(scope)?.persona)).toEqual(['One.', 'Two.'])
  })
  it('is one standing layer for equal content', async () => {
    await keep('user', 'mine', { tools: ['read'] })
    const [one, two] = [await agentOf('mine'), await agentOf('mine')]
    expect(one.scope.parent).toBe(two.scope.parent)
  })
  it('is what a child of its agent joins, also when the file changed or went', async () => {
    const path = await keep('user', 'mine', { tools: ['read'] })
    const owner = await agentOf('mine')
    await rm(path)
    const child = await application.ctx.agents.create({ cwd: application.folder, owner })
    expect([child.scope.parent === owner.scope.parent, toolsOf(child)]).toEqual([true, ['read']])
  })
})

describe('a copy', () => {
  it('is the person’s own, without name and order, and works at once', async () => {
    const path = await presets().copy('ask', 'my-ask')
    expect(path).toBe(join(home, 'own/presets/my-ask.preset.json'))
    const content = JSON.parse(await readFile(path, 'utf8')) as { readonly tools: readonly string[] }
    expect(content).not.toHaveProperty('name')
    expect(content).not.toHaveProperty('order')
    expect(content.tools).toEqual(shippedPresets.find(({ id }) => id === 'ask')?.tools)
    expect(toolsOf(await agentOf('my-ask'))).toEqual(toolsOf(await agentOf('ask')))
  })
  it.each([
    ['ask', 'PRESET_EXISTS'],
    ['cordis', 'PRESET_EXISTS'],
    ['mine', 'PRESET_EXISTS'],
    ['constructor', 'ok'],
    ['../evil', 'PRESET_BROKEN'],
    ['', 'PRESET_BROKEN'],
  ])('named %j is %s, and nothing is written over', async (id, code) => {
    const path = await keep('user', 'mine', { tools: ['read'] })
    expect(await presets().copy('ask', id).then(() => 'ok', (error: { readonly code: string }) => error.code)).toBe(code)
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ tools: ['read'] })
  })
  it('is not kept in a workspace that is not trusted', async () => {
    isTrusted = false
    await expect(presets().copy('ask', 'mine', 'workspace')).rejects.toMatchObject({ code: 'PRESET_BROKEN', message: expect.stringContaining('Trust it first') as string })
  })
  it('of none is refused', () => expect(presets().copy('nope', 'x')).rejects.toMatchObject({ code: 'UNKNOWN_PRESET' }))
})

describe('the preset of a session', () => {
  it('is the default setting’s when it is created, and may change while nothing was said', async () => {
    await application.settings.set('agent.defaultPreset', 'standard', 'user')
    const agent = await agentOf()
    expect(application.ctx.agents.presetOf(agent.id)).toBe('standard')
    application.ctx.agents.selectPreset(agent.id, 'ask')
    expect(agent.session.events().map(({ type }) => type)).toContain('agent-preset/selected')
    expect(toolsOf(agent)).toContain('grep')
    expect(toolsOf(agent)).not.toContain('bash')
  })
  it('has one name in the log, by whichever it was chosen', async () => {
    application.ctx.tools.register({ name: 'cordis_run', description: 'x', parameters: { type: 'object' }, output: { schema: { type: 'null' }, render: () => [] }, execute: () => null })
    const [made, chosen] = [await agentOf('cordis'), await agentOf('standard')]
    application.ctx.agents.selectPreset(chosen.id, 'cordis')
    expect([made.session.header.agentPreset, ...[made, chosen].map(({ id }) => application.ctx.agents.presetOf(id))]).toEqual(['creator', 'creator', 'creator'])
    expect(chosen.session.events().find(({ type }) => type === 'agent-preset/selected')?.data).toEqual({ agentPreset: 'creator' })
  })
  it('is locked once a turn began', async () => {
    const agent = await agentOf('standard')
    agent.session.append({ type: 'turn/start', data: { turn: 1 } })
    expect(() => application.ctx.agents.selectPreset(agent.id, 'ask')).toThrow(expect.objectContaining({ code: 'agent-preset-locked' }))
  })
  it('is what the log says last, else the header, after a restart', async () => {
    const [chosen, plain] = [await agentOf('standard'), await agentOf('standard')]
    application.ctx.agents.selectPreset(chosen.id, 'ask')
    for (const { session } of [chosen, plain]) {
      session.append({ type: 'turn/start', data: { turn: 1 } })
      session.append({ type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } })
      await session.flush()
    }
    const { ctx } = await application.restart()
    for (const { id } of [chosen, plain]) await ctx.agents.resume(id)
    expect([chosen, plain].map(({ id }) => ctx.agents.presetOf(id))).toEqual(['ask', 'standard'])
  })
})

describe('the permissions of a preset', () => {
  const modeOf = ({ id }: Awaited<ReturnType<typeof agentOf>>) => application.ctx.permissions.modeOf(id)
  const rows: readonly [string, 'user' | 'workspace', string, string, string][] = [
    ['of the person’s own go before the setting', 'user', 'workspace-write', 'danger-full-access', 'danger-full-access'],
    ['of the person’s own may be tighter', 'user', 'danger-full-access', 'read-only', 'read-only'],
    ['of a workspace may tighten', 'workspace', 'workspace-write', 'read-only', 'read-only'],
    ['of a workspace may not widen', 'workspace', 'workspace-write', 'danger-full-access', 'workspace-write'],
    ['of a workspace may not widen reading', 'workspace', 'read-only', 'workspace-write', 'read-only'],
  ]
  it.each(rows)('%s', async (_name, where, setting, permissions, mode) => {
    await application.settings.set('permissions.defaultPreset', setting, 'user')
    await keep(where, 'mine', { tools: ['read'], permissions })
    const agent = await agentOf('mine')
    expect([modeOf(agent), application.ctx.permissions.presetOf(agent.id), application.ctx.permissions.defaultMode('mine')]).toEqual([mode, mode, mode])
  })
  it('of the person’s own are not those of a workspace that has the very same file', async () => {
    const path = await keep('user', 'mine', { tools: ['read'], permissions: 'danger-full-access' })
    const own = await agentOf('mine')
    await rm(path)
    await keep('workspace', 'mine', { tools: ['read'], permissions: 'danger-full-access' })
    expect([own, await agentOf('mine')].map(modeOf)).toEqual(['danger-full-access', 'workspace-write'])
  })
  it('do not widen when it is the workspace that chose the preset', async () => {
    await keep('user', 'mine', { tools: ['read'], permissions: 'danger-full-access' })
    await application.settings.set('agent.defaultPreset', 'mine', 'workspace')
    expect(modeOf(await agentOf())).toBe('workspace-write')
    await application.settings.set('agent.defaultPreset', undefined, 'workspace')
    await application.settings.set('agent.defaultPreset', 'mine', 'user')
    expect(modeOf(await agentOf())).toBe('danger-full-access')
  })
  it('come and go with the preset while nothing was said, unless the person chose others', async () => {
    await keep('user', 'mine', { tools: ['read'], permissions: 'read-only' })
    const [agent, chosen] = [await agentOf('standard'), await agentOf('standard')]
    const { agents, permissions } = application.ctx
    permissions.select(chosen.id, 'danger-full-access')
    for (const { id } of [agent, chosen]) agents.selectPreset(id, 'mine')
    expect([modeOf(agent), modeOf(chosen)]).toEqual(['read-only', 'danger-full-access'])
    agents.selectPreset(agent.id, 'standard')
    expect(modeOf(agent)).toBe('workspace-write')
  })
  it('hold on in a session that has begun, whatever becomes of the file', async () => {
    await keep('user', 'mine', { tools: ['read'], permissions: 'read-only' })
    const { id, session } = await agentOf('mine')
    session.append({ type: 'turn/start', data: { turn: 1 } })
    session.append({ type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } })
    await session.flush()
    await keep('user', 'mine', { tools: ['read'], permissions: 'danger-full-access' })
    const { ctx } = await application.restart()
    await ctx.agents.resume(id)
    expect(ctx.permissions.modeOf(id)).toBe('read-only')
  })
})

describe('a preset that cannot be used', () => {
  it('is refused with its file, its reason and what to do next', async () => {
    const path = await keep('user', 'odd', { tools: ['read'], colour: 1 })
    await expect(agentOf('odd')).rejects.toMatchObject({ code: 'PRESET_BROKEN', message: `The preset odd in ${path} cannot be used: Unrecognized key: "colour". Mend the file, or choose another preset.` })
  })
})
