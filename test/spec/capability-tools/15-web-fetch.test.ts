import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { lockedPdf, pdfBytes } from '../../support/pdf-bytes.ts'
import { send, startPageServer, type SeenRequest } from '../../support/page-server.ts'
import { textOf } from '../../support/tool-bench.ts'
import { webRig, type WebRigOptions } from '../../support/web-rig.ts'

/* Chapter 15: web_fetch, and its lines of chapters 18 to 20, through the whole application with a server on loopback that a setting opens. */

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const HOST = 'pages.example'

async function start(answer: (request: SeenRequest, response: ServerResponse) => unknown, { settings, ...options }: WebRigOptions = {}) {
  const server = await startPageServer(answer)
  cleanUps.push(() => server.close())
  const rig = await webRig({ ...options, settings: { 'tools.web.allowedPrivateHosts': [HOST], ...settings } })
  cleanUps.push(() => rig.dispose())
  const at = (path: string) => (path.startsWith('/') ? `http://${HOST}:${server.port}${path}` : path)
  return { ...rig, server, at, fetchPage: (path: string, more: object = {}) => rig.result('web_fetch', { url: at(path), ...more }) }
}
const page = (html: string, options: Parameters<typeof send>[2] = {}) => (_request: SeenRequest, response: ServerResponse) => send(response, html, options)
const text = (body: string | Uint8Array, type = 'text/plain', headers = {}) => (_request: SeenRequest, response: ServerResponse) => send(response, body, { type, headers })
const failed = (code: string, words = ''): unknown => expect.objectContaining({ isError: true, error: { message: expect.stringContaining(words) as unknown, info: { name: expect.any(String) as unknown, code } } })
const valueOf = (result: Awaited<ReturnType<Awaited<ReturnType<typeof start>>['fetchPage']>>) => {
  if (result.isError) throw new Error(textOf(result))
  return result.value as { url: string; statusCode: number; body: { kind: string; content: string }; offset: number; totalLines: number; truncated: boolean; notes?: readonly string[] }
}

describe('the argument', () => {
  it.each(['', '   '])('must not be blank: %j', async (url) => {
    const { result } = await start(page('x'))
    expect(await result('web_fetch', { url })).toEqual(failed('INVALID_ARGS', 'url is blank'))
  })
  it.each([
    [{ offset: 0 }, 'offset'], [{ offset: -1 }, 'offset'], [{ offset: 1.5 }, 'offset'], [{ limit: 0 }, 'limit'], [{ limit: 2.5 }, 'limit'], [{ offset: 9 }, 'past the end'],
  ])('counts lines from one, in whole numbers: %j', async (more, words) => {
    const { fetchPage } = await start(text('a\nb'))
    expect(await fetchPage('/', more)).toEqual(failed('INVALID_ARGS', words))
  })
  it.each([
    ['no address', 'pages', 'WEB_INVALID_URL'],
    ['another scheme', 'ftp://example.com/', 'WEB_INVALID_URL'],
    ['a file', 'file:///etc/passwd', 'WEB_INVALID_URL'],
    ['2 049 characters', `https://example.com/${'a'.repeat(2_029)}`, 'WEB_INVALID_URL'],
    ['a password', 'https://me:word@example.com/', 'WEB_BLOCKED_URL'],
    ['this machine in another spelling', 'http://127.1/', 'WEB_BLOCKED_URL'],
    ['another address of this machine', 'http://127.0.0.53/', 'WEB_BLOCKED_URL'],
    ['this machine in wide letters', 'http://ｌocalhost/', 'WEB_BLOCKED_URL'],
    ['a name below localhost', 'http://a.localhost/', 'WEB_BLOCKED_URL'],
    ['this machine as an IPv6 address', 'http://[::ffff:127.0.0.1]/', 'WEB_BLOCKED_URL'],
    ['this machine as a number', 'http://2130706433/', 'WEB_BLOCKED_URL'],
    ['a private network', 'http://192.168.1.1/', 'WEB_BLOCKED_URL'],
    ['the metadata of a cloud', 'http://169.254.169.254/latest/meta-data/', 'WEB_BLOCKED_URL'],
    ['the metadata of a cloud by name', 'http://metadata.google.internal/', 'WEB_BLOCKED_URL'],
  ])('may not be %s, in any mode, and nobody is asked about it', async (_what, url, code) => {
    const { fetchPage, asked, answer, server } = await start(page('x'), { settings: { 'permissions.defaultPreset': 'workspace-write' } })
    answer(() => ({ outcome: 'allowed-once' }))
    expect(await fetchPage(url)).toEqual(failed(code))
    expect([asked, server.seen]).toEqual([[], []])
  })
  it('is refused when its name leads to a private address, though the mode asks for nothing', async () => {
    const { fetchPage, server } = await start(page('x'), { addresses: { 'evil.example': ['93.184.215.14', '10.0.0.1'] } })
    expect(await fetchPage('http://evil.example/')).toEqual(failed('WEB_BLOCKED_URL', 'leads to 10.0.0.1'))
    expect(server.seen).toEqual([])
  })
  it('may be a private host that the setting names, and then only that port', async () => {
    const { fetchPage, server } = await start(text('here'), { settings: { 'tools.web.allowedPrivateHosts': ['127.0.0.1:1'] } })
    const url = `http://127.0.0.1:${server.port}/`
    expect(await fetchPage(url.replace('127.0.0.1', '127.0.0.2'))).toEqual(failed('WEB_BLOCKED_URL'))
    const open = await start(text('here'), { settings: { 'tools.web.allowedPrivateHosts': [`127.0.0.1:${server.port}`] } })
    expect(valueOf(await open.fetchPage(url)).body.content).toBe('here')
  })
})

describe('this machine', () => {
  const own = async (settings: object = {}) => {
    const rig = await start(text('here'), { settings: { 'permissions.defaultPreset': 'workspace-write', ...settings } })
    return { ...rig, url: `http://127.0.0.1:${rig.server.port}/`, host: `127.0.0.1:${rig.server.port}` }
  }
  it('is asked for when an address names it outright, with its port', async () => {
    const { fetchPage, answer, asked, url, host, folder } = await own()
    answer(() => ({ outcome: 'allowed-once' }))
    expect(valueOf(await fetchPage(url)).body.content).toBe('here')
    expect(asked.map(({ details }) => details?.why)).toEqual([`\`${host}\` is this machine, so only a rule that names it opens it.`])
    expect(asked[0]?.details?.always?.[1]?.rule).toEqual({ scope: 'workspace', rules: [{ tool: 'web_fetch', host, decision: 'allow', folder }] })
  })
  it('is open with full access, where the shell reaches it too', async () => {
    const { fetchPage, url } = await own({ 'permissions.defaultPreset': 'danger-full-access' })
    expect(valueOf(await fetchPage(url)).body.content).toBe('here')
  })
  it('is closed without an answer', async () => {
    const { fetchPage, server, url } = await own()
    expect([await fetchPage(url), server.seen]).toEqual([failed('DENIED'), []])
  })
  it.each<[object, boolean]>([
    [{ tool: 'web_fetch', decision: 'allow' }, false],
    [{ tool: 'web_fetch', host: '*', decision: 'allow' }, false],
    [{ tool: 'web_fetch', host: '127.0.0.1:1', decision: 'allow' }, false],
    [{ tool: 'web_fetch', host: '127.0.0.1', decision: 'allow' }, true],
  ])('is open by the rule %j: %s', async (rule, isOpen) => {
    const { fetchPage, server, url } = await own({ 'permissions.rules': [rule] })
    await fetchPage(url)
    expect(server.seen.length > 0).toBe(isOpen)
  })
  it('is not where a site may send', async () => {
    const { fetchPage, at } = await start((_request, response) => send(response, '', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }))
    expect(await fetchPage(at('/a'))).toEqual(failed('WEB_REDIRECT_BLOCKED', 'closed to this tool'))
  })
  it('is read anew each time: its pages are being worked on', async () => {
    const { fetchPage, answer, server, url } = await own()
    answer(() => ({ outcome: 'allowed-once' }))
    await fetchPage(url)
    await fetchPage(url)
    expect(server.seen).toHaveLength(2)
  })
})

describe('the value', () => {
  it('is address, status, text and whether it is all', async () => {
    const { fetchPage, at } = await start(text('one\ntwo\n'))
    expect(valueOf(await fetchPage('/a'))).toEqual({ url: at('/a'), statusCode: 200, body: { kind: 'text', content: 'one\ntwo\n' }, offset: 1, totalLines: 3, truncated: false })
  })
  it('has the address after redirects', async () => {
    const { fetchPage, at } = await start(({ path }, response) => (path === '/a' ? response.writeHead(301, { location: 'b' }).end() : send(response, 'b', { type: 'text/plain' })))
    expect(valueOf(await fetchPage('/a')).url).toBe(at('/b'))
  })
  it.each([404, 410, 500, 403])('is one for status %i too', async (status) => {
    const { fetchPage } = await start(page('<h1>Not here</h1>', { status }))
    expect(valueOf(await fetchPage('/'))).toMatchObject({ statusCode: status, body: { kind: 'html', content: '# Not here' } })
  })
  it.each([204, 304])('is an empty one for status %i', async (status) => {
    const { fetchPage, at } = await start((_request, response) => response.writeHead(status).end())
    const result = await fetchPage('/')
    expect([valueOf(result).body.content, textOf(result)]).toEqual(['', `${at('/')} (status ${status})\n\n(no content)`])
  })
  it('leaves JSON as it is', async () => {
    const { fetchPage } = await start(text('{"a": [1, 2]}', 'application/json'))
    expect(valueOf(await fetchPage('/')).body).toEqual({ kind: 'text', content: '{"a": [1, 2]}' })
  })
})

describe('what the model reads', () => {
  it('is a line with address and status, a blank line and the text', async () => {
    const { fetchPage, at } = await start(text('one'))
    expect(textOf(await fetchPage('/a?b'))).toBe(`${at('/a?b')} (status 200)\n\none`)
  })
  it('of a page is Markdown without what only browsers need', async () => {
    const html = `<!doctype html><title>T</title><script>bad()</script><style>p{}</style><noscript>no</noscript>
      <h1>T</h1><p>A <a href="/x">link</a>, <b>bold</b> <code>code</code>.</p><ul><li>one<li>two</ul>
      <table><tr><th>a<th>b</tr><tr><td>1<td colspan=2>2|3</table><pre><code class="language-ts">let a\n</code></pre>`
    const { fetchPage, at } = await start(page(html))
    expect(valueOf(await fetchPage('/d/')).body.content).toBe(
      `# T\n\nA [link](${at('/x')}), **bold** \`code\`.\n\n- one\n- two\n\n| a | b |\n| --- | --- |\n| 1 | 2\\|3 |\n\n\`\`\`ts\nlet a\n\`\`\``,
    )
  })
  it('of an article is the article, and all of the page when asked', async () => {
    const words = '<p>The quick brown fox, it is said, jumps over the lazy dog, again and again, all day long.</p>'.repeat(12)
    const { fetchPage } = await start(page(`<!doctype html><html><head><title>Fox</title></head><body><nav><a href="/m">Menu</a></nav><article><h1>Fox</h1>${words}</article><footer>Imprint</footer></body></html>`))
    const [article, whole] = [valueOf(await fetchPage('/')).body.content, valueOf(await fetchPage('/', { whole_page: true })).body.content]
    expect([/^##? Fox/.test(article), article.includes('quick brown fox'), /Menu|Imprint/.test(article)]).toEqual([true, true, false])
    expect(whole).toMatch(/Menu[\s\S]*quick brown fox[\s\S]*Imprint/)
  })
  it('of a page nested deeper than 512 levels is its HTML', async () => {
    const html = `<html><body>${'<div>'.repeat(600)}deep${'</div>'.repeat(600)}</body></html>`
    const { fetchPage } = await start(page(html))
    expect(valueOf(await fetchPage('/'))).toMatchObject({ body: { kind: 'html', content: html }, notes: [expect.stringContaining('HTML')] })
  })
  it('of a page that is too large to become Markdown in time is its words, and says so', async () => {
    const { fetchPage } = await start(page('<p>words'), {
      alter: (world) => ({ ...world, webPages: { ...world.webPages, toText: () => Promise.resolve({ text: 'words', form: 'plain', anchorLine: null }) } }),
    })
    expect(valueOf(await fetchPage('/#part'))).toMatchObject({ body: { kind: 'html', content: 'words' }, notes: ['The page is too large to become Markdown in time, so these are its words alone, without links.'] })
  })
  it('comes in parts by line, each with where the next one begins', async () => {
    const { fetchPage, server } = await start(text(Array.from({ length: 2_500 }, (_item, index) => `line ${index + 1}`).join('\n')))
    const first = await fetchPage('/')
    expect([valueOf(first).body.content.split('\n').length, valueOf(first).truncated]).toEqual([2_000, true])
    expect(textOf(first)).toContain('(Lines 1 to 2000 of 2500. Call web_fetch with offset 2001 for more.)')
    expect(valueOf(await fetchPage('/', { offset: 2_001 }))).toMatchObject({ offset: 2_001, truncated: false, notes: ['Lines 2001 to 2500 of 2500.'] })
    expect(valueOf(await fetchPage('/', { offset: 2, limit: 2 })).body.content).toBe('line 2\nline 3')
    expect(server.seen).toHaveLength(1)
  })
  it('starts at the part that the address names', async () => {
    const { fetchPage } = await start(page('<h1>T</h1><p>one</p><h2 id="zw%C3%B6lf">Twelve</h2><p>two</p><a name="old"></a><h2>Old</h2>'))
    expect(valueOf(await fetchPage('/#zw%25C3%25B6lf'))).toMatchObject({ offset: 5, body: { content: '## Twelve\n\ntwo\n\n## Old' } })
    expect(valueOf(await fetchPage('/#old')).body.content).toContain('## Old')
    expect(valueOf(await fetchPage('/#nowhere')).notes).toEqual([expect.stringContaining('no part of the name')])
  })
  it('has at most 100 000 characters of the page, in whole lines where they fit', async () => {
    const { fetchPage } = await start(({ path }, response) => send(response, path === '/lines' ? `${'x'.repeat(60_000)}\n${'y'.repeat(60_000)}` : 'z'.repeat(100_001), { type: 'text/plain' }))
    expect(valueOf(await fetchPage('/lines'))).toMatchObject({ body: { content: 'x'.repeat(60_000) }, truncated: true })
    const long = valueOf(await fetchPage('/long'))
    expect([long.body.content.length, long.truncated, long.notes]).toEqual([100_000, true, ['Line 1 is longer than 100000 characters and was cut.']])
  })
  it('has its line ends made one kind, wherever the window ends', async () => {
    const { fetchPage } = await start(text('a\r\nb\r\n\r\nc'))
    expect(valueOf(await fetchPage('/')).body.content).toBe('a\nb\n\nc')
    expect(valueOf(await fetchPage('/', { limit: 1 }))).toMatchObject({ body: { content: 'a' }, totalLines: 4, notes: ['Lines 1 to 1 of 4. Call web_fetch with offset 2 for more.'] })
    expect(valueOf(await fetchPage('/', { offset: 2, limit: 2 })).body.content).toBe('b\n')
  })
  it('exactly at the cap is whole', async () => {
    const { fetchPage } = await start(text('z'.repeat(100_000)))
    expect(valueOf(await fetchPage('/'))).toMatchObject({ truncated: false })
  })
})

describe('redirects', () => {
  const countdown = ({ path }: SeenRequest, response: ServerResponse) => (path === '/0' ? send(response, 'there', { type: 'text/plain' }) : response.writeHead(302, { location: `/${Number(path.slice(1)) - 1}` }).end())
  it('are followed five times within a site', async () => {
    const { fetchPage } = await start(countdown)
    expect(valueOf(await fetchPage('/5')).body.content).toBe('there')
  })
  it.each([
    ['the sixth', '/6', 'more than 5'],
    ['a circle', '/loop', 'more than 5'],
    ['to another site', '/other', 'https://other.example/'],
    ['to a private network', '/private', 'closed to this tool'],
    ['to the metadata of a cloud', '/metadata', 'closed to this tool'],
  ])('%s is blocked', async (_what, path, words) => {
    const targets: Readonly<Record<string, string>> = { '/loop': '/loop', '/other': 'https://other.example/', '/private': 'http://10.0.0.1/', '/metadata': 'http://169.254.169.254/' }
    const { fetchPage } = await start((request, response) => (request.path in targets ? response.writeHead(302, { location: targets[request.path] }).end() : countdown(request, response)))
    expect(await fetchPage(path)).toEqual(failed('WEB_REDIRECT_BLOCKED', words))
  })
})

describe('size', () => {
  it('declared over 5 000 000 bytes is refused', async () => {
    const { fetchPage } = await start((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': '50000000' })
      response.write('<p>x')
    })
    expect(await fetchPage('/')).toEqual(failed('WEB_FETCH_TOO_LARGE', '50000000 bytes'))
  })
  it('streamed over it is cut, and says so', async () => {
    const { fetchPage } = await start((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      for (let sent = 0; sent < 6_000_000; sent += 1_000_000) response.write(`${'x'.repeat(999_999)}\n`)
      response.end()
    })
    const value = valueOf(await fetchPage('/', { offset: 5 }))
    expect([value.totalLines, value.truncated, value.notes?.some((note) => note.includes('its end is missing'))]).toEqual([6, true, true])
  })
  it('of a page that grows in decompression is counted after it', async () => {
    const { fetchPage } = await start(text(gzipSync(Buffer.alloc(50_000_000, 'a\n')), 'text/plain', { 'content-encoding': 'gzip' }))
    expect(valueOf(await fetchPage('/'))).toMatchObject({ totalLines: 2_500_001, truncated: true })
  })
  it('of a page of 50 MB that says nothing of it does not reach the model', async () => {
    const chunk = Buffer.alloc(1_000_000, 'word\n')
    const { fetchPage } = await start((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      let left = 50
      const more = (): unknown => (left-- > 0 && !response.destroyed ? response.write(chunk, more) : response.end())
      more()
    })
    expect(valueOf(await fetchPage('/'))).toMatchObject({ truncated: true })
  })
})

describe('types and charsets', () => {
  it.each(['image/png', 'application/octet-stream', 'application/zip'])('%s is refused', async (type) => {
    const { fetchPage } = await start(text('%PDF-1.7', type))
    expect(await fetchPage('/')).toEqual(failed('WEB_UNSUPPORTED_CONTENT_TYPE', type))
  })
  it('a PDF is its text, with the numbers of its pages', async () => {
    const { fetchPage, at, server } = await start(text(pdfBytes([['First (page)', 'line 2'], [], ['Third']]), 'application/pdf; charset=binary'))
    const result = await fetchPage('/a.pdf')
    expect(valueOf(result)).toMatchObject({ url: at('/a.pdf'), statusCode: 200, body: { kind: 'text' }, truncated: false, notes: ['The text of a PDF with 3 pages; pictures are not shown.'] })
    expect(textOf(result)).toBe(`${at('/a.pdf')} (status 200)\n\n# page 1 of 3\nFirst (page)\nline 2\n# page 2 of 3\n(no text on this page)\n# page 3 of 3\nThird\n\n\n(The text of a PDF with 3 pages; pictures are not shown.)`)
    expect(valueOf(await fetchPage('/a.pdf', { offset: 6, limit: 2 }))).toMatchObject({ body: { content: '# page 3 of 3\nThird' }, offset: 6 })
    expect(server.seen).toHaveLength(1)
  })
  it.each<[string, () => Uint8Array | string, string, string]>([
    ['locked', () => lockedPdf([['secret']]), 'DOCUMENT_ENCRYPTED', 'locked with a password'],
    ['broken', () => '%PDF-1.7\nnothing more', 'DOCUMENT_DAMAGED', 'cannot be read'],
    ['no PDF at all', () => '<html>Please log in</html>', 'WEB_UNSUPPORTED_CONTENT_TYPE', 'says that it is a PDF, and is none'],
  ])('a PDF that is %s is refused', async (_what, body, code, words) => {
    const { fetchPage } = await start(text(body(), 'application/pdf'))
    expect(await fetchPage('/')).toEqual(failed(code, words))
  })
  it.each([true, false])('a PDF over 20 000 000 bytes is refused, declared or not (%s): without its end it is none', async (isDeclared) => {
    const { fetchPage } = await start((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/pdf', ...(isDeclared && { 'content-length': '20000001' }) })
      if (isDeclared) response.flushHeaders()
      else for (let at = 0; at < 21; at++) response.write(Buffer.alloc(1_000_000, 32))
      response.end()
    })
    expect(await fetchPage('/')).toEqual(failed('WEB_FETCH_TOO_LARGE', 'at most 20000000'))
  })
  it.each([
    ['text/html; charset=iso-8859-1', Buffer.from('<p>caf\xe9', 'latin1'), 'café'],
    ['text/html; charset=utf-16le', Buffer.from('<p>café', 'utf16le'), 'café'],
    ['text/html; charset=shift_jis', Buffer.from([0x3c, 0x70, 0x3e, 0x93, 0xfa, 0x96, 0x7b]), '日本'],
    ['text/html', Buffer.from('<meta charset=windows-1252><p>\x80', 'latin1'), '€'],
    ['text/html', Buffer.from('<meta http-equiv="content-type" content="text/html; charset=iso-8859-2"><p>\xb1', 'latin1'), 'ą'],
    ['text/html; charset=iso-8859-1', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('<p>café')]), 'café'],
    ['text/html', Buffer.from('<meta charset=klingon><p>café'), 'café'],
    ['text/html', Buffer.from('<meta charset=utf-16><p>café'), 'café'],
    ['application/xml', Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe9</a>', 'latin1'), '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'],
  ])('the declared charset counts, then the page’s own: %s', async (type, bytes, content) => {
    const { fetchPage } = await start(text(bytes, type))
    expect(valueOf(await fetchPage('/')).body.content).toBe(content)
  })
  it('an unknown declared charset is an error', async () => {
    const { fetchPage } = await start(text('x', 'text/html; charset=klingon'))
    expect(await fetchPage('/')).toEqual(failed('WEB_UNSUPPORTED_CONTENT_TYPE', 'klingon'))
  })
  it('a wrong one shows, and says so', async () => {
    const { fetchPage } = await start(text(Buffer.from('caf\xe9', 'latin1'), 'text/plain; charset=utf-8'))
    expect(valueOf(await fetchPage('/'))).toMatchObject({ body: { content: 'caf\uFFFD' }, notes: [expect.stringContaining('do not fit the charset')] })
  })
})

describe('time and stopping', () => {
  it('a server that drips ends with the deadline, by its name', async () => {
    const { fetchPage } = await start(
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' })
        const timer = setInterval(() => response.write('x'), 20)
        response.on('close', () => clearInterval(timer))
      },
      { settings: { 'tools.web.timeoutMs': 1_000 } },
    )
    expect(await fetchPage('/')).toEqual(failed('WEB_FETCH_TIMEOUT', `${HOST}:`))
  })
  it('the tool has 30 s and is safe beside others', async () => {
    const { ctx } = await start(page('x'))
    expect([ctx.tools.get('web_fetch')?.timeoutMs, ctx.tools.executionMode({ name: 'web_fetch', arguments: { url: 'https://a.example' } })]).toEqual([30_000, 'parallel'])
  })
  it('stopping ends the request', async () => {
    const controller = new AbortController()
    let closed = 0
    const { call, at } = await start((_request, response) => {
      response.on('close', () => closed++)
      controller.abort()
    })
    expect(await call('web_fetch', { url: at('/') }, controller.signal)).toMatchObject({ isError: true, error: { info: { code: expect.stringMatching(/^(ABORTED|WEB_ABORTED)$/) as unknown } } })
    await expect.poll(() => closed).toBe(1)
  })
  it('a page is fetched once within a quarter of an hour; a failure is not kept', async () => {
    let now = 1_000
    let status = 500
    const { fetchPage, server } = await start((_request, response) => send(response, 'x', { type: 'text/plain', status }), { alter: (world) => ({ ...world, clock: { ...world.clock, now: () => now } }) })
    await fetchPage('/')
    status = 200
    await fetchPage('/')
    await fetchPage('/#part')
    expect(server.seen).toHaveLength(2)
    now += 15 * 60_000
    await fetchPage('/')
    expect(server.seen).toHaveLength(3)
  })
})

describe('consent', () => {
  const asking = { settings: { 'permissions.defaultPreset': 'workspace-write' } }
  it('is asked for by host, with the whole address and what “always” would mean', async () => {
    const { fetchPage, answer, asked, at, folder } = await start(text('x'), asking)
    answer(() => ({ outcome: 'allowed-once' }))
    expect((await fetchPage('/a')).isError).toBe(false)
    expect(asked.map(({ details }) => [details?.effect, details?.why])).toEqual([[`Read \`${at('/a')}\``, `No rule of yours allows reading from \`${HOST}\`.`]])
    const rule = { tool: 'web_fetch', host: HOST, decision: 'allow' }
    expect(asked[0]?.details?.always).toEqual([
      { label: `Allow reading pages of \`${HOST}\` until the session ends`, rule: { scope: 'session', rules: [rule] } },
      { label: `Always allow reading pages of \`${HOST}\` in this workspace`, rule: { scope: 'workspace', rules: [{ ...rule, folder }] } },
      { label: `Always allow reading pages of \`${HOST}\``, rule: { scope: 'always', rules: [rule] } },
    ])
  })
  it('given until the session ends holds for the host, and for no other', async () => {
    const { fetchPage, answer, asked } = await start(text('x'), { settings: { ...asking.settings, 'tools.web.allowedPrivateHosts': [HOST, 'other.example'] } })
    answer(({ details }) => ({ outcome: 'allowed-once', ...(details?.always?.[0] && { rule: details.always[0].rule }) }))
    await fetchPage('/a')
    expect((await fetchPage('/b')).policy?.by).toBe('rule')
    expect(asked).toHaveLength(1)
    await fetchPage('http://other.example:9/')
    expect(asked).toHaveLength(2)
  })
  it('that is not given fetches nothing', async () => {
    const { fetchPage, answer, server } = await start(text('x'), asking)
    answer(() => ({ outcome: 'rejected', note: 'no' }))
    expect([(await fetchPage('/')).isError, server.seen]).toEqual([true, []])
  })
  it('by nobody is none', async () => {
    const { fetchPage, server } = await start(text('x'), asking)
    expect([(await fetchPage('/')).isError, server.seen]).toEqual([true, []])
  })
  it.each<[object, string, boolean]>([
    [{ tool: 'web_fetch', host: '*.example', decision: 'allow' }, 'workspace-write', true],
    [{ tool: 'web_fetch', decision: 'allow' }, 'read-only', true],
    [{ tool: '*', host: 'pages.example', decision: 'allow' }, 'read-only', true],
    [{ tool: 'bash', host: 'pages.example', decision: 'allow' }, 'workspace-write', false],
    [{ tool: 'web_fetch', host: 'example', decision: 'allow' }, 'workspace-write', false],
    [{ tool: 'web_fetch', host: '*.example', decision: 'deny' }, 'danger-full-access', false],
    [{ tool: '*', host: 'pages.example', decision: 'deny' }, 'danger-full-access', false],
    [{ tool: 'web_fetch', host: 'other.example', decision: 'deny' }, 'danger-full-access', true],
  ])('by the rule %j in %s: %s', async (rule, mode, isFetched) => {
    const { fetchPage, server } = await start(text('x'), { settings: { 'permissions.defaultPreset': mode, 'permissions.rules': [rule] } })
    await fetchPage('/')
    expect(server.seen.length > 0).toBe(isFetched)
  })
  it('is needed in a read-only session too, and may be given: nothing changes here', async () => {
    const { fetchPage, answer, asked } = await start(text('x'), { settings: { 'permissions.defaultPreset': 'read-only' } })
    answer(() => ({ outcome: 'allowed-once' }))
    expect([(await fetchPage('/')).isError, asked.length]).toEqual([false, 1])
  })
  it.each([`?q=ghp_${'a'.repeat(36)}`, `?q=%67hp_${'a'.repeat(36)}`, `/AKIA${'A'.repeat(16)}`])('is never asked for an address that would carry a key out: %s', async (part) => {
    const { fetchPage, asked, answer, server } = await start(text('x'), asking)
    answer(() => ({ outcome: 'allowed-once' }))
    const result = await fetchPage(`/${part}`)
    expect([result, result.policy?.by, asked, server.seen]).toEqual([failed('DENIED', 'key or token'), 'secret', [], []])
  })
  it('does not help in a folder that is not trusted', async () => {
    const { call, at, server } = await start(text('x'), { alter: (world) => ({ ...world, workspace: { ...world.workspace, isTrusted: () => false } }) })
    expect([await call('web_fetch', { url: at('/') }), server.seen]).toEqual([failed('UNKNOWN_TOOL'), []])
  })
})

describe('the setting', () => {
  it('takes the tool away and brings it back; the editor’s preset has it, standard has not', async () => {
    const { tools, settings, ctx } = await start(page('x'))
    expect([tools().includes('web_fetch'), ctx.tools.schemas(ctx.presets.scopeOf('standard')).some(({ name }) => name === 'web_fetch')]).toEqual([true, false])
    await settings.set('tools.web.fetchEnabled', false, 'user')
    await expect.poll(tools).not.toContain('web_fetch')
    await settings.set('tools.web.fetchEnabled', true, 'user')
    await expect.poll(tools).toContain('web_fetch')
  })
})

describe('the cards', () => {
  const present = async () => (await start(page('x'))).ctx.tools.get('web_fetch')
  it('pending', async () => expect((await present())?.presentCall?.({ url: ' https://a.example/x ' })).toEqual({ card: 'generic', title: 'Fetch https://a.example/x', kind: 'fetch', subject: 'https://a.example/x' }))
  it('done', async () => {
    const { fetchPage, ctx, at } = await start(page('x', { status: 404 }))
    expect(ctx.tools.get('web_fetch')?.presentResult?.({ url: at('/') }, await fetchPage('/'))).toEqual({ card: 'web', kind: 'fetch', url: at('/'), statusCode: 404, truncated: false })
  })
  it('failed', async () => {
    const content = [{ type: 'text' as const, text: 'Error: no' }]
    expect((await present())?.presentResult?.({ url: 'x' }, { isError: true, content })).toEqual({ card: 'generic', content })
  })
  it.each([null, [], 7, {}, { url: 'x' }, { url: 'x', statusCode: '200', truncated: false }])('of a record nobody understands is none: %j', async (meta) =>
    expect((await present())?.presentResult?.({ url: 'x' }, { isError: false, content: [], meta })).toBeUndefined())
})
