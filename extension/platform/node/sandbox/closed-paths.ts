import { lstat, readdir, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { SandboxLimits } from '../../../capabilities/sandbox.ts'

/** Something that is there and looks like a secret; links followed. */
export interface ClosedPath {
  readonly path: string
  readonly isFolder: boolean
}

export type FindClosedPaths = (limits: Omit<SandboxLimits, 'writable'>) => Promise<readonly ClosedPath[]>

/** Folders looked into below each searched one; secrets beyond are left to the judging of commands. */
const MAX_FOLDERS = 200
const MAX_CLOSED = 200
/** A command right after another one does not look again. */
const KEPT_MS = 5_000
/** git itself works with the first; the second is no place for a person's secrets, and large. */
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/** Secrets that are there now, nearest to the searched folders first. */
export function createClosedPaths(now: () => number = () => performance.now()): FindClosedPaths {
  const kept = new Map<string, { readonly at: number; readonly found: Promise<readonly ClosedPath[]> }>()
  return async (limits) => {
    const { searched, secretNames } = limits
    const key = JSON.stringify([searched, secretNames])
    const known = kept.get(key)
    if (known !== undefined && now() - known.at < KEPT_MS) return known.found
    const found = search(limits)
    kept.clear()
    kept.set(key, { at: now(), found })
    return found
  }
}

async function search({ searched, secretNames, isSecret }: Omit<SandboxLimits, 'writable'>): Promise<readonly ClosedPath[]> {
  const found = new Map<string, ClosedPath>()
  const take = async (path: string) => {
    try {
      const real = await realpath(path)
      found.set(real, { path: real, isFolder: (await lstat(real)).isDirectory() })
    } catch {
      // It is not there, or a link to nothing: there is nothing to close.
    }
  }
  await Promise.all(searched.flatMap(({ folder }) => secretNames.map((name) => take(join(folder, name)))))
  for (const { folder, levels } of searched) await takeBelow(folder, levels, { isSecret, take })
  const all = [...found.values()]
  // What lies in a closed folder is not there any more once that is mounted.
  const isCovered = (path: string) => all.some((other) => other.isFolder && path !== other.path && path.startsWith(`${other.path}/`))
  return all.filter(({ path }) => !isCovered(path)).slice(0, MAX_CLOSED)
}

async function takeBelow(start: string, levels: number, { isSecret, take }: { readonly isSecret: (path: string) => boolean; readonly take: (path: string) => Promise<void> }): Promise<void> {
  let level: readonly string[] = [start]
  let left = MAX_FOLDERS
  for (let depth = 0; depth < levels && level.length > 0 && left > 0; depth += 1) {
    const looked = level.slice(0, left)
    left -= looked.length
    const lists = await Promise.all(looked.map(async (folder) => ({ folder, entries: await readdir(folder, { withFileTypes: true }).catch(() => []) })))
    const next: string[] = []
    const secrets: string[] = []
    for (const { folder, entries } of lists) {
      for (const entry of entries) {
        const path = join(folder, entry.name)
        if (LEFT_OUT.has(basename(path))) continue
        if (isSecret(path)) secrets.push(path)
        else if (entry.isDirectory()) next.push(path)
      }
    }
    await Promise.all(secrets.map(take))
    level = next
  }
}
