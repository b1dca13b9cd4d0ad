import { describe, expect, it } from 'vitest'
import type { Search, TextQuery } from '../../../../extension/capabilities/search.ts'
import type { PermissionRuleSetting } from '../../../../extension/core/settings/specs.ts'
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
  const closed = searchWithoutSecrets(search, { sensitivePaths: () => ['**/.env', '**/*.key'], machine: { platform: 'linux' }, workspace: { folders: () => [{ name: 'w', path: '/w' }] }, rules: () => [] })
  const hits = await closed.text(query)
  expect([hits.matches.map(({ path }) => path), hits.notes]).toEqual([found, ['first', ...notes]])
  expect(await closed.files({} as never)).toBe(files)
}

it('finds lines in ordinary files', () => check(['/w/a', '/w/b'], ['/w/a', '/w/b'], []))
it('finds nothing in a secret-looking file and says so', () => check(['/w/a', '/w/.env', '/w/.env'], ['/w/a'], ['1 file that looks like a secret was left out']))
it('counts the files it leaves out', () => check(['/w/.env', '/w/x.key'], [], ['2 files that look like secrets were left out']))
it('finds nothing where nothing is', () => check([], [], []))

describe('a rule on paths that denies or wants to be asked holds for a search above them', () => {
  const paths = ['/w/a.ts', '/w/vault/b.ts', '/w/c.md', '/x/d.ts']
  const inner: Search = {
    files: () => Promise.resolve({ paths, skippedNames: 0, modifiedAt: [1, 2, 3, 4] }),
    list: () => Promise.resolve(),
    text: () => Promise.resolve({ matches: paths.map(match), skippedNames: 0, overlaidPaths: [], notes: [] }),
  }
  const found = async (...rules: readonly PermissionRuleSetting[]) => {
    const listed = rules.map((rule) => ({ text: '', scope: 'always' as const, isFromWorkspace: false, rule }))
    const closed = searchWithoutSecrets(inner, { sensitivePaths: () => [], machine: { platform: 'linux' }, workspace: { folders: () => [{ name: 'w', path: '/w' }] }, rules: () => listed })
    const [files, text] = [await closed.files({ root: '/w' } as never), await closed.text({ root: '/w' } as never)]
    return [files.paths.length, files.modifiedAt?.length, text.matches.map(({ path }) => path), text.notes]
  }
  const one = '1 file that a rule of the person closes was left out'
  const rows: readonly [rule: PermissionRuleSetting, files: number, lines: readonly string[]][] = [
    [{ tool: '*', path: 'vault/**', decision: 'deny' }, 3, ['/w/a.ts', '/w/c.md', '/x/d.ts']],
    [{ tool: 'read', path: 'vault/**', decision: 'deny' }, 4, ['/w/a.ts', '/w/c.md', '/x/d.ts']],
    [{ tool: 'grep', path: '*.md', decision: 'ask' }, 4, ['/w/a.ts', '/w/vault/b.ts', '/x/d.ts']],
    [{ tool: '*', path: '/x/**', decision: 'deny' }, 3, ['/w/a.ts', '/w/vault/b.ts', '/w/c.md']],
    [{ tool: 'glob', path: 'vault/**', decision: 'deny' }, 3, paths],
    [{ tool: 'edit', path: 'vault/**', decision: 'deny' }, 4, paths],
    [{ tool: '*', path: 'vault/**', decision: 'allow' }, 4, paths],
    [{ tool: '*', path: 'vault/**', folder: '/other', decision: 'deny' }, 4, paths],
  ]
  it.each(rows)('%j', async (rule, files, lines) => expect(await found(rule)).toEqual([files, files, lines, lines.length === 4 ? [] : [one]]))
})
