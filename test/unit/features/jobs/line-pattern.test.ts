import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileLinePattern } from '../../../../extension/features/jobs/line-pattern.ts'

const check = (pattern: string, line: string, expected: boolean) => expect(compileLinePattern(pattern).matches(line)).toBe(expected)

describe('a pattern', () => {
  const rows: readonly [string, string, boolean][] = [
    ['ready', 'server is ready now', true],
    ['ready', 'server is red', false],
    ['^ready$', 'ready', true],
    ['^ready$', 'not ready', false],
    ['listening on .*:\\d+', 'listening on http://localhost:3000', true],
    ['(error|warning) TS\\d{4}', 'a.ts(1,2): error TS2322: no', true],
    ['(error|warning) TS\\d{4}', 'a.ts(1,2): info TS23', false],
    ['(?i)DONE', 'all done', true],
    ['DONE', 'all done', false],
    ['a{2,3}b', 'xaab', true],
    ['^a{2,3}b', 'ab', false],
    ['^a{2,3}b', 'aaaab', false],
    ['^a{2}$', 'aa', true],
    ['^a{2,}$', 'aaaaa', true],
    ['\\bcat\\b', 'concat', false],
    ['\\bcat\\b', 'a cat!', true],
    ['\\Bcat', 'concat', true],
    ['[^a-z]', 'abc', false],
    ['[\\]x]', ']', true],
    ['a|b|', 'zzz', true],
    ['^(?:ab|cd)+$', 'abcdab', true],
    ['(?<name>ab)c', 'abc', true],
    ['x*?y', 'xxy', true],
    ['^(a?b?)*$', 'ababba', true],
    ['\\u00e9', 'é', true],
    ['^.$', 'é', true],
    ['\\$\\d', '$5', true],
    ['()', '', true],
  ]
  it.each(rows)('%s on %j', check)
})

const refused: readonly [string, string, RegExp][] = [
  ['nothing', '', /empty/],
  ['a bad one', '(', /Unterminated|Invalid/],
  ['a reference', '(a)\\1', /refers back/],
  ['a named reference', '(?<n>a)\\k<n>', /refers back/],
  ['a look ahead', 'a(?=b)', /looks ahead/],
  ['a look behind', '(?<!a)b', /looks ahead or behind/],
  ['too much repetition', '((a{100}){100}){100}', /too large/],
  ['a repetition beyond all counting', 'a{99999999}', /too often/],
  ['too long a text', 'a'.repeat(501), /longer than 500/],
]
it.each(refused)('refuses %s, with the reason', (_name, pattern, reason) => {
  expect(() => compileLinePattern(pattern)).toThrow(expect.objectContaining({ code: 'BAD_PATTERN', message: expect.stringMatching(reason) as string }) as Error)
})

it('cannot be made slow: patterns that run away elsewhere end at once', () => {
  const line = `${'a'.repeat(2_000)}!`
  for (const pattern of ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(.*)*x', '^(([a-z])+.)+[A-Z]([a-z])+$', '.*.*.*.*=x']) check(pattern, line, false)
})

it('agrees with the expressions of the language', () => {
  const atom = fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '\\w', '\\b', '^', '$')
  const pattern = fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      atom,
      fc.tuple(tie('node'), tie('node')).map((parts) => parts.join('')),
      fc.tuple(tie('node'), tie('node')).map((parts) => `(?:${parts.join('|')})`),
      fc.tuple(tie('node'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{2,}')).map(([node, times]) => `(?:${node})${times}`),
    ),
  })).node
  fc.assert(
    fc.property(pattern, fc.array(fc.constantFrom('a', 'b', 'c', ' '), { maxLength: 8 }).map((parts) => parts.join('')), (source, line) => {
      expect({ source, line, matches: compileLinePattern(source).matches(line) }).toEqual({ source, line, matches: new RegExp(source).test(line) })
    }),
    { numRuns: 2_000 },
  )
})
