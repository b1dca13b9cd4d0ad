import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { WorkspaceSnapshot } from '../../../extension/capabilities/workspace.ts'
import type { Application } from '../../../extension/compose.ts'
import { shippedPresets } from '../../../extension/core/presets/shipped.ts'
import { RESERVED_TOOL_NAME } from '../../../extension/core/tools/definition.ts'
import { fakeTool, prompt } from '../../support/loop-rig.ts'
import type { ScriptStep, ScriptToolCall } from '../../support/model-script.ts'
import { sharedPrefixLength, startModelServer, type ModelServer } from '../../support/model-server.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'
import { prefixProblem, prefixProblems } from '../../support/wire-prefix.ts'

/* Requests of one session share their whole prefix on the wire, whatever happens between them. */

let server: ModelServer | undefined
let application: WholeApplication | undefined
afterEach(async () => {
  await application?.dispose()
  await server?.close()
})

const call = (...toolCalls: readonly ScriptToolCall[]): ScriptStep => ({ answer: { parts: [{ reasoning: 'hm' }, { text: 'Next.' }, { toolCalls }] } })
const say: ScriptStep = { answer: { parts: [{ text: 'Done.' }] }, repeat: true }

/** Everything that a person or a program may do between two requests, by name. */
type Happening = (world: { readonly ctx: Application['ctx']; readonly id: string; readonly folder: string; readonly state: { snapshot: Partial<WorkspaceSnapshot> } }) => unknown
const happenings: Readonly<Record<string, Happening>> = {
  nothing: () => {},
  'a mode switch': ({ ctx, id }) => ctx.permissions.select(id, 'danger-full-access'),
  'a mode switch back': ({ ctx, id }) => ctx.permissions.select(id, 'read-only'),
  'a reload of the session': async ({ ctx, id }) => {
    await ctx.agents.live(id)?.dispose()
    await ctx.agents.resume(id)
  },
  'a new instruction file': ({ folder }) => writeFile(join(folder, 'AGENTS.md'), 'Use tabs.'),
  'a change of an instruction file': ({ folder }) => writeFile(join(folder, 'AGENTS.md'), 'Use spaces.'),
  'a change of the surroundings': ({ state }) => (state.snapshot = { gitBranches: [{ folder: '/w', branch: 'dev' }], problems: { errors: 3, warnings: 1 } }),
  'surroundings that are gone': ({ state }) => (state.snapshot = {}),
  'an instruction file that is gone': ({ folder }) => writeFile(join(folder, 'AGENTS.md'), ''),
  'a restart': async () => void (await application?.restart()),
}

describe.each(shippedPresets.map(({ id }) => id))('in the preset %s', (preset) => {
  it('each request begins with the bytes of the one before', async ({ skip }) => {
    server = await startModelServer({ models: ['m'], steps: [call({ name: 'read', arguments: { file_path: 'sub/a.txt' } }, { name: 'nonsense', arguments: '{"broken": ' }), say] })
    const state: { snapshot: Partial<WorkspaceSnapshot> } = { snapshot: { gitBranches: [{ folder: '/w', branch: 'main' }] } }
    application = await wholeApplication({
      settings: { 'model.provider': 'mine', 'model.name': 'm', providers: { mine: { baseUrl: server.url, reasoningPassback: 'always', reasoningEfforts: ['high'] } } },
      alter: (world) => ({ ...world, workspace: { ...world.workspace, snapshot: async () => ({ openEditors: [], unsavedFiles: [], ...state.snapshot }) } }),
    })
    const { folder } = application
    await mkdir(join(folder, 'sub'))
    await writeFile(join(folder, 'sub', 'a.txt'), 'one\n')
    await writeFile(join(folder, 'sub', 'CLAUDE.md'), 'Nested.')
    let { ctx } = application
    const restart = application.restart.bind(application)
    application = { ...application, restart: async () => provide(await restart()) }
    provide(application)
    const problem = ctx.presets.list().find((one) => one.id === preset)?.problem
    skip(problem !== undefined, problem)
    const { id } = await ctx.agents.create({ cwd: folder, preset })
    const seen: string[] = []
    for (const [name, happen] of Object.entries(happenings)) {
      await happen({ ctx, id, folder, state })
      const before = server.chats().length
      const agent = await ctx.agents.resume(id)
      agent.followup(prompt(`after ${name}`))
      await agent.whenIdle()
      const end = agent.session.events().findLast(({ type }) => type === 'turn/end')
      expect([name, end?.data]).toEqual([name, expect.objectContaining({ reason: { kind: 'completed' } })])
      seen.push(...server.chats().slice(before).map(() => name))
    }
    const bodies = server.chats().map(({ body }) => body)
    expect(prefixProblems(bodies).map((problem) => problem.replace(/^request (\d+)/, (_whole, at: string) => `after ${seen[Number(at)]}`))).toEqual([])
    expect(bodies.length).toBe(Object.keys(happenings).length + 1)

    /** The tools that not every build has, so that every preset can be tried. */
    function provide<T extends Application>(running: T): T {
      ctx = running.ctx
      for (const name of shippedPresets.flatMap(({ needs = [] }) => needs)) {
        if (name !== RESERVED_TOOL_NAME && ctx.tools.get(name, null) === undefined) ctx.tools.register(fakeTool(name))
      }
      return running
    }
  })
})

describe('over a compaction', () => {
  it('the summary is asked for behind the same bytes; then only the talk is another one, once', async () => {
    const long: ScriptStep = { answer: { parts: [{ text: `Done. ${'words '.repeat(3000)}` }] }, repeat: true }
    server = await startModelServer({ models: ['m'], steps: [long] })
    application = await wholeApplication({
      settings: { 'model.provider': 'mine', 'model.name': 'm', 'compaction.retainRatio': 0.01, providers: { mine: { baseUrl: server.url, models: { m: { contextWindow: 100_000 } } } } },
    })
    const { ctx, folder } = application
    await writeFile(join(folder, 'AGENTS.md'), 'Use tabs.')
    const agent = await ctx.agents.create({ cwd: folder })
    const turn = async (text: string) => {
      agent.followup(prompt(text))
      await agent.whenIdle()
    }
    await turn('one')
    await turn('two')
    await expect(ctx.commands.run(agent, '/compact')).resolves.toMatchObject({ kind: 'success' })
    await turn('three')
    await turn('four')
    const [one = '', two = '', summary = '', three = '', four = '', ...rest] = server.chats().map(({ body }) => body)
    expect(rest).toEqual([])
    // The cap of the summary is no part of what the model reads.
    expect(prefixProblems([one, two, summary.replace('"max_tokens":8192,', '')])).toEqual([])
    expect(prefixProblems([three, four])).toEqual([])
    const talk = Buffer.byteLength(two.slice(0, two.indexOf('{"role":"user"')))
    expect(talk).toBeGreaterThan(3000)
    expect(sharedPrefixLength(two, three)).toBeGreaterThanOrEqual(talk)
    expect(three).toContain('Use tabs.')
  })
})

describe('the words for a broken prefix', () => {
  it('name the first byte that differs and show both surroundings', () => {
    expect(prefixProblem('{"a":"größe 1","messages":[1]}', '{"a":"größe 2","messages":[1,2]}')).toBe(
      'byte 14 of 30 is the first that differs:\n  before: …{\\"a\\":\\"größe ▸1\\",\\"messages\\":[1]}…\n  after:  …{\\"a\\":\\"größe ▸2\\",\\"messages\\":[1,2]}…',
    )
  })
  it('are none for a request that only goes on', () => expect(prefixProblem('{"messages":[1]}', '{"messages":[1,2]}')).toBeNull())
  it('tell a request that is shorter', () => expect(prefixProblem('{"messages":[1,2]}', '{"messages":[1]}')).toMatch(/^byte 14 of 16/))
})
