import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { patient, programServer, textOf, withRig } from '../../support/mcp-rig.ts'

describe('what the person switches', patient, () => {
  it('off is neither offered nor run, in this workspace alone, and says so; ticks that come at once all count', () =>
    withRig({ demo: programServer('ok') }, async (rig) => {
      await rig.until('running')
      const { mcp, tools } = rig.application.ctx
      const offered = () => tools.schemas(rig.agent.scope).map(({ name }) => name)
      const isOn = (raw: string) => rig.server().tools.find((tool) => tool.raw === raw)?.isOn
      await Promise.all([mcp.setTool('mcp__demo__look', false), mcp.setTool('mcp__demo__echo', false)])
      expect([isOn('look'), isOn('echo'), isOn('sum'), offered().includes('mcp__demo__look'), offered().includes('mcp__demo__sum')]).toEqual([false, false, true, false, true])
      expect(textOf(await rig.call('look'))).toBe('Error: The person switched mcp__demo__look off. Go on without it; they can switch it on in the view MCP Servers.')
      expect(rig.application.settings.user['mcp.disabledTools']).toEqual({ [rig.application.folder]: ['mcp__demo__look', 'mcp__demo__echo'] })
      await mcp.setTool('mcp__demo__look', true)
      await mcp.setTool('mcp__demo__echo', true)
      expect(rig.application.settings.user['mcp.disabledTools']).toEqual({})
      expect(textOf(await rig.call('look'))).toBe('seen')
    }))
  it('on is offered again, also when a setting turned it off everywhere', () =>
    withRig(
      { demo: programServer('ok') },
      async (rig) => {
        await rig.until('running')
        expect(rig.server().tools.find(({ raw }) => raw === 'look')).toMatchObject({ isOn: false, isOffEverywhere: true })
        await rig.application.ctx.mcp.setTool('mcp__demo__look', true)
        expect([rig.application.settings.user['tools.disabled'], textOf(await rig.call('look'))]).toEqual([['bash'], 'seen'])
      },
      { settings: { 'tools.disabled': ['bash', 'mcp__demo__look'] } },
    ))
})

describe('a tool that went', patient, () => {
  it('with its server is told with the reason', () =>
    withRig({ demo: { ...programServer('fail'), reconnect: { initialMs: 20, attempts: 1 } } }, async (rig) => {
      await rig.until('failed')
      expect(textOf(await rig.call('look'))).toMatch(/^Error: The MCP server demo, which mcp__demo__look would be of, does not run: It ended with exit code 7\..* Go on without it\.$/)
      expect(textOf(await rig.call('look', {}, { server: 'other' }))).toMatch(/There is no tool named/)
    }))
  it('with a server that nobody started yet is told with what the person can do', () =>
    withRig({ off: { ...programServer('ok'), disabled: true }, demo: programServer('ok') }, async (rig) => {
      await rig.until('running', 'demo')
      expect(textOf(await rig.call('look'))).toBe('Error: The MCP server off, which mcp__off__look would be of, does not run. The person can turn it on where it is configured. Go on without it.')
      await rig.application.ctx.mcp.stop('demo')
      expect(textOf(await rig.call('look', {}, { server: 'demo' }))).toBe('Error: The MCP server demo, which mcp__demo__look would be of, does not run. The person can start it with “/mcp restart demo”. Go on without it.')
    }))
})

describe('a server that is written down', patient, () => {
  it('in the person’s settings runs', () =>
    withRig({}, async (rig) => {
      const { command, args } = programServer('ok')
      await rig.application.ctx.mcp.add({ name: 'mine', entry: { command, args }, folder: null })
      await rig.until('running', 'mine')
      expect([rig.server('mine').file, rig.application.settings.user['mcp.servers']]).toEqual([null, { mine: { command, args } }])
    }))
  it('in the folder runs at once, beside others there that still wait for consent', () =>
    withRig({}, async (rig) => {
      const { folder, ctx } = rig.application
      const path = join(folder, '.bosun/mcp.json')
      await mkdir(join(folder, '.bosun'))
      await writeFile(path, '{\n  // theirs\n  "servers": {\n    "theirs": { "command": "x" }\n  }\n}\n')
      await ctx.mcp.add({ name: 'ours', entry: programServer('ok'), folder })
      await rig.until('running', 'ours')
      expect([rig.server('theirs').state, rig.server('theirs').file, rig.server('ours').file]).toEqual(['waits', { path, line: 11 }, { path, line: 4 }])
      expect(await readFile(path, 'utf8')).toContain('// theirs')
      // What was allowed can be taken back.
      await ctx.mcp.forget(['ours'])
      expect(rig.server('ours')).toMatchObject({ state: 'waits', tools: [] })
    }))
  it.each([
    ['a name that is none', ' ', /A name has 1 to 200 characters/],
    ['a name that is taken', 'demo', /There is an MCP server demo already/],
  ])('by %s is refused, and nothing is written', (_name, name, message) =>
    withRig({ demo: programServer('ok') }, async (rig) => {
      await rig.until('running')
      for (const folder of [null, rig.application.folder])
        await expect(rig.application.ctx.mcp.add({ name, entry: { url: 'http://127.0.0.1:9' }, folder })).rejects.toMatchObject({ code: 'MCP_CONFIGURATION', message: expect.stringMatching(message) as string })
      expect(rig.application.ctx.mcp.report().servers.length).toBe(1)
    }))
  it('where the file is not read, or cannot be added to, says what to do', () =>
    withRig({}, async (rig) => {
      const { folder, ctx, settings } = rig.application
      await mkdir(join(folder, '.bosun'))
      await writeFile(join(folder, '.bosun/mcp.json'), '{ broken')
      const add = () => ctx.mcp.add({ name: 'ours', entry: { command: 'x', args: [] }, folder })
      await expect(add()).rejects.toMatchObject({ code: 'MCP_CONFIGURATION', message: expect.stringMatching(/Mend it first/) as string })
      await settings.set('mcp.files', ['vscode'], 'user')
      await expect(add()).rejects.toMatchObject({ code: 'MCP_CONFIGURATION', message: expect.stringMatching(/is not read/) as string })
      expect(await readFile(join(folder, '.bosun/mcp.json'), 'utf8')).toBe('{ broken')
    }))
})

describe('the log of a server', patient, () => {
  it('tells what it wrote and how it stood, with times, and no secret', () =>
    withRig({ demo: { ...programServer('fail', 'x'), env: { WORD: '${input:word}', LICENCE_KEY: 'no licence found' }, reconnect: { enabled: false } } }, async (rig) => {
      await rig.until('needs-input')
      await rig.application.ctx.mcp.giveInput('demo', 'word', 'reading the licence')
      await rig.until('failed')
      const lines = rig.application.ctx.mcp.log('demo')
      expect(lines.map((line) => line.replace(/^\d\d:\d\d:\d\d /, ''))).toEqual([
        'starting',
        'needs-input: It needs word.',
        'stopped',
        'starting',
        '[left out]',
        '[left out]',
        expect.stringMatching(/^It ended with exit code 7\. Its last words: /),
        expect.stringMatching(/^failed: It ended with exit code 7\./),
      ])
      expect(JSON.stringify([lines, rig.server().reason])).not.toMatch(/licence/)
    }))
})
