import fc from 'fast-check'
import { expect, it } from 'vitest'
import { applyEdits } from '../../../../extension/base/encoding.ts'
import { minimalEdits } from '../../../../extension/platform/vscode/minimal-edits.ts'

const check = (before: string, after: string, edits: readonly (readonly [number, number, string])[]) => {
  expect(minimalEdits(before, after).map(({ start, end, newText }) => [start, end, newText])).toEqual(edits)
  expect(applyEdits(before, minimalEdits(before, after))).toBe(after)
}

it('is nothing for equal texts', () => check('a\nb\n', 'a\nb\n', []))
it('touches only the changed word of a line', () => check('one\ntwo\nthree\n', 'one\ntwX\nthree\n', [[6, 7, 'X']]))
it('keeps regions apart', () => check('a\nb\nc\nd\ne\n', 'A\nb\nc\nd\nE\n', [[0, 1, 'A'], [8, 9, 'E']]))
it('inserts and deletes', () => {
  check('a\nc\n', 'a\nb\nc\n', [[2, 2, 'b\n']])
  check('a\nb\nc\n', 'a\nc\n', [[2, 4, '']])
})
it('cuts no character and no line end in two', () => {
  check('x😀y', 'x😁y', [[1, 3, '😁']])
  check('a\r\nb', 'a\nb', [[1, 3, '\n']])
})

it('turns any text into any other with edits in order', () => {
  const text = fc.array(fc.constantFrom('a', 'b', '\n', '\r\n', '😀', '\r'), { maxLength: 40 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const edits = minimalEdits(before, after)
      expect(applyEdits(before, edits)).toBe(after)
      let last = 0
      for (const { start, end } of edits) {
        expect(start).toBeGreaterThanOrEqual(last)
        expect(end).toBeGreaterThanOrEqual(start)
        last = end
      }
    }),
  )
})
