import { expect, it } from 'vitest'
import type { Search, TextQuery } from '../../../../extension/capabilities/search.ts'
import { searchWithoutSecrets } from '../../../../extension/core/policy/search-without-secrets.ts'

const query = {} as TextQuery
const match = (path: string) => ({ path, lineNumber: 1, line: 'token', isContext: false })

const check = async (paths: readonly string[], found: readonly string[], notes: readonly string[]) => {
  const files = { paths: ['/w/.env'], skippedNames: 0 }
  const search: Search = {
    files: () => Promise.resolve(files),
    list: () => Promise.resolve(),
    text: () => Promise.resolve({ matches: paths.map(match), skippedNames: 0, overlaidPaths: [], notes: ['first'] }),
  }
  const closed = searchWithoutSecrets(search, { sensitivePaths: () => ['**/.env', '**/*.key'], machine: { platform: 'linux' } })
  const hits = await closed.text(query)
  expect([hits.matches.map(({ path }) => path), hits.notes]).toEqual([found, ['first', ...notes]])
  expect(await closed.files({} as never)).toBe(files)
}

it('finds lines in ordinary files', () => check(['/w/a', '/w/b'], ['/w/a', '/w/b'], []))
it('finds nothing in a secret-looking file and says so', () => check(['/w/a', '/w/.env', '/w/.env'], ['/w/a'], ['1 file that looks like a secret was left out']))
it('counts the files it leaves out', () => check(['/w/.env', '/w/x.key'], [], ['2 files that look like secrets were left out']))
it('finds nothing where nothing is', () => check([], [], []))
