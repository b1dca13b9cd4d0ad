import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { codeOf, patient, programServer, textOf, withRig, type McpRig } from '../../support/mcp-rig.ts'
import { scriptServer } from '../../support/mcp-script.ts'
import { memorySecrets } from '../../support/memory-secrets.ts'

/* Chapter 21: servers and files that mean no good, and people who are in a hurry. */

describe('what the person let run', patient, () => {
  it('waits again when the file puts something else in the place of an input, or makes a secret of it none', () =>
    withRig({}, async (rig) => {
      const { mcp } = rig.application.ctx
      const { command } = programServer('ok')
      const write = async (input: object) => {
        await mkdir(join(rig.application.folder, '.vscode'), { recursive: true })
        await writeFile(join(rig.application.folder, '.vscode/mcp.json'), JSON.stringify({ servers: { tool: { command, args: ['-e', '${input:script}'] } }, inputs: [{ id: 'script', ...input }] }))
        await mcp.reread()
        return rig.server('tool').state
      }
      expect(await write({ default: 'harmless()', password: true })).toBe('waits')
      await mcp.allow(['tool'])
      expect(rig.server('tool').state).not.toBe('waits')
      expect(await write({ default: 'harmful()', password: true })).toBe('waits')
      await write({ default: 'harmless()', password: true })
      expect(rig.server('tool').state).not.toBe('waits')
      expect(await write({ default: 'harmless()' })).toBe('waits')
    }))
})

describe('what was given in confidence', patient, () => {
  const secret = 'hunter2-hunter2'
  const given = async (rig: McpRig) => {
    await rig.until('needs-input')
    await rig.application.ctx.mcp.giveInput('demo', 'word', secret)
    await rig.until('running')
    return rig
  }
  const traces = (rig: McpRig) => JSON.stringify([rig.agent.session.events(), rig.application.ctx.mcp.log('demo'), rig.application.ctx.mcp.report(), rig.application.logger])
  it('is not told to a model by the last words of a server that ends while it is called', () =>
    withRig({ demo: { ...scriptServer({ onCall: 'console.error("error: no luck with " + process.env.WORD); process.exit(3)' }), env: { WORD: '${input:word}' } } }, async (rig) => {
      const result = await (await given(rig)).call('work')
      expect([codeOf(result), textOf(result)]).toEqual(['MCP_CLOSED', expect.stringMatching(/It ended with exit code 3\. Its last words: “error: no luck with \[left out\]”/)])
      expect([JSON.stringify(result).includes(secret), traces(rig).includes(secret)]).toEqual([false, false])
    }, { alter: (world) => ({ ...world, secrets: memorySecrets() }) }))
  it('is not told to a model by a tool that fails with it, nor by the words of the protocol', () =>
    withRig({ demo: { ...scriptServer({ tools: '[tool("work"), tool("refuse")]', onCall: 'const text = "refused: " + process.env.WORD; if (params.name === "work") reply({ isError: true, content: [{ type: "text", text }] }); else say({ id, error: { code: -32000, message: text } })' }), env: { WORD: '${input:word}' } } }, async (rig) => {
      await given(rig)
      for (const tool of ['work', 'refuse']) {
        const result = await rig.call(tool)
        expect([tool, result.isError, textOf(result)]).toEqual([tool, true, expect.stringContaining('refused: [left out]')])
        expect(JSON.stringify(result)).not.toContain(secret)
      }
    }, { alter: (world) => ({ ...world, secrets: memorySecrets() }) }))
  it('is not told to a model as a part of an address that cannot be reached any more', async () => {
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (piece: Buffer) => (body += piece.toString()))
      request.on('end', () => {
        if (request.method !== 'POST') return void response.writeHead(405).end()
        const { id, method, params } = JSON.parse(body) as { readonly id?: number; readonly method: string; readonly params?: { readonly protocolVersion?: string } }
        const result = method === 'initialize' ? { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'web', version: '1' } } : { tools: [{ name: 'work', inputSchema: { type: 'object' } }] }
        if (id === undefined) return void response.writeHead(202).end()
        response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await withRig({ demo: { url: `http://127.0.0.1:${port}/mcp?key=\${input:word}` } }, async (rig) => {
      await given(rig)
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      const result = await rig.call('work')
      expect([codeOf(result), textOf(result)]).toEqual(['MCP_CLOSED', expect.stringMatching(/mcp\?key=\[left out\] cannot be reached/)])
      expect([JSON.stringify(result).includes(secret), traces(rig).includes(secret)]).toEqual([false, false])
    }, { alter: (world) => ({ ...world, secrets: memorySecrets() }) })
  })
})

describe('in a hurry', patient, () => {
  it('a server is started again several times at once, and runs once', () =>
    withRig({ demo: programServer('ok') }, async (rig) => {
      await rig.until('running')
      const { mcp } = rig.application.ctx
      await Promise.all([mcp.restart('demo'), mcp.restart('demo'), mcp.restart('demo')])
      expect(rig.server().state).toBe('running')
      expect(textOf(await rig.call('look'))).toBe('seen')
    }))
  it('what is asked last counts: started again and stopped, it does not run', () =>
    withRig({ demo: programServer('ok') }, async (rig) => {
      await rig.until('running')
      const { mcp } = rig.application.ctx
      await Promise.all([mcp.restart('demo'), mcp.stop('demo')])
      expect(rig.server().state).toBe('stopped')
    }))
  it('a server that is taken away while it is started again is not started', () => {
    let starts = 0
    const closing = Promise.withResolvers<void>()
    const isAsked = Promise.withResolvers<void>()
    return withRig({ demo: programServer('ok') }, async (rig) => {
      await rig.until('running')
      const restarting = rig.application.ctx.mcp.restart('demo')
      await isAsked.promise
      await rig.application.settings.set('mcp.servers', {}, 'user')
      await rig.application.ctx.mcp.reread()
      closing.resolve()
      await restarting
      expect([starts, rig.application.ctx.mcp.report().servers]).toEqual([1, []])
    }, {
      alter: (world) => ({
        ...world,
        mcp: {
          ...world.mcp,
          async connect(...args) {
            starts += 1
            const connection = await world.mcp.connect(...args)
            return {
              ...connection,
              async close() {
                isAsked.resolve()
                await closing.promise
                await connection.close()
              },
            }
          },
        },
      }),
    })
  })
})

describe('a server that', patient, () => {
  const odd: readonly (readonly [string, Parameters<typeof scriptServer>[0], (rig: McpRig) => Promise<void>])[] = [
    ['lists more tools than a list may have leaves none, and says why', { tools: 'Array.from({ length: 5000 }, (_, index) => tool("t" + index))' }, async (rig) => {
      expect((await rig.until('running')).problem).toBe('Its tools could not be listed: Its list of tools has more than 1000 entries.')
    }],
    ['names tools and arguments as the language names its own parts has them called', { tools: '[tool("__proto__"), tool("constructor"), tool("work", { inputSchema: JSON.parse(\'{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"required":["constructor","toString"]}\') })]', onCall: 'reply({ content: [{ type: "text", text: params.name + JSON.stringify(params.arguments) }] })' }, async (rig) => {
      await rig.until('running')
      expect([textOf(await rig.call('__proto__')), textOf(await rig.call('constructor')), textOf(await rig.call('work', { constructor: 'x' }))]).toEqual(['__proto__{}', 'constructor{}', 'work{"constructor":"x"}'])
      expect(Object.keys(Object.prototype)).toEqual([])
    }],
    ['has schemas that refer to themselves in circles has its tools called', { tools: '[tool("work", { inputSchema: { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }, outputSchema: { type: "object", properties: { a: { $ref: "#" } } } })]', onCall: 'reply({ content: [{ type: "text", text: "worked" }], structuredContent: { a: { a: {} } } })' }, async (rig) => {
      await rig.until('running')
      expect(textOf(await rig.call('work', { a: 1 }))).toBe('worked')
    }],
    ['has a schema of 8 MB stays, with its other tools', { tools: '[tool("work"), tool("wide", { inputSchema: { type: "object", properties: Object.fromEntries(Array.from({ length: 60000 }, (_, index) => ["p" + index, { type: "string", description: "x".repeat(100) }])) } })]' }, async (rig) => {
      await rig.until('running')
      expect(textOf(await rig.call('work'))).toBe('worked')
    }],
    ['gives halves of characters is heard with what can be written', { onCall: 'process.stdout.write(\'{"jsonrpc":"2.0","id":\' + id + \',"result":{"content":[{"type":"text","text":"a\\\\ud800b"}]}}\\n\')' }, async (rig) => {
      await rig.until('running')
      expect(textOf(await rig.call('work'))).toBe('a\u{fffd}b')
    }],
    ['gives a value of 50 000 floors is heard, as much of it as a result may have', { onCall: 'process.stdout.write(\'{"jsonrpc":"2.0","id":\' + id + \',"result":{"content":[],"structuredContent":{"a":\' + "[".repeat(50000) + "]".repeat(50000) + \'}}}\\n\')' }, async (rig) => {
      await rig.until('running')
      const result = await rig.call('work')
      expect([codeOf(result), textOf(result).length <= 50_000, rig.server().state]).toEqual(['ok', true, 'running'])
    }],
  ]
  it.each(odd)('%s', (_name, script, check) => withRig({ demo: { ...scriptServer(script), toolCallTimeoutMs: 10_000 } }, check))
})
