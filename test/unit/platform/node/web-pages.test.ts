import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import type { PageRequest } from '../../../../extension/capabilities/web-pages.ts'
import { createNodeWebPages, type NodeWebPagesOptions } from '../../../../extension/platform/node/web-pages.ts'
import { send, startPageServer, type PageServer, type SeenRequest } from '../../../support/page-server.ts'
import type { ServerResponse } from 'node:http'

let server: PageServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const textWorker = { toText: () => Promise.reject(new Error('not asked')) }
const pagesWith = (options: Partial<NodeWebPagesOptions> = {}) => createNodeWebPages({ textWorker, ...options })

/** A host named pages.test that is this machine, which the person opened. */
async function start(answer: (request: SeenRequest, response: ServerResponse) => unknown, options: Partial<NodeWebPagesOptions> = {}) {
  server = await startPageServer(answer)
  const asked: string[] = []
  const { url, port, seen } = server
  const pages = pagesWith({
    resolve: (host) => {
      asked.push(host)
      return Promise.resolve(['127.0.0.1'])
    },
    ...options,
  })
  const load = (path: string, request: Partial<PageRequest> = {}) =>
    pages.load({ url: path.startsWith('/') ? `http://pages.test:${port}${path}` : path, allowedPrivateHosts: ['pages.test'], maxBytes: 100_000, maxPdfBytes: 1_000_000, maxRedirects: 5, timeoutMs: 20_000, signal: new AbortController().signal, ...request })
  return { load, seen, asked, port, url, pages }
}
const coded = (code: string, words = ''): unknown => expect.objectContaining({ name: 'WebError', code, message: expect.stringContaining(words) as unknown })

describe('a connection', () => {
  it('goes to the address that was judged, found once, with the name in the request', async () => {
    const { load, seen, asked, port } = await start((_request, response) => send(response, 'Hello', { type: 'text/plain' }))
    expect(await load('/a?b=1')).toEqual({ url: `http://pages.test:${port}/a?b=1`, statusCode: 200, mediaType: 'text/plain', isHtml: false, text: 'Hello', isCut: false, isDamaged: false })
    expect(asked).toEqual(['pages.test'])
    expect(seen.map(({ method, path, headers }) => [method, path, headers.host])).toEqual([['GET', '/a?b=1', `pages.test:${port}`]])
  })
  it('carries no cookie, no credentials and a name of its own', async () => {
    const { load, seen } = await start((_request, response) => send(response, 'x', { type: 'text/plain', headers: { 'set-cookie': 'a=b' } }))
    await load('/')
    await load('/')
    expect(seen.map(({ headers }) => [headers.cookie, headers.authorization, headers.referer, headers['user-agent']?.startsWith('Bosun')])).toEqual([[undefined, undefined, undefined, true], [undefined, undefined, undefined, true]])
  })

  const closed: readonly [why: string, addresses: readonly string[]][] = [
    ['private', ['10.0.0.7']],
    ['this machine', ['127.0.0.1']],
    ['this machine behind a public one', ['93.184.215.14', '127.0.0.1']],
    ['this machine in an IPv6 address', ['::ffff:127.0.0.1']],
    ['the metadata of a cloud', ['169.254.169.254']],
  ]
  it.each(closed)('is refused to a public name whose address is %s', async (_why, addresses) => {
    const { load, seen } = await start((_request, response) => send(response, 'secret'), { resolve: () => Promise.resolve(addresses) })
    await expect(load('/', { allowedPrivateHosts: [] })).rejects.toEqual(coded('WEB_BLOCKED_URL', 'bosun.tools.web.allowedPrivateHosts'))
    expect(seen).toEqual([])
  })
  it('is judged anew at each redirect, so that a name may not change its mind', async () => {
    const answers = [['93.184.215.14'], ['127.0.0.1']]
    const fetched: string[] = []
    const proxy = {
      fetch: (url: string | URL | Request) => {
        fetched.push(url instanceof Request ? url.url : String(url))
        return Promise.resolve(new Response(null, { status: 302, headers: { location: '/next' } }))
      },
    }
    const pages = pagesWith({ resolve: () => Promise.resolve(answers.shift() ?? []), proxyFor: () => proxy })
    const request = { url: 'https://rebind.example/', allowedPrivateHosts: [], maxBytes: 1, maxPdfBytes: 1_000_000, maxRedirects: 5, timeoutMs: 9_000, signal: new AbortController().signal }
    await expect(pages.load(request)).rejects.toEqual(coded('WEB_BLOCKED_URL', 'leads to 127.0.0.1'))
    expect(fetched).toEqual(['https://rebind.example/'])
  })
  it('goes through the proxy where one stands between, and a name that only it knows is no obstacle', async () => {
    const fetched: unknown[] = []
    const proxy = {
      fetch: (url: string | URL | Request, init?: RequestInit) => {
        fetched.push([url, init?.redirect, init?.credentials])
        return Promise.resolve(new Response('Hi', { headers: { 'content-type': 'text/plain' } }))
      },
    }
    const pages = pagesWith({ resolve: () => Promise.reject(new Error('ENOTFOUND')), proxyFor: () => proxy })
    const request = { allowedPrivateHosts: [], maxBytes: 9, maxPdfBytes: 1_000_000, maxRedirects: 5, timeoutMs: 9_000, signal: new AbortController().signal }
    expect(await pages.load({ ...request, url: 'https://example.com/' })).toMatchObject({ text: 'Hi' })
    expect(fetched).toEqual([['https://example.com/', 'manual', 'omit']])
    await expect(pages.load({ ...request, url: 'http://metadata.google.internal/' })).rejects.toEqual(coded('WEB_BLOCKED_URL'))
  })
  it('is not there for a name that nobody knows', async () => {
    const { load } = await start(() => undefined, { resolve: () => Promise.reject(new Error('ENOTFOUND')) })
    await expect(load('/')).rejects.toEqual(coded('WEB_FETCH_FAILED', 'Nobody knows a host named pages.test'))
  })
  it('that nobody answers says so', async () => {
    const { load } = await start(() => undefined)
    await expect(load('http://pages.test:9/')).rejects.toEqual(coded('WEB_FETCH_FAILED', 'pages.test:9'))
  })
  it('that breaks off says so', async () => {
    const { load } = await start((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' })
      response.write('half', () => response.destroy())
    })
    await expect(load('/')).rejects.toEqual(coded('WEB_FETCH_FAILED'))
  })
})

describe('an address', () => {
  const check = (url: string, allowedPrivateHosts: readonly string[] = []) => pagesWith().check(url, { allowedPrivateHosts })
  it.each([
    ['example.com', 'WEB_INVALID_URL', 'whole one'],
    ['', 'WEB_INVALID_URL', ''],
    ['ftp://example.com/a', 'WEB_INVALID_URL', 'Only http and https'],
    ['file:///etc/passwd', 'WEB_INVALID_URL', 'Only http and https'],
    ['javascript:alert(1)', 'WEB_INVALID_URL', 'Only http and https'],
    [`https://example.com/${'a'.repeat(2_029)}`, 'WEB_INVALID_URL', '2049 characters; 2048'],
    ['https://me:word@example.com/', 'WEB_BLOCKED_URL', 'user name or password'],
    ['https://token@example.com/', 'WEB_BLOCKED_URL', 'user name or password'],
    ['http://127.0.0.1:8080/', 'WEB_BLOCKED_URL', 'private networks'],
    ['http://[::ffff:127.0.0.1]/', 'WEB_BLOCKED_URL', 'private networks'],
    ['http://localhost/', 'WEB_BLOCKED_URL', 'private networks'],
    ['http://169.254.169.254/latest/meta-data/', 'WEB_BLOCKED_URL', 'credentials of a machine'],
  ])('is refused: %s', (url, code, words) => expect(() => check(url)).toThrow(coded(code, words)))
  it.each([
    [' https://Example.com ', 'https://example.com/'],
    [`https://example.com/${'a'.repeat(2_028)}`, `https://example.com/${'a'.repeat(2_028)}`],
    ['http://example.com:80/a#b', 'http://example.com/a#b'],
  ])('comes out in its normal form: %s', (url, normal) => expect(check(url)).toBe(normal))
  it.each<[string, string, boolean]>([
    ['localhost', 'http://localhost:3000/', true],
    ['localhost:3000', 'http://localhost:3000/', true],
    ['localhost:3000', 'http://localhost:3001/', false],
    ['localhost:80', 'http://localhost/', true],
    ['127.0.0.1', 'http://127.0.0.1/', true],
    ['127.0.0.1', 'http://localhost/', false],
    ['[::1]:8080', 'http://[::1]:8080/', true],
    ['::1', 'http://[::1]:8080/', true],
    ['wiki.lan', 'http://wiki.lan/', true],
    ['lan', 'http://wiki.lan/', false],
  ])('of a private host that the setting names as %s: %s is open: %s', (allowed, url, isOpen) => {
    const outcome = () => check(url, [allowed])
    if (isOpen) expect(outcome()).toBe(url)
    else expect(outcome).toThrow(coded('WEB_BLOCKED_URL'))
  })
})

describe('redirects', () => {
  const redirect = (response: ServerResponse, location: string, status = 302) => response.writeHead(status, { location }).end('moved')
  it.each([301, 302, 303, 307, 308])('with status %i are followed within a site', async (status) => {
    const { load, port } = await start(({ path }, response) => (path === '/a' ? redirect(response, '/b', status) : send(response, 'b', { type: 'text/plain' })))
    expect(await load('/a')).toMatchObject({ url: `http://pages.test:${port}/b`, text: 'b' })
  })
  const countdown = ({ path }: SeenRequest, response: ServerResponse) => {
    const left = Number(path.slice(1))
    return left === 0 ? send(response, 'there', { type: 'text/plain' }) : redirect(response, `/${left - 1}`)
  }
  it('may be five', async () => {
    const { load, asked } = await start(countdown)
    expect(await load('/5')).toMatchObject({ text: 'there' })
    expect(asked).toHaveLength(6)
  })
  it('may not be six', async () => {
    const { load, seen } = await start(countdown)
    await expect(load('/6')).rejects.toEqual(coded('WEB_REDIRECT_BLOCKED', 'more than 5'))
    expect(seen).toHaveLength(6)
  })
  it('in a circle end', async () => {
    const { load, seen } = await start((_request, response) => redirect(response, '/again'))
    await expect(load('/')).rejects.toEqual(coded('WEB_REDIRECT_BLOCKED'))
    expect(seen).toHaveLength(6)
  })
  it.each([
    ['another site', 'https://other.example/x', 'fetch that address'],
    ['another port', 'http://pages.test:1/', 'fetch that address'],
    ['a private network', 'http://10.0.0.1/admin', 'closed to this tool'],
    ['the metadata of a cloud', 'http://169.254.169.254/latest/meta-data/', 'closed to this tool'],
    ['a file', 'file:///etc/passwd', 'closed to this tool'],
    ['an address with a password', 'https://a:b@other.example/', 'closed to this tool'],
    ['nowhere', 'http://', 'no address'],
  ])('to %s are not followed', async (_where, location, words) => {
    const { load, seen } = await start((_request, response) => redirect(response, location))
    await expect(load('/')).rejects.toEqual(coded('WEB_REDIRECT_BLOCKED', words))
    expect(seen).toHaveLength(1)
  })
  it('to https at the same host are followed', async () => {
    const asked: string[] = []
    const fetchIt = (url: string | URL | Request) => {
      const address = url instanceof Request ? url.url : String(url)
      asked.push(address)
      return Promise.resolve(address.startsWith('https') ? new Response('safe', { headers: { 'content-type': 'text/plain' } }) : new Response(null, { status: 301, headers: { location: 'https://example.com/a' } }))
    }
    const pages = pagesWith({ resolve: () => Promise.resolve(['93.184.215.14']), proxyFor: () => ({ fetch: fetchIt }) })
    const page = await pages.load({ url: 'http://example.com/a', allowedPrivateHosts: [], maxBytes: 99, maxPdfBytes: 1_000_000, maxRedirects: 5, timeoutMs: 9_000, signal: new AbortController().signal })
    expect([page.text, asked]).toEqual(['safe', ['http://example.com/a', 'https://example.com/a']])
  })
  it('without a target are an answer like any other', async () => {
    const { load } = await start((_request, response) => send(response, 'choose', { type: 'text/plain', status: 302 }))
    expect(await load('/')).toMatchObject({ statusCode: 302, text: 'choose' })
  })
})

describe('what comes back', () => {
  it.each([404, 500, 403])('with status %i is an answer', async (status) => {
    const { load } = await start((_request, response) => send(response, 'No.', { type: 'text/plain', status }))
    expect(await load('/')).toMatchObject({ statusCode: status, text: 'No.' })
  })
  it.each([204, 205, 304])('with status %i has no text', async (status) => {
    const { load } = await start((_request, response) => response.writeHead(status).end())
    expect(await load('/')).toMatchObject({ statusCode: status, text: '' })
  })
  it('a PDF comes as it is', async () => {
    const { load } = await start((_request, response) => send(response, '%PDF', { type: 'application/pdf' }))
    const { pdf, text } = await load('/')
    expect([Buffer.from(pdf ?? []).toString(), text]).toEqual(['%PDF', ''])
  })
  it.each(['image/png', 'application/octet-stream', 'application/zip', 'video/mp4'])('of the type %s is refused', async (type) => {
    const { load } = await start((_request, response) => send(response, '%PDF', { type }))
    await expect(load('/')).rejects.toEqual(coded('WEB_UNSUPPORTED_CONTENT_TYPE', type))
  })
  it.each([
    ['text/plain', false], ['text/markdown', false], ['text/html', true], ['TEXT/HTML;charset=UTF-8', true], ['application/xhtml+xml', true], ['application/json', false], ['application/xml', false], ['application/ld+json', false], ['application/rss+xml', false],
  ])('of the type %s is read; as a page: %s', async (type, isHtml) => {
    const { load } = await start((_request, response) => send(response, '<p>x', { type }))
    expect(await load('/')).toMatchObject({ text: '<p>x', isHtml })
  })
  it('without a type is looked at', async () => {
    const { load } = await start(({ path }, response) => send(response, path === '/page' ? '<!DOCTYPE html><p>x' : path === '/text' ? 'x' : 'a\0b', { type: null }))
    expect([(await load('/page')).isHtml, (await load('/text')).isHtml]).toEqual([true, false])
    await expect(load('/bytes')).rejects.toEqual(coded('WEB_UNSUPPORTED_CONTENT_TYPE'))
  })
  it('is refused when it declares more bytes than are read', async () => {
    const { load } = await start(({ path }, response) => send(response, 'x'.repeat(path === '/over' ? 1_001 : 1_000), { type: 'text/plain', headers: { 'content-length': path === '/over' ? '1001' : '1000' } }))
    expect(await load('/exact', { maxBytes: 1_000 })).toMatchObject({ isCut: false })
    await expect(load('/over', { maxBytes: 1_000 })).rejects.toEqual(coded('WEB_FETCH_TOO_LARGE', '1001 bytes'))
  })
  it('is cut when it streams more bytes than are read, and the rest is not taken', async () => {
    let sent = 0
    const { load } = await start((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      const chunk = Buffer.alloc(64 * 1_024, 'x')
      const more = () => {
        while (sent < 50_000_000) {
          sent += chunk.length
          if (!response.write(chunk)) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    })
    const page = await load('/', { maxBytes: 1_000_000 })
    expect([page.text.length, page.isCut]).toEqual([1_000_000, true])
    expect(sent).toBeLessThan(50_000_000)
  })
  it('is cut when it grows in decompression', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 'a'))
    const { load } = await start((_request, response) => send(response, bomb, { type: 'text/html', headers: { 'content-encoding': 'gzip' } }))
    const page = await load('/')
    expect([bomb.length < 100_000, page.text.length, page.isCut]).toEqual([true, 100_000, true])
  })
  it('is refused when its compression is broken', async () => {
    const { load } = await start((_request, response) => send(response, 'no gzip', { headers: { 'content-encoding': 'gzip' } }))
    await expect(load('/')).rejects.toEqual(coded('WEB_FETCH_FAILED'))
  })
  it('is decoded by what it declares, and says what does not fit', async () => {
    const { load } = await start(({ path }, response) => send(response, Buffer.from([0x63, 0xe9]), { type: `text/plain; charset=${path.slice(1)}` }))
    expect(await load('/iso-8859-1')).toMatchObject({ text: 'cé', isDamaged: false })
    expect(await load('/utf-8')).toMatchObject({ text: 'c\uFFFD', isDamaged: true })
    await expect(load('/klingon')).rejects.toEqual(coded('WEB_UNSUPPORTED_CONTENT_TYPE', 'klingon'))
  })
})

describe('time', () => {
  const drip = (_request: SeenRequest, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    const timer = setInterval(() => response.write('x'), 10)
    response.on('close', () => clearInterval(timer))
  }
  it('ends a server that gives a byte now and then', async () => {
    const { load } = await start(drip)
    await expect(load('/', { timeoutMs: 150 })).rejects.toEqual(coded('WEB_FETCH_TIMEOUT', 'within 150 ms'))
  })
  it('ends a server that never answers, and a resolver that never does', async () => {
    const { load } = await start(() => undefined)
    await expect(load('/', { timeoutMs: 100 })).rejects.toEqual(coded('WEB_FETCH_TIMEOUT'))
    const silent = pagesWith({ resolve: () => new Promise(() => undefined) })
    await expect(silent.load({ url: 'https://example.com', allowedPrivateHosts: [], maxBytes: 1, maxPdfBytes: 1_000_000, maxRedirects: 1, timeoutMs: 50, signal: new AbortController().signal })).rejects.toEqual(coded('WEB_FETCH_TIMEOUT'))
  })
  it('ends at once when the caller stops', async () => {
    const controller = new AbortController()
    const { load } = await start((request, response) => {
      drip(request, response)
      controller.abort()
    })
    await expect(load('/', { signal: controller.signal })).rejects.toEqual(coded('WEB_ABORTED'))
    await expect(load('/', { signal: controller.signal })).rejects.toEqual(coded('WEB_ABORTED'))
  })
})
