import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyLineEdits, joinLines, lineEdits, mergeLines, splitLines } from '../../../../extension/features/checkpoints/line-merge.ts'

const letters = (text: string) => text.split('')

describe('merging by lines', () => {
  const check = (base: string, ours: string, theirs: string, merged: string, conflicts: readonly (readonly [from: number, to: number, lines: string])[] = []) => {
    const found = mergeLines(letters(base), letters(ours), letters(theirs))
    const clean = found.filter(({ base: before }) => before === undefined)
    const hard = found.filter(({ base: before }) => before !== undefined)
    expect([applyLineEdits(letters(ours), clean).join(''), hard.map(({ from, to, lines }) => [from, to, lines.join('')])]).toEqual([merged, conflicts])
  }
  it.each([
    ['nothing on either side', 'abc', 'abc', 'abc', 'abc'],
    ['theirs alone', 'abc', 'abc', 'aXc', 'aXc'],
    ['ours alone', 'abc', 'aXc', 'abc', 'aXc'],
    ['both apart', 'abcde', 'Abcde', 'abcdE', 'AbcdE'],
    ['the same on both sides', 'abc', 'aXc', 'aXc', 'aXc'],
    ['an insertion right below a replacement', 'abc', 'abOc', 'aTc', 'aTOc'],
    ['an insertion right above a replacement', 'abc', 'aObc', 'aTc', 'aOTc'],
    ['a removal right beside a replacement', 'abcd', 'acd', 'abTd', 'aTd'],
    ['two insertions at one place', 'ab', 'aOb', 'aTb', 'aTOb'],
    ['an insertion that holds the other', 'ab', 'aXYb', 'aYb', 'aXYb'],
    ['an insertion that the other holds', 'ab', 'aYb', 'aXYb', 'aXYb'],
    ['both at the end of a text', 'a', 'aO', 'aT', 'aTO'],
    ['from nothing', '', 'O', 'T', 'TO'],
  ])('%s', (_name, base, ours, theirs, merged) => check(base, ours, theirs, merged))
  it.each([
    ['the same line in two ways', 'abc', 'aOc', 'aTc', 'aOc', [[1, 2, 'T']]],
    ['a change inside of what was taken away', 'abcde', 'abOde', 'ae', 'abOde', [[1, 4, '']]],
    ['an insertion inside of what was replaced', 'abcd', 'abOcd', 'aTd', 'abOcd', [[1, 4, 'T']]],
    ['a conflict beside what is clean', 'abcdef', 'aOcdef', 'aTcdeF', 'aOcdeF', [[1, 2, 'T']]],
  ] as const)('is a conflict: %s', (_name, base, ours, theirs, merged, conflicts) => check(base, ours, theirs, merged, conflicts))

  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), maxLength: 12 })
  it('the edits between two texts make the one of the other', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(applyLineEdits(letters(before), lineEdits(letters(before), letters(after))).join('')).toBe(after)
      }),
    )
  })
  it('a side without changes gives the other side', () => {
    fc.assert(
      fc.property(text, text, (base, other) => {
        check(base, base, other, other)
        check(base, other, base, other)
        check(base, other, other, other)
      }),
    )
  })
  it('every line that only ours added stays', () => {
    fc.assert(
      fc.property(text, text, fc.array(fc.nat(12), { maxLength: 4 }), (base, theirs, places) => {
        const ours = places.reduce((lines, place, index) => lines.toSpliced(Math.min(place, lines.length), 0, `own ${index}`), letters(base))
        const merged = applyLineEdits(
          ours,
          mergeLines(letters(base), ours, letters(theirs)).filter(({ base: before }) => before === undefined),
        )
        for (const index of places.keys()) expect(merged).toContain(`own ${index}`)
      }),
    )
  })
})

describe('lines of a text', () => {
  it.each(['', 'a', 'a\n', '\n', '\n\na', 'a\r\nb', 'a\rb\n'])('%j comes back whole', (text) => expect(joinLines(splitLines(text))).toBe(text))
  it('a line without an end that comes to stand before others gets one', () =>
    expect([joinLines(['a', 'b\n']), joinLines(['a\r\n', 'b', 'c'])]).toEqual(['a\nb\n', 'a\r\nb\r\nc']))
})
