import { describe, expect, it } from 'vitest'
import { pageToText } from '../../../../extension/platform/node/page-text.ts'
import { createPageTextWorker } from '../../../../extension/platform/node/page-text-worker.ts'

const page = (html: string) => ({ html, url: 'https://a.example/docs/x', anchor: null, isWhole: false })
const markdown = (html: string) => pageToText(page(html)).text

describe('a page becomes', () => {
  it.each([
    ['headings', '<h1>One</h1><h2>Two</h2>', '# One\n\n## Two'],
    ['its title, where no heading says it', '<html><head><title>Name</title></head><body><p>x</body></html>', '# Name\n\nx'],
    ['full addresses', '<a href="../y?a=1#b">y</a> <a href="//b.example/">b</a>', '[y](https://a.example/y?a=1#b) [b](https://b.example/)'],
    ['addresses from its own base', '<html><head><base href="https://c.example/d/"></head><body><a href="e">e</a></body></html>', '[e](https://c.example/d/e)'],
    ['words without a link, where that runs code', '<a href="javascript:alert(1)">press</a>', 'press'],
    ['images with their words', '<img src="/i.png" alt="A cat"><img src="data:image/png;base64,AAAA" alt="none">', '![A cat](https://a.example/i.png)'],
    ['lists in lists', '<ul><li>a<ol start="3"><li>b<li>c</ol></ul>', '- a\n  3. b\n  4. c'],
    ['code', '<pre>a\n  b</pre><p>an <code>x</code></p>', '```\na\n  b\n```\n\nan `x`'],
    ['code that holds a fence', '<pre>```\na\n```</pre>', '````\n```\na\n```\n````'],
    ['struck text', '<p><del>old</del> <s>older</s></p>', '~~old~~ ~~older~~'],
    ['a table', '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1<br>2</td><td>x|y</td></tr></tbody></table>', '| a | b |\n| --- | --- |\n| 1 2 | x\\|y |'],
    ['text, where a table only holds it together', '<table><tr><td><p>left</p></td></tr><tr><td>right</td></tr></table>', 'left\n\nright'],
    ['nothing, without anything', '', ''],
    ['nothing of what is hidden or for browsers', '<p hidden>a</p><svg><text>b</text></svg><template>c</template><button>d</button><p aria-hidden="true">e</p>f', 'f'],
  ])('%s', (_what, html, text) => expect(markdown(html)).toBe(text))

  it.each(['<', '<<<>>>', '<html', '<p><b><i></p></b>', '</div></div>', '<table><table><tr>', '<!--', '<![CDATA[x', '\0', '<a href="http://[">x</a>', '<base href="::"><a href="x">y'])('something, however broken it is: %s', (html) =>
    expect(typeof markdown(html)).toBe('string'))
  it('its HTML beyond 512 levels', () => {
    const deep = (levels: number) => `<html><body>${'<b>'.repeat(levels)}x</body></html>`
    expect([pageToText(page(deep(400))).form, pageToText(page(deep(600))).form, pageToText(page(deep(20_000))).form]).toEqual(['page', 'raw', 'raw'])
  })
  it('all of its text, where more elements stand around the article than are looked at', () => {
    const words = '<p>The quick brown fox, it is said, jumps over the lazy dog, again and again, all day long.</p>'.repeat(12)
    const found = pageToText(page(`<html><body><article>${words}</article>${'<i>.</i>'.repeat(51_000)}</body></html>`))
    expect([found.form, found.text.startsWith('The quick brown fox')]).toEqual(['page', true])
  })
  it('no article, where the wanted part is elsewhere', () => {
    const words = '<p>The quick brown fox, it is said, jumps over the lazy dog, again and again, all day long.</p>'.repeat(12)
    const html = `<html><body><article><h1>Fox</h1>${words}</article><footer><h2 id="legal">Legal</h2><p>text</p></footer></body></html>`
    expect([pageToText(page(html)).form, pageToText({ ...page(html), anchor: 'legal' }).form]).toEqual(['article', 'page'])
  })
})

describe('a page in a thread of its own', () => {
  const entry = new URL('../../../../extension/platform/node/page-text-main.ts', import.meta.url)
  const never = new AbortController().signal
  it('comes back as text', async () => expect(await createPageTextWorker({ entry }).toText(page('<h1>One</h1>'), never)).toEqual({ text: '# One', form: 'page', anchorLine: null }))
  it('comes back as its HTML when it takes too long, and the next one is read', async () => {
    const slow = `<html><body>${'<div><p>a <a href="/x">b</a></p></div>'.repeat(100_000)}</body></html>`
    const worker = createPageTextWorker({ entry, timeoutMs: 1 })
    expect(await worker.toText(page(slow), never)).toEqual({ text: slow, form: 'raw', anchorLine: null })
    expect((await worker.toText(page('x'), never)).text).toBe('x')
  })
  it('comes back as its words alone when it is too large for more in that time', async () => {
    const large = `<html><head><title>T</title></head><body>${'<p>a <a href="/x">link</a></p>'.repeat(20_000)}</body></html>`
    expect(await createPageTextWorker({ entry, largePageMs: 1 }).toText(page(large), never)).toEqual({ text: 'a link\n'.repeat(20_000).trim(), form: 'plain', anchorLine: null })
  })
  it('comes back as its words alone when it is large and its HTML would be the answer', async () => {
    const deep = `<html><body>${'<b>'.repeat(600)}x${'<i>y</i>'.repeat(60_000)}</body></html>`
    expect(await createPageTextWorker({ entry }).toText(page(deep), never)).toMatchObject({ form: 'plain', text: `x${'y'.repeat(60_000)}` })
  })
  it('comes back as its HTML when its thread cannot start', async () =>
    expect(await createPageTextWorker({ entry: '/nowhere/page-text.js' }).toText(page('<p>x'), never)).toEqual({ text: '<p>x', form: 'raw', anchorLine: null }))
  it('is left when the caller stops', async () => {
    const controller = new AbortController()
    const work = createPageTextWorker({ entry }).toText(page('<p>x'.repeat(50_000)), controller.signal)
    controller.abort()
    await expect(work).rejects.toMatchObject({ code: 'WEB_ABORTED' })
  })
})
