import { expect, it } from 'vitest'
import { importsIn } from '../../../../extension/features/instructions/imports.ts'

it.each<[string, readonly string[]]>([
  ['See @docs/a.md and @./b, @../c.txt.', ['docs/a.md', './b', '../c.txt']],
  ['@~/notes.md @/etc/x', ['~/notes.md', '/etc/x']],
  ['(@a.md) [@b.md] "@c.md"', ['a.md', 'b.md', 'c.md']],
  ['@"with space.md" @a.md @a.md', ['with space.md', 'a.md']],
  ['mail me@example.com, @types/node, @param, @scope/pkg', []],
  ['`@a.md` and ``` `@b.md` ```', []],
  ['```\n@a.md\n```\n@b.md', ['b.md']],
  ['~~~md\n@a.md\n```\n@b.md\n~~~\n@c.md', ['c.md']],
  ['````\n```\n@a.md\n````\n@b.md', ['b.md']],
  ['```\n@never.md', []],
  ['- **@a.md**\r\n- @b.md!', ['a.md', 'b.md']],
])('%j', (text, paths) => expect(importsIn(text)).toEqual(paths))
