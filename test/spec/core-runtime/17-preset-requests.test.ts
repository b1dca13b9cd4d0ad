import { readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Languages } from '../../../extension/capabilities/languages.ts'
import type { UserMessage } from '../../../extension/core/log/message.ts'
import { presetFileText, presetFrom } from '../../../extension/core/presets/preset-file.ts'
import { shippedPresets } from '../../../extension/core/presets/shipped.ts'
import { settings as specs } from '../../../extension/core/settings/specs.ts'
import { root } from '../../../scripts/root.ts'
import { startModelServer, type ModelServer } from '../../support/model-server.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/* Chapter 17, as a model sees it: what stands in the request that each preset sends, byte for byte. Written down by hand. */

const shell = process.platform === 'win32' ? 'pwsh' : 'bash'
const standard = [
  shell, 'read', 'read_image', 'write', 'edit', 'glob', 'grep', 'job_list', 'job_output', 'job_kill', 'skill', 'create_goal', 'get_goal', 'update_goal', 'exit_plan_mode',
  'send_message', 'interrupt_agent', 'list_agents', 'subagent', 'subagent_fork', 'workflow', 'ralph', 'ask_user_question', 'todo_write', 'web_search',
]
const terminals = ['terminal_list', 'terminal_open', 'terminal_read', 'terminal_send', 'terminal_signal', 'terminal_close']
const rows: readonly (readonly [preset: string, tools: readonly string[]])[] = [
  ['standard', standard],
  ['code', ['run_code']],
  ['minimal', [shell, 'str_replace_editor']],
  ['creator', [...standard, 'cordis_inspect_list', 'cordis_inspect_query', 'cordis_inspect_self', 'cordis_define', 'cordis_run', 'cordis_stop', 'cordis_undefine']],
  ['editor', [...standard, 'lsp', 'web_fetch', ...terminals, 'schedule_create', 'schedule_list', 'schedule_delete']],
  ['team', [...standard, 'spawn_teammate', 'followup_task', 'wait_agent', 'team_task_create', 'team_task_get', 'team_task_list', 'team_task_update']],
  ['ask', ['read', 'read_image', 'glob', 'grep', 'lsp', 'web_search', 'ask_user_question']],
]

let server: ModelServer | undefined
let application: WholeApplication | undefined
afterEach(async () => {
  await application?.dispose()
  await server?.close()
})

const languages: Languages = { ask: async () => ({ kind: 'problems', problems: [] }), rename: async () => null, codeActions: async () => [], codeActionEdit: async () => null }
const prompt = (text: string): UserMessage => ({ id: text, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } })

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: string | readonly { readonly text?: string }[] }[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
}

/** The application where every tool of the presets can work, with instructions in its folder. */
async function start(): Promise<WholeApplication> {
  server = await startModelServer({ models: ['m'], steps: [{ answer: { parts: [{ text: 'Yes.' }] } }] })
  application = await wholeApplication({
    settings: { 'model.provider': 'mine', 'model.name': 'm', providers: { mine: { baseUrl: server.url } }, 'tools.web.searchProvider': 'brave', 'dynamicPlugins.enabled': true },
    alter: (world) => ({ ...world, languages }),
  })
  await writeFile(join(application.folder, 'AGENTS.md'), 'Instructions of this folder.\n')
  return application
}

/** What the first request of a session says, as it went over the wire. */
async function firstRequest({ ctx, folder }: WholeApplication, preset: string): Promise<{ readonly body: Body; readonly text: string }> {
  const agent = await ctx.agents.create({ cwd: folder, preset })
  agent.followup(prompt('Hello'))
  await agent.whenIdle()
  const text = server?.chats().at(-1)?.body ?? '{}'
  return { body: JSON.parse(text) as Body, text }
}
const namesIn = ({ tools = [] }: Body) => tools.map(({ function: { name } }) => name)
const systemIn = ({ messages }: Body) => messages.filter(({ role }) => role === 'system').map(({ content }) => (typeof content === 'string' ? content : content.map(({ text = '' }) => text).join(''))).join('\n')

describe('a request', () => {
  it.each(rows)('of %s declares exactly its tools, in the bytes that the registry shows', async (preset, tools) => {
    const app = await start()
    const { body } = await firstRequest(app, preset)
    expect(namesIn(body)).toEqual(tools.toSorted())
    const shown = app.ctx.tools.schemas(app.ctx.presets.scopeOf(preset)).map(({ name }) => name)
    // In a team, members have tools of their own in the place of some.
    expect(namesIn(body)).toEqual(shown)
  })
  it('has 25 tools in standard and 32 in creator', () => expect([standard, rows.find(([preset]) => preset === 'creator')?.[1]].map((tools) => tools?.length)).toEqual([25, 32]))

  it('of code says in its prompt what programs can call: the tools of standard', async () => {
    const system = systemIn((await firstRequest(await start(), 'code')).body)
    const declared = /declare const tools: \{\n([^}]*)\}/.exec(system)?.[1] ?? ''
    expect([...declared.matchAll(/^(\w+): Call</gm)].map(([, name]) => name)).toEqual(standard.toSorted())
  })

  it('of creator has the prompt of standard and what it says of plugins', async () => {
    const app = await start()
    const usual = systemIn((await firstRequest(app, 'standard')).body)
    server?.play({ models: ['m'], steps: [{ answer: { parts: [{ text: 'Yes.' }] } }] })
    const own = systemIn((await firstRequest(app, 'creator')).body)
    expect([own.length > usual.length, /\bplugin/.test(own), /\bplugin/.test(usual)]).toEqual([true, true, false])
    for (const line of usual.split('\n')) expect(own).toContain(line)
  })
  it('of minimal has its whole persona as prompt, and neither facts about the workspace nor instructions', async () => {
    const app = await start()
    const { body } = await firstRequest(app, 'minimal')
    expect(systemIn(body)).toBe(`You are a coding agent. Solve the task with the shell and the file editor you have, in ${app.folder}. Give absolute paths. Say briefly what you did.`)
    expect(body.messages.slice(1)).toEqual([{ role: 'user', content: 'Hello' }])
  })
  it('of minimal declares the shell that stays, with a command and nothing else', async () => {
    const { body } = await firstRequest(await start(), 'minimal')
    const parameters = body.tools?.find(({ function: { name } }) => name === shell)?.function as unknown as { readonly parameters: { readonly properties: object; readonly required: readonly string[] } }
    expect([Object.keys(parameters.parameters.properties), parameters.parameters.required]).toEqual([['command'], ['command']])
  })
  // With every tool there, as they go over the wire. Source: design 7, for standard; the others are held to little more than they need.
  const caps: readonly (readonly [preset: string, tools: number, prompt: number])[] = [
    ['standard', 18_000, 4_000], ['code', 1_000, 4_000], ['minimal', 1_800, 300], ['creator', 17_000, 4_000], ['editor', 19_500, 4_200], ['team', 17_000, 4_400], ['ask', 5_000, 2_600],
  ]
  it.each(caps)('of %s declares its tools in at most %i bytes and says at most %i beside them', async (preset, maxTools, maxPrompt) => {
    const { body } = await firstRequest(await start(), preset)
    const prompt = systemIn(body).replace(/# What programs can call\n[^]*?(?=\n# |$)/, '')
    expect(Buffer.byteLength(JSON.stringify(body.tools))).toBeLessThanOrEqual(maxTools)
    expect(Buffer.byteLength(prompt)).toBeLessThanOrEqual(maxPrompt)
  })
  it.each(['standard', 'editor', 'code', 'creator', 'team', 'ask'])('of %s has sections, facts about the workspace and its instructions', async (preset) => {
    const { body, text } = await firstRequest(await start(), preset)
    expect(systemIn(body)).toMatch(/Bosun/)
    expect(text).toContain('Instructions of this folder.')
    expect(body.messages.length).toBeGreaterThan(2)
  })
})

describe('the settings beside the tools', () => {
  it('are those of the table', async () => {
    const { ctx } = await start()
    const values = [specs.instructionsMaxBytes, specs.compactionPruneTrigger, specs.compactionPruneHead, specs.compactionPruneTail, specs.ralphMaxRounds, specs.toolsWebTimeoutMs].map((spec) => ctx.settings.get<unknown>(spec))
    expect(values).toEqual([65_536, 8_192, 4_096, 1_024, 64, 60_000])
    expect(ctx.commands.entries(ctx.presets.scopeOf('standard')).map(({ name }) => name)).toEqual(expect.arrayContaining(['compact', 'plan']))
  })
  it('of minimal are a time of 300 s for its shell and 16 000 characters for its editor', async () => {
    const { ctx } = await start()
    const limitsOf = (name: string) => ctx.tools.get(name, ctx.presets.scopeOf('minimal'))?.limits
    expect(limitsOf(shell)).toContainEqual({ of: 'time', max: 300_000, unit: 'ms' })
    expect(limitsOf('str_replace_editor')).toContainEqual({ of: 'the answer', max: 16_000, unit: 'characters' })
  })
  it('of the task list allow several that are in progress', async () => {
    const app = await start()
    const todos = ['a', 'b'].map((content) => ({ content, status: 'in_progress' }))
    server?.play({ models: ['m'], steps: [{ answer: { parts: [{ toolCalls: [{ name: 'todo_write', arguments: { todos } }] }] } }, { answer: { parts: [{ text: 'Kept.' }] } }] })
    const { body } = await firstRequest(app, 'standard')
    expect(body.messages.at(-1)).toMatchObject({ role: 'tool', content: expect.not.stringContaining('Error') as string })
  })
})

/** A file that says everything. */
const all = {
  description: 'All.', presentation: 'both', tools: ['read'], needs: ['read'], sections: [{ name: 'a', order: 1, text: 'A.' }], persona: 'P.', runtimeContext: false, instructions: false,
  compaction: false, sessionTools: false, mcpServers: ['one'], extensions: ['a.b'], shell: 'persistent', permissions: 'read-only',
}

describe('the file of a preset', () => {
  it('is explained in the README, key by key, with an example that is a preset', async () => {
    const part = /### Presets and tools\n(.*?)\n### /s.exec(await readFile(join(root, 'README.md'), 'utf8'))?.[1] ?? ''
    expect(['name', 'order', ...Object.keys(all)].filter((key) => !part.includes(`\`${key}\``))).toEqual([])
    const example = JSON.parse(/```json\n(.*?)```/s.exec(part)?.[1] ?? '') as { readonly tools: readonly string[] }
    expect(presetFrom('reviewer', example)).toMatchObject({ name: 'Reviewer', permissions: 'read-only' })
    const { ctx } = await start()
    expect(example.tools.filter((name) => ctx.tools.get(name, null) === undefined)).toEqual(process.platform === 'win32' ? ['bash'] : [])
  })
})

describe('a copy', () => {
  it.each(shippedPresets.map(({ id }) => id))('of %s says all that it says, but for name and order', (id) => {
    const preset = shippedPresets.find((other) => other.id === id)!
    expect(presetFrom('mine', JSON.parse(presetFileText(preset)))).toEqual({ ...preset, id: 'mine', name: 'mine', order: 100 })
  })
  it('of a preset that says everything leaves nothing out', () => expect(JSON.parse(presetFileText(presetFrom('all', { name: 'All', order: 3, ...all })))).toEqual(all))
  it.each(rows)('of %s sends the same request', async (preset) => {
    const app = await start()
    const original = await firstRequest(app, preset)
    await app.ctx.presets.copy(preset, 'mine')
    server?.play({ models: ['m'], steps: [{ answer: { parts: [{ text: 'Yes.' }] } }] })
    // Each team has a name of its own.
    const plain = ({ text }: { readonly text: string }) => text.replaceAll(/\b[0-9a-f]{32}\b/g, 'team')
    expect(plain(await firstRequest(app, 'mine'))).toBe(plain(original))
  })
  it.each(['user', 'workspace'] as const)('among those of the %s is whole, works at once and is closed to others', async (root) => {
    const app = await start()
    const path = await app.ctx.presets.copy('ask', 'mine', root)
    expect(path).toMatch(root === 'user' ? /\.bosun\/presets\/mine\.preset\.json$/ : new RegExp(`^${app.folder}/\\.bosun/presets/mine\\.preset\\.json$`))
    expect(JSON.parse(await readFile(path, 'utf8'))).not.toHaveProperty('name')
    expect(app.ctx.presets.list().find(({ id }) => id === 'mine')).toMatchObject({ root, path })
    if (process.platform !== 'win32') expect([await stat(path), await stat(dirname(path))].map(({ mode }) => mode & 0o777)).toEqual([0o600, 0o700])
  })
})
