import { describe, expect, it } from 'vitest'
import { plainText } from '../../../../extension/platform/node/page-plain-text.ts'

describe('plain text', () => {
  it.each<[string, string, string]>([
    ['blocks stand on lines of their own', '<h1>A</h1><p>b <b>c</b>d</p><div>e</div>', 'A\nb cd\ne'],
    ['entries are marked', '<ul><li>a<li><a href="x">b</a></ul>c', '- a\n- b\nc'],
    ['cells are apart', '<table><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></table>', 'a b\nc'],
    ['white space is one blank', 'a \n\t b<br>  c', 'a b\nc'],
    ['what only browsers need is gone', '<head><title>t</title></head><script>if (a < b) x</script><style>p{}</style>a<!-- <p>no</p> --><SCRIPT>y</SCRIPT >b', 'ab'],
    ['characters by name and number are themselves', '&amp;&lt;p&gt; &#228;&#xE4;&nbsp;&unknown;&#0;&#99999999;', '&<p> ää &unknown;&#0;&#99999999;'],
    ['a sign that begins no tag is text', 'a < b <3 c', 'a < b <3 c'],
    ['what never ends is no text', 'a<p class="x', 'a'],
    ['a script that never ends takes the rest', 'a<script>b<p>c', 'a'],
    ['a comment that never ends takes the rest', 'a<!-- b', 'a'],
    ['nothing is nothing', '', ''],
  ])('%s', (_name, html, text) => expect(plainText(html)).toBe(text))
  it('of hostile pages comes in one pass', () => {
    for (const part of ['<script>', '<', '<!--', '<a ', '&#', ' \n', '<p> ', '</script', '<li>&amp;']) expect(plainText(part.repeat(40_000)).length).toBeLessThanOrEqual(part.length * 40_000)
  })
})
