import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { safeServerName, shownServerName } from '../../../../extension/features/mcp/server-name.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const safe = (own: string, taken: readonly string[] = []) => safeServerName(own, taken, sha256)
const hashed = (plain: string, own: string) => `${plain}_${sha256(own).slice(0, 12)}`

describe('the name that a server bears in those of its tools', () => {
  it.each(['a', 'A-b_9', 'a__b', 'end_', '_', '__', '-', 'x'.repeat(32)])('is its own where the specification allows it: %s', (own) => expect(safe(own)).toBe(own))
  it.each([
    ['GitHub Copilot', 'GitHub_Copilot'],
    ['microsoft/playwright-mcp', 'microsoft_playwrigh'],
    ['io.github.foo/bar', 'io_github_foo_bar'],
    ['a.b', 'a_b'],
    ['日本', 'server'],
    ['x'.repeat(33), 'x'.repeat(19)],
    ['a name . that is cut', 'a_name_that_is_cut'],
    ['__ dotted . ends __', 'dotted_ends'],
  ])('of %s is %s with a hash', (own, plain) => {
    expect(safe(own)).toBe(hashed(plain, own))
    expect(safe(own)).toMatch(/^[A-Za-z0-9_-]{1,32}$/)
  })
  it.each([
    ['a__b', ['a'], hashed('a_b', 'a__b')],
    ['a', ['a__b'], hashed('a', 'a')],
    ['a_', ['a'], hashed('a', 'a_')],
    ['__', ['_'], hashed('server', '__')],
    ['a__b', ['b', 'a_b', 'A'], 'a__b'],
    ['a-b', ['a', 'a_b'], 'a-b'],
    ['a b', ['a_b', 'a'], hashed('a_b', 'a b')],
    ['a', [hashed('a', 'a'), 'a'], null],
    ['a b', [`${hashed('a_b', 'a b')}__c`], null],
  ])('of %s beside %j is %s', (own, taken, name) => expect(safe(own, taken)).toBe(name))
  it('lets no tool of one be read as one of another, whatever they are called', () =>
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '_', '_', '-', '.', ' '), minLength: 1, maxLength: 6 }), { maxLength: 12 }), fc.constantFrom('c', '_c', 'b__c', '__', '_'), (owns, raw) => {
        const names = owns.reduce<readonly string[]>((taken, own) => [...taken, ...[safe(own, taken) ?? []].flat()], [])
        for (const name of names) expect(names.filter((other) => `mcp__${name}__${raw}`.startsWith(`mcp__${other}__`))).toEqual([name])
      }),
    ))
})

it.each([
  [' GitHub\n Copilot ', 'GitHub Copilot'],
  ['a\u202eb', 'a\\u{202e}b'],
  ['[x](command:y)', '[x] (command:y)'],
  ['$(check) done', '$ (check) done'],
])('%j is shown as %s', (own, shown) => expect(shownServerName(own)).toBe(shown))
