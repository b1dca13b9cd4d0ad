import { afterEach, describe, expect, it } from 'vitest'
import type { Agent } from '../../../../extension/core/session/agent.ts'
import type { ToolResult } from '../../../../extension/core/tools/definition.ts'
import { createFakeEditorTools, fakeEditorTool, type FakeEditorTools, type FakeOutcome } from '../../../support/fake-editor-tools.ts'
import type { SettingValues } from '../../../support/memory-settings.ts'
import { wholeApplication, type WholeApplication } from '../../../support/whole-application.ts'
import { textOf, codeOf } from '../../../support/mcp-rig.ts'

interface Rig {
  readonly application: WholeApplication
  readonly tools: FakeEditorTools
  readonly agent: Agent
  shown(agent?: Agent): readonly string[]
  call(name: string, args?: unknown, signal?: AbortSignal): Promise<ToolResult>
}

const rigs: Rig[] = []
afterEach(async () => {
  for (const { application } of rigs.splice(0)) await application.dispose()
})

async function setUp({ names = ['acme_*'], tools = createFakeEditorTools(), settings = {} }: { readonly names?: readonly string[]; readonly tools?: FakeEditorTools; readonly settings?: SettingValues } = {}): Promise<Rig> {
  const application = await wholeApplication({ settings: { 'tools.fromEditor': names, 'permissions.defaultPreset': 'danger-full-access', ...settings }, alter: (world) => ({ ...world, editorTools: tools }) })
  const agent = await application.ctx.agents.create({ cwd: application.folder, preset: 'standard' })
  let calls = 0
  const rig: Rig = {
    application,
    tools,
    agent,
    shown: (of = agent) => application.ctx.tools.schemas(of.scope).map(({ name }) => name).filter((name) => name.startsWith('vscode__')),
    call: (name, args = { text: 'hi' }, signal = new AbortController().signal) => application.ctx.tools.execute({ callId: `call ${++calls}`, name, arguments: args, agent, signal }),
  }
  rigs.push(rig)
  return rig
}

describe('tools of the editor', () => {
  it('are none until the person names some', async () => expect((await setUp({ names: [] })).shown()).toEqual([]))
  it('are those that the setting names, never Bosun’s own', async () => {
    const tools = createFakeEditorTools(['acme_b', 'acme_a', 'other', 'bosun_read'].map((name) => fakeEditorTool(name)))
    expect((await setUp({ tools, names: ['acme_*'] })).shown()).toEqual(['vscode__acme_a', 'vscode__acme_b'])
    expect((await setUp({ tools, names: ['*'] })).shown()).toEqual(['vscode__acme_a', 'vscode__acme_b', 'vscode__other'])
    expect((await setUp({ tools, names: ['other', 'a.me_a'] })).shown()).toEqual(['vscode__other'])
  })
  it('are there where a preset takes all that others lend', async () => {
    const { application, shown } = await setUp()
    expect(shown(await application.ctx.agents.create({ cwd: application.folder, preset: 'ask' }))).toEqual([])
  })
  it('are declared with their words and what of their schema a model can be told', async () => {
    const inputSchema = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } }, required: ['n'], $schema: 'x' }
    const { application, agent } = await setUp({ tools: createFakeEditorTools([fakeEditorTool('acme_n', { inputSchema })]) })
    expect(application.ctx.tools.schemas(agent.scope).find(({ name }) => name === 'vscode__acme_n')).toEqual({
      name: 'vscode__acme_n', description: 'Does acme_n.', parameters: { type: 'object', properties: { n: { type: 'integer', description: '(minimum: 1)' } }, required: ['n'] },
    })
  })
  it('have names that a provider takes, and two stay two', async () => {
    const { shown } = await setUp({ tools: createFakeEditorTools([fakeEditorTool('acme_a.b'), fakeEditorTool('acme_a/b')]) })
    expect(shown()).toHaveLength(2)
    expect(shown().every((name) => /^vscode__acme_a_b_[0-9a-f]{12}$/.test(name))).toBe(true)
  })
  it('are left out with a reason when the schema is too large', async () => {
    const huge = fakeEditorTool('acme_huge', { inputSchema: { type: 'object', properties: { a: { type: 'string', description: 'x'.repeat(70_000) } } } })
    const { shown, application } = await setUp({ tools: createFakeEditorTools([huge, fakeEditorTool('acme_ok')]) })
    expect(shown()).toEqual(['vscode__acme_ok'])
    expect(JSON.stringify(application.logger.lines)).toContain('acme_huge')
  })
})

describe('the list', () => {
  it('is read anew with each session, and stays the same object when it is the same', async () => {
    const { application, tools, agent, shown } = await setUp()
    const before = application.ctx.tools.schemas(agent.scope)
    await application.ctx.agents.create({ cwd: application.folder, preset: 'standard' })
    expect(application.ctx.tools.schemas(agent.scope)).toBe(before)
    tools.offer([fakeEditorTool('acme_later')], false)
    expect(shown()).toEqual(['vscode__acme_echo'])
    await application.ctx.agents.create({ cwd: application.folder, preset: 'standard' })
    expect(shown()).toEqual(['vscode__acme_later'])
  })
  it('follows extensions that come and go, and the setting', async () => {
    const { application, tools, shown } = await setUp()
    tools.offer([fakeEditorTool('acme_new'), fakeEditorTool('other')])
    expect(shown()).toEqual(['vscode__acme_new'])
    await application.settings.set('tools.fromEditor', ['other'], 'user')
    expect(shown()).toEqual(['vscode__other'])
    await application.settings.set('tools.fromEditor', [], 'user')
    expect(shown()).toEqual([])
  })
  it('is not asked for before the first session', async () => {
    let asked = 0
    const tools = createFakeEditorTools()
    const application = await wholeApplication({ settings: { 'tools.fromEditor': ['*'] }, alter: (world) => ({ ...world, editorTools: { ...tools, list: () => (asked++, tools.list()) } }) })
    tools.offer([])
    expect(asked).toBe(0)
    await application.dispose()
  })
})

describe('a call', () => {
  const rows: readonly [why: string, outcome: FakeOutcome, code: string, text: RegExp][] = [
    ['gives its texts', [{ type: 'text', text: 'one' }, { type: 'text', text: 'two' }], 'ok', /^one\ntwo$/],
    ['tells what is no text in words', [{ type: 'other', kind: 'audio/wav', bytes: 4 }], 'ok', /^\[4 bytes of audio\/wav, which cannot be shown here\.\]$/],
    ['tells of an image that the model cannot see', [{ type: 'image', bytes: Uint8Array.of(1, 2, 3), mediaType: 'image/png' }], 'ok', /An image, image\/png, 3 bytes/],
    ['says that nothing came', [], 'ok', /returned nothing/],
    ['fails in the words of its extension', new Error('the disk is full'), 'EDITOR_TOOL_FAILED', /the disk is full/],
    ['says that the person said no', 'refused', 'EDITOR_TOOL_REFUSED', /refused/],
  ]
  it.each(rows)('%s', async (_why, outcome, code, text) => {
    const { call, tools } = await setUp()
    tools.answer(outcome)
    const result = await call('vscode__acme_echo')
    expect([codeOf(result), tools.calls.map(({ name, input }) => [name, input])]).toEqual([code, [['acme_echo', { text: 'hi' }]]])
    expect(textOf(result)).toMatch(text)
  })
  it('is stopped with its turn', async () => {
    const { call, tools } = await setUp()
    tools.answer('hang')
    const cancel = new AbortController()
    const running = call('vscode__acme_echo', {}, cancel.signal)
    await expect.poll(() => tools.calls.length).toBe(1)
    cancel.abort()
    expect([(await running).isError, tools.calls[0]?.signal.aborted]).toEqual([true, true])
  })
  it('asks the person, whatever its words say', async () => {
    const { application, tools, agent } = await setUp({ settings: { 'permissions.defaultPreset': 'workspace-write' } })
    const exec = { callId: 'c', rootCallId: 'c', name: 'vscode__acme_echo', arguments: { text: 'hi' }, agent, token: { id: 't' }, signal: new AbortController().signal }
    const decision = await application.kernel.dispatch.waterfall('tools/pre-execute', agent.scope, [exec], async () => ({ kind: 'allow' as const }))
    expect([decision.kind, tools.calls]).toEqual(['ask', []])
  })
})
