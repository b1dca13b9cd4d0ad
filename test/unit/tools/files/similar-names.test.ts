import { describe, expect, it } from 'vitest'
import { similarNames, splitPath } from '../../../../extension/tools/files/similar-names.ts'

describe('similar names', () => {
  const check = (wanted: string, names: readonly string[], similar: readonly string[]) => expect(similarNames(wanted, names)).toEqual(similar)

  it('differ in case', () => check('readme.md', ['README.md', 'x'], ['README.md']))
  it('differ in their ending', () => check('app.js', ['app.ts', 'main.ts'], ['app.ts']))
  it('differ in how words are joined', () => check('userName.ts', ['user-name.ts'], ['user-name.ts']))
  it('contain one another', () => check('widget.ts', ['widget.test.ts', 'small-widget.ts'], ['widget.test.ts', 'small-widget.ts']))
  it('come likeliest first, three at most', () => check('a-b.js', ['xa-b.ts', 'ab.ts', 'a-b.ts', 'A-B.js', 'za-b.ts'], ['A-B.js', 'a-b.ts', 'ab.ts']))
  it('are none for a name too short to tell', () => check('a', ['abc', 'xyz'], []))
})

describe('splitting a path', () => {
  const check = (path: string, folder: string, name: string) => expect(splitPath(path)).toEqual({ folder, name })
  it('of a bare name', () => check('a', '.', 'a'))
  it('at the root', () => check('/a', '/', 'a'))
  it('in folders, either way of slashes', () => {
    check('x/y/a', 'x/y', 'a')
    check('x\\a', 'x', 'a')
  })
})
