import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, request, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createNodeHttp } from '../../../../extension/platform/node/http.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

const listen = async (server: Server) => {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const echo: RequestListener = (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => response.end(`${request.method} ${request.url} ${String(request.headers['x-test'] ?? '')} ${Buffer.concat(chunks).toString()}`))
}

/** A proxy that forwards plain requests and tunnels the others, and keeps the hosts it was asked for. */
const createProxy = async () => {
  const asked: string[] = []
  const server = createServer((incoming, response) => {
    const url = new URL(incoming.url ?? '')
    asked.push(url.host)
    const outgoing = request(url, { method: incoming.method, headers: incoming.headers }, (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 500)))
    outgoing.on('error', () => response.destroy())
    response.on('close', () => outgoing.destroy())
    incoming.pipe(outgoing)
  })
  server.on('connect', (request, socket) => {
    asked.push(request.url ?? '')
    const [host, port] = (request.url ?? '').split(':')
    const target = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      target.pipe(socket).pipe(target)
    })
    target.on('error', () => socket.destroy())
    socket.on('error', () => target.destroy())
  })
  return { asked, url: `http://127.0.0.1:${await listen(server)}` }
}

it('plain HTTP goes straight', async () => {
  const port = await listen(createServer(echo))
  const { fetch } = createNodeHttp({ environment: {} })
  const response = await fetch(`http://127.0.0.1:${port}/a`, { method: 'POST', body: 'text', headers: { 'x-test': '1' } })
  expect([response.status, await response.text()]).toEqual([200, 'POST /a 1 text'])
})

it.each(['HTTP_PROXY', 'http_proxy'])('%s is used, but not for what NO_PROXY names', async (name) => {
  const port = await listen(createServer(echo))
  const proxy = await createProxy()
  const url = `http://127.0.0.1:${port}/a`
  const { fetch } = createNodeHttp({ environment: { [name]: proxy.url } })
  expect(await (await fetch(new URL(url))).text()).toBe('GET /a  ')
  expect(await (await fetch(new Request(url, { method: 'POST', body: 'text', headers: { 'x-test': '1' } }))).text()).toBe('POST /a 1 text')
  expect(proxy.asked).toEqual(Array(proxy.asked.length).fill(`127.0.0.1:${port}`))
  expect(proxy.asked.length).toBeGreaterThan(0)
  const before = proxy.asked.length
  const direct = createNodeHttp({ environment: { [name]: proxy.url, NO_PROXY: '127.0.0.1' } })
  expect(await (await direct.fetch(url)).text()).toBe('GET /a  ')
  expect(proxy.asked).toHaveLength(before)
})

it('a request can be stopped on the way', async () => {
  const port = await listen(createServer(() => {}))
  const proxy = await createProxy()
  const { fetch } = createNodeHttp({ environment: { HTTP_PROXY: proxy.url } })
  await expect(fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({ name: 'TimeoutError' })
})

it('an unknown certificate is refused, a known one is not', async () => {
  if (!hasOpenssl()) return
  const folder = await mkdtemp(join(tmpdir(), 'http-'))
  const path = (name: string) => join(folder, name)
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', path('k'), '-out', path('c')], {
    stdio: 'ignore',
  })
  const [key, cert] = await Promise.all([readFile(path('k'), 'utf8'), readFile(path('c'), 'utf8')])
  await rm(folder, { recursive: true })
  const port = await listen(createSecureServer({ key, cert }, echo))
  const url = `https://127.0.0.1:${port}/a`
  const refused: unknown = await createNodeHttp({ environment: {} }).fetch(url).catch((error: unknown) => error)
  expect(refused).toMatchObject({ cause: { code: expect.stringMatching(/SELF_SIGNED/) } })
  const trusting = createNodeHttp({ environment: {}, extraCertificates: [cert] })
  expect(await (await trusting.fetch(url)).text()).toBe('GET /a  ')
})

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
