import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { SearchError } from '../../capabilities/search.ts'

export interface RipgrepPlaces {
  /** What the person set; null: nothing. Asked for before each search. */
  readonly configured: () => string | null
  /** The one that ships with Bosun; default: where its package says. Rejects where this machine's is not part of the package. */
  readonly packaged?: () => Promise<string>
  /** The editor's own; null where it ships none. */
  readonly editors?: () => Promise<string | null>
  /** Default: that of this process. */
  readonly searchPath?: () => string
}

/**
 * Finds ripgrep: as the setting says, else the one that ships with Bosun, else the editor's own, else the one on PATH.
 *
 * What was found is believed while the setting stays. Errors: `SearchError` `SEARCH_FAILED` with what the person can do.
 */
export function createRipgrepFinder({ configured, packaged = packagedRipgrep, editors = () => Promise.resolve(null), searchPath = () => process.env['PATH'] ?? '' }: RipgrepPlaces): () => Promise<string> {
  let found: Promise<string> | undefined
  const look = async (): Promise<string> => {
    const places = [packaged, editors, () => onPath(searchPath())]
    for (const place of places) {
      // A package without a program for this machine is one of the ways in which it is not there.
      const path = await place().catch(() => null)
      if (path !== null && (await isProgram(path))) return path
    }
    throw new SearchError('SEARCH_FAILED', 'ripgrep, which searches, was not found: not in this package, not in the editor and not on PATH. The person has to install it (https://github.com/BurntSushi/ripgrep), or to name it in the setting bosun.search.ripgrepPath.')
  }
  return async () => {
    const chosen = configured()
    if (chosen !== null) {
      if (await isProgram(chosen)) return chosen
      throw new SearchError('SEARCH_FAILED', `The setting bosun.search.ripgrepPath names ${chosen}, which is no program that can be run. The person has to correct the setting, or to clear it.`)
    }
    found ??= look()
    try {
      return await found
    } catch (error) {
      // It may be installed by the next search.
      found = undefined
      throw error
    }
  }
}

const packagedRipgrep = async (): Promise<string> => (await import('@vscode/ripgrep')).rgPath

async function onPath(searchPath: string): Promise<string | null> {
  const program = process.platform === 'win32' ? 'rg.exe' : 'rg'
  for (const entry of searchPath.split(delimiter)) {
    // Windows tools write quotes around entries. A relative one would be another in each folder.
    const folder = entry.replace(/^"(.*)"$/, '$1')
    const path = join(folder, program)
    if (/^([\\/]|[a-z]:)/i.test(folder) && (await isProgram(path))) return path
  }
  return null
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    // This is how the system says that it is not there, or may not be run.
    return false
  }
}
