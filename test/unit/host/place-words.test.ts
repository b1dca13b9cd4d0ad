import { expect, it } from 'vitest'
import { placeWords } from '../../../extension/host/place-words.ts'

const app = { name: 'app', path: '/w' }
const api = { name: 'api', path: '/other/api' }

it.each([
  ['a file of the only folder', '/w/src/a.ts', [app], 'src/a.ts'],
  ['the folder itself', '/w', [app], 'app'],
  ['a file of one of several folders', '/other/api/a.ts', [app, api], 'api/a.ts'],
  ['a folder that only begins alike', '/well/a.ts', [app], '/well/a.ts'],
  ['a file elsewhere', '/home/me/.bosun/AGENTS.md', [app], '/home/me/.bosun/AGENTS.md'],
  ['a file of Windows', 'C:\\w\\src\\a.ts', [{ name: 'w', path: 'C:\\w' }], 'src\\a.ts'],
  ['no folder', '/w/a.ts', [], '/w/a.ts'],
])('names %s', (_name, path, folders, words) => expect(placeWords(path, folders)).toBe(words))
