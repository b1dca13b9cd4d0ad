import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { ManualClock } from '../../support/manual-clock.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { mcpRig, patient, programServer, scriptedModel, textOf, type McpRig } from '../../support/mcp-rig.ts'
import { startHttpServer } from '../../support/mcp-http.ts'
import { programsWith } from '../../support/programs-with.ts'
import { callTools, createScriptedAdapter, sayText } from '../../support/scripted-adapter.ts'

describe('a server that nobody uses', patient, () => {
  async function resting(check: (rig: McpRig, clock: ManualClock) => Promise<void>, servers: Readonly<Record<string, unknown>> = { demo: { ...programServer('ok'), toolCallTimeoutMs: 100 * 60_000 } }): Promise<void> {
    const clock = createManualClock()
    const rig = await mcpRig(servers, { settings: { 'mcp.idleMinutes': 5 }, alter: (world) => ({ ...world, clock }) })
    try {
      await rig.until('running')
      await check(rig, clock)
    } finally {
      await rig.dispose()
    }
  }
  it('is stopped after the minutes of the setting, keeps its tools, and is started by the next call', () =>
    resting(async (rig, clock) => {
      clock.advance(5 * 60_000 - 1)
      expect(rig.server().state).toBe('running')
      clock.advance(1)
      expect([rig.server().state, rig.server().tools.length > 0]).toEqual(['idle', true])
      expect(textOf(await rig.call('look'))).toBe('seen')
      expect(rig.server().state).toBe('running')
    }))
  it('counts from its last call, and never while one runs', () =>
    resting(async (rig, clock) => {
      clock.advance(4 * 60_000)
      await rig.call('look')
      clock.advance(4 * 60_000)
      expect(rig.server().state).toBe('running')
      const controller = new AbortController()
      const begun = Promise.withResolvers<void>()
      const running = rig.call('hold', {}, { signal: controller.signal, onProgress: () => begun.resolve() })
      await begun.promise
      clock.advance(60 * 60_000)
      expect(rig.server().state).toBe('running')
      controller.abort()
      await running
      clock.advance(5 * 60_000 - 1)
      expect(rig.server().state).toBe('running')
      clock.advance(1)
      expect(rig.server().state).toBe('idle')
    }))
  it('is started by a resource or a prompt too', () =>
    resting(async (rig, clock) => {
      clock.advance(5 * 60_000)
      expect(await rig.application.ctx.mcp.readResource('demo', 'demo://notes', new AbortController().signal)).toMatchObject([{ text: 'remember the milk' }])
      expect(rig.server().state).toBe('running')
    }))
  it('is left alone where it costs nothing: elsewhere', async () => {
    const server = await startHttpServer()
    await resting(async (rig, clock) => {
      clock.advance(60 * 60_000)
      expect(rig.server().state).toBe('running')
      expect(textOf(await rig.call('look'))).toBe('seen')
    }, { web: { url: server.url } })
    await server.close()
  })
})

it.runIf(process.platform === 'linux')('a host that is killed leaves no server, nor what the server started', patient, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bosun-kill-mcp-'))
  const file = join(folder, 'pid')
  const host = spawn(process.execPath, [fileURLToPath(new URL('../../support/kill-mcp.ts', import.meta.url)), file], { stdio: ['pipe', 'pipe', 'inherit'] })
  await new Promise((resolve) => host.stdout.once('data', resolve))
  // The host has the word among its own too.
  expect(await programsWith(file)).toBe(3)
  host.stdin.write('die\n')
  const signal = await new Promise((resolve) => host.once('exit', (_code, by) => resolve(by)))
  expect(signal).toBe('SIGKILL')
  await expect.poll(() => programsWith(file)).toBe(0)
  await rm(folder, { recursive: true })
})

describe('a server without which nothing begins', patient, () => {
  const turn = async (entry: object) => {
    const adapter = createScriptedAdapter([sayText('Done.')])
    const rig = await mcpRig({ demo: { reconnect: { enabled: false }, ...entry } }, { adapters: [adapter], settings: scriptedModel })
    try {
      rig.agent.followup({ id: 'p1', role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
      await rig.agent.whenIdle()
      const end = rig.agent.session.events().findLast(({ type }) => type === 'turn/end')
      return [adapter.requests.length, end?.type === 'turn/end' ? end.data.reason : null]
    } finally {
      await rig.dispose()
    }
  }
  it('ends the turn with its reason when it does not start', async () =>
    expect(await turn({ ...programServer('fail'), failOnStartupError: true })).toEqual([0, { kind: 'error', failure: { code: 'UNKNOWN', message: expect.stringMatching(/The MCP server demo does not run, and its entry says that nothing begins without it\. It ended with exit code 7\..* You can start it with “\/mcp restart demo”/) as string } }]))
  it('is waited for', async () => expect(await turn({ ...programServer('ok'), failOnStartupError: true })).toEqual([1, { kind: 'completed' }]))
  it('is not what others are', async () => expect(await turn(programServer('fail'))).toEqual([1, { kind: 'completed' }]))
})

describe('before there is a session', patient, () => {
  it.each([
    ['pointing at something', (rig: McpRig) => rig.application.ctx.references.candidates('', { cwd: rig.application.folder, signal: new AbortController().signal }, () => {})],
    ['looking at the commands', (rig: McpRig) => rig.application.ctx.commands.list(null)],
  ] as const)('%s starts the servers that may run', async (_name, look) => {
    const rig = await mcpRig({ demo: programServer('ok') }, { hasNoSession: true })
    expect(rig.application.ctx.mcp.report().servers).toEqual([])
    await look(rig)
    await rig.until('running')
    await rig.dispose()
  })
})

it('what a call tells of its progress is the live line of its card', patient, async () => {
  const adapter = createScriptedAdapter([callTools({ id: 'c1', name: 'mcp__demo__steps', args: {} }), sayText('Done.')])
  const rig = await mcpRig({ demo: programServer('ok') }, { adapters: [adapter], settings: scriptedModel })
  await rig.until('running')
  const heard: string[] = []
  rig.application.ctx.on('agent/progress', ({ callId, progress }) => heard.push(`${callId}: ${progress}`))
  rig.agent.followup({ id: 'p1', role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
  await rig.agent.whenIdle()
  expect(heard).toContain('c1: 50 % half way\n')
  await rig.dispose()
})

describe('pictures of a result', patient, () => {
  it.each([
    ['are shown to a model that takes them', ['text', 'image'], 'picture', ['text', 'image']],
    ['are told to one that does not', ['text'], 'picture', ['text']],
    ['are all told where one of them is none', ['text', 'image'], 'pictures', ['text']],
  ] as const)('%s', async (_name, input, tool, kinds) => {
    const rig = await mcpRig({ demo: programServer('ok') }, { adapters: [createScriptedAdapter([], { model: { input: [...input] } })], settings: scriptedModel })
    await rig.until('running')
    const { content } = await rig.call(tool)
    expect(content.map(({ type }) => type)).toEqual(kinds)
    await rig.dispose()
  })
})
