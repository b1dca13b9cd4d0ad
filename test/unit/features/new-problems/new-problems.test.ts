import { describe, expect, it } from 'vitest'
import type { LanguageProblem } from '../../../../extension/capabilities/languages.ts'
import { MAX_NEW_PROBLEMS, newProblemsText } from '../../../../extension/core/tools/new-problems.ts'
import { newProblems } from '../../../../extension/features/new-problems/new-problems.ts'
import { problemAt } from '../../../support/fake-problem-feed.ts'

const warning = { severity: 'warning' } as const

describe('what is new', () => {
  const rows: readonly [name: string, before: readonly LanguageProblem[], after: readonly LanguageProblem[], found: object | null][] = [
    ['nothing among the same', [problemAt(1, 'a')], [problemAt(1, 'a')], null],
    ['nothing among those that moved', [problemAt(1, 'a')], [problemAt(9, 'a')], null],
    ['nothing when all are gone', [problemAt(1, 'a')], [], null],
    ['a problem that was not there', [problemAt(1, 'a')], [problemAt(1, 'a'), problemAt(2, 'b')], { errors: 1, warnings: 0, first: [{ line: 2, severity: 'error', message: 'b' }] }],
    ['the second of two that say the same', [problemAt(1, 'a')], [problemAt(1, 'a'), problemAt(2, 'a')], { errors: 1, warnings: 0, first: [{ line: 2, severity: 'error', message: 'a' }] }],
    ['an error that was a warning', [problemAt(1, 'a', warning)], [problemAt(1, 'a')], { errors: 1, warnings: 0, first: [{ line: 1, severity: 'error', message: 'a' }] }],
    ['one of another source', [problemAt(1, 'a', { source: 'ts' })], [problemAt(1, 'a', { source: 'lint' })], { errors: 1, warnings: 0, first: [{ line: 1, severity: 'error', message: 'a', source: 'lint' }] }],
    [
      'errors first, then by line',
      [],
      [problemAt(1, 'w', warning), problemAt(5, 'late'), problemAt(2, 'early')],
      { errors: 2, warnings: 1, first: [{ line: 2, severity: 'error', message: 'early' }, { line: 5, severity: 'error', message: 'late' }, { line: 1, severity: 'warning', message: 'w' }] },
    ],
    ['no information and no hint', [], [problemAt(1, 'i', { severity: 'information' }), problemAt(1, 'h', { severity: 'hint' })], null],
  ]
  it.each(rows)('is %s', (_name, before, after, found) => expect(newProblems(before, after)).toEqual(found))
})

describe('the words for the model', () => {
  it('name line, severity, message on one line, and who says it', () =>
    expect(newProblemsText({ errors: 1, warnings: 1, first: [{ line: 3, severity: 'error', message: 'not\n  found', source: 'ts 2304' }, { line: 1, severity: 'warning', message: 'unused' }] })).toBe(
      'The editor now finds 1 error and 1 warning in the file, which the text before this change did not have:\n  line 3: error: not found [ts 2304]\n  line 1: warning: unused',
    ))
  it('list the first and count the rest, and cut a long message', () => {
    const many = newProblems([], Array.from({ length: MAX_NEW_PROBLEMS + 5 }, (_none, index) => problemAt(index + 1, `${index}${'x'.repeat(1_000)}`)))
    const lines = newProblemsText(many!).split('\n')
    expect([lines.length, lines.at(-1), Math.max(...lines.map(({ length }) => length)) < 400]).toEqual([MAX_NEW_PROBLEMS + 2, '  and 5 more', true])
  })
})
