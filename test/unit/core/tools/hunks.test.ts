import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { changesBetween, type Changes } from '../../../../extension/core/tools/hunks.ts'

const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `${from + index}\n`).join('')

describe('the changes between two texts', () => {
  const check = (before: string, after: string, changes: Changes) => expect(changesBetween(before, after)).toEqual(changes)

  it('are none for equal texts', () => check('a\n', 'a\n', { hunks: [], added: 0, removed: 0 }))
  it('have three lines around them', () =>
    check(numbered(1, 20), numbered(1, 20).replace('10\n', 'ten\n'), {
      hunks: [{ oldStart: 7, newStart: 7, oldText: numbered(7, 13), newText: `${numbered(7, 9)}ten\n${numbered(11, 13)}` }],
      added: 1,
      removed: 1,
    }))
  it('make one hunk when their surroundings touch, else two', () => {
    const before = numbered(1, 30)
    expect(changesBetween(before, before.replace('5\n', 'x\n').replace('12\n', 'y\n')).hunks).toHaveLength(1)
    expect(changesBetween(before, before.replace('5\n', 'x\n').replace('13\n', 'y\n')).hunks.map(({ oldStart }) => oldStart)).toEqual([2, 10])
  })
  it('know a pure insertion', () => check('', 'a\nb', { hunks: [{ oldStart: 1, newStart: 1, oldText: '', newText: 'a\nb' }], added: 2, removed: 0 }))
  it('know a pure deletion', () => check('a\nb\n', 'a\n', { hunks: [{ oldStart: 1, newStart: 1, oldText: 'a\nb\n', newText: 'a\n' }], added: 0, removed: 1 }))
  it('see a final line end', () => check('a', 'a\n', { hunks: [{ oldStart: 1, newStart: 1, oldText: 'a', newText: 'a\n' }], added: 1, removed: 1 }))
  it('shift the later line numbers', () => {
    const before = numbered(1, 40)
    expect(changesBetween(before, `0\n${before.replace('30\n', 'x\n')}`).hunks.map(({ oldStart, newStart }) => [oldStart, newStart])).toEqual([[1, 1], [27, 28]])
  })
  it('are one region when too much differs to look for more', () => {
    const [before, after] = [numbered(1, 6_000), numbered(10_001, 16_000)]
    expect(changesBetween(before, after)).toEqual({ hunks: [{ oldStart: 1, newStart: 1, oldText: before, newText: after }], added: 6_000, removed: 6_000 })
  })
  it('are one region when they lie too far apart', () => {
    const before = numbered(1, 60_000)
    const after = before.replace('\n10\n', '\nten\n').replace('59990\n', 'x\n')
    expect(changesBetween(before, after)).toMatchObject({ hunks: [{ oldStart: 7, newStart: 7, oldText: expect.stringMatching(/^7\n8\n9\n10\n[^]*59993\n$/) as string }] })
  })
  it('rebuild the new text from the old one', () => {
    const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n'), { maxLength: 30 }).map((lines) => lines.join(''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { hunks } = changesBetween(before, after)
        let rebuilt = ''
        let at = 0
        const lines = before.split(/(?<=\n)/)
        for (const { oldStart, oldText, newText } of hunks) {
          rebuilt += lines.slice(at, oldStart - 1).join('') + newText
          at = oldStart - 1 + (oldText === '' ? 0 : oldText.split(/(?<=\n)/).length)
        }
        return rebuilt + lines.slice(at).join('') === after
      }),
    )
  })
})
