import { statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../../base/message-of.ts'
import {
  foreignDatabase,
  indexFailed,
  notOwner,
  SearchIndexError,
  type IndexChange,
  type IndexedSession,
  type IndexPage,
  type IndexQuery,
  type SearchIndex,
} from '../../../capabilities/search-index.ts'
import { Lease, type LeaseTimes } from '../lease.ts'
import { cursorFor, offsetOf } from './cursor.ts'
import { APPLICATION_ID, natureOf, removeDatabase, SCHEMA_VERSION } from './database-file.ts'
import { bestHits } from './find-hits.ts'
import { Opened } from './opened.ts'
import { schema } from './schema.ts'
import { writeChanges } from './write-changes.ts'

export interface SqliteIndexOptions extends Partial<LeaseTimes> {
  /** Holds the one index file of this machine's person, and the lease of the window that writes it. */
  readonly folder: string
}

export const databaseName = 'search.db'
/** No window of ours waits for another; whoever else holds the file gets so long. */
const LOCK_WAIT_MS = 2_000

/** One file for all windows: the one with the lease writes it, the others read. Everything here is synchronous but for the lease, so it belongs in a thread of its own. */
export class SqliteIndex implements SearchIndex {
  readonly engine = 'sqlite'
  readonly #options: SqliteIndexOptions
  readonly #path: string
  readonly #Database: typeof DatabaseSync
  #lease: Lease | null = null
  #open: Opened | null = null

  private constructor(options: SqliteIndexOptions, Database: typeof DatabaseSync) {
    this.#options = options
    this.#path = join(options.folder, databaseName)
    this.#Database = Database
  }

  /** Errors: `FOREIGN_DATABASE`; `INDEX_FAILED`, also where this Node has no SQLite. */
  static async open(options: SqliteIndexOptions): Promise<SqliteIndex> {
    try {
      const { DatabaseSync: Database } = await import('node:sqlite')
      await mkdir(options.folder, { recursive: true, mode: 0o700 })
      const index = new SqliteIndex(options, Database)
      await index.claim()
      return index
    } catch (error) {
      throw failureOf(error)
    }
  }

  async claim(): Promise<'owner' | 'reader'> {
    if (this.#lease === null) {
      const { folder, heartbeatMs = 5_000, staleMs = 30_000 } = this.#options
      const lease = await Lease.acquire(folder, { heartbeatMs, staleMs })
      if (lease instanceof Lease) {
        this.#lease = lease
        lease.onLost(() => {
          this.#lease = null
          this.#shut()
        })
        this.#shut()
      }
    }
    // Whoever may write mends what is broken, and says at once what is not ours.
    if (this.#lease !== null) this.#guarded(() => this.#database())
    return this.#lease === null ? 'reader' : 'owner'
  }

  async sessions(): Promise<readonly IndexedSession[]> {
    await this.#followFile()
    return this.#guarded(() => {
      const open = this.#database()
      if (open === null) return []
      return open.all('SELECT id, next_seq AS nextSeq, stamp FROM sessions').map((row) => row as unknown as IndexedSession)
    })
  }

  async write(changes: readonly IndexChange[]): Promise<void> {
    if (this.#lease === null || !(await this.#lease.isHeld())) throw notOwner()
    this.#guarded(() => {
      const open = this.#database()
      if (open === null) throw notOwner()
      open.run('BEGIN IMMEDIATE')
      try {
        writeChanges(open, changes)
        open.run('UPDATE state SET revision = revision + 1')
        open.run('COMMIT')
      } catch (error) {
        open.forgetNames()
        open.rollBack()
        throw error
      }
    })
  }

  async search(query: IndexQuery): Promise<IndexPage> {
    return this.#guarded(() => {
      const open = this.#database()
      if (open === null) return { hits: [], cursor: null }
      // One view of the file for all that is read.
      open.run('BEGIN')
      try {
        return searchIn(open, query)
      } finally {
        open.rollBack()
      }
    })
  }

  async close(): Promise<void> {
    this.#shut()
    await this.#lease?.release()
    this.#lease = null
  }

  /** Null for a reader while the owner has made none. */
  #database(): Opened | null {
    if (this.#open !== null) return this.#open
    const nature = natureOf(this.#path)
    if (nature === 'foreign') throw foreignDatabase(this.#path)
    if (this.#lease === null) {
      if (nature !== 'ours') return null
      const { ino } = statSync(this.#path)
      this.#open = new Opened(new this.#Database(this.#path, { readOnly: true, timeout: LOCK_WAIT_MS }))
      this.#open.inode = ino
      return this.#open
    }
    if (nature === 'broken') removeDatabase(this.#path)
    this.#open = nature === 'ours' ? new Opened(new this.#Database(this.#path, { timeout: LOCK_WAIT_MS })) : this.#make()
    this.#open.inode = statSync(this.#path).ino
    this.#open.run('PRAGMA synchronous = NORMAL')
    this.#open.run('PRAGMA cache_size = -64000; PRAGMA wal_autocheckpoint = 4000')
    return this.#open
  }

  #make(): Opened {
    removeDatabase(this.#path)
    const open = new Opened(new this.#Database(this.#path, { timeout: LOCK_WAIT_MS }))
    open.run(`BEGIN IMMEDIATE; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}; ${schema} COMMIT;`)
    open.run('PRAGMA journal_mode = WAL')
    return open
  }

  /** The owner may have made the file anew under the same name, and somebody may have deleted it. */
  async #followFile(): Promise<void> {
    const now = await stat(this.#path).then(({ ino }) => ino, () => 0)
    if (this.#open !== null && this.#open.inode !== now) this.#shut()
  }

  #shut(): void {
    this.#open?.close()
    this.#open = null
  }

  /** A file that turns out to be broken is taken away by its owner, so that the next use makes it anew. */
  #guarded<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (isBroken(error)) {
        this.#shut()
        if (this.#lease !== null) removeDatabase(this.#path)
      }
      throw failureOf(error)
    }
  }
}

function searchIn(open: Opened, query: IndexQuery): IndexPage {
  const revision = open.revision()
  const offset = offsetOf(query, revision)
  const end = offset + query.limit
  const hits = bestHits(open, query, end + 1)
  return { hits: hits.slice(offset, end).map((found) => found()), cursor: hits.length > end ? cursorFor(query, revision, end) : null }
}

/** `SQLITE_CORRUPT` and `SQLITE_NOTADB`, and tables that are not there. Source: SQLite result codes. */
const isBroken = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' && ((error.errcode & 0xff) === 11 || error.errcode === 26 || /no such table/.test(error.message))

const failureOf = (error: unknown): SearchIndexError => (error instanceof SearchIndexError ? error : indexFailed(`${messageOf(error)}.`, error))
