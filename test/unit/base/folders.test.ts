import { expect, it } from 'vitest'
import { childPath, foldersDown, nameOf, parentFolder, seenFrom } from '../../../extension/base/folders.ts'

it.each([
  ['/a/b', '/a'],
  ['/a/', '/'],
  ['/a', '/'],
  ['/', null],
  ['C:\\a\\b', 'C:\\a'],
  ['C:\\a', 'C:\\'],
  ['C:\\', null],
  ['\\\\host\\share\\a', '\\\\host\\share'],
  ['vscode-vfs://github/o/r/src', 'vscode-vfs://github/o/r'],
  ['vscode-vfs://github/o', 'vscode-vfs://github/'],
  ['vscode-vfs://github', null],
])('above %s is %s', (path, parent) => expect(parentFolder(path)).toBe(parent))

it.each([
  ['/', 'a', '/a'],
  ['/a', '.cursor/rules/', '/a/.cursor/rules/'],
  ['C:\\a', '.github/x.md', 'C:\\a\\.github\\x.md'],
  ['C:\\', 'a', 'C:\\a'],
  ['vscode-vfs://github/o', 'a.md', 'vscode-vfs://github/o/a.md'],
])('in %s, %s is %s', (folder, name, path) => expect(childPath(folder, name)).toBe(path))

it.each([
  ['/a', '/a/b/c.ts', 'b/c.ts'],
  ['/a', '/ab/c.ts', '/ab/c.ts'],
  ['/a', '/a', '/a'],
  ['', '/a/b', '/a/b'],
  ['C:\\a', 'C:\\a\\b.ts', 'b.ts'],
  ['/', '/a/b', 'a/b'],
  ['/', '/', '/'],
  ['/a/', '/a/b', 'b'],
  ['C:\\', 'C:\\a', 'a'],
])('from %s, %s is %s', (folder, path, shown) => expect(seenFrom(folder, path)).toBe(shown))

it('goes down from a folder to one in it', () => {
  expect(foldersDown('/', '/a/b')).toEqual(['/', '/a', '/a/b'])
  expect(foldersDown('/a', '/a')).toEqual(['/a'])
  expect(foldersDown('C:\\', 'C:\\a\\b')).toEqual(['C:\\', 'C:\\a', 'C:\\a\\b'])
  expect(foldersDown('/x', '/a/b')).toEqual(['/a/b'])
})
it('names the last step', () => expect([nameOf('/a/b.md'), nameOf('C:\\a'), nameOf('x')]).toEqual(['b.md', 'a', 'x']))
