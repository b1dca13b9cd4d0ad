import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTestServer } from './mcp-server.ts'

export interface HttpTestServer {
  readonly url: string
  /** Of the requests that came, in order: method and path. */
  readonly requests: readonly string[]
  /** Values of one header, in order. */
  header(name: string): readonly (string | undefined)[]
  /** Forget every conversation, as a server that was started anew. */
  forget(): void
  /** Sessions that are open. */
  openSessions(): number
  close(): Promise<void>
}

interface HttpOptions {
  /** Answers in the place of the protocol; true: it has. One that reads the body leaves it parsed at the request. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse, url: string) => boolean | Promise<boolean>
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.statusCode = 500
      response.end(String(error))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** The library's own server over streamable HTTP, on loopback. */
export async function startHttpServer({ intercept }: HttpOptions = {}): Promise<HttpTestServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const seen: IncomingMessage[] = []
  const { server, url } = await listen(async (request, response) => {
    seen.push(request)
    if ((await intercept?.(request, response, url)) === true) return
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (id !== undefined && known === undefined) {
      response.statusCode = 404
      return void response.end('no such session')
    }
    if (known !== undefined) return await known.handleRequest(request, response, bodyOf(request))
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID(), onsessioninitialized: (session) => void sessions.set(session, transport) })
    Object.assign(transport, { onclose: () => sessions.delete(transport.sessionId ?? '') })
    await createTestServer({ name: 'over http' }).connect(transport)
    await transport.handleRequest(request, response, bodyOf(request))
  })
  return { url: `${url}/mcp`, ...facts(seen), forget: () => sessions.clear(), openSessions: () => sessions.size, close: () => closed(server) }
}

/** The library's server of the transport from before 2025, which knows nothing of the newer one. */
export async function startSseServer({ intercept }: HttpOptions = {}): Promise<HttpTestServer> {
  const sessions = new Map<string, SSEServerTransport>()
  const seen: IncomingMessage[] = []
  const { server, url } = await listen(async (request, response) => {
    seen.push(request)
    if ((await intercept?.(request, response, url)) === true) return
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
    if (request.method === 'GET' && pathname === '/sse') {
      const transport = new SSEServerTransport('/messages', response)
      sessions.set(transport.sessionId, transport)
      Object.assign(transport, { onclose: () => sessions.delete(transport.sessionId) })
      return await createTestServer({ name: 'over sse' }).connect(transport)
    }
    const transport = sessions.get(searchParams.get('sessionId') ?? '')
    if (request.method === 'POST' && pathname === '/messages' && transport !== undefined) return await transport.handlePostMessage(request, response, bodyOf(request))
    response.statusCode = 405
    response.end()
  })
  return { url: `${url}/sse`, ...facts(seen), forget: () => sessions.clear(), openSessions: () => sessions.size, close: () => closed(server) }
}

const bodyOf = (request: IncomingMessage): unknown => ('body' in request ? request.body : undefined)

const facts = (seen: readonly IncomingMessage[]) => ({
  get requests() {
    return seen.map(({ method, url }) => `${method} ${url}`)
  },
  header: (name: string) => seen.map(({ headers }) => headers[name] as string | undefined),
})

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
