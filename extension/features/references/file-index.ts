import { orAbort } from '../../base/or-abort.ts'
import type { EditorFacts } from '../../capabilities/editor-facts.ts'
import type { Search } from '../../capabilities/search.ts'
import { PathIndex, type PathHit } from './path-index.ts'

export interface FileIndexNeeds {
  readonly search: Pick<Search, 'list'>
  readonly facts: Pick<EditorFacts, 'excludes' | 'onDidChangeFiles'>
  /** Of one folder's paths in memory; what does not fit is not offered. */
  readonly maxBytes: number
  readonly onCut: (folder: string, files: number) => void
}

/** Always left out, whatever the settings say: nobody means them, and they are many. */
const alwaysExcluded = ['**/node_modules', '**/.git']
/** The first answer comes once this many are there, the next at twice as many, and so on. */
const FIRST_ANSWER_AT = 500

/**
 * The files and folders below a folder, listed when they are first asked for and again after one came or went.
 *
 * An old list answers at once while a new one is made. One list a folder is shared by all who ask.
 */
export class FileIndex {
  readonly #needs: FileIndexNeeds
  readonly #folders = new Map<string, ListedFolder>()
  readonly #end = new AbortController()
  #undoWatch: (() => void) | undefined

  constructor(needs: FileIndexNeeds) {
    this.#needs = needs
  }

  dispose(): void {
    this.#end.abort()
    this.#undoWatch?.()
  }

  /**
   * The best `limit` files and folders below `folder`; `found` is told better ones while the list still grows.
   *
   * Errors: `SearchError` when the folder cannot be listed; the signal's reason.
   */
  async find(folder: string, { query, limit, signal, found }: FindOptions): Promise<readonly PathHit[]> {
    this.#watch()
    const listed = this.#listed(folder)
    const job = listed.isStale ? this.#list(folder, listed) : listed.job
    if (job !== null) {
      if (listed.current !== null) found(listed.current.best(query, limit))
      // What an older list has answered is better than the half of a new one.
      await job.end(signal, listed.current === null ? (index) => found(index.best(query, limit)) : undefined)
      if (job.error !== undefined) throw job.error
    }
    signal.throwIfAborted()
    return listed.current?.best(query, limit) ?? []
  }

  #listed(folder: string): ListedFolder {
    const known = this.#folders.get(folder)
    if (known !== undefined) return known
    const fresh: ListedFolder = { current: null, job: null, isStale: true }
    this.#folders.set(folder, fresh)
    return fresh
  }

  #list(folder: string, listed: ListedFolder): ListJob {
    if (listed.job !== null) return listed.job
    listed.isStale = this.#needs.facts.onDidChangeFiles === undefined
    const job = new ListJob(this.#needs.maxBytes)
    listed.job = job
    void this.#fill(job, folder).then((error) => {
      listed.job = null
      if (error === undefined) listed.current = job.index
      else listed.isStale = true
      job.close(error)
    })
    return job
  }

  /** Resolves with what hindered it. A list that is full is complete as far as anybody can know. */
  async #fill(job: ListJob, folder: string): Promise<Error | undefined> {
    const full = new AbortController()
    try {
      await this.#needs.search.list({
        root: folder,
        excludes: [...alwaysExcluded, ...this.#needs.facts.excludes(folder)],
        signal: AbortSignal.any([full.signal, this.#end.signal]),
        onPaths: (paths) => {
          if (!full.signal.aborted && !job.add(paths)) full.abort()
        },
      })
    } catch (error) {
      if (!full.signal.aborted) return error instanceof Error ? error : new Error(String(error))
      this.#needs.onCut(folder, job.index.count)
    }
    return undefined
  }

  #watch(): void {
    this.#undoWatch ??= this.#needs.facts.onDidChangeFiles?.((path) => {
      for (const [folder, listed] of this.#folders) if (path.startsWith(folder)) listed.isStale = true
    })
  }
}

export interface FindOptions {
  readonly query: string
  readonly limit: number
  readonly signal: AbortSignal
  readonly found: (hits: readonly PathHit[]) => void
}

interface ListedFolder {
  /** The last list that is complete. */
  current: PathIndex | null
  job: ListJob | null
  isStale: boolean
}

/** One list in the making. */
class ListJob {
  readonly index: PathIndex
  error: Error | undefined
  readonly #folders = new Set<string>()
  readonly #over = Promise.withResolvers<void>()
  readonly #listeners = new Set<() => void>()

  constructor(maxBytes: number) {
    this.index = new PathIndex({ maxBytes })
  }

  /** False when there is no more room. */
  add(paths: readonly string[]): boolean {
    for (const path of paths) {
      if (!this.#addFolders(path) || !this.index.add(path)) return false
    }
    for (const listener of this.#listeners) listener()
    return true
  }

  close(error: Error | undefined): void {
    this.error = error
    this.#folders.clear()
    this.#over.resolve()
  }

  /** Resolves when the list is made; `onMore` is told each time it has grown to twice of what it was. Errors: the signal's reason. */
  async end(signal: AbortSignal, onMore?: (index: PathIndex) => void): Promise<void> {
    let told = FIRST_ANSWER_AT
    const listener = () => {
      if (this.index.count < told) return
      told = this.index.count * 2
      onMore?.(this.index)
    }
    this.#listeners.add(listener)
    try {
      await orAbort(this.#over.promise, signal)
    } finally {
      this.#listeners.delete(listener)
    }
  }

  #addFolders(path: string): boolean {
    for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1)) {
      const folder = path.slice(0, cut + 1)
      if (this.#folders.has(folder)) return true
      this.#folders.add(folder)
      if (!this.index.add(folder)) return false
    }
    return true
  }
}
