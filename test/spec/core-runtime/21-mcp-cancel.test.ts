import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createMcpConnector } from '../../../extension/platform/node/mcp/connector.ts'
import { startSseServer } from '../../support/mcp-http.ts'
import { codeOf, patient, programServer, withRig, type McpRig } from '../../support/mcp-rig.ts'
import { scriptServer } from '../../support/mcp-script.ts'
import { programsWith } from '../../support/programs-with.ts'
import { realClock } from '../../support/real-clock.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** Runs `check` with a server that writes every line it gets into a file, until the server has ended; gives the methods, with the id that a cancel names. */
async function heard(script: Parameters<typeof scriptServer>[0], check: (rig: McpRig) => Promise<void>): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bosun-mcp-'))
  folders.push(folder)
  const file = join(folder, 'heard')
  const { command, args } = scriptServer(script)
  await withRig({ demo: { command, args: [args[0]!, `const { appendFileSync } = require('node:fs'); process.stdin.on('data', (data) => appendFileSync(${JSON.stringify(file)}, data));${args[1]}`] } }, async (rig) => {
    await rig.until('running')
    await check(rig)
  })
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.map((line) => {
    const { id, method, params } = JSON.parse(line) as { readonly id?: number; readonly method: string; readonly params?: { readonly requestId?: number } }
    return method === 'notifications/cancelled' ? `cancelled ${params?.requestId}` : id === undefined ? method : `${id} ${method}`
  })
}

describe('what a server is told is cancelled', patient, () => {
  it('is the call that runs, once, and nothing that it has answered: neither calls of the same turn nor lists nor the handshake', async () => {
    const said = await heard({ tools: '[tool("quick"), tool("slow")]', onCall: 'if (params.name === "quick") reply({ content: [] }); else say({ method: "notifications/message", params: { level: "info", data: "at work" } })' }, async (rig) => {
      const turn = new AbortController()
      for (const _ of [1, 2]) expect(codeOf(await rig.call('quick', {}, { signal: turn.signal }))).toBe('ok')
      const slow = rig.call('slow', {}, { signal: turn.signal })
      await expect.poll(() => rig.application.ctx.mcp.log('demo').some((line) => line.endsWith('at work')), { timeout: 8_000 }).toBe(true)
      turn.abort()
      expect((await slow).isError).toBe(true)
    })
    expect(said).toEqual(['0 initialize', 'notifications/initialized', '1 tools/list', '2 tools/call', '3 tools/call', '4 tools/call', 'cancelled 4'])
  })
  it('is never the handshake, also where the server is stopped in the middle of it', async () => {
    const methods: (string | undefined)[] = []
    const server = await startSseServer({
      // Its stream opens, and never says where to write.
      intercept: ({ method }, response) => {
        methods.push(method)
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.flushHeaders()
        return true
      },
    })
    await withRig({ web: { type: 'sse', url: server.url } }, async (rig) => {
      await expect.poll(() => methods, { timeout: 8_000 }).toEqual(['GET'])
      await rig.application.ctx.mcp.stop('web')
      expect(rig.server().state).toBe('stopped')
    })
    expect(methods).toEqual(['GET'])
    await server.close()
  })
})

it.runIf(process.platform === 'linux')('a server that is stopped while its program is being started leaves none', patient, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bosun-mcp-'))
  folders.push(folder)
  const [asked, mayStart] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const starting: Promise<unknown>[] = []
  await withRig({ demo: programServer('ok', folder) }, async (rig) => {
    await asked.promise
    const stopped = rig.application.ctx.mcp.stop('demo')
    mayStart.resolve()
    await stopped
    await Promise.all(starting)
    expect([rig.server().state, await programsWith(folder)]).toEqual(['stopped', 0])
  }, {
    alter: (world) => ({
      ...world,
      mcp: createMcpConnector({
        http: world.http,
        clock: realClock,
        processes: {
          start: async (command) => {
            asked.resolve()
            await mayStart.promise
            const started = world.processes.start(command)
            starting.push(started)
            return await started
          },
        },
      }),
    }),
  })
})
