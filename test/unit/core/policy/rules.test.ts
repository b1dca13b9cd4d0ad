import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatMatch, formatRule, matchesCommand, parseMatch, parseRule } from '../../../../extension/core/policy/rules.ts'

const command = (...texts: readonly (string | null)[]) => ({ words: texts.map((text) => ({ text, guess: text ?? 'x', isPattern: false, source: text ?? '$X' })) })

describe('a rule for commands', () => {
  it('comes back as it was written', () => {
    const words = fc.array(fc.oneof(fc.string(), fc.constantFrom('*', "'", '', 'a b', "it's", '"', '\\', 'npm')), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(words, fc.boolean(), (list, isPrefix) => {
        expect(parseMatch(formatMatch({ words: list, isPrefix }))).toEqual({ words: list, isPrefix })
      }),
    )
  })

  it('fits the command it was made of, with more words only when it begins one', () => {
    const words = fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(words, fc.boolean(), (list, isPrefix) => {
        const rule = parseMatch(formatMatch({ words: list, isPrefix }))
        expect([matchesCommand(rule, command(...list)), matchesCommand(rule, command(...list, 'more')), matchesCommand(rule, command(...list, null))]).toEqual([true, isPrefix, isPrefix])
        expect(matchesCommand(rule, command(null, ...list.slice(1)))).toBe(false)
      }),
    )
  })

  const rows: readonly [match: string, words: readonly string[], isPrefix: boolean][] = [
    ['npm test', ['npm', 'test'], false],
    ['  npm   test * ', ['npm', 'test'], true],
    ["git commit -m 'a b'", ['git', 'commit', '-m', 'a b'], false],
    ["echo '*'", ['echo', '*'], false],
    ['*', [], true],
  ]
  it.each(rows)('reads %j', (match, words, isPrefix) => expect(parseMatch(match)).toEqual({ words, isPrefix }))

  it.each(['', '  ', 'npm "test', "npm 'test", "npm te'st'"])('says what is wrong with %j', (match) => expect(() => parseMatch(match)).toThrow('names no command'))
})

describe('a rule', () => {
  const rows = [
    { tool: 'bash', decision: 'allow' },
    { tool: 'bash', match: 'npm test *', decision: 'deny' },
    { tool: 'bash', host: '*.example.test', decision: 'allow' },
    { tool: 'edit', path: 'src/**', folder: '/w', decision: 'ask' },
  ] as const
  it.each(rows)('is the same after reading and writing: %j', (rule) => expect(formatRule(parseRule(rule, 'always'))).toEqual(rule))
})
