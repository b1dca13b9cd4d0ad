import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { createTestServer } from './mcp-server.ts'

/*
 * An MCP server as a program, for tests.
 *
 * Usage: `node mcp-program.ts MODE`
 *   ok              the library's own server
 *   child FILE      the same, having started a program of its own that has FILE among its words; FILE is made once it runs
 *   mute            never answers
 *   fail            ends at once, with words on the standard error
 *   fail-once FILE  the same, unless the file is there, which it makes before it ends
 *   stubborn FILE   the library's own server, which does not go when it is told to, nor when nobody hears it any more; FILE is made once it serves
 *   raw STYLE       speaks the protocol by hand, and badly:
 *     twice         lists one tool twice
 *     lies          returns what its output schema does not allow
 *     odd-schema    has schemas that Bosun has no words for
 *     flood         answers a call with a line of 100 MB
 *     stranger      answers ids that nobody asked, and says what is no message
 *     pages         lists five tools on five pages
 *     circle        lists pages without an end
 *     task          has a tool that can only be run as a task
 *     names         has tools whose names are not as Bosun’s
 *     slow          tells that its list changed while a call runs, and takes its time with both
 */
const [mode = 'ok', detail = ''] = process.argv.slice(2)

if (mode === 'fail' || (mode === 'fail-once' && !existsSync(detail))) {
  if (mode === 'fail-once') writeFileSync(detail, '')
  process.stderr.write('reading the licence\nno licence found\n')
  process.exit(7)
}
if (mode === 'stubborn') {
  process.on('SIGTERM', () => {})
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  setInterval(() => {}, 1_000)
}
if (mode === 'child') {
  spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', detail], { stdio: 'ignore' })
  writeFileSync(detail, '')
}
if (mode === 'mute') process.stdin.resume()
else if (mode === 'raw') speakByHand()
else {
  process.stderr.write('ready to serve\n')
  await createTestServer().connect(new StdioServerTransport())
  if (mode === 'stubborn' && detail !== '') writeFileSync(detail, '')
}

function speakByHand(): void {
  const say = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const tool = (name: string, more: object = {}) => ({ name, description: `The tool ${name}.`, inputSchema: { type: 'object', properties: {} }, ...more })
  let lists = 0
  const toolsOf = (cursor: string | undefined): object => {
    switch (detail) {
      case 'twice':
        return { tools: [tool('one'), tool('one')] }
      case 'lies':
        return { tools: [tool('lie', { outputSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] } })] }
      case 'odd-schema':
        return {
          tools: [
            tool('odd', {
              inputSchema: {
                $schema: 'https://json-schema.org/draft/2020-12/schema',
                type: 'object',
                $defs: { tree: { type: 'object', properties: { child: { $ref: '#/$defs/tree' }, size: { type: ['integer', 'null'], minimum: 1 } } } },
                properties: { tree: { $ref: '#/$defs/tree' }, when: { type: 'string', format: 'date' }, either: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
                required: ['tree', 'absent'],
                additionalProperties: { type: 'string' },
              },
              outputSchema: { type: 'object', properties: { x: { type: 'string', pattern: '^a' } } },
            }),
          ],
        }
      case 'pages': {
        const page = Number(cursor ?? 0)
        return { tools: [tool(`page-${page}`)], ...(page < 4 && { nextCursor: String(page + 1) }) }
      }
      case 'circle':
        return { tools: [tool(`again-${lists}`)], nextCursor: 'again' }
      case 'task':
        return { tools: [tool('later', { execution: { taskSupport: 'required' } }), tool('now')] }
      case 'names':
        return { tools: [tool('with space'), tool('with.space'), tool('x'.repeat(90))] }
      case 'slow':
        return { tools: [tool('work'), ...(lists > 1 ? [tool('more')] : [])] }
      default:
        return { tools: [tool('work')] }
    }
  }
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line) as { readonly id?: number; readonly method?: string; readonly params?: { readonly cursor?: string; readonly protocolVersion?: string; readonly name?: string } }
    if (detail === 'stranger') {
      process.stdout.write('this is no message\n')
      say({ id: 4_711, result: { content: [] } })
    }
    switch (method) {
      case 'initialize':
        return say({ id, result: { protocolVersion: params?.protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'raw', version: '1' } } })
      case 'tools/list':
        lists += 1
        return say({ id, result: toolsOf(params?.cursor) })
      case undefined:
        return
      case 'tools/call': {
        if (detail === 'lies') return say({ id, result: { content: [{ type: 'text', text: 'many' }], structuredContent: { count: 'many' } } })
        if (detail === 'flood') {
          const piece = Buffer.alloc(1024 * 1024, 120)
          for (let piecesLeft = 100; piecesLeft > 0; piecesLeft--) process.stdout.write(piece)
          return
        }
        if (detail === 'slow') {
          say({ method: 'notifications/tools/list_changed' })
          return setTimeout(() => say({ id, result: { content: [{ type: 'text', text: 'worked' }] } }), 400)
        }
        return say({ id, result: { content: [{ type: 'text', text: `called ${params?.name}` }] } })
      }
    }
  })
}
