import { describe, expect, it } from 'vitest'
import { childPath, decodedPart, fullAddress } from '../../../extension/base/address.ts'
import { isUri } from '../../../extension/base/is-uri.ts'

it.each([
  ['memfs:///w', true], ['vscode-vfs://github/a/b', true], ['memfs:/w', false], ['/w/a', false], ['c:/w', false], ['c://w', false], ['a:b', false],
])('an address: %s %s', (path, is) => expect(isUri(path)).toBe(is))

describe('a child', () => {
  it.each([
    ['/w', 'a (1).ts', '/w/a (1).ts'],
    ['/', 'a', '/a'],
    ['memfs:///w', 'a (1).ts', 'memfs:///w/a%20%281%29.ts'],
    ['memfs:///', 'a', 'memfs:///a'],
    ['memfs://host/w/', 'é#?%', 'memfs://host/w/%C3%A9%23%3F%25'],
    ['memfs:///w', 'src', 'memfs:///w/src'],
  ])('of %s named %s', (folder, name, path) => expect(childPath(folder, name)).toBe(path))
  it('whose name is no well-formed text has an address all the same', () => expect(childPath('memfs:///w', '\ud800')).toBe('memfs:///w/%EF%BF%BD'))
})

it.each([['memfs:/w/a', 'memfs:///w/a'], ['memfs:///w/a', 'memfs:///w/a'], ['memfs://h/a', 'memfs://h/a'], ['untitled:Untitled-1', 'untitled:Untitled-1'], ['/w/a:/b', '/w/a:/b']])('the whole of %s', (address, whole) => expect(fullAddress(address)).toBe(whole))
it.each([['a%20b', 'a b'], ['100%', '100%']])('%s decoded', (part, text) => expect(decodedPart(part)).toBe(text))
