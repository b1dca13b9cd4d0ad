import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callTools, createScriptedAdapter, sayText } from '../../support/scripted-adapter.ts'
import { codeOf, mcpRig, patient, programServer, scriptedModel, textOf, type McpRig } from '../../support/mcp-rig.ts'

describe('tools of the library’s own server', patient, () => {
  let rig: McpRig
  beforeAll(async () => {
    rig = await mcpRig({ demo: { ...programServer('ok'), env: { SAID_TOKEN: 'given' } } })
    await rig.until('running')
  }, 60_000)
  afterAll(() => rig.dispose())

  it('are named after their server, and shown to a preset that takes them', () => {
    const names = rig.application.ctx.tools.schemas(rig.agent.scope).map(({ name }) => name)
    expect(names).toContain('mcp__demo__echo')
    expect(names).toContain('read')
  })
  it('are not shown where a preset takes none', async () => {
    const asker = await rig.application.ctx.agents.create({ cwd: rig.application.folder, preset: 'ask' })
    expect(rig.application.ctx.tools.schemas(asker.scope).filter(({ name }) => name.startsWith('mcp__'))).toEqual([])
  })
  it('declare what the server says of them', () => {
    const echo = rig.application.ctx.tools.schemas(rig.agent.scope).find(({ name }) => name === 'mcp__demo__echo')
    expect(echo).toMatchObject({ description: 'Repeat a text.', parameters: { type: 'object', properties: { text: { type: 'string', description: 'What to repeat.' } }, required: ['text'] } })
  })
  it('return content and, where declared, a structured value', async () => {
    expect(await rig.call('echo', { text: 'hi' })).toMatchObject({ isError: false, value: { content: [{ type: 'text', text: 'echo: hi' }] }, content: [{ type: 'text', text: 'echo: hi' }] })
    expect(await rig.call('sum', { a: 1, b: 2 })).toMatchObject({ value: { structuredContent: { sum: 3 } } })
  })
  it('fail as the server says they failed', async () => {
    const result = await rig.call('fail')
    expect([codeOf(result), textOf(result)]).toEqual(['MCP_TOOL_FAILED', 'Error: the disk is full'])
  })
  it('get {} in the place of arguments that are no object', async () => expect(textOf(await rig.call('look', 'words'))).toBe('seen'))
  it('tell the server’s refusal of bad arguments', async () => expect(textOf(await rig.call('echo', { text: 4 }))).toMatch(/text/))
  it('tell sounds and resources in words, and pictures too where the model takes none', async () => {
    expect(textOf(await rig.call('mixed'))).toBe('[A sound, audio/wav, 3 bytes, which cannot be shown here.]\n[The resource demo://inner]\ninner words\n[The resource far at demo://far]')
    expect(textOf(await rig.call('picture'))).toMatch(/^here\n\[An image, image\/png, \d+ bytes, which cannot be shown here\.\]$/)
  })
  it('have long results kept whole and cut before the model', async () => {
    const text = textOf(await rig.call('long'))
    expect(text.length).toBeLessThan(51_000)
    expect(text).toMatch(/bytes in the middle are left out/)
  })
  it('see no secret of the host, but what they are given', async () => {
    process.env['MCP_TEST_SECRET'] = 'hidden'
    const { SAID_TOKEN, MCP_TEST_SECRET } = JSON.parse(textOf(await rig.call('env'))) as Record<string, string | undefined>
    expect([SAID_TOKEN, MCP_TEST_SECRET]).toEqual(['given', undefined])
    delete process.env['MCP_TEST_SECRET']
  })
  it('report their progress into the card', async () => {
    const heard: string[] = []
    await rig.call('steps', {}, { onProgress: (text) => heard.push(text) })
    expect(heard).toEqual(['50 % half way\n'])
  })
  it('get no model of ours', async () => expect(textOf(await rig.call('sample'))).toMatch(/^refused: .*Method not found/))
  it('may ask nothing of a person who is not there', async () => expect(textOf(await rig.call('ask'))).toMatch(/cancel|decline/))
  it('run alone until the person takes the server’s word for what only reads', async () => {
    const { tools, mcp } = rig.application.ctx
    const mode = (name: string) => tools.executionMode({ name, arguments: {}, agent: rig.agent })
    expect(mode('mcp__demo__look')).toBe('exclusive')
    await mcp.setTrusted('demo', true)
    expect([mode('mcp__demo__look'), mode('mcp__demo__fail')]).toEqual(['parallel', 'exclusive'])
    await mcp.setTrusted('demo', false)
    expect(mode('mcp__demo__look')).toBe('exclusive')
  })
  it('can be turned off one by one', async () => {
    const shown = () => rig.application.ctx.tools.schemas(rig.agent.scope).some(({ name }) => name === 'mcp__demo__look')
    await rig.application.ctx.mcp.setTool('mcp__demo__look', false)
    expect([shown(), rig.server().tools.find(({ raw }) => raw === 'look')?.isOn]).toEqual([false, false])
    await rig.application.ctx.mcp.setTool('mcp__demo__look', true)
    expect(shown()).toBe(true)
  })
  it('join when the server says that its list changed', async () => {
    await rig.call('grow')
    await expect.poll(() => rig.server().tools.map(({ raw }) => raw)).toContain('late')
    expect(textOf(await rig.call('late'))).toBe('late')
  })
  it('end with the caller’s cancel, and the server goes on', async () => {
    const controller = new AbortController()
    const running = rig.call('hang', {}, { signal: controller.signal })
    setTimeout(() => controller.abort(), 100)
    expect((await running).isError).toBe(true)
    expect(textOf(await rig.call('echo', { text: 'still' }))).toBe('echo: still')
  })
})

describe('policy', patient, () => {
  it.each([
    ['look', undefined, [], 'seen'],
    ['echo', { outcome: 'allowed-once' }, ['approval/asked', 'approval/decided'], 'echo: x'],
    ['echo', { outcome: 'rejected' }, ['approval/asked', 'approval/decided'], null],
  ] as const)('asks about each tool unless a rule allows it: %s, %o', async (tool, answer, asks, text) => {
    const adapter = createScriptedAdapter([callTools({ id: 'c1', name: `mcp__demo__${tool}`, args: { text: 'x' } }), sayText('Done.')])
    const rig = await mcpRig({ demo: programServer('ok') }, { settings: { ...scriptedModel, 'permissions.defaultPreset': 'workspace-write', 'permissions.rules': [{ tool: 'mcp__demo__look', decision: 'allow' }] } })
    try {
      await rig.until('running')
      rig.application.ctx.models.register(adapter)
      const asked: string[] = []
      rig.application.ctx.on('approval/request', ({ toolName }) => {
        asked.push(toolName)
        return Promise.resolve(answer ?? { outcome: 'rejected' as const })
      })
      rig.agent.followup({ id: 'p1', role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
      await rig.agent.whenIdle()
      const events = rig.agent.session.events()
      const result = events.find((event) => event.type === 'tool/result')
      const [block] = result?.type === 'tool/result' ? result.data.message.content : []
      expect([asked, events.map(({ type }) => type).filter((type) => type === 'approval/asked' || type === 'approval/decided')]).toEqual([asks.length > 0 ? [`mcp__demo__${tool}`] : [], asks])
      expect([block?.isError, block?.content]).toEqual(text === null ? [true, expect.anything()] : [false, [{ type: 'text', text }]])
    } finally {
      await rig.dispose()
    }
  })
})

describe('servers that speak badly', patient, () => {
  const withServer = async (style: string, check: (rig: McpRig) => Promise<void> | void) => {
    const rig = await mcpRig({ raw: programServer('raw', style) })
    try {
      await rig.until('running')
      await check(rig)
    } finally {
      await rig.dispose()
    }
  }
  const toolNames = (rig: McpRig) => rig.server().tools.map(({ name }) => name)

  it('a name twice rejects the list', () =>
    withServer('twice', (rig) => {
      expect([toolNames(rig), rig.server().problem]).toEqual([[], 'It lists the tool “one” twice, so its list is not taken over.'])
    }))
  it('a value that its schema does not allow fails the call', () => withServer('lies', async (rig) => expect(codeOf(await rig.call('lie'))).toBe('INVALID_TOOL_OUTPUT')))
  it('schemas that Bosun has no words for are told as far as they can be, and not enforced', () =>
    withServer('odd-schema', async (rig) => {
      expect(rig.application.ctx.tools.get('mcp__raw__odd')?.parameters).toEqual({
        type: 'object',
        properties: {
          tree: { type: 'object', properties: { child: {}, size: { description: '(minimum: 1)', oneOf: [{ type: 'integer', description: '(minimum: 1)' }, { type: 'null', description: '(minimum: 1)' }] } } },
          when: { type: 'string', description: '(format: date)' },
          either: { oneOf: [{ type: 'string' }, { type: 'number' }] },
        },
        required: ['tree'],
      })
      expect(codeOf(await rig.call('odd'))).toBe('ok')
    }))
  it('a message of 100 MB ends the conversation, not the window', () =>
    withServer('flood', async (rig) => {
      const result = await rig.call('work')
      expect([codeOf(result), textOf(result)]).toEqual(['MCP_CLOSED', 'Error: It sent a message of more than 10 MB.'])
      await rig.until('running')
    }))
  it('answers that nobody asked for and lines that are no message change nothing', () =>
    withServer('stranger', async (rig) => {
      expect(textOf(await rig.call('work'))).toBe('called work')
      expect(rig.application.ctx.mcp.log('raw').join('\n')).toMatch(/Not a message of the protocol: this is no message/)
    }))
  it('every page of a list is read', () => withServer('pages', (rig) => expect(toolNames(rig)).toEqual([0, 1, 2, 3, 4].map((page) => `mcp__raw__page-${page}`))))
  it('a list without an end is refused', () => withServer('circle', (rig) => expect(rig.server().problem).toMatch(/comes back to a page/)))
  it('a tool that needs to be a task is listed with its reason and not offered', () =>
    withServer('task', async (rig) => {
      expect(rig.server().tools.map(({ raw, problem }) => [raw, problem === null])).toEqual([['later', false], ['now', true]])
      expect(codeOf(await rig.call('later'))).toBe('UNKNOWN_TOOL')
    }))
  it('names that are lossy or too long get a suffix of twelve hex digits, and the wire sees the raw name', () =>
    withServer('names', async (rig) => {
      const names = toolNames(rig)
      expect(names.slice(0, 2)).toEqual([expect.stringMatching(/^mcp__raw__with_space_[0-9a-f]{12}$/), expect.stringMatching(/^mcp__raw__with_space_[0-9a-f]{12}$/)])
      expect([new Set(names).size, names.every((name) => /^[\w-]{1,64}$/.test(name))]).toEqual([3, true])
      expect(textOf(await rig.call(names[1]!.slice('mcp__raw__'.length)))).toBe('called with.space')
    }))
  it('a list that changes while a call runs disturbs neither', () =>
    withServer('slow', async (rig) => {
      expect(textOf(await rig.call('work'))).toBe('worked')
      await expect.poll(() => toolNames(rig)).toEqual(['mcp__raw__work', 'mcp__raw__more'])
    }))
  it('a call has the time that its server is given', async () => {
    const rig = await mcpRig({ demo: { ...programServer('ok'), toolCallTimeoutMs: 200 } })
    await rig.until('running')
    const result = await rig.call('hang')
    expect([codeOf(result), textOf(result)]).toEqual(['TOOL_TIMEOUT', expect.stringMatching(/within 200 ms/)])
    await rig.dispose()
  })
})
