import { expect, it } from 'vitest'
import { pathOfUri, shownUri, uriOfPath } from '../../../../extension/tools/language/shown-uri.ts'

const rows: readonly [path: string, uri: string][] = [
  ['/work/a b#c?d/é', 'file:///work/a%20b%23c%3Fd/%C3%A9'],
  ['C:\\work\\a', 'file:///C:/work/a'],
  ['vscode-vfs://github/a/b', 'vscode-vfs://github/a/b'],
]
it.each(rows)('the URI of %s', (path, uri) => expect([uriOfPath(path), pathOfUri(uri)]).toEqual([uri, path.replaceAll('\\', '/')]))

it.each([
  ['file:///work/src/a%20b.ts', '/work', 'src/a b.ts'],
  ['file:///work/src/a.ts', 'file:///work', 'src/a.ts'],
  ['file:///c%3A/Work/a.ts', 'file:///C:/work', 'a.ts'],
  ['file:///workshop/a.ts', 'file:///work', '/workshop/a.ts'],
  ['untitled:New', 'file:///work', 'untitled:New'],
])('%s in %s is shown as %s', (uri, root, shown) => expect(shownUri(uri, root)).toBe(shown))
