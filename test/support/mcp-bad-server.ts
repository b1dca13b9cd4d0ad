import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { stdin, stdout } from 'node:process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** What a server does wrong. */
export const badStyles = ['mute', 'hangs', 'deaf', 'crashes', 'lies', 'babbles', 'floods', 'notifies', 'repeats', 'pages', 'restless'] as const
export type BadStyle = (typeof badStyles)[number]

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly cursor?: string; readonly protocolVersion?: string; readonly _meta?: { readonly progressToken?: string | number } }
}

/** How a server speaks over its transport. */
interface Voice {
  /** A message. */
  readonly say: (message: object) => void
  /** What is no message, as a line or an event. */
  readonly babble: (text: string) => void
  /** The beginning of one that does not end. */
  readonly pour: (piece: Buffer) => void
  readonly die: () => void
  /** Read nothing any more. */
  readonly deafen: () => void
}

let lists = 0
/** Over HTTP, until somebody shakes hands anew. */
let isDeaf = false

/** Answer one message, badly. */
function answer(style: BadStyle, { id, method, params }: Message, { say, babble, pour, die, deafen }: Voice): void {
  const reply = (result: object) => say({ id, result })
  const note = (name: string, about: object = {}) => say({ method: `notifications/${name}`, params: about })
  const tool = (name: string, more: object = {}) => ({ name, description: `The tool ${name}.`, inputSchema: { type: 'object', properties: {} }, ...more })
  if (method === 'initialize') isDeaf = false
  if (style === 'mute' || isDeaf) return
  if (style === 'babbles') {
    babble('this is no message')
    babble('{"jsonrpc":"2.0"}')
    say({ id: 4_711, result: {} })
  }
  if (method === 'initialize') return reply({ protocolVersion: params?.protocolVersion, capabilities: { tools: { listChanged: true }, logging: {} }, serverInfo: { name: style, version: '1' } })
  if (method === 'ping') return reply({})
  if (method === 'tools/list') {
    lists += 1
    // Each list is another one, and none is the last.
    if (style === 'restless') note('tools/list_changed')
    if (style === 'repeats') return reply({ tools: [tool('work'), tool('work')] })
    if (style === 'pages') return reply({ tools: [tool(`work-${lists}`)], nextCursor: `page-${lists}` })
    if (style === 'lies') return reply({ tools: [tool('work', { outputSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] } })] })
    return reply({ tools: [tool('work'), ...(style === 'restless' ? [tool(`list-${lists}`)] : [])] })
  }
  if (method !== 'tools/call' || style === 'hangs') return
  if (style === 'deaf') {
    isDeaf = true
    return deafen()
  }
  if (style === 'crashes') return die()
  if (style === 'floods') {
    const piece = Buffer.alloc(1024 * 1024, 120)
    for (let piecesLeft = 100; piecesLeft > 0; piecesLeft--) pour(piece)
    return
  }
  if (style === 'notifies') {
    for (let count = 1; count <= 5_000; count++) {
      note('message', { level: 'info', data: `line ${count}` })
      note('progress', { progressToken: params?._meta?.progressToken, progress: count })
      note('of-its-own', { count })
    }
  }
  if (style === 'lies') return reply({ content: [{ type: 'text', text: 'many' }], structuredContent: { count: 'many' } })
  reply({ content: [{ type: 'text', text: 'worked' }] })
}

const messageText = (message: object) => JSON.stringify({ jsonrpc: '2.0', ...message })

/** Such a server as an entry of the configuration. */
export const badProgram = (style: BadStyle) => ({ command: process.execPath, args: [fileURLToPath(import.meta.url), style] })

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const style = process.argv[2] as BadStyle
  const voice: Voice = { say: (message) => stdout.write(`${messageText(message)}\n`), babble: (text) => stdout.write(`${text}\n`), pour: (piece) => stdout.write(piece), die: () => process.exit(3), deafen: () => stdin.pause() }
  // It stays, as one does that has other work.
  if (style === 'deaf') setInterval(() => {}, 1_000)
  createInterface({ input: stdin }).on('line', (line) => answer(style, JSON.parse(line) as Message, voice))
}

export interface BadHttpServer {
  readonly url: string
  readonly lists: () => number
  close(): Promise<void>
}

/** Such a server over HTTP, in this process. */
export async function startBadServer(style: BadStyle, transport: 'http' | 'sse'): Promise<BadHttpServer> {
  lists = 0
  let stream: ServerResponse | null = null
  const server = createServer((request, response) => {
    const open = () => response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    if (request.method === 'GET' && transport === 'http') return void response.writeHead(405).end()
    if (request.method === 'GET') {
      stream = open()
      return void response.write('event: endpoint\ndata: /messages\n\n')
    }
    if (request.method !== 'POST') return void response.writeHead(200).end()
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      const message = JSON.parse(body) as Message
      const die = () => {
        server.close()
        server.closeAllConnections()
      }
      if (transport === 'sse') response.writeHead(202).end()
      else if (message.id === undefined) return void response.writeHead(202).end()
      else if (style !== 'mute') open().flushHeaders()
      const to = transport === 'sse' ? stream : response
      if (to === null || style === 'mute') return
      let hasBegun = false
      answer(style, message, {
        say: (said) => {
          to.write(`data: ${messageText(said)}\n\n`)
          if (transport === 'http' && 'id' in said && said.id === message.id) to.end()
        },
        babble: (text) => to.write(`data: ${text}\n\n`),
        pour: (piece) => {
          if (!hasBegun) to.write('data: ')
          hasBegun = true
          to.write(piece)
        },
        die,
        // It takes what comes and says nothing.
        deafen: () => {},
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${transport === 'sse' ? '/sse' : '/mcp'}`,
    lists: () => lists,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
