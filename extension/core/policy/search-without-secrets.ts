import type { Machine } from '../../capabilities/machine.ts'
import type { Search } from '../../capabilities/search.ts'
import { pathMatcher, styleOf } from './paths.ts'

/** A search that finds lines in every file but the secret-looking ones, and says how many of those it left out. */
export function searchWithoutSecrets(search: Search, { sensitivePaths, machine }: { readonly sensitivePaths: () => readonly string[]; readonly machine: Pick<Machine, 'platform'> }): Search {
  return {
    files: (query) => search.files(query),
    list: (query) => search.list(query),
    async text(query) {
      const hits = await search.text(query)
      if (hits.matches.length === 0) return hits
      const isSecret = pathMatcher(sensitivePaths(), styleOf(machine))
      const paths = new Set(hits.matches.map(({ path }) => path))
      const closed = new Set([...paths].filter((path) => isSecret(path) !== null))
      if (closed.size === 0) return hits
      const note = `${closed.size === 1 ? '1 file that looks like a secret was' : `${closed.size} files that look like secrets were`} left out`
      return { ...hits, matches: hits.matches.filter(({ path }) => !closed.has(path)), notes: [...hits.notes, note] }
    },
  }
}
