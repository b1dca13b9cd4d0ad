import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isErrorOf } from '../../base/harness-error.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { messageOf } from '../../base/message-of.ts'
import {
  checkSessionId,
  EventStoreError,
  sessionAlreadyExists,
  sessionBusy,
  sessionNotFound,
  type EventFile,
  type EventStore,
  type StoredSession,
} from '../../capabilities/event-store.ts'
import { cannotOpen, logName, NodeEventFile, noteName } from './event-file.ts'
import { exists, hasCode } from './file-facts.ts'
import { Lease, type LeaseTimes } from './lease.ts'
import { readEnds, readHeader } from './log-reader.ts'

export interface NodeEventStoreOptions extends Partial<LeaseTimes> {
  /** Holds one folder a session, named by its id: `<root>/<id>/events.jsonl`. Made when first needed, for its owner alone. */
  readonly root: string
}

/** Sessions looked at together when listing. */
const listConcurrency = 16
/** Of a log that is read as it is. */
const pieceBytes = 65_536
const gravePrefix = '.removed-'

/** Sessions as folders on this machine's disk. Source: design 6.3. */
export class NodeEventStore implements EventStore {
  readonly #root: string
  readonly #times: LeaseTimes

  constructor({ root, heartbeatMs = 5_000, staleMs = 30_000 }: NodeEventStoreOptions) {
    this.#root = root
    this.#times = { heartbeatMs, staleMs }
  }

  async create(header: JsonObject & { readonly id: string }): Promise<EventFile> {
    const { id } = header
    checkSessionId(id)
    if (await exists(this.#logOf(id))) throw sessionAlreadyExists(id)
    return NodeEventFile.create({ id, folder: this.#folderOf(id), header, times: this.#times })
  }

  async open(id: string, access: 'write' | 'read-only'): Promise<EventFile> {
    const header = await this.#header(id)
    const folder = this.#folderOf(id)
    if (typeof header === 'string') throw new EventStoreError('UNREADABLE', `${header} Its file was left as it is: ${this.#logOf(id)}`)
    if (access === 'read-only') return NodeEventFile.open({ id, folder, header, lease: null, writer: null })
    try {
      const lease = await this.#lease(id)
      return await NodeEventFile.open({ id, folder, header, ...(lease instanceof Lease ? { lease, writer: null } : { lease: null, writer: lease }) })
    } catch (error) {
      // What cannot be written can still be read.
      if (!isErrorOf(EventStoreError, error, 'WRITE_FAILED')) throw error
      return await NodeEventFile.open({ id, folder, header, lease: null, writer: null, obstacle: error.message })
    }
  }

  async list(): Promise<readonly StoredSession[]> {
    const ids = (await this.#folders()).filter((name) => !name.startsWith('.'))
    const found: StoredSession[] = []
    const work = async () => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
        const session = await this.#described(id)
        if (session !== null) found.push(session)
      }
    }
    await Promise.all(Array.from({ length: listConcurrency }, work))
    return found
  }

  async describe(id: string): Promise<StoredSession> {
    const header = await this.#header(id)
    const [{ mtimeMs, size }, note] = await Promise.all([stat(this.#logOf(id)), readNote(join(this.#folderOf(id), noteName))])
    const facts = { id, modifiedAt: mtimeMs, size, ...note }
    return typeof header === 'string' ? { ...facts, header: null, problem: header } : { ...facts, header }
  }

  async peek(id: string, maxBytes: number): Promise<{ readonly head: readonly JsonObject[]; readonly tail: readonly JsonObject[] }> {
    await this.#mustExist(id)
    return readEnds(this.#logOf(id), maxBytes)
  }

  async *bytes(id: string): AsyncIterable<Uint8Array> {
    await this.#mustExist(id)
    yield* createReadStream(this.#logOf(id), { highWaterMark: pieceBytes }) as AsyncIterable<Uint8Array>
  }

  async remove(id: string): Promise<void> {
    await this.#mustExist(id)
    const folder = this.#folderOf(id)
    const lease = await this.#lease(id)
    if (!(lease instanceof Lease)) throw sessionBusy(id, lease)
    // Gone under its name at once. What a crash leaves of the rest is removed with the next session.
    await rename(folder, join(this.#root, `${gravePrefix}${id}-${randomBytes(6).toString('hex')}`))
    lease.abandon()
    const graves = (await this.#folders()).filter((name) => name.startsWith(gravePrefix))
    for (const grave of graves) await rm(join(this.#root, grave), { recursive: true, force: true })
  }

  /** Null for a folder without a log, which a crash before the first line leaves. A session that cannot be looked at is listed with the reason. */
  async #described(id: string): Promise<StoredSession | null> {
    try {
      return await this.describe(id)
    } catch (error) {
      // Also one that is taken away just now.
      if (error instanceof EventStoreError || hasCode(error, 'ENOENT', 'ENOTDIR')) return null
      return { id, modifiedAt: 0, size: 0, header: null, problem: messageOf(error), note: null, notedAt: null }
    }
  }

  /** Or in words why there is none. Errors: `SESSION_NOT_FOUND`, `INVALID_ID`. */
  async #header(id: string): Promise<JsonObject | string> {
    checkSessionId(id)
    try {
      return await readHeader(this.#logOf(id), id)
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) throw sessionNotFound(id)
      throw error
    }
  }

  /** Errors: `WRITE_FAILED` when the folder takes no lease. */
  async #lease(id: string): ReturnType<typeof Lease.acquire> {
    try {
      return await Lease.acquire(this.#folderOf(id), this.#times)
    } catch (cause) {
      throw cannotOpen(id, cause)
    }
  }

  #folderOf(id: string): string {
    return join(this.#root, id)
  }

  #logOf(id: string): string {
    return join(this.#root, id, logName)
  }

  async #mustExist(id: string): Promise<void> {
    checkSessionId(id)
    if (!(await exists(this.#logOf(id)))) throw sessionNotFound(id)
  }

  async #folders(): Promise<string[]> {
    try {
      const entries = await readdir(this.#root, { withFileTypes: true })
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return []
      throw error
    }
  }
}

/** A note that cannot be read is as good as none: it is derived from the log. */
async function readNote(path: string): Promise<Pick<StoredSession, 'note' | 'notedAt'>> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)])
    const note = JSON.parse(text) as Json
    return isJsonObject(note) ? { note, notedAt: mtimeMs } : { note: null, notedAt: null }
  } catch {
    return { note: null, notedAt: null }
  }
}
