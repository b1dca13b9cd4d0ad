import { describe, expect, it } from 'vitest'
import { linkTarget, locationFrom, looksLikeFile } from '../../../webview/text/file-path.ts'
import { createMarkdownReader } from '../../../webview/text/markdown-blocks.ts'
import { morphChildren } from '../../../webview/text/morph.ts'

const drawn = (markdown: string) =>
  createMarkdownReader()
    .read(markdown)
    .map((block) => (block.kind === 'code' ? `[${block.language}${block.isClosed ? '' : ' open'}] ${block.text}` : block.html.trim()))

const sample = 'Intro *text*\n\n# Title\n\n- one\n- two\n\n  more\n\n```ts\nconst a = 1\n\nconst b = 2\n```\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\nEnd with [link](src/a.ts#L3) and `src/b.ts:9`.\n'

describe('blocks', () => {
  it('come out the same however the text arrived', () => {
    const whole = createMarkdownReader().read(sample)
    const reader = createMarkdownReader()
    let blocks = reader.read('')
    for (let end = 1; end <= sample.length; end += 1) blocks = reader.read(sample.slice(0, end))
    expect(blocks).toEqual(whole)
  })

  it('that stand stay the same objects while text is added', () => {
    const reader = createMarkdownReader()
    const before = reader.read('one\n\ntwo\n\nthree')
    const after = reader.read('one\n\ntwo\n\nthree and four')
    expect(after[0]).toBe(before[0])
  })

  it('keep their keys while text is added', () => {
    const reader = createMarkdownReader()
    expect([reader.read('a\n\n```ts\nx'), reader.read('a\n\n```ts\nx\n```\n\nb')].map((blocks) => blocks.map(({ key }) => key))).toEqual([['html-0', 'code-1'], ['html-0', 'code-1', 'html-2']])
  })

  it('read anew when the text was replaced', () => {
    const reader = createMarkdownReader()
    reader.read('one\n\ntwo\n\nthree')
    expect(reader.read('other').length).toBe(1)
  })

  it('take an unclosed fence as code', () => expect(drawn('```ts\nconst a')).toEqual(['[ts open] const a']))
  it('close a fence only by its own kind', () => expect(drawn('~~~\n```\na\n~~~\n')).toEqual(['[] ```\na']))
})

describe('what a message may not do', () => {
  it('bring its own HTML', () => expect(drawn('<img src=x onerror=alert(1)> <b>x</b>')).toEqual(['<p>&lt;img src=x onerror=alert(1)&gt; &lt;b&gt;x&lt;/b&gt;</p>']))
  it('bring it inside a line', () => expect(drawn('a <b onclick="x">c</b>')).toEqual(['<p>a &lt;b onclick=&quot;x&quot;&gt;c&lt;/b&gt;</p>']))
  it('load a picture from elsewhere', () => expect(drawn('![alt](https://example.org/a.png)')).toEqual(['<p><a href="https://example.org/a.png">alt</a></p>']))
})

// Sanitising itself is tested in a real browser, in test/e2e.
describe('links', () => {
  const check = (href: string, target: unknown) => expect(linkTarget(href)).toEqual(target)
  it('lead to pages', () => check('https://example.org/a?b', { url: 'https://example.org/a?b' }))
  it('lead to files', () => check('src/a%20b.ts#L12-L14', { location: { path: 'src/a b.ts', line: 12 } }))
  it('lead to files by address', () => check('file:///w/a.ts#L2', { location: { path: '/w/a.ts', line: 2 } }))
  it('lead nowhere with other schemes', () => check('javascript:alert(1)', null))
  it('lead nowhere for commands of the editor', () => check('command:workbench.action.quit', null))
  it('lead nowhere within the page', () => check('#top', null))
  it('keep a drive letter', () => check('C:\\w\\a.ts', { location: { path: 'C:\\w\\a.ts' } }))
})

describe('places in files', () => {
  for (const [text, location] of [
    ['a.ts', { path: 'a.ts' }],
    ['a.ts:12', { path: 'a.ts', line: 12 }],
    ['a.ts:12:3', { path: 'a.ts', line: 12 }],
    ['a.ts:12-14', { path: 'a.ts', line: 12 }],
    ['a.ts#L7', { path: 'a.ts', line: 7 }],
    ['a.ts:0', { path: 'a.ts' }],
  ] as const)
    it(`of ${text}`, () => expect(locationFrom(text)).toEqual(location))
  it('are guessed from a folder or a line, and an ending', () =>
    expect(['src/a.ts', 'a.ts:3', './a/b.test.tsx', 'a.ts', 'src/dir', 'a/b c.ts', 'x.y()', 'https://a.example/b.ts'].filter(looksLikeFile)).toEqual(['src/a.ts', 'a.ts:3', './a/b.test.tsx']))
})

describe('morphing', () => {
  const morphed = (before: string, after: string) => {
    const box = document.createElement('div')
    box.innerHTML = before
    const wanted = document.createElement('div')
    wanted.innerHTML = after
    morphChildren(box, wanted)
    return box
  }
  for (const [before, after] of [
    ['', '<p>a</p>'],
    ['<p>a</p>', '<p>ab <em>c</em></p><ul><li>x</li></ul>'],
    ['<p class="x" dir="auto">a</p><p>b</p>', '<h3 title="t">a</h3>'],
    ['a<b>b</b>c', '<b>b</b>'],
  ] as const)
    it(`${before} to ${after}`, () => expect(morphed(before, after).innerHTML).toBe(after))

  it('keeps elements and text nodes that only grew', () => {
    const box = document.createElement('div')
    box.innerHTML = '<p>Hello</p>'
    const [paragraph, words] = [box.firstChild, box.firstChild?.firstChild]
    const wanted = document.createElement('div')
    wanted.innerHTML = '<p>Hello world</p>'
    morphChildren(box, wanted)
    expect([box.firstChild === paragraph, box.firstChild?.firstChild === words, box.textContent]).toEqual([true, true, 'Hello world'])
  })
})
