import { createServer, request } from 'node:http'
import { connect, type AddressInfo } from 'node:net'

/** A proxy on loopback that forwards plain requests and tunnels the others. Every name leads to this machine. */
export interface ProxyServer {
  readonly url: string
  /** `host:port` of each request and tunnel, in order. */
  readonly asked: readonly string[]
  /** `proxy-authorization` of each, where it was sent. */
  readonly authorizations: readonly string[]
  close(): void
}

export async function startProxyServer(): Promise<ProxyServer> {
  const asked: string[] = []
  const authorizations: string[] = []
  const note = (host: string, authorization: string | undefined) => {
    asked.push(host)
    if (authorization !== undefined) authorizations.push(authorization)
  }
  const server = createServer((incoming, response) => {
    const url = new URL(incoming.url ?? '')
    note(url.host, incoming.headers['proxy-authorization'])
    const { method, headers } = incoming
    const outgoing = request({ host: '127.0.0.1', port: url.port, path: url.pathname, method, headers }, (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers)))
    outgoing.on('error', () => response.destroy())
    response.on('close', () => outgoing.destroy())
    incoming.pipe(outgoing)
  })
  server.on('connect', (incoming, socket) => {
    note(incoming.url ?? '', incoming.headers['proxy-authorization'])
    const target = connect(Number((incoming.url ?? '').split(':').at(-1)), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      target.pipe(socket).pipe(target)
    })
    target.on('error', () => socket.destroy())
    socket.on('error', () => target.destroy())
    socket.on('close', () => target.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    authorizations,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
