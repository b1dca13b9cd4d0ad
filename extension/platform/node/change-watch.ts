import { watch, type FSWatcher } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { messageOf } from '../../base/message-of.ts'
import type { ChangeWatch, IsIgnored, WatchedChange, WatchedFolder, WatchRefusal } from '../../capabilities/change-watch.ts'
import type { Search } from '../../capabilities/search.ts'

/** Folders that are watched at once; each is one of the system's watches. */
export const MAX_WATCHED_FOLDERS = 8_000
/** Files whose names are held. */
export const MAX_WATCHED_FILES = 50_000
/** Watches that are made before others get a turn. */
const AT_ONCE = 100
/** Changed paths that one look tells. */
const MAX_TAKEN = 2_000

/** Folders that are never looked into, whatever ignore files say. */
const skipped = new Set(['.git', 'node_modules'])

/**
 * Watches the folders that hold files which are not ignored. Their list comes from `search`.
 *
 * Linux watches one folder at a time, so each has its own watch; the other systems watch a whole tree by one.
 */
export function createChangeWatch({ search, isRecursive = process.platform !== 'linux' }: { readonly search: Pick<Search, 'list'>; readonly isRecursive?: boolean }): ChangeWatch {
  const open = new Set<Watched>()
  return {
    async begin(folder, { isIgnored, signal }) {
      const watched = await Watched.begin(folder, { search, isRecursive, isIgnored, signal, closed: (one) => void open.delete(one) })
      if (watched.kind === 'watched') open.add(watched)
      return watched
    },
    dispose() {
      for (const watched of [...open]) watched.close()
    },
  }
}

class Watched implements WatchedFolder {
  readonly kind = 'watched'
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #files: Set<string>
  readonly #folders: Set<string>
  readonly #isRecursive: boolean
  readonly #isIgnored: IsIgnored
  readonly #closed: (watched: Watched) => void
  #changed = new Set<string>()
  #isOverflown = false

  static async begin(folder: string, { search, isRecursive, isIgnored, signal, closed }: { readonly search: Pick<Search, 'list'>; readonly isRecursive: boolean; readonly isIgnored: IsIgnored; readonly signal: AbortSignal; readonly closed: (watched: Watched) => void }): Promise<Watched | WatchRefusal> {
    const files = new Set<string>()
    const enough = new AbortController()
    try {
      await search.list({
        root: folder,
        excludes: [...skipped].map((name) => `**/${name}`),
        onPaths: (paths) => {
          for (const path of paths) files.add(join(folder, path))
          if (files.size > MAX_WATCHED_FILES) enough.abort()
        },
        signal: AbortSignal.any([signal, enough.signal]),
      })
    } catch (error) {
      if (enough.signal.aborted) return { kind: 'refused', reason: 'too-many-files', detail: `${folder} holds more than ${MAX_WATCHED_FILES} files.` }
      if (signal.aborted) throw error
      return { kind: 'refused', reason: 'unavailable', detail: messageOf(error) }
    }
    const places = new Set([folder])
    for (const file of files) for (let at = dirname(file); at.length > folder.length && !places.has(at); at = dirname(at)) places.add(at)
    if (places.size > MAX_WATCHED_FOLDERS) return { kind: 'refused', reason: 'too-many-folders', detail: `${folder} holds more than ${MAX_WATCHED_FOLDERS} folders.` }
    const watched = new Watched(files, places, { isRecursive, isIgnored, closed })
    try {
      watched.#watch(folder)
      let made = 0
      for (const place of isRecursive ? [] : places) {
        watched.#watch(place)
        made += 1
        if (made % AT_ONCE === 0) await setImmediate()
      }
    } catch (error) {
      watched.close()
      return { kind: 'refused', reason: 'unavailable', detail: messageOf(error) }
    }
    return watched
  }

  private constructor(files: Set<string>, folders: Set<string>, { isRecursive, isIgnored, closed }: { readonly isRecursive: boolean; readonly isIgnored: IsIgnored; readonly closed: (watched: Watched) => void }) {
    this.#closed = closed
    this.#files = files
    this.#folders = folders
    this.#isRecursive = isRecursive
    this.#isIgnored = isIgnored
  }

  files(): Iterable<string> {
    return this.#files
  }

  async take(): Promise<{ readonly changes: readonly WatchedChange[]; readonly isWhole: boolean }> {
    const paths = new Map<string, boolean>()
    // News of the system that are under way come in the next rounds of the event loop.
    for (let round = 0; round < 2 || this.#changed.size > 0; round += 1) {
      await setImmediate()
      const changed = this.#changed
      this.#changed = new Set()
      if (changed.size > 0) await this.#sort(changed, paths)
    }
    const isWhole = !this.#isOverflown && paths.size <= MAX_TAKEN
    this.#isOverflown = false
    return { changes: [...paths].slice(0, MAX_TAKEN).map(([path, wasThere]) => ({ path, wasThere })), isWhole }
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
    this.#closed(this)
  }

  /** Tell files that are known or of interest; what is new as a folder is watched too. */
  async #sort(changed: ReadonlySet<string>, paths: Map<string, boolean>): Promise<void> {
    const there = new Map(await Promise.all([...changed].map(async (path) => [path, await kindOf(path)] as const)))
    const asked = [...changed].filter((path) => (there.get(path) === 'file' && !this.#files.has(path)) || (there.get(path) === 'folder' && !this.#folders.has(path)))
    const ignored = asked.length === 0 ? new Set<string>() : await this.#isIgnored(asked)
    for (const [path, kind] of there) {
      if (this.#files.has(path)) {
        if (!paths.has(path)) paths.set(path, true)
        if (kind !== 'file') this.#files.delete(path)
      } else if (kind !== 'folder' && this.#folders.has(path)) this.#folderGone(path, paths)
      // A file may have come in the place of a folder, and the other way round.
      if (ignored.has(path)) continue
      if (kind === 'file' && !this.#files.has(path)) this.#add(path, paths)
      else if (kind === 'folder' && !this.#folders.has(path)) await this.#adopt(path, paths)
    }
  }

  /** A folder that is gone took what was below it along. */
  #folderGone(folder: string, paths: Map<string, boolean>): void {
    for (const gone of [...this.#folders]) {
      if (gone !== folder && !gone.startsWith(folder + sep)) continue
      this.#folders.delete(gone)
      this.#watchers.get(gone)?.close()
      this.#watchers.delete(gone)
    }
    for (const file of [...this.#files]) {
      if (!file.startsWith(folder + sep)) continue
      if (!paths.has(file)) paths.set(file, true)
      this.#files.delete(file)
    }
  }

  #add(file: string, paths: Map<string, boolean>): void {
    if (this.#files.size >= MAX_WATCHED_FILES) this.#isOverflown = true
    else {
      this.#files.add(file)
      if (!paths.has(file)) paths.set(file, false)
    }
  }

  /** What stands in a new folder came with it. */
  async #adopt(folder: string, paths: Map<string, boolean>): Promise<void> {
    if (skipped.has(basename(folder))) return
    if (this.#folders.size >= MAX_WATCHED_FOLDERS) {
      this.#isOverflown = true
      return
    }
    try {
      this.#folders.add(folder)
      if (!this.#isRecursive) this.#watch(folder)
      const entries = await readdir(folder, { withFileTypes: true })
      const below = entries.map((entry) => join(folder, entry.name))
      const ignored = below.length === 0 ? new Set<string>() : await this.#isIgnored(below)
      for (const entry of entries) {
        const path = join(folder, entry.name)
        if (ignored.has(path)) continue
        if (entry.isDirectory()) await this.#adopt(path, paths)
        else if (entry.isFile()) this.#add(path, paths)
      }
    } catch {
      // It is gone again, or may not be looked into.
    }
  }

  #watch(folder: string): void {
    if (this.#watchers.has(folder)) return
    const watcher = watch(folder, { persistent: false, recursive: this.#isRecursive }, (_event, name) => {
      if (name === null) {
        this.#isOverflown = true
        return
      }
      if (this.#isRecursive && name.split(sep).some((part) => skipped.has(part))) return
      this.#note(join(folder, name))
      // The folder itself may have gone.
      if (name === basename(folder)) this.#note(folder)
    })
    watcher.on('error', () => {
      watcher.close()
      this.#watchers.delete(folder)
      this.#isOverflown = true
    })
    this.#watchers.set(folder, watcher)
  }

  #note(path: string): void {
    if (this.#changed.size >= MAX_WATCHED_FILES) this.#isOverflown = true
    else this.#changed.add(path)
  }
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'other' | 'gone'> {
  try {
    const facts = await lstat(path)
    return facts.isFile() ? 'file' : facts.isDirectory() ? 'folder' : 'other'
  } catch {
    // Whatever keeps it from being seen, nobody sees it.
    return 'gone'
  }
}
