import type { Machine } from '../../capabilities/machine.ts'
import type { FileHits, Search, TextHits } from '../../capabilities/search.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Permissions } from './permissions.ts'
import { isWithin, pathMatcher, styleOf } from './paths.ts'
import { fitsRulePath } from './rule-paths.ts'

interface Parts {
  readonly sensitivePaths: () => readonly string[]
  readonly machine: Pick<Machine, 'platform'>
  readonly workspace: Pick<Workspace, 'folders'>
  /** The standing answers; a rule that denies a path, or wants to be asked, holds for what a search above it would find. */
  readonly rules: () => ReturnType<Permissions['rules']>
}

/** A search that finds no line in secret-looking files, and nothing in what a rule of the person closes; it says how much it left out. */
export function searchWithoutSecrets(search: Search, { sensitivePaths, machine, workspace, rules }: Parts): Search {
  const style = styleOf(machine)

  /** Whether a rule for one of the tools closes a path, found below `root`. */
  function closedByRule(tools: readonly string[], root: string): ((path: string) => boolean) | null {
    const closing = rules().filter(({ rule }) => rule.decision !== 'allow' && rule.path !== undefined && tools.includes(rule.tool))
    if (closing.length === 0) return null
    const folders = [...workspace.folders().map(({ path }) => path), root]
    return (path) => closing.some(({ rule }) => fitsRulePath(rule.path ?? '', path, rule.folder === undefined ? folders : folders.filter((folder) => isWithin(folder, rule.folder ?? '', style)), style))
  }

  return {
    list: (query) => search.list(query),
    async files(query) {
      const hits = await search.files(query)
      const isClosed = closedByRule(['*', 'glob'], query.root)
      return isClosed === null ? hits : withoutClosed(hits, isClosed)
    },
    async text(query) {
      const hits = await search.text(query)
      if (hits.matches.length === 0) return hits
      const isSecret = pathMatcher(sensitivePaths(), style)
      const isClosed = closedByRule(['*', 'grep', 'read'], query.root)
      const paths = [...new Set(hits.matches.map(({ path }) => path))]
      const secret = new Set(paths.filter((path) => isSecret(path) !== null))
      const closed = new Set(isClosed === null ? [] : paths.filter((path) => !secret.has(path) && isClosed(path)))
      return withoutFiles(hits, secret, closed)
    },
  }
}

function withoutClosed(hits: FileHits, isClosed: (path: string) => boolean): FileHits {
  const kept = hits.paths.flatMap((path, index) => (isClosed(path) ? [] : [index]))
  if (kept.length === hits.paths.length) return hits
  const { modifiedAt } = hits
  return {
    ...hits,
    paths: kept.map((index) => hits.paths[index] ?? ''),
    ...(modifiedAt !== undefined && { modifiedAt: kept.map((index) => modifiedAt[index] ?? 0) }),
  }
}

function withoutFiles(hits: TextHits, secret: ReadonlySet<string>, closed: ReadonlySet<string>): TextHits {
  if (secret.size + closed.size === 0) return hits
  const notes = [
    ...(secret.size === 0 ? [] : [`${secret.size === 1 ? '1 file that looks like a secret was' : `${secret.size} files that look like secrets were`} left out`]),
    ...(closed.size === 0 ? [] : [`${closed.size === 1 ? '1 file' : `${closed.size} files`} that a rule of the person closes ${closed.size === 1 ? 'was' : 'were'} left out`]),
  ]
  return { ...hits, matches: hits.matches.filter(({ path }) => !secret.has(path) && !closed.has(path)), notes: [...hits.notes, ...notes] }
}
