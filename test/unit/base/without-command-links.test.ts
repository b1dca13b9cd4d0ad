import { expect, it } from 'vitest'
import { withoutCommandLinks } from '../../../extension/base/without-command-links.ts'

const rows: readonly [markdown: string, text: string][] = [
  ['see [the docs](https://a.test/b) and [run it](command:x.run)', 'see [the docs](https://a.test/b) and run it'],
  ['[run](command:x.run?%5B1%5D "Run it now")', 'run'],
  ['[run](<command:x.run>)', 'run'],
  ['[run](command:x.run?(1,2))', 'run'],
  ['[$(zap) [2] implementations](COMMAND:x)', '$(zap) [2] implementations'],
  ['<a href="command:x.run" title="y">run\nit</a>', 'run\nit'],
  ['before <command:x.run> after', 'before  after'],
  ['[run][1]\n\n[1]: command:x.run "Run"', '[run][1]\n\n'],
  ['`command:x` is a word, [a](b) too', '`command:x` is a word, [a](b) too'],
]
it.each(rows)('%s', (markdown, text) => expect(withoutCommandLinks(markdown)).toBe(text))

it('takes long texts that only begin such links', () => {
  const text = '[a](command:'.repeat(20_000)
  expect(withoutCommandLinks(text)).toBe(text)
})
