import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createNodeHttp, usesProxy, type NodeHttpOptions } from '../../../../extension/platform/node/http.ts'
import { createOwnCertificates } from '../../../support/own-certificates.ts'
import { startProxyServer } from '../../../support/proxy-server.ts'

const closing: (() => void)[] = []
afterEach(() => closing.splice(0).forEach((close) => close()))

const listen = async (server: Server) => {
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const echo: RequestListener = (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => response.end(`${request.method} ${request.url} ${String(request.headers['x-test'] ?? '')} ${Buffer.concat(chunks).toString()}`))
}
const proxied = async () => {
  const proxy = await startProxyServer()
  closing.push(proxy.close)
  return proxy
}
const settings = (values: Readonly<Record<string, unknown>>): NonNullable<NodeHttpOptions['settings']> => (name) => values[name]

it('plain HTTP goes straight', async () => {
  const port = await listen(createServer(echo))
  const { fetch } = createNodeHttp({ environment: {} })
  const response = await fetch(`http://127.0.0.1:${port}/a`, { method: 'POST', body: 'text', headers: { 'x-test': '1' } })
  expect([response.status, await response.text()]).toEqual([200, 'POST /a 1 text'])
})

describe('a proxy', () => {
  const rows: readonly [name: string, options: (url: string) => NodeHttpOptions][] = [
    ['that HTTP_PROXY names', (url) => ({ environment: { HTTP_PROXY: url } })],
    ['that http_proxy names', (url) => ({ environment: { http_proxy: url } })],
    ['of the settings, which wins over the environment', (url) => ({ environment: { HTTP_PROXY: 'http://127.0.0.1:1' }, settings: settings({ 'http.proxy': url }) })],
  ]
  it.each(rows)('%s is used', async (_name, options) => {
    const port = await listen(createServer(echo))
    const proxy = await proxied()
    const { fetch } = createNodeHttp(options(proxy.url))
    const url = `http://model.test:${port}/a`
    expect(await (await fetch(new URL(url))).text()).toBe('GET /a  ')
    expect(await (await fetch(new Request(url, { method: 'POST', body: 'text', headers: { 'x-test': '1' } }))).text()).toBe('POST /a 1 text')
    expect(new Set(proxy.asked)).toEqual(new Set([`model.test:${port}`]))
  })

  it.each<[string, NodeHttpOptions]>([
    ['NO_PROXY', { environment: { NO_PROXY: 'x.test,model.test' } }],
    ['http.noProxy, which wins over the environment', { environment: { NO_PROXY: '' }, settings: settings({ 'http.noProxy': ['model.test'] }) }],
  ])('is not used for what %s names', async (_name, options) => {
    const proxy = await proxied()
    const { fetch } = createNodeHttp({ ...options, environment: { HTTP_PROXY: proxy.url, ...options.environment } })
    await expect(fetch('http://model.test/a')).rejects.toThrow('fetch failed')
    expect(proxy.asked).toEqual([])
  })

  it('is never used for this machine', async () => {
    const port = await listen(createServer(echo))
    const proxy = await proxied()
    const { fetch } = createNodeHttp({ environment: { HTTP_PROXY: proxy.url } })
    for (const host of ['127.0.0.1', 'localhost']) expect(await (await fetch(`http://${host}:${port}/a`)).text()).toBe('GET /a  ')
    expect(proxy.asked).toEqual([])
  })

  it('gets the name and password that stand in its address', async () => {
    const port = await listen(createServer(echo))
    const proxy = await proxied()
    const { fetch } = createNodeHttp({ environment: { HTTP_PROXY: proxy.url.replace('//', '//me:secret@') } })
    await (await fetch(`http://model.test:${port}/a`)).text()
    expect(proxy.authorizations).toEqual([`Basic ${Buffer.from('me:secret').toString('base64')}`])
  })

  it('follows the settings while they change', async () => {
    const port = await listen(createServer(echo))
    const [first, second] = [await proxied(), await proxied()]
    let url: string = first.url
    const { fetch } = createNodeHttp({ environment: {}, settings: (name) => (name === 'http.proxy' ? url : undefined) })
    await (await fetch(`http://model.test:${port}/a`)).text()
    url = second.url
    await (await fetch(`http://model.test:${port}/a`)).text()
    expect([first.asked.length, second.asked.length]).toEqual([1, 1])
  })

  it.each(['proxy:8080', 'socks5://proxy', 'nonsense'])('that is no address of one is refused with words: %s', async (url) => {
    const { fetch } = createNodeHttp({ environment: {}, settings: settings({ 'http.proxy': url }) })
    await expect(fetch('http://model.test/')).rejects.toThrow('The setting http.proxy must be an address such as http://proxy.example:8080')
  })

  it('lets a request be stopped on the way', async () => {
    const port = await listen(createServer(() => {}))
    const proxy = await proxied()
    const { fetch } = createNodeHttp({ environment: { HTTP_PROXY: proxy.url } })
    await expect(fetch(`http://model.test:${port}/`, { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({ name: 'TimeoutError' })
  })
})

describe('a certificate', () => {
  const own = createOwnCertificates(['IP:127.0.0.1', 'DNS:model.test'])
  const secured = async () => await listen(createSecureServer({ key: own?.key, cert: own?.cert }, echo))

  it.skipIf(own === null)('of an unknown root is refused, of a known one it is not', async () => {
    const url = `https://127.0.0.1:${await secured()}/a`
    const refused: unknown = await createNodeHttp({ environment: {} }).fetch(url).catch((error: unknown) => error)
    expect(refused).toMatchObject({ cause: { code: expect.stringMatching(/UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/) } })
    const trusting = createNodeHttp({ environment: {}, extraCertificates: [own?.root ?? ''] })
    expect(await (await trusting.fetch(url)).text()).toBe('GET /a  ')
  })

  it.skipIf(own === null)('is checked through the tunnel of a proxy too', async () => {
    const url = `https://model.test:${await secured()}/a`
    const proxy = await proxied()
    const environment = { HTTPS_PROXY: proxy.url }
    await expect(createNodeHttp({ environment }).fetch(url)).rejects.toThrow('fetch failed')
    const trusting = createNodeHttp({ environment, extraCertificates: [own?.root ?? ''] })
    expect(await (await trusting.fetch(url)).text()).toBe('GET /a  ')
    expect(proxy.asked).toHaveLength(2)
  })
})

describe('whether a proxy stands between', () => {
  const environment = { HTTPS_PROXY: 'http://proxy.test:8080', NO_PROXY: 'corp.test, .inner.test,*.star.test,port.test:8443' }
  it.each<[string, boolean]>([
    ['https://example.com/', true],
    ['http://example.com/', false],
    ['https://corp.test/', false],
    ['https://a.corp.test/', false],
    ['https://notcorp.test/', true],
    ['https://a.inner.test/', false],
    ['https://a.star.test/', false],
    ['https://port.test:8443/', false],
    ['https://localhost/', false],
    ['https://127.0.0.1/', false],
  ])('%s: %s', (url, expected) => expect(usesProxy(new URL(url), { environment })).toBe(expected))
  it('is as the settings say before the environment', () => {
    const settings = (name: string) => (name === 'http.proxy' ? 'http://proxy.test' : ['a.test'])
    expect(['http://b.test/', 'http://a.test/'].map((url) => usesProxy(new URL(url), { environment: {}, settings }))).toEqual([true, false])
    expect(usesProxy(new URL('https://b.test'), { environment: { ...environment, NO_PROXY: '*' } })).toBe(false)
  })
})
