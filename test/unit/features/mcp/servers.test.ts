import { afterEach, describe, expect, it } from 'vitest'
import type { McpConnection, McpConnectOptions, McpTarget } from '../../../../extension/capabilities/mcp.ts'
import type { Mcp } from '../../../../extension/features/mcp/service.ts'
import type { SettingValues } from '../../../support/memory-settings.ts'
import { wholeApplication, type WholeApplication } from '../../../support/whole-application.ts'

interface Rig {
  readonly application: WholeApplication
  readonly mcp: Mcp
  /** What was reached, in order, and with what. */
  readonly reached: { readonly target: McpTarget; readonly options: McpConnectOptions }[]
  /** The servers that are configured now, read and reached. */
  configure(servers: SettingValues, where?: 'user' | 'workspace'): Promise<void>
  state(name?: string): string | undefined
}

const rigs: Rig[] = []
afterEach(async () => {
  for (const { application } of rigs.splice(0)) await application.dispose()
})

/** The whole application over servers that are there as soon as they are reached. */
async function setUp({ parts = {}, alter = (world) => world, ...options }: Parameters<typeof wholeApplication>[0] & { readonly parts?: Partial<McpConnection> } = {}): Promise<Rig> {
  const reached: Rig['reached'] = []
  const never = () => new Promise<never>(() => {})
  const connection: McpConnection = {
    server: { name: 's', version: '1' }, instructions: null, offers: { tools: true, prompts: false, resources: false },
    listTools: () => Promise.resolve([]), listPrompts: never, listResources: never, callTool: never, getPrompt: never, isThere: () => Promise.resolve(true), readResource: never, close: () => Promise.resolve(), ...parts,
  }
  const application = await wholeApplication({
    ...options,
    alter: (world) =>
      alter({
        ...world,
        mcp: { connect: async (target, how) => (reached.push({ target, options: how }), connection), revoke: () => Promise.resolve(true) },
        mcpSignIn: { expect: () => Promise.reject(new Error('Nobody is at the browser.')) },
      }),
  })
  await application.ctx.plugin({ name: 'ready', inject: ['mcp'], apply: () => {} }).ready
  const { mcp } = application.ctx
  const rig: Rig = {
    application,
    mcp,
    reached,
    async configure(servers, where = 'user') {
      await application.settings.set('mcp.servers', servers, where)
      await mcp.reread()
      await settled(mcp)
    },
    state: (name = 'demo') => mcp.report().servers.find((server) => server.name === name)?.state,
  }
  rigs.push(rig)
  return rig
}
const settled = async (mcp: Mcp) => await expect.poll(() => mcp.report().servers.filter(({ state }) => state === 'starting' || state === 'ready')).toEqual([])
const asking = { demo: { command: 'x', env: { GIVEN: '${input:word}' } } }
const at = (url: string) => ({ demo: { url } })
const givenOf = ({ reached }: Rig) => reached.map(({ target }) => (target.kind === 'stdio' ? target.env['GIVEN'] : target.url))

describe('what was given to a server in confidence', () => {
  it('is for the entry of one place alone: another place that has a server of the name gets nothing of it', async () => {
    const rig = await setUp()
    await rig.configure(asking)
    await rig.mcp.giveInput('demo', 'word', 'secret-of-mine')
    expect([rig.state(), givenOf(rig)]).toEqual(['running', ['secret-of-mine']])
    await rig.configure({})
    await rig.configure(asking, 'workspace')
    await rig.mcp.allow(['demo'])
    await settled(rig.mcp)
    expect([rig.state(), givenOf(rig)]).toEqual(['needs-input', ['secret-of-mine']])
  })
  it('comes from the environment where an entry names a variable, and from nowhere else', async () => {
    const rig = await setUp({ secrets: { KEPT: 'stored-for-somebody' } })
    await rig.configure({ demo: { command: 'x', env: { GIVEN: '<${env:KEPT}>' } } })
    expect(givenOf(rig)).toEqual(['<>'])
  })
  it('by a sign-in is for one address alone, and is there again when the entry names it again', async () => {
    const rig = await setUp()
    const tokens = async () => await rig.reached.at(-1)?.options.signIn?.load('tokens')
    await rig.configure(at('https://one.example/mcp'))
    await rig.reached[0]?.options.signIn?.save('tokens', '{"access_token":"of-one"}')
    await rig.configure(at('https://two.example/mcp'))
    expect([givenOf(rig).at(-1), await tokens()]).toEqual(['https://two.example/mcp', null])
    await rig.configure(at('https://one.example/mcp'))
    expect([givenOf(rig).at(-1), await tokens()]).toEqual(['https://one.example/mcp', '{"access_token":"of-one"}'])
  })
  it('by a sign-in is forgotten whole when the person signs out', async () => {
    const rig = await setUp()
    await rig.configure(at('https://one.example/mcp'))
    for (const what of ['client', 'tokens'] as const) await rig.reached[0]?.options.signIn?.save(what, '{}')
    await rig.mcp.signOut('demo')
    const { signIn } = rig.reached.at(-1)!.options
    expect([rig.reached.length, await signIn?.load('client'), await signIn?.load('tokens')]).toEqual([2, null, null])
  })
})

describe('an entry', () => {
  it('that is read anew as it was leaves its server alone; one that changed has it started anew', async () => {
    const rig = await setUp()
    const argsOf = () => rig.reached.map(({ target }) => (target.kind === 'stdio' ? target.args : []))
    await rig.configure({ demo: { command: 'x', args: ['1'] } })
    await rig.mcp.reread()
    expect(argsOf()).toEqual([['1']])
    await rig.configure({ demo: { command: 'x', args: ['2'] } })
    expect([argsOf(), rig.state()]).toEqual([[['1'], ['2']], 'running'])
  })
  it('that the person adds runs at once, unless the file says another one by then', async () => {
    const rig = await setUp()
    await rig.mcp.add({ name: 'mine', entry: { command: 'npx', args: [] }, folder: rig.application.folder })
    await settled(rig.mcp)
    expect(rig.state('mine')).toBe('running')
  })
  it('that somebody else put in the place of the one that the person adds waits for consent', async () => {
    const rig = await setUp({
      alter: (world) => ({
        ...world,
        files: new Proxy(world.files, {
          get: (files, key) => {
            if (key === 'writeText') return async (write: Parameters<typeof files.writeText>[0]) => await files.writeText({ ...write, text: write.text.replace('"npx"', '"evil"') })
            const part: unknown = Reflect.get(files, key)
            return typeof part === 'function' ? (part.bind(files) as unknown) : part
          },
        }),
      }),
    })
    await rig.mcp.add({ name: 'mine', entry: { command: 'npx', args: [] }, folder: rig.application.folder })
    expect([rig.state('mine'), rig.reached]).toEqual(['waits', []])
  })
})

describe('servers whose names no tool could have, or whose tools could be taken for another one’s', () => {
  const facts = (name: string) => ({ name, description: '', inputSchema: { type: 'object' }, isReadOnly: false, needsTask: false })
  const set = async () => {
    const rig = await setUp({ parts: { listTools: () => Promise.resolve([facts('c'), facts('b__c')]) } })
    await rig.configure(Object.fromEntries(['a', 'a__b', 'end_', 'GitHub Copilot'].map((name) => [name, { command: name }])))
    return rig
  }
  it('all run with all of their tools, each of which says whose it is', async () => {
    const { application, mcp } = await set()
    const { servers, skipped } = mcp.report()
    expect([servers.map(({ title, state, problem, tools }) => [title, state, problem, tools.length]), skipped]).toEqual([
      [['a', 'running', null, 2], ['a__b', 'running', null, 2], ['end_', 'running', null, 2], ['GitHub Copilot', 'running', null, 2]],
      [],
    ])
    const whose = servers.flatMap(({ title, tools }) => tools.map(({ name }) => [application.ctx.tools.get(name, null)?.mcpServer?.title, title]))
    expect(whose.filter(([said, is]) => said !== is)).toEqual([])
    expect(servers.map(({ tools }) => tools[0]?.name)).toEqual(['mcp__a__c', expect.stringMatching(/^mcp__a_b_[0-9a-f]{12}__c$/), 'mcp__end___c', expect.stringMatching(/^mcp__GitHub_Copilot_[0-9a-f]{12}__c$/)])
  })
  it('are told of by the one that a tool which is not there would be of', async () => {
    const { mcp, application } = await set()
    for (const { name, title } of mcp.report().servers) {
      await mcp.stop(name)
      const result = await application.ctx.tools.execute({ callId: title, name: `mcp__${name}__gone`, arguments: {}, signal: new AbortController().signal })
      expect(result.isError && result.error.message).toContain(`The MCP server ${name}, which mcp__${name}__gone would be of, does not run`)
    }
  })
  it.each(['/mcp stop GitHub Copilot', '/mcp stop "GitHub Copilot"', '/mcp stop a__b'])('are named in a command as they are configured: %s', async (line) => {
    const { mcp, application } = await set()
    const title = line.includes('GitHub') ? 'GitHub Copilot' : 'a__b'
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    await application.ctx.commands.run(agent, line)
    expect(mcp.report().servers.filter(({ state }) => state === 'stopped').map((server) => server.title)).toEqual([title])
  })
})

it('a server that asks and gives up over and over asks nobody after a while', async () => {
  const rig = await setUp()
  const { application, mcp } = rig
  await rig.configure({ demo: { command: 'x' } })
  const agent = await application.ctx.agents.create({ cwd: application.folder })
  const { questions } = application.ctx
  questions.attach()
  mcp.attachChat(() => agent)
  const ask = async () => {
    const giveUp = new AbortController()
    const stop = questions.onDidChange(() => {
      if (questions.pending().length > 0) giveUp.abort()
    })
    const { action } = await rig.reached[0]!.options.listener.elicit({ message: 'Again?', schema: { type: 'object', properties: {} } }, giveUp.signal)
    stop()
    return action
  }
  const actions: string[] = []
  for (let count = 0; count < 105; count++) actions.push(await ask())
  expect(actions).toEqual([...Array.from({ length: 100 }, () => 'cancel'), ...Array.from({ length: 5 }, () => 'decline')])
  expect(agent.session.events().filter(({ type }) => type === 'question/asked').length).toBe(100)
  expect(mcp.log('demo').at(-1)).toContain('It asked for values and got none: it asks more than 100 times in 60 s.')
})

it('ticks that come faster than settings are written all count', async () => {
  const rig = await setUp({
    alter: (world) => ({ ...world, settings: { ...world.settings, set: async (...given) => (await new Promise((resolve) => setImmediate(resolve)), await world.settings.set(...given)) } }),
  })
  await Promise.all(['mcp__demo__a', 'mcp__demo__b', 'mcp__demo__c'].map((tool) => rig.mcp.setTool(tool, false)))
  expect(rig.application.settings.user['mcp.disabledTools']).toEqual({ [rig.application.folder]: ['mcp__demo__a', 'mcp__demo__b', 'mcp__demo__c'] })
})

it('a resource that does not come has the time of a call', async () => {
  const rig = await setUp({ parts: { readResource: (_uri, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })) } })
  await rig.configure({ demo: { command: 'x', toolCallTimeoutMs: 100 } })
  await expect(rig.mcp.readResource('demo', 'demo://slow', new AbortController().signal)).rejects.toMatchObject({ code: 'MCP_TIMEOUT', message: 'The resource demo://slow of demo did not come within 100 ms.' })
})
