import { describe, expect, it } from 'vitest'
import { PathIndex } from '../../../../extension/features/references/path-index.ts'

const indexOf = (paths: readonly string[], maxBytes = 1_000_000) => {
  const index = new PathIndex({ maxBytes })
  for (const path of paths) index.add(path)
  return index
}
/** The paths that fit, best first. */
const check = (query: string, paths: readonly string[], expected: readonly string[]) => expect(indexOf(paths).best(query, 10).map(({ path }) => path)).toEqual(expected)

describe('what fits', () => {
  it('letters in their order, with others between', () => check('sdt', ['src/date.ts', 'tests/d.ts', 'a.ts'], ['src/date.ts', 'tests/d.ts']))
  it('whatever the capitals', () => check('READ', ['readme.md', 'a.ts'], ['readme.md']))
  it('nothing that misses a letter', () => check('dateq', ['src/date.ts'], []))
  it('letters twice only where they stand twice', () => check('aa', ['a.ts', 'b/aa.ts'], ['b/aa.ts']))
  it('signs of other scripts as they are', () => check('äöü', ['src/äöü.ts', 'src/aou.ts'], ['src/äöü.ts']))
  it('everything for an empty query, in the order it came', () => check('', ['b', 'a', 'c'], ['b', 'a', 'c']))
  it('a path with its dot and slash', () => check('./src/d', ['src/d.ts', 'a/src/e.ts'], ['src/d.ts']))
  it('folders by the name of the folder', () => check('date', ['lib/dates/', 'lib/dates/a.ts'], ['lib/dates/', 'lib/dates/a.ts']))
})

describe('what fits better', () => {
  it('the whole name, then the name without its ending, then a start, a word, a part', () =>
    check('date', ['x/update.ts', 'x/a-date.ts', 'x/dates.ts', 'x/date.ts', 'x/date'], ['x/date', 'x/date.ts', 'x/dates.ts', 'x/a-date.ts', 'x/update.ts']))
  it('a word that begins with a capital', () => check('picker', ['unpicker.ts', 'datePicker.ts'], ['datePicker.ts', 'unpicker.ts']))
  it('the name before the folders', () => check('date', ['date/a.ts', 'lib/date.ts'], ['lib/date.ts', 'date/a.ts']))
  it('a step of the path before a part of one', () => check('src/a', ['xsrc/a.ts', 'src/a.ts'], ['src/a.ts', 'xsrc/a.ts']))
  it('letters of the name before letters of the path', () => check('dt', ['d/x/t.md', 'lib/dat.md'], ['lib/dat.md', 'd/x/t.md']))
  it('the shorter one of two that fit alike', () => check('date', ['src/deep/er/date.ts', 'src/date.ts'], ['src/date.ts', 'src/deep/er/date.ts']))
  it('the earlier one of two that fit the same', () => check('date', ['a/date.ts', 'b/date.ts'], ['a/date.ts', 'b/date.ts']))
})

it('gives as many as are asked for, the best of all', () => {
  const index = indexOf([...Array.from({ length: 500 }, (_, n) => `src/some-date-${n}.ts`), 'src/date.ts'])
  expect(index.best('date', 2).map(({ path }) => path)).toEqual(['src/date.ts', 'src/some-date-0.ts'])
})

it('takes nothing more once its memory is used up, and stays as it is', () => {
  const index = indexOf([], 70_000)
  const taken = Array.from({ length: 2_000 }, (_, n) => index.add(`folder/file-${n}.ts`))
  expect(index.byteLength).toBeLessThanOrEqual(70_000)
  expect([taken[0], taken.at(-1), index.count]).toEqual([true, false, taken.filter(Boolean).length])
  expect(index.best('file-0.ts', 1)[0]?.path).toBe('folder/file-0.ts')
})

it('finds in a large tree what it finds in a small one', () => {
  const many = Array.from({ length: 20_000 }, (_, n) => `packages/p${n % 50}/src/module-${n}/index.ts`)
  expect(indexOf([...many, 'docs/Zebra.md'], 10_000_000).best('zebra', 3).map(({ path }) => path)).toEqual(['docs/Zebra.md'])
  expect(indexOf(many, 10_000_000).best('p7/module-19957', 1)[0]?.path).toBe('packages/p7/src/module-19957/index.ts')
})
