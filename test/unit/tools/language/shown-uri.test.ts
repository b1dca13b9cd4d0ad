import { expect, it } from 'vitest'
import { pathOfUri, shownUri, uriOfPath } from '../../../../extension/tools/language/shown-uri.ts'

const rows: readonly [path: string, uri: string][] = [
  ['/project/a b#c?d/é', 'file:///project/a%20b%23c%3Fd/%C3%A9'],
  ['C:\\project\\a', 'file:///C:/project/a'],
  ['vscode-vfs://github/a/b', 'vscode-vfs://github/a/b'],
]
it.each(rows)('the URI of %s', (path, uri) => expect([uriOfPath(path), pathOfUri(uri)]).toEqual([uri, path.replaceAll('\\', '/')]))

it.each([
  ['file:///project/src/a%20b.ts', '/project', 'src/a b.ts'],
  ['file:///project/src/a.ts', 'file:///project', 'src/a.ts'],
  ['file:///c%3A/Project/a.ts', 'file:///C:/project', 'a.ts'],
  ['file:///projector/a.ts', 'file:///project', '/projector/a.ts'],
  ['untitled:New', 'file:///project', 'untitled:New'],
])('%s in %s is shown as %s', (uri, root, shown) => expect(shownUri(uri, root)).toBe(shown))
