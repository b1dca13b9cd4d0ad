import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface PageServer {
  readonly port: number
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  readonly seen: readonly SeenRequest[]
  close(): Promise<void>
}

/** A real server on loopback that answers as a test says. */
export async function startPageServer(answer: (request: SeenRequest, response: ServerResponse) => unknown): Promise<PageServer> {
  const seen: SeenRequest[] = []
  const server = createServer((incoming, response) => {
    let body = ''
    incoming.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    incoming.on('end', () => {
      const request = { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers, body }
      seen.push(request)
      answer(request, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/** Answer with a type and a body. */
export function send(response: ServerResponse, body: string | Uint8Array, { type = 'text/html; charset=utf-8', status = 200, headers = {} }: { readonly type?: string | null; readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {}): void {
  response.writeHead(status, { ...(type !== null && { 'content-type': type }), ...headers })
  response.end(body)
}
